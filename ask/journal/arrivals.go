package journal

import (
	"fmt"
	"math"
	"time"

	"crosstalk"
)

// Arrival is what tells how a run gets on, of one record.
type Arrival struct {
	Number int64 // ascends in the order of arrival
	Status crosstalk.Status
	Usage  crosstalk.Usage
	Time   time.Time
}

// Arrivals calls use with the arrivals after the one numbered after, in order,
// until use returns false.
func (j *Journal) Arrivals(after int64, use func(Arrival) bool) error {
	return j.arrivals("rowid > ? ORDER BY rowid", after, use)
}

// Arrival returns the arrival with this number. A failed one may have become an
// answer since.
func (j *Journal) Arrival(number int64) (a Arrival, found bool, err error) {
	err = j.arrivals("rowid = ?", number, func(it Arrival) bool {
		a, found = it, true
		return false
	})
	return a, found, err
}

func (j *Journal) arrivals(where string, number int64, use func(Arrival) bool) error {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.get == nil {
		return j.wrap(errClosed)
	}
	s, _, err := j.reader.Prepare("SELECT rowid, status, prompt_tokens, completion_tokens, answered_at FROM asks WHERE " +
		where)
	if err != nil {
		return j.wrap(err)
	}
	defer s.Close()
	if err := s.BindInt64(1, number); err != nil {
		return j.wrap(err)
	}
	last := int64(math.MinInt64)
	for s.Step() {
		if s.ColumnInt64(0) <= last {
			return &corruptError{Path: j.path, Row: s.ColumnInt64(0), Err: errOrder}
		}
		last = s.ColumnInt64(0)
		a := Arrival{s.ColumnInt64(0), crosstalk.Status(s.ColumnText(1)),
			crosstalk.Usage{Prompt: s.ColumnInt(2), Completion: s.ColumnInt(3)}, time.UnixMilli(s.ColumnInt64(4)).UTC()}
		if !use(a) {
			return nil
		}
	}
	return j.wrap(s.Err())
}

// Latest returns the last records that arrived, the latest first.
func (j *Journal) Latest(n int) (list []Record, err error) {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.get == nil {
		return nil, j.wrap(errClosed)
	}
	s, _, err := j.reader.Prepare(fmt.Sprintf("SELECT %s FROM asks ORDER BY rowid DESC LIMIT %d", j.columns, n))
	if err != nil {
		return nil, j.wrap(err)
	}
	defer s.Close()
	for s.Step() {
		r, err := j.scan(s)
		if err != nil {
			return nil, j.wrap(err)
		}
		list = append(list, r)
	}
	return list, j.wrap(s.Err())
}
