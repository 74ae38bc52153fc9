package labels

import "path/filepath"

// Log follows the labels of a run while this process or others add to them. It is
// for one goroutine at a time.
type Log struct {
	lines[Label]
	list []Label // the last one of each annotator and unit
	at   map[[2]string]int
	turn []int // of each label: the line that gave it
}

// maxLabels bounds labels.jsonl: about a million labels.
const maxLabels = 512 << 20 // bytes

// NewLog returns a log of a run's labels, without labels until Refresh.
func NewLog(run string) *Log {
	file := lines[Label]{file: filepath.Join(run, File), what: "label", most: maxLabels}
	return &Log{lines: file, at: map[[2]string]int{}}
}

// Refresh reads the labels that were added.
func (l *Log) Refresh() error {
	return l.next(func() { l.list, l.turn, l.at = nil, nil, map[[2]string]int{} }, l.add)
}

func (l *Log) add(label Label) error {
	if err := label.check(); err != nil {
		return err
	}
	id := [2]string{label.Annotator, label.Key()}
	i, again := l.at[id]
	if !again {
		i = len(l.list)
		l.at[id] = i
		l.list, l.turn = append(l.list, Label{}), append(l.turn, 0)
	}
	l.list[i], l.turn[i] = label, l.n
	return nil
}

// Labels are all labels that count, in the order in which questions were first
// answered.
func (l *Log) Labels() (list []Label) {
	for _, label := range l.list {
		if label.Label != "" {
			list = append(list, label)
		}
	}
	return list
}

// Find returns an annotator's last label of a unit, which may be withdrawn (an empty
// Label), and its place in the file: later ones are larger.
func (l *Log) Find(annotator, key string) (label Label, turn int, found bool) {
	i, found := l.at[[2]string{annotator, key}]
	if !found {
		return label, 0, false
	}
	return l.list[i], l.turn[i], true
}
