package compare

import (
	"encoding/binary"
	"iter"
	"math"
	"strconv"

	"crosstalk/measure/stats"
)

// record is one observation, as far as it takes to compare.
type record struct {
	cluster   uint64 // the hash of its name, or of the item if it has none
	clustered bool   // it has one
	item      uint64 // the hash of name and columns
	labels    int32  // of the table
	side      int32
	measure   int32 // word
	sample    int32
	reason    int32 // word; 0: it has a value
	value     float64
}

const recordSize = 8 + 1 + 8 + 5*4 + 8

// append appends the record under its cluster's hash, so that the items of a cluster
// are in one part.
func (r record) append(to []byte) []byte {
	to = binary.BigEndian.AppendUint64(to, r.cluster)
	if r.clustered {
		to = append(to, 1)
	} else {
		to = append(to, 0)
	}
	to = binary.BigEndian.AppendUint64(to, r.item)
	for _, n := range [...]int32{r.labels, r.side, r.measure, r.sample, r.reason} {
		to = binary.BigEndian.AppendUint32(to, uint32(n))
	}
	return binary.BigEndian.AppendUint64(to, math.Float64bits(r.value))
}

func recordOf(text []byte) record {
	number := func(i int) int32 { return int32(binary.BigEndian.Uint32(text[17+4*i:])) }
	return record{binary.BigEndian.Uint64(text), text[8] == 1, binary.BigEndian.Uint64(text[9:]),
		number(0), number(1), number(2), number(3), number(4), math.Float64frombits(binary.BigEndian.Uint64(text[37:]))}
}

// part is the items of some clusters, all of them where there are few. It has a sum
// over the samples of each item, for each condition and measure.
type part struct {
	prefix   string // of the clusters' names
	items    []item
	clusters int             // named
	numbers  []stats.Cluster // of those, once they are asked for
	values   map[place]*values
}

// item is one measured item.
type item struct {
	cluster int32         // from 1; 0: a separate cluster
	labels  int32         // which of the table's
	number  stats.Cluster // of a separate cluster, once it is asked for
}

// place is where values are from.
type place struct{ side, measure int32 }

// values are the values of one measure under one condition, by item.
type values struct {
	of      []moment
	samples [][]sample // if they are kept
}

// moment is the aggregate of an item's samples.
type moment struct {
	sum   float64
	state int32 // above 0: number of samples with a value; below 0: why there is none, as a word; 0: not measured
}

type sample struct {
	number int32
	value  float64
}

// parts yields the parts of the table.
func (t *table) parts() iter.Seq2[*part, error] {
	return func(yield func(*part, error) bool) {
		for i := range t.records.Parts() {
			if p, err := t.part(i); !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// part reads a part.
func (t *table) part(number int) (*part, error) {
	if t.whole != nil {
		return t.whole, nil
	}
	p := &part{values: map[place]*values{}}
	if number > 0 {
		p.prefix = strconv.Itoa(number) + "/"
	}
	index, clusters := map[uint64]int32{}, map[uint64]int32{}
	for text, err := range t.records.Part(number) {
		if err != nil {
			return nil, err
		}
		r := recordOf(text)
		i, known := index[r.item]
		if !known {
			i = int32(len(p.items))
			index[r.item] = i
			it := item{labels: r.labels}
			if r.clustered {
				if clusters[r.cluster] == 0 {
					p.clusters++
					clusters[r.cluster] = int32(p.clusters)
				}
				it.cluster = clusters[r.cluster]
			}
			p.items = append(p.items, it)
		}
		at := place{r.side, r.measure}
		v := p.values[at]
		if v == nil {
			v = &values{}
			p.values[at] = v
		}
		v.add(i, r, t.keep.samples)
	}
	p.numbers = make([]stats.Cluster, p.clusters+1)
	if t.records.Parts() == 1 {
		t.whole = p
	}
	return p, nil
}

func (v *values) add(i int32, r record, samples bool) {
	for int(i) >= len(v.of) {
		v.of = append(v.of, moment{})
	}
	m := &v.of[i]
	if r.reason != 0 {
		if m.state <= 0 {
			*m = moment{0, -r.reason}
		}
		return
	}
	m.sum += r.value
	m.state = max(m.state, 0) + 1
	if samples {
		for int(i) >= len(v.samples) {
			v.samples = append(v.samples, nil)
		}
		v.samples[i] = append(v.samples[i], sample{r.sample, r.value})
	}
}

// at is the moment of an item, which may be unknown.
func (v *values) at(i int32) moment {
	if v == nil || int(i) >= len(v.of) {
		return moment{}
	}
	return v.of[i]
}

func (v *values) has(i int32) bool {
	return v.at(i).state != 0
}

func (v *values) n(i int32) int32 {
	return max(v.at(i).state, 0)
}

// reasonOf is why an item with n of 0 has no value.
func (v *values) reasonOf(i int32) int32 { return -v.at(i).state }

// mean is the mean over the samples of an item with at least one value.
func (v *values) mean(i int32) float64 {
	m := v.at(i)
	return m.sum / float64(m.state)
}

// cluster returns the number of an item's cluster. Of many thousands, some share
// one at random, as in figures (stats.ClusterNames), unless it is for components
// of variance.
func (t *table) cluster(p *part, i int32) stats.Cluster {
	it := &p.items[i]
	switch {
	case t.keep.names && it.cluster != 0:
		return stats.Cluster(it.cluster)
	case t.keep.names:
		return stats.Cluster(int32(p.clusters) + i + 1)
	}
	number := &it.number
	if it.cluster != 0 {
		number = &p.numbers[it.cluster]
	}
	if *number == 0 {
		name := "item " + strconv.Itoa(int(i))
		if it.cluster != 0 {
			name = strconv.Itoa(int(it.cluster))
		}
		*number = t.bounded.Number(p.prefix + name)
	}
	return *number
}
