package run

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"
)

// Content identifies the content of a file of records, to notice if it was truncated, extended or edited.
type Content struct {
	N      int    `json:"n"`      // records
	SHA256 string `json:"sha256"` // of the bytes, in hexadecimal
}

// Recorder writes a run's observations.jsonl. Commit replaces the file of the last scoring.
type Recorder struct {
	dir    *Dir
	file   *atomicfile.File
	sum    hash.Hash // hash of the bytes written
	n      int
	line   []byte // reused buffer
	buffer *bufio.Writer
}

// Place is an observation's position in the whole measurement, even in a shard. Observations are in this order.
type Place struct {
	Part int // number of the protocol's condition, over all protocols, from 0
	Item int // number of the item in the suite, or of the recorded row, from 0
}

// Compare returns a negative number if p comes before q, and a positive one if it comes after.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Part, q.Part), cmp.Compare(p.Item, q.Item))
}

// Record starts writing the run's observations.
func (d *Dir) Record() (*Recorder, error) {
	file, err := atomicfile.CreatePrivate(filepath.Join(d.Path, observationsFile))
	if err != nil {
		return nil, err
	}
	r := &Recorder{dir: d, file: file, sum: sha256.New()}
	r.buffer = bufio.NewWriterSize(io.MultiWriter(file.File, r.sum), 1<<16)
	return r, nil
}

// AddAt writes an observation and, in the run of a shard, its place.
func (r *Recorder) AddAt(o crosstalk.Observation, at Place) (err error) {
	if r.line, err = encode(r.line[:0], &o); err != nil {
		return err
	}
	if !r.dir.Manifest.Plan.Shard.IsZero() {
		r.line = at.append(r.line[:len(r.line)-1])
	}
	return r.AddPlaced(Placed{line: append(r.line, '\n')})
}

// AddPlaced writes the observation of a shard, without its place.
func (r *Recorder) AddPlaced(o Placed) error {
	r.n++
	_, err := r.buffer.Write(o.line)
	return err
}

// append appends the end of the line of an observation with a place.
func (p Place) append(line []byte) []byte {
	line = strconv.AppendInt(append(line, `,"place":[`...), int64(p.Part), 10)
	return append(strconv.AppendInt(append(line, ','), int64(p.Item), 10), ']', '}')
}

// Commit puts the observations file in place. SetScoring, which must follow, records it in the manifest.
func (r *Recorder) Commit() error {
	if err := r.buffer.Flush(); err != nil {
		return err
	}
	if err := r.file.Commit(); err != nil {
		return err
	}
	r.dir.Manifest.Observations = &Content{N: r.n, SHA256: hex.EncodeToString(r.sum.Sum(nil))}
	return nil
}

// Discard drops the observations. It does nothing after Commit.
func (r *Recorder) Discard() { r.file.Discard() }

// ReadObservations yields the observations that a run recorded. Only at the end is it known whether they are complete
// and unchanged: if not, the last pair is a *ChangedError, and results computed from them must not be used. A caller
// that stops early does not learn it. Without a manifest, or a record in it, observations are not checked.
// Observations share conditions and labels, which must not be changed.
func ReadObservations(path string) iter.Seq2[crosstalk.Observation, error] {
	return observations(path, newParser())
}

// ReadValues is ReadObservations without the slow parts: spans, masked parts, tokens, answers and other texts.
func ReadValues(path string, texts ...string) iter.Seq2[crosstalk.Observation, error] {
	return observations(path, ofValues(texts))
}

func observations(path string, p *parser) iter.Seq2[crosstalk.Observation, error] {
	return ahead(func(yield func(crosstalk.Observation, int) bool) error {
		return readObservations(path, p, func(l line, text []byte) bool { return yield(l.Observation, len(text)) })
	})
}

// Located is an observation with the byte offset of its line in the file.
type Located struct {
	crosstalk.Observation
	Offset, Size int64
}

// ReadLocated is ReadObservations for callers that return to some of the lines.
func ReadLocated(path string) iter.Seq2[Located, error] {
	return ahead(func(yield func(Located, int) bool) error {
		return readObservations(path, newParser(), func(l line, text []byte) bool {
			return yield(Located{l.Observation, l.offset, int64(len(text))}, len(text))
		})
	})
}

// Placed is an observation of a shard, as read by ReadValues, with its place.
type Placed struct {
	crosstalk.Observation
	At   Place
	line []byte // the whole line without the place, including the line break
}

// ReadPlaced reads the observations in a shard's run. The places ascend.
func ReadPlaced(path string, texts ...string) iter.Seq2[Placed, error] {
	return ahead(func(yield func(Placed, int) bool) error {
		last := Place{-1, -1}
		var wrong error
		var end []byte
		n := 0
		refuse := func(format string, args ...any) bool {
			wrong = fmt.Errorf("%s:%d: "+format, append([]any{filepath.Join(path, observationsFile), n}, args...)...)
			return false
		}
		err := readObservations(path, ofValues(texts), func(o line, text []byte) bool {
			n++
			if o.Place == nil {
				return refuse("has no place: it is not of a shard")
			}
			at := Place{o.Place[0], o.Place[1]}
			if at.Compare(last) < 0 {
				return refuse("its place %v comes before %v, the place of the line above", at, last)
			}
			if at.Part < 0 || at.Item < 0 {
				return refuse("its place is %v; expected numbers from 0", at)
			}
			last = at
			end = at.append(end[:0])
			without, found := bytes.CutSuffix(bytes.TrimSpace(text), end)
			if !found {
				return refuse("does not end with its place")
			}
			whole := append(append(make([]byte, 0, len(without)+2), without...), '}', '\n')
			return yield(Placed{o.Observation, at, whole}, len(text))
		})
		return cmp.Or(wrong, err)
	})
}

// Limits of a batch of observations that are read ahead; a batch may exceed the bytes by a little.
const (
	batchLength = 64
	batchBytes  = 1 << 20
)

// ahead yields the values of read with their sizes, and then its error. It reads in another goroutine to save time.
func ahead[T any](read func(yield func(one T, size int) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		batches, done := make(chan []T, 1), make(chan struct{})
		var err error // valid once batches is closed
		go func() {
			defer close(batches)
			var batch []T
			inBatch := 0
			send := func() bool {
				select {
				case batches <- batch:
					batch, inBatch = make([]T, 0, batchLength), 0
					return true
				case <-done:
					return false
				}
			}
			err = read(func(one T, size int) bool {
				batch = append(batch, one)
				inBatch += size
				return len(batch) < batchLength && inBatch < batchBytes || send()
			})
			send()
		}()
		defer func() {
			close(done)
			for range batches { // until the reading has ended
			}
		}()
		for batch := range batches {
			for _, one := range batch {
				if !yield(one, nil) {
					return
				}
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// maxLine bounds the line of an observation, far above any answer: 8 MiB each.
var maxLine = 256 << 20 // tests change it

func readObservations(path string, p *parser, yield func(l line, text []byte) bool) error {
	f, check, err := openObservations(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, n, number, offset := sha256.New(), 0, 1, int64(0)
	r := bufio.NewReaderSize(io.TeeReader(f, sum), 1<<16)
	var long []byte // a line larger than the buffer
	for {
		text, err := r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			switch long = append(long, text...); {
			case long[0] != '{':
				_, err := p.parse(long) // the error is specific
				return fmt.Errorf("%s:%d: %w", f.Name(), number, err)
			case len(long) > maxLine:
				return fmt.Errorf("%s:%d: is longer than %d MiB", f.Name(), number, maxLine>>20)
			}
			continue
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", f.Name(), number, err)
		}
		if len(long) > 0 {
			long = append(long, text...)
			text = long
		}
		if len(bytes.TrimSpace(text)) > 0 {
			l, err := p.parse(text)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", f.Name(), number, err)
			}
			n++
			l.offset = offset
			if !yield(l, text) {
				return nil
			}
		}
		number, offset, long = number+1, offset+int64(len(text)), long[:0]
		if err == io.EOF {
			return check(Content{n, hex.EncodeToString(sum.Sum(nil))})
		}
	}
}

// openObservations opens observations.jsonl. check returns a *ChangedError if the content differs from the recorded
// one.
func openObservations(path string) (f *os.File, check func(Content) error, err error) {
	want, err := recorded(path) // before the file: if that is replaced meanwhile, the manifest is older
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(path, observationsFile)
	if f, err = plainfile.Open(file); err != nil {
		return nil, nil, err
	}
	return f, func(got Content) error {
		if want == nil || got == *want {
			return nil
		}
		// A scoring that ended in between has replaced both.
		if now, _ := recorded(path); now != nil && got == *now {
			return nil
		}
		return &ChangedError{File: file, Want: want.N, Got: got.N}
	}, nil
}

// recorded returns the content of observations that a run's manifest records, or nil.
func recorded(path string) (*Content, error) {
	m, err := ReadManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m.Observations, err
}

// ChangedError reports that a run's observations or figures are not those that were written.
type ChangedError struct {
	File      string
	Want, Got int // observations; equal if only the content differs
}

func (e *ChangedError) Error() string {
	what := fmt.Sprintf("the number of observations is %d; the run's manifest says %d", e.Got, e.Want)
	if e.Got == e.Want {
		what = "was changed after it was written: its SHA-256 differs from the one in the run's manifest"
	}
	return fmt.Sprintf("%s: %s: score the run again with the command that made it (no answered request is sent again)",
		e.File, what)
}
