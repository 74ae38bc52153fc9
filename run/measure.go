package run

import (
	"bufio"
	"context"
	"crosstalk/internal/atomicfile"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"crosstalk"
)

// Arm is one condition of a run: the instrument that is set to it, and who is
// asked.
type Arm struct {
	Instrument crosstalk.Instrument
	Ask        crosstalk.Asker
}

// Measured is what came of one item: its observations, or the error that kept
// it from being measured.
type Measured struct {
	Item         crosstalk.Item
	Observations []crosstalk.Observation
	Err          error
}

// Measure measures items in every arm, up to parallel of them at a time, and
// yields every one in the arms' and their own order. After an error it goes on:
// what is answered already still counts. When the loop is left it starts no
// further items, waits for those under way, whose asks may be paid for, and
// drops them.
func Measure(ctx context.Context, arms []Arm, items []crosstalk.Item, parallel int) iter.Seq[Measured] {
	return func(yield func(Measured) bool) {
		var underWay []chan Measured // in order
		defer func() {
			for _, done := range underWay {
				<-done
			}
		}()
		for next, all := 0, len(arms)*len(items); next < all || len(underWay) > 0; {
			for ; next < all && len(underWay) < max(1, parallel); next++ {
				done := make(chan Measured, 1)
				underWay = append(underWay, done)
				go func(arm Arm, item crosstalk.Item) {
					m := Measured{Item: item, Err: context.Cause(ctx)}
					if m.Err == nil {
						m.Observations, m.Err = arm.Instrument.Measure(ctx, arm.Ask, item)
					}
					done <- m
				}(arms[next/len(items)], items[next%len(items)])
			}
			m := <-underWay[0]
			underWay = underWay[1:]
			if !yield(m) {
				return
			}
		}
	}
}

// RecordObservations writes the run's observations.jsonl: what use hands to
// record, in that order. The file appears when use has ended without an error.
func (d *Dir) RecordObservations(use func(record func(crosstalk.Observation) error) error) error {
	return atomicfile.Write(filepath.Join(d.Path, "observations.jsonl"), func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<16)
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		if err := use(func(o crosstalk.Observation) error { return e.Encode(o) }); err != nil {
			return err
		}
		return w.Flush()
	})
}

// ReadObservations yields the observations that a run recorded.
func ReadObservations(path string) iter.Seq2[crosstalk.Observation, error] {
	return func(yield func(crosstalk.Observation, error) bool) {
		file := filepath.Join(path, "observations.jsonl")
		f, err := os.Open(file)
		if err != nil {
			yield(crosstalk.Observation{}, err)
			return
		}
		defer f.Close()
		d := json.NewDecoder(bufio.NewReaderSize(f, 1<<16))
		for line := 1; d.More(); line++ {
			var o crosstalk.Observation
			if err := d.Decode(&o); err != nil {
				yield(o, fmt.Errorf("%s:%d: %w", file, line, err))
				return
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}
