package recorded

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/table"

	"github.com/klauspost/compress/zstd"
)

// maxSample limits a sample of a log, which may contain all that an agent did.
const maxSample = 64 << 20

func isInspect(row table.Row) bool { return row.Has("eval model") }

// newInspect reads a log of Inspect. It refuses a sample that the log has twice.
func newInspect() layout {
	type epoch struct{ id, number string }
	seen := map[epoch]string{} // where
	return layout{name: "samples of Inspect", read: func(row table.Row) (map[string]string, []reply, error) {
		one := epoch{row.Values["id"], row.Values["epoch"]}
		if first := seen[one]; one.id != "" && first != "" {
			return nil, nil, row.Errorf("duplicate sample: id %q, epoch %s (first in %s)", one.id, one.number, first)
		}
		seen[one] = where(row)
		var output struct {
			Choices []struct{ Message map[string]json.RawMessage }
		}
		if text := row.Values["output"]; text != "" && json.Unmarshal([]byte(text), &output) != nil {
			return nil, nil, row.Errorf("output is not from a sample of Inspect: expected choices, each with a message")
		}
		columns, answer := inspect(row)
		return columns, []reply{answer}, nil
	}}
}

// inspect reads the model's last answer in a sample, as Inspect's scorers do. The sample's metadata are columns.
func inspect(row table.Row) (map[string]string, reply) {
	values := map[string]string{"completion": textIn(row.Values["output"]), "id": row.Values["id"]}
	for ours, theirs := range map[string]string{"model": "eval model", "task": "eval task"} {
		if row.Values[theirs] != "" {
			values[ours] = row.Values[theirs]
		}
	}
	if n, err := strconv.Atoi(row.Values["epoch"]); err == nil && n > 0 {
		values["sample"] = strconv.Itoa(n - 1)
	}
	turns := turnsOf(listed(row.Lists["messages"]))
	if turns == nil {
		turns = turnsOf(listed(row.Lists["input"]))
	}
	if turns == nil {
		turns = conversation(row.Values["input"])
	}
	failed := values["completion"] == "" && row.Values["error"] != ""
	return members(row.Values["metadata"]), reply{values: values, turns: turns, failed: failed}
}

// spec is what a log says of all its samples.
type spec struct {
	Model string `json:"model"`
	Task  string `json:"task"`
}

// sample is a row of a sample, with the model and the task of the log.
func (s spec) sample(file string, line int, text []byte) (table.Row, error) {
	row, err := table.ParseObject(file, line, text)
	if err == nil {
		row.Values["eval model"], row.Values["eval task"] = s.Model, s.Task
	}
	return row, err
}

// Zip's number for Zstandard, in which newer versions of Inspect compress.
const zipZstandard = 93

// inspectSamples yields the samples of a log in Inspect's format .eval: a zip file with header.json, or while it is
// written _journal/start.json, and a file for each sample. A sample's line is 1 and its file FILE:samples/NAME.
func inspectSamples(path string) iter.Seq2[table.Row, error] {
	return rowsBy(func(yield func(table.Row) error) error {
		z, err := zip.OpenReader(path)
		if err != nil {
			if e := (*os.PathError)(nil); errors.As(err, &e) {
				err = e.Err
			}
			return fmt.Errorf("%s: is not a readable log of Inspect: %w", path, err)
		}
		defer z.Close()
		z.RegisterDecompressor(zipZstandard, func(in io.Reader) io.ReadCloser {
			d, _ := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSample)) // valid options
			return d.IOReadCloser()
		})
		var header struct { // what the log says of its samples; it may say nothing
			Eval spec `json:"eval"`
		}
		for _, name := range []string{"header.json", "_journal/start.json"} {
			i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
			if i < 0 {
				continue
			}
			text, err := contentOfMember(z.File[i])
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if err := json.Unmarshal(text, &header); err != nil {
				return fmt.Errorf("%s: %s is not valid JSON: %w", path, name, err)
			}
			break
		}
		for _, f := range z.File {
			if !strings.HasPrefix(f.Name, "samples/") || !strings.HasSuffix(f.Name, ".json") {
				continue
			}
			text, err := contentOfMember(f)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			row, err := header.Eval.sample(path+":"+f.Name, 1, text)
			if err == nil {
				err = yield(row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func contentOfMember(f *zip.File) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer in.Close()
	text, err := io.ReadAll(table.Limit(in, maxSample))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return text, nil
}
