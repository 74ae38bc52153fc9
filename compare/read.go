package compare

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// table contains a sum over the samples of each item, for each condition and
// measure; it does not keep the observations. An item takes some 60 bytes while
// runs are read, 8 later, and 4 more for each
// measure and side, or 20 where its values are not 0 or 1.
type table struct {
	several bool     // runs
	columns []string // that identify items together with their names, and that group them
	items   []item
	labels  [][]int32 // of items: words in the order of columns; 0: none
	sides   []*side   // in the order of the runs, then of appearance
	figures []figure

	index    map[uint64]int32   // items, by the hash of name and columns; nil when all runs are read
	clusters map[uint64]int32   // from 1, by the hash of their name; likewise
	named    int                // clusters
	bounded  stats.ClusterNames // of clusters
	labelled map[string]int32   // labels by their values
	words    map[string]int32   // values of columns, and reasons
	names    []string           // of words
	members  map[string][]int32 // items of a group
	unnamed  int
	key      []byte
	ofRun    map[string]*side // sides of the current run
	sampling bool             // keep the samples
}

// item is one measured item.
type item struct {
	cluster int32 // 0: a separate cluster
	labels  int32 // which of the table's
}

// side is one condition of one run.
type side struct {
	run       int
	condition map[string]string // with its run if there are several
	settings  map[string]string // that were sent; nil: not known
	values    map[string]*values
}

// values are the values of one measure under one condition, by item.
type values struct {
	of      []int32 // which of moments each item has
	moments []moment
	shared  map[moment]int32 // those that items share: few differ where values are 0 or 1
	samples [][]sample       // if they are kept
}

// moment is what an item's samples come to.
type moment struct {
	sum   float64
	state int32 // above 0: number of samples with a value; below 0: why there is none, as a word; 0: not measured
}

// mostShared is how many moments items share; each further one is of one item.
const mostShared = 1 << 12

func newValues() *values {
	return &values{moments: []moment{{}}, shared: map[moment]int32{{}: 0}}
}

// at is the moment of an item, which may be unknown.
func (v *values) at(i int32) moment {
	if v == nil || int(i) >= len(v.of) {
		return moment{}
	}
	return v.moments[v.of[i]]
}

// set sets the moment of an item.
func (v *values) set(i int32, m moment) {
	for int(i) >= len(v.of) {
		v.of = append(v.of, 0)
	}
	at, shared := v.shared[m]
	switch {
	case shared:
	case v.of[i] >= mostShared: // the item's own
		at = v.of[i]
		v.moments[at] = m
	default:
		at = int32(len(v.moments))
		v.moments = append(v.moments, m)
		if len(v.shared) < mostShared {
			v.shared[m] = at
		}
	}
	v.of[i] = at
}

type sample struct {
	number int
	value  float64
}

// figure is an estimate on one side.
type figure struct {
	*crosstalk.Estimate
	side  *side
	group map[string]string // By without the columns of the condition and without "all"
	key   string            // measure and group
}

// read reads the runs; it keeps every sample if asked to.
func read(runs []Run, sampling bool) (*table, error) {
	t := &table{several: len(runs) > 1, columns: columnsOf(runs), sampling: sampling,
		index: map[uint64]int32{}, clusters: map[uint64]int32{}, labelled: map[string]int32{},
		words: map[string]int32{"": 0}, names: []string{""}, members: map[string][]int32{}}
	for i, run := range runs {
		if err := t.read(i, run); err != nil {
			return nil, err
		}
	}
	t.index, t.clusters = nil, nil
	return t, nil
}

// columnsOf are the columns that figures are grouped by or averaged over.
func columnsOf(runs []Run) []string {
	columns := map[string]bool{}
	for _, run := range runs {
		for _, e := range run.Estimates {
			for column := range e.By {
				columns[column] = true
			}
			if e.Average != nil {
				for _, column := range e.Average.Over {
					columns[column] = true
				}
			}
		}
	}
	return sorted(columns)
}

func (t *table) read(number int, run Run) error {
	t.ofRun = map[string]*side{}
	var sides []*side
	for o, err := range run.Observations {
		if err != nil {
			return err
		}
		s := t.sideOf(o.Condition)
		if s == nil {
			s = &side{run: number, condition: map[string]string{}, values: map[string]*values{}}
			maps.Copy(s.condition, o.Condition)
			if run.Settings != nil {
				s.settings = run.Settings(o.Condition)
			}
			if t.several {
				s.condition[RunColumn] = run.Name
			}
			t.ofRun[string(t.key)] = s
			sides = append(sides, s)
		}
		t.add(s, o)
	}
	if len(sides) == 0 {
		return fmt.Errorf("%s has no observations", run.Name)
	}
	t.sides = append(t.sides, sides...)
	for i := range run.Estimates {
		if f, ok := t.figureOf(&run.Estimates[i], sides); ok {
			t.figures = append(t.figures, f)
		}
	}
	return nil
}

// sideOf returns the side of a condition, if known, and leaves its key in
// t.key.
func (t *table) sideOf(condition map[string]string) *side {
	t.key = t.key[:0]
	for _, column := range slices.Sorted(maps.Keys(condition)) {
		t.key = append(append(append(append(t.key, column...), 0), condition[column]...), 0)
	}
	return t.ofRun[string(t.key)]
}

func (t *table) add(s *side, o crosstalk.Observation) {
	v := s.values[o.Measure]
	if v == nil {
		v = newValues()
		s.values[strings.Clone(o.Measure)] = v
	}
	i := t.itemOf(o)
	m := v.at(i)
	if o.NotScored != "" || !o.Value.Defined() {
		if m.state <= 0 {
			v.set(i, moment{0, -t.word(reasonOf(o))})
		}
		return
	}
	v.set(i, moment{m.sum + float64(o.Value), max(m.state, 0) + 1})
	if t.sampling {
		for int(i) >= len(v.samples) {
			v.samples = append(v.samples, nil)
		}
		v.samples[i] = append(v.samples[i], sample{o.Sample, float64(o.Value)})
	}
}

// reasonOf is the reason why an observation has no value, in the spelling of
// counts.
func reasonOf(o crosstalk.Observation) string {
	if o.NotScored == "" {
		return "undefined"
	}
	return strings.ReplaceAll(o.NotScored, " ", "_")
}

// itemOf returns the number of an observation's item. Items without a name are
// all distinct.
func (t *table) itemOf(o crosstalk.Observation) int32 {
	t.key = append(append(t.key[:0], o.Item...), 0)
	if o.Item == "" {
		t.unnamed++
		t.key = fmt.Appendf(t.key, "%d\x00", t.unnamed)
	}
	name := len(t.key)
	for _, column := range t.columns {
		t.key = append(append(t.key, label(o, column)...), 0)
	}
	at := hash(t.key)
	if i, ok := t.index[at]; ok {
		return i
	}
	i := int32(len(t.items))
	t.index[at] = i
	it := item{labels: t.labelsOf(o, t.key[name:])}
	if o.Cluster != "" {
		it.cluster = t.clusterOf(o.Cluster)
	}
	t.items = append(t.items, it)
	return i
}

// hash is a number for a text, by which millions of texts are told apart: two of n
// have the same with a probability of n*n/2^65.
func hash(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:8])
}

// clusterOf numbers a cluster, from 1.
func (t *table) clusterOf(name string) int32 {
	at := hash([]byte(name))
	if t.clusters[at] == 0 {
		t.named++
		t.clusters[at] = int32(t.named)
	}
	return t.clusters[at]
}

// labelsOf numbers the labels of an observation's item, whose values are the key.
func (t *table) labelsOf(o crosstalk.Observation, key []byte) int32 {
	if i, ok := t.labelled[string(key)]; ok {
		return i
	}
	labels := make([]int32, len(t.columns))
	for k, column := range t.columns {
		labels[k] = t.word(label(o, column))
	}
	i := int32(len(t.labels))
	t.labelled[string(key)] = i
	t.labels = append(t.labels, labels)
	return i
}

// labelOf is an item's value of a column, as a word.
func (t *table) labelOf(i int32, column int) int32 { return t.labels[t.items[i].labels][column] }

// label is the value of an item's column. A column of the condition is not a
// property of the item.
func label(o crosstalk.Observation, column string) string {
	if _, ok := o.Condition[column]; ok {
		return ""
	}
	return o.Labels[column]
}

// word numbers a text, "" as 0.
func (t *table) word(text string) int32 {
	if i, ok := t.words[text]; ok {
		return i
	}
	text = strings.Clone(text) // do not keep the whole record in memory
	i := int32(len(t.names))
	t.words[text] = i
	t.names = append(t.names, text)
	return i
}

// figureOf finds the side of an estimate: the condition with the most columns
// in common and none that differs.
func (t *table) figureOf(e *crosstalk.Estimate, sides []*side) (figure, bool) {
	f := figure{Estimate: e, group: map[string]string{}}
	for _, s := range sides {
		if s.has(e.By) && (f.side == nil || len(s.condition) > len(f.side.condition)) {
			f.side = s
		}
	}
	if f.side == nil {
		return f, false
	}
	for column, value := range e.By {
		if _, ok := f.side.condition[column]; !ok && value != crosstalk.All {
			f.group[column] = value
		}
	}
	f.key = e.Measure + "\x00" + string(crosstalk.Canonical(f.group))
	return f, true
}

// has reports whether all columns of the condition have these values.
func (s *side) has(by map[string]string) bool {
	for column, value := range s.condition {
		if got, ok := by[column]; column != RunColumn && (!ok || got != value) {
			return false
		}
	}
	return true
}
