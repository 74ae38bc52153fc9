package run

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"crosstalk"
	"crosstalk/internal/atomicfile"
)

const observationsFile = "observations.jsonl"

// Recorder writes a run's observations.jsonl. Commit replaces the file of the last
// scoring.
type Recorder struct {
	file    *atomicfile.File
	buffer  *bufio.Writer
	encoder *json.Encoder
}

// Record starts writing the run's observations.
func (d *Dir) Record() (*Recorder, error) {
	file, err := atomicfile.Create(filepath.Join(d.Path, observationsFile))
	if err != nil {
		return nil, err
	}
	r := &Recorder{file: file, buffer: bufio.NewWriterSize(file.File, 1<<16)}
	r.encoder = json.NewEncoder(r.buffer)
	r.encoder.SetEscapeHTML(false)
	return r, nil
}

// Add writes an observation.
func (r *Recorder) Add(o crosstalk.Observation) error { return r.encoder.Encode(o) }

// Commit makes the observations those of the run.
func (r *Recorder) Commit() error {
	if err := r.buffer.Flush(); err != nil {
		return err
	}
	return r.file.Commit()
}

// Discard drops the observations. After Commit it does nothing.
func (r *Recorder) Discard() { r.file.Discard() }

// ReadObservations yields the observations that a run recorded.
func ReadObservations(path string) iter.Seq2[crosstalk.Observation, error] {
	return func(yield func(crosstalk.Observation, error) bool) {
		file := filepath.Join(path, observationsFile)
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

// Each passes every observation of a run to all consumers, in one pass.
func Each(path string, consumers ...func(crosstalk.Observation) error) error {
	for o, err := range ReadObservations(path) {
		if err != nil {
			return err
		}
		for _, consume := range consumers {
			if err := consume(o); err != nil {
				return err
			}
		}
	}
	return nil
}
