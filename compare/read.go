package compare

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/spill"
	"crosstalk/measure/stats"
)

// table holds what was read from runs. Observations are kept as records, in memory or, if
// there are many, in a temporary file.
type table struct {
	several bool      // runs
	columns []string  // that identify items together with their names, and that group them
	labels  [][]int32 // of items: words in the order of columns; 0: none
	sides   []*side   // in the order of the runs, then of appearance
	figures []figure

	records  *spill.Records
	whole    *part              // the only one, while it is in memory
	labelled map[string]int32   // labels by their values
	words    map[string]int32   // values of columns, reasons and measures
	texts    []string           // of words
	bounded  stats.ClusterNames // of clusters
	unnamed  int
	key      []byte
	ofRun    map[string]*side // sides of the current run
	keep
}

// keep says which observations a table keeps.
type keep struct {
	room    int  // bytes of records in memory
	samples bool // of each item
	names   bool // of all clusters
}

// side is one condition of one run.
type side struct {
	number    int // in the table
	run       int
	condition map[string]string         // with its run if there are several
	settings  map[string]string         // that were sent; nil: not known
	measured  map[string]map[int32]bool // the labels of items with observations, by measure
}

// figure is an estimate on one side.
type figure struct {
	*crosstalk.Estimate
	side  *side
	group map[string]string // By without the columns of the condition and without "all"
	key   string            // measure and group
}

// read reads the runs. The table has to be closed.
func read(runs []Run, k keep) (*table, error) {
	t := &table{keep: k, several: len(runs) > 1, columns: columnsOf(runs), records: spill.New(recordSize, k.room),
		labelled: map[string]int32{}, words: map[string]int32{"": 0}, texts: []string{""}}
	for i, run := range runs {
		if err := t.read(i, run); err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	return t, nil
}

func (t *table) close() error { return t.records.Close() }

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
			s = &side{number: len(t.sides) + len(sides), run: number, condition: map[string]string{},
				measured: map[string]map[int32]bool{}}
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
		if fault, ok := instrument.Of(o.Measure).Fault(o); ok {
			if err := t.add(s, fault); err != nil {
				return err
			}
		}
		if err := t.add(s, o); err != nil {
			return err
		}
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

// add adds the record of an observation.
func (t *table) add(s *side, o crosstalk.Observation) error {
	r := record{side: int32(s.number), measure: t.word(o.Measure), sample: int32(o.Sample), value: float64(o.Value)}
	t.key = append(append(t.key[:0], o.Item...), 0)
	if o.Item == "" { // items without a name are all distinct
		t.unnamed++
		t.key = fmt.Appendf(t.key, "%d\x00", t.unnamed)
	}
	name := len(t.key)
	for _, column := range t.columns {
		t.key = append(append(t.key, label(o, column)...), 0)
	}
	r.item, r.labels = hash(t.key), t.labelsOf(o, t.key[name:])
	r.cluster = r.item
	if r.clustered = o.Cluster != ""; r.clustered {
		r.cluster = hash([]byte(o.Cluster))
	}
	if o.NotScored != "" || !o.Value.Defined() {
		r.reason = t.word(reasonOf(o))
	}
	measured := s.measured[o.Measure]
	if measured == nil {
		measured = map[int32]bool{}
		s.measured[strings.Clone(o.Measure)] = measured
	}
	if !measured[r.labels] {
		measured[r.labels] = true
	}
	t.key = r.append(t.key[:0])
	return t.records.Add(t.key)
}

// reasonOf is the reason why an observation has no value, in the spelling of
// counts.
func reasonOf(o crosstalk.Observation) string {
	if o.NotScored == "" {
		return "undefined"
	}
	return strings.ReplaceAll(o.NotScored, " ", "_")
}

// hash is a number for a text, by which millions of texts are told apart: two of n
// have the same with a probability of n*n/2^65.
func hash(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:8])
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
	i := int32(len(t.texts))
	t.words[text] = i
	t.texts = append(t.texts, text)
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
