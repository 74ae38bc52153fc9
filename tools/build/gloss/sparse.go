package main

import (
	"cmp"
	"slices"
)

// sparse is a matrix in compressed rows.
type sparse struct {
	columns int
	start   []int // of each row in entries, and the end
	entries []entry
}

type entry struct {
	column int32
	value  float64
}

// newSparse returns the matrix of the given rows; entries of the same column are summed in their order.
func newSparse(rows [][]entry, columns int) *sparse {
	m := &sparse{columns: columns, start: make([]int, 1, len(rows)+1)}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
		for i, e := range row {
			if i > 0 && row[i-1].column == e.column {
				m.entries[len(m.entries)-1].value += e.value
				continue
			}
			m.entries = append(m.entries, e)
		}
		m.start = append(m.start, len(m.entries))
	}
	return m
}

func (m *sparse) rows() int { return len(m.start) - 1 }

func (m *sparse) row(i int) []entry { return m.entries[m.start[i]:m.start[i+1]] }

func (m *sparse) transposed() *sparse {
	t := &sparse{columns: m.rows(), start: make([]int, m.columns+1), entries: make([]entry, len(m.entries))}
	for _, e := range m.entries {
		t.start[e.column+1]++
	}
	for i := range m.columns {
		t.start[i+1] += t.start[i]
	}
	next := slices.Clone(t.start)
	for i := range m.rows() {
		for _, e := range m.row(i) {
			t.entries[next[e.column]] = entry{int32(i), e.value}
			next[e.column]++
		}
	}
	return t
}

// times returns m x d.
func (m *sparse) times(d *dense) *dense {
	out := newDense(m.rows(), d.columns)
	parallelRows(m.rows(), func(from, to int) {
		for i := from; i < to; i++ {
			sum := out.row(i)
			for _, e := range m.row(i) {
				addScaled(sum, e.value, d.row(int(e.column)))
			}
		}
	})
	return out
}
