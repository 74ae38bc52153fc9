package journal

import "fmt"

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
