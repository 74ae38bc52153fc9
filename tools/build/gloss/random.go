package main

import "math"

// mersenne is the generator MT19937 of Matsumoto and Nishimura (1998), and the numbers that numpy's RandomState draws
// from it: other programs can repeat the draw.
type mersenne struct {
	state    [624]uint32
	next     int
	spare    float64 // the other number of a pair of normal ones
	hasSpare bool
}

// newMersenne returns the generator that RandomState(seed) is: the seeding of Matsumoto and Nishimura's mt19937ar,
// init_genrand.
func newMersenne(seed uint32) *mersenne {
	m := &mersenne{}
	m.state[0] = seed
	for i := 1; i < len(m.state); i++ {
		before := m.state[i-1]
		m.state[i] = 1812433253*(before^before>>30) + uint32(i)
	}
	m.next = len(m.state)
	return m
}

// uint32 returns the next 32 random bits.
func (m *mersenne) uint32() uint32 {
	const n, shift = len(m.state), 397
	if m.next == n {
		for i := range n {
			y := m.state[i]&0x80000000 | m.state[(i+1)%n]&0x7fffffff
			m.state[i] = m.state[(i+shift)%n] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		m.next = 0
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// uniform returns a number from [0, 1), of 53 random bits.
func (m *mersenne) uniform() float64 {
	high, low := m.uint32()>>5, m.uint32()>>6
	return float64(uint64(high)<<26|uint64(low)) / (1 << 53)
}

// normal returns a number from the standard normal distribution, by Marsaglia's polar method.
func (m *mersenne) normal() float64 {
	if m.hasSpare {
		m.hasSpare = false
		return m.spare
	}
	for {
		x, y := 2*m.uniform()-1, 2*m.uniform()-1
		square := float64(x*x) + float64(y*y)
		if square >= 1 || square == 0 {
			continue
		}
		scale := math.Sqrt(-2 * ln(square) / square)
		m.spare, m.hasSpare = float64(scale*x), true
		return scale * y
	}
}

// normal returns a matrix of standard normal numbers, drawn row by row: what numpy's
// RandomState(seed).standard_normal((rows, columns)) is.
func normal(rows, columns int, seed uint32) *dense {
	m := newMersenne(seed)
	d := newDense(rows, columns)
	for i := range d.data {
		d.data[i] = m.normal()
	}
	return d
}
