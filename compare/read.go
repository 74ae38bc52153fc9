package compare

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/measure/stats"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/study"
)

// Open reads the figures of finished runs, grouped by columns; if by is nil, as they were measured. Observations are
// read only when they are compared.
func Open(paths, by []string) ([]Run, error) {
	by, err := figures.ParseBy(by)
	if err != nil {
		return nil, err
	}
	return OpenFigures(paths, figures.Set{By: by})
}

// OpenFigures reads these figures of finished runs, with their observations.
func OpenFigures(paths []string, figures figures.Set) ([]Run, error) {
	names := run.Names(paths)
	runs := make([]Run, len(paths))
	for i, path := range paths {
		estimates, observations, err := figures.Compare(path)
		if err != nil {
			return nil, err
		}
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		runs[i] = Run{Name: names[i], Estimates: estimates, Observations: observations, Settings: study.Sent(manifest)}
	}
	return runs, nil
}

// table holds the figures of runs and the values behind them, by condition, measure and item.
type table struct {
	several bool      // there are several runs
	columns []string  // columns that group items, and with their names identify them
	labels  [][]int32 // labels of items, as words in the order of columns; 0: none
	sides   []*side   // in the order of runs, then of first appearance
	figures []figure
	items   []item

	wanted   map[string]bool  // measures to read
	pilot    bool             // keep samples, and all names of clusters
	known    map[uint64]int32 // items by a hash of name and columns
	clusters []uint64         // clusters of items, while they are read: hashes of their names, 0 for none
	named    int              // number of named clusters
	cells    cellSet
	numbers  []stats.Cluster // for clusters, then for items without one; computed on first use
	bounded  stats.ClusterNames
	labelled map[string]int32 // labels by values
	words    map[string]int32 // words for values of columns, and for reasons
	texts    []string         // texts by word
	unnamed  int
	seed     maphash.Seed
	key      []byte
}

type side struct {
	run       int
	own       map[string]string  // condition of its observations
	condition map[string]string  // own, with the run if there are several
	settings  map[string]string  // settings that were sent; nil: unknown
	values    map[string]*values // by measure
}

// figure is an estimate on one side.
type figure struct {
	*crosstalk.Estimate
	side  *side
	group map[string]string // By without columns of the condition and without "all"
	key   string            // measure and group
}

type item struct {
	cluster int32 // from 1; 0: a separate cluster
	labels  int32 // index into the table's labels
}

// values are the values of one measure under one condition, by item. Most are equal, so items share numbered cells.
type values struct {
	*cellSet
	of      []int32
	samples [][]sample // if samples are kept
}

type cell struct {
	sum   uint64 // over samples, as float bits
	state int32  // above 0: samples with a value; below 0: the reason for none, as a word; 0: not measured
}

// cellSet has the distinct cells of all values; the first one is empty.
type cellSet struct {
	all   []cell
	known map[cell]int32
}

func (c *cellSet) number(of cell) int32 {
	i, known := c.known[of]
	if !known {
		i = int32(len(c.all))
		c.known[of] = i
		c.all = append(c.all, of)
	}
	return i
}

type sample struct {
	number int
	value  float64
}

// read reads from the runs what a comparison of the chosen figures needs. A pilot also needs samples and all clusters.
func (o Options) read(runs []Run, pilot bool) (*table, error) {
	t := &table{pilot: pilot, several: len(runs) > 1, known: map[uint64]int32{},
		cells: cellSet{[]cell{{}}, map[cell]int32{{}: 0}}, labelled: map[string]int32{},
		wanted: map[string]bool{}, words: map[string]int32{"": 0}, texts: []string{""}, seed: maphash.MakeSeed()}
	columns := map[string]bool{}
	for _, run := range runs {
		for _, e := range run.Estimates {
			for column := range e.By {
				columns[column] = true
			}
			over, of := averageOf(&e)
			for _, column := range over.Over {
				columns[column] = true
			}
			for _, measure := range of {
				t.wanted[measure] = t.wanted[measure] || o.wants(e.Measure)
			}
		}
	}
	t.columns = sorted(columns)
	for i, run := range runs {
		if err := t.read(i, run); err != nil {
			return nil, err
		}
	}
	clear(t.known) // reused for clusters, which are numbered in the order of their first items
	t.known[0] = 0
	for i, hash := range t.clusters {
		number, again := t.known[hash]
		if !again {
			t.named++
			number = int32(t.named)
			t.known[hash] = number
		}
		t.items[i].cluster = number
	}
	t.known, t.clusters = nil, nil // they take the most memory
	t.numbers = make([]stats.Cluster, 1+t.named+len(t.items))
	return t, nil
}

func (o Options) wants(measure string) bool {
	return instrument.Chosen(o.Measures, measure) || len(o.Measures) == 0 && !instrument.IsFault(measure)
}

func (t *table) read(number int, run Run) error {
	var s *side
	var sides []*side
	known := map[string]*side{}
	for o, err := range run.Observations {
		if err != nil {
			return err
		}
		if s == nil || !maps.Equal(s.own, o.Condition) { // most have the same condition as the one before
			t.key = conditionKey(t.key[:0], sorted(o.Condition), o.Condition)
			s = known[string(t.key)]
		}
		if s == nil {
			s = &side{run: number, own: o.Condition, condition: map[string]string{}, values: map[string]*values{}}
			maps.Copy(s.condition, o.Condition)
			if run.Settings != nil {
				s.settings = run.Settings(o.Condition)
			}
			if t.several {
				s.condition[RunColumn] = run.Name
			}
			known[string(t.key)] = s
			sides = append(sides, s)
		}
		for o := range instrument.Of(o.Measure).WithFault(o) {
			t.add(s, o)
		}
	}
	if len(sides) == 0 {
		return fmt.Errorf("%s has no observations", run.Name)
	}
	t.sides = append(t.sides, sides...)
	var columns [][]string // of conditions
	for _, s := range sides {
		if of := sorted(s.own); !slices.ContainsFunc(columns, func(c []string) bool { return slices.Equal(c, of) }) {
			columns = append(columns, of)
		}
	}
	slices.SortStableFunc(columns, func(a, b []string) int { return len(b) - len(a) })
	for i := range run.Estimates {
		e := &run.Estimates[i]
		for _, c := range columns {
			t.key = conditionKey(t.key[:0], c, e.By)
			if s := known[string(t.key)]; s != nil && crosstalk.HasAll(e.By, s.own) {
				t.addFigure(e, s)
				break
			}
		}
	}
	return nil
}

// conditionKey appends some columns with their values to a key.
func conditionKey(key []byte, columns []string, values map[string]string) []byte {
	for _, column := range columns {
		key = append(append(append(append(key, column...), 0), values[column]...), 0)
	}
	return key
}

func (t *table) add(s *side, o crosstalk.Observation) {
	if !t.wanted[o.Measure] {
		return
	}
	t.key = append(append(t.key[:0], o.Item...), 0)
	if o.Item == "" { // items without a name are all distinct
		t.unnamed++
		t.key = fmt.Appendf(t.key, "%d\x00", t.unnamed)
	}
	name := len(t.key)
	for _, column := range t.columns {
		t.key = append(append(t.key, label(o, column)...), 0)
	}
	id := maphash.Bytes(t.seed, t.key) // the probability that any two of n texts collide is n*n/2^65
	i, known := t.known[id]
	if !known {
		i = int32(len(t.items))
		t.known[id] = i
		labels, known := t.labelled[string(t.key[name:])]
		if !known {
			labels = int32(len(t.labels))
			t.labelled[string(t.key[name:])] = labels
			words := make([]int32, len(t.columns))
			for k, column := range t.columns {
				words[k] = t.word(label(o, column))
			}
			t.labels = append(t.labels, words)
		}
		t.items = append(t.items, item{labels: labels})
		cluster := uint64(0)
		if o.Cluster != "" {
			cluster = maphash.String(t.seed, o.Cluster) | 1
		}
		t.clusters = append(t.clusters, cluster)
	}
	v := s.values[o.Measure]
	if v == nil {
		v = &values{cellSet: &t.cells}
		s.values[strings.Clone(o.Measure)] = v
	}
	for int(i) >= len(v.of) {
		v.of = append(v.of, 0)
	}
	now := v.all[v.of[i]]
	scored := o.NotScored == "" && o.Value.Defined()
	switch {
	case scored:
		now = cell{math.Float64bits(math.Float64frombits(now.sum) + float64(o.Value)), max(now.state, 0) + 1}
	case now.state <= 0:
		now.state = -t.word(strings.ReplaceAll(cmp.Or(o.NotScored, "undefined"), " ", "_")) // spelled as in counts
	}
	v.of[i] = v.number(now)
	if scored && t.pilot {
		for int(i) >= len(v.samples) {
			v.samples = append(v.samples, nil)
		}
		v.samples[i] = append(v.samples[i], sample{o.Sample, float64(o.Value)})
	}
}

// cluster returns the cluster of an item in figures. Of many thousands of clusters, some are merged at random, as in
// figures (stats.ClusterNames), unless they are for components of variance.
func (t *table) cluster(i int32) stats.Cluster {
	own, at := t.items[i].cluster == 0, t.items[i].cluster
	if own {
		at = int32(1+t.named) + i
	}
	switch {
	case t.pilot:
		return stats.Cluster(at)
	case t.numbers[at] == 0 && own:
		t.numbers[at] = t.bounded.Number("item " + strconv.Itoa(int(i)))
	case t.numbers[at] == 0:
		t.numbers[at] = t.bounded.Number(strconv.Itoa(int(at)))
	}
	return t.numbers[at]
}

// state returns the state of an item. The item may be unknown, and v may be nil.
func (v *values) state(i int32) int32 {
	if v == nil || int(i) >= len(v.of) {
		return 0
	}
	return v.all[v.of[i]].state
}

// sum returns the sum over the samples of an item with at least one value, mean their mean.
func (v *values) sum(i int32) float64  { return math.Float64frombits(v.all[v.of[i]].sum) }
func (v *values) mean(i int32) float64 { return v.sum(i) / float64(v.state(i)) }

// label returns the value of an item's column. A column of the condition is not a property of the item.
func label(o crosstalk.Observation, column string) string {
	if _, ok := o.Condition[column]; ok {
		return ""
	}
	return o.Labels[column]
}

// word returns the number of a text, 0 for "".
func (t *table) word(text string) int32 {
	if i, ok := t.words[text]; ok {
		return i
	}
	text = strings.Clone(text) // do not keep the whole record in memory
	i := int32(len(t.texts))
	t.words[text] = i
	t.texts = append(t.texts, text)
	return i
}

// addFigure adds an estimate to its side: the condition that shares the most columns with it and contradicts none.
func (t *table) addFigure(e *crosstalk.Estimate, of *side) {
	f := figure{Estimate: e, side: of, group: map[string]string{}}
	for column, value := range e.By {
		if _, ok := f.side.condition[column]; !ok && value != crosstalk.All {
			f.group[column] = value
		}
	}
	f.key = e.Measure + "\x00" + string(crosstalk.Canonical(f.group))
	t.figures = append(t.figures, f)
}
