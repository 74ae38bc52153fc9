package ask

// keySet is a set of numbers that are evenly distributed, as hashes are: 8 to 16
// bytes for each, which is half of what a map takes. The zero value is empty.
type keySet struct {
	slots []uint64 // a power of two of them, at most three quarters taken; 0: free
	n     int      // taken slots
	zero  bool     // 0 is in the set
}

// add adds a number, and reports whether it is new.
func (s *keySet) add(key uint64) bool {
	if key == 0 {
		added := !s.zero
		s.zero = true
		return added
	}
	if 4*s.n >= 3*len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(64, 2*len(old)))
		for _, key := range old {
			if key != 0 {
				s.slots[s.find(key)] = key
			}
		}
	}
	at := s.find(key)
	if s.slots[at] == key {
		return false
	}
	s.slots[at] = key
	s.n++
	return true
}

// has reports whether a number is in the set.
func (s *keySet) has(key uint64) bool {
	if key == 0 {
		return s.zero
	}
	return len(s.slots) > 0 && s.slots[s.find(key)] == key
}

// find is the slot of a number: the one it is in, or the free one it goes to.
func (s *keySet) find(key uint64) int {
	last := uint64(len(s.slots) - 1)
	at := key & last
	for s.slots[at] != 0 && s.slots[at] != key {
		at = (at + 1) & last
	}
	return int(at)
}
