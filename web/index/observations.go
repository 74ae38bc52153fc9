package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// ErrNone is the error for an unknown answer.
var ErrNone = errors.New("no such answer")

// Observations returns the observations of answers, by their numbers.
func (x *Index) Observations(ctx context.Context, numbers ...int) (list [][]crosstalk.Observation, err error) {
	err = x.read(ctx, func(c *sqlite3.Conn) error {
		for _, n := range numbers {
			of, err := x.observationsOf(c, n)
			if err != nil {
				return err
			}
			list = append(list, of)
		}
		return nil
	})
	return list, err
}

func (x *Index) observationsOf(c *sqlite3.Conn, number int) ([]crosstalk.Observation, error) {
	if number < 1 {
		return nil, ErrNone
	}
	lines, err := x.linesOf(c, (number-1)/chunkSize)
	if err != nil {
		return nil, err
	}
	place := (number - 1) % chunkSize
	if place >= len(lines) {
		return nil, ErrNone
	}
	var list []crosstalk.Observation
	for _, l := range lines[place].lines {
		text := make([]byte, l.size)
		if _, err := x.observations.ReadAt(text, l.offset); err != nil {
			return nil, fmt.Errorf("%s: has changed: %w", x.observations.Name(), err)
		}
		var o crosstalk.Observation
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("%s: has changed: %w", x.observations.Name(), err)
		}
		list = append(list, o)
	}
	return list, nil
}

// linesOf returns the lines of the observations of a chunk's answers. It caches
// the last chunk.
func (x *Index) linesOf(c *sqlite3.Conn, chunk int) ([]answer, error) {
	x.state.Lock()
	kept, have := x.lines, x.linesOfChunk
	x.state.Unlock()
	if kept != nil && have == chunk {
		return kept, nil
	}
	s, _, err := c.Prepare("SELECT n, lines FROM chunks WHERE chunk = ?")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.BindInt(1, chunk); err != nil {
		return nil, err
	}
	if !s.Step() {
		return nil, errors.Join(s.Err(), ErrNone)
	}
	lines, err := unpackLines(s.ColumnRawBlob(1), s.ColumnInt(0))
	if err == nil {
		x.state.Lock()
		x.lines, x.linesOfChunk = lines, chunk
		x.state.Unlock()
	}
	return lines, err
}
