package study

import "testing"

// Each condition of each protocol reserves its own requests.
func TestCountedOfProtocols(t *testing.T) {
	protocol := func(n int) Protocol { return Protocol{Conditions: make([]Condition, n)} }
	s := &Study{Protocols: []Protocol{protocol(2), protocol(1), protocol(3)}}
	for i := range 6 {
		s.counted = append(s.counted, counted{asks: i})
	}
	want := 0
	for k, p := range s.Protocols {
		for i := range p.Conditions {
			if got := s.countedOf(k, i).asks; got != want {
				t.Errorf("protocol %d, condition %d: that of %d, want %d", k, i, got, want)
			}
			want++
		}
	}
}
