package labels

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/table"
)

// Imported is what a sheet contains.
type Imported struct {
	Labels   []Label // un-blinded
	Blank    int     // questions without an answer
	Restored int     // ids without the zeros at their beginning, which a spreadsheet dropped
}

// answered is an answer on a sheet.
type answered struct {
	where string // file and line
	Answer
}

// errorf is an error that names the file and the line.
func (a answered) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", a.where, fmt.Errorf(format, args...))
}

// ImportInto reads a sheet of a finished run that an annotator has filled in, as
// Sheet.Import does, and adds its labels to the run. question is that of the sheet,
// by default the first of the run's instrument. A sheet without a label is an error.
func ImportInto(path, question, file, annotator string, now time.Time) (Imported, error) {
	sheet, err := Open(path, question)
	if err != nil {
		return Imported{}, err
	}
	design, err := ReadDesign(path)
	if err != nil {
		return Imported{}, err
	}
	old, err := Read(path)
	if err != nil {
		return Imported{}, err
	}
	imported, err := sheet.Import(design, file, annotator, old, now)
	if err != nil {
		return Imported{}, err
	}
	if len(imported.Labels) == 0 {
		return Imported{}, fmt.Errorf("%s: no question has a label; fill in the column label", file)
	}
	return imported, Append(path, imported.Labels...)
}

// Import reads a sheet that an annotator has filled in: CSV, TSV, JSON Lines or
// a workbook with the columns of an exported one, or the tasks that Label Studio
// exports (.json). Questions without an answer are counted. An unknown id or
// label, a question that the sheet has twice, and one that the annotator has
// answered before (old) are errors that name the file and the line; then
// nothing is imported.
func (s *Sheet) Import(d Design, file, annotator string, old []Label, now time.Time) (Imported, error) {
	var result Imported
	if annotator = strings.TrimSpace(annotator); annotator == "" {
		return result, crosstalk.BadOption("annotator", ": expected a name")
	}
	if d.Secret == "" {
		return result, fmt.Errorf("no questions were exported from this run; use 'crosstalk labels export' first")
	}
	read := readTable
	if strings.EqualFold(filepath.Ext(file), ".json") {
		read = readTasks
	}
	answers, err := read(file)
	if err != nil {
		return result, err
	}
	blind := s.Blind(d)
	before := map[string]bool{}
	for _, l := range old {
		if l.Annotator == annotator {
			before[l.Key()] = true
		}
	}
	first := map[string]string{} // where a unit was answered
	for _, a := range answers {
		u, known := blind.Unit(a.ID)
		if _, err := strconv.ParseFloat(a.ID, 64); !known && err == nil {
			return Imported{}, a.errorf("unknown id %s, a number that a spreadsheet may have made of it; expected that of the exported sheet", a.ID)
		}
		if !known {
			return Imported{}, a.errorf("unknown id %s; expected one of a sheet exported from this run", a.ID)
		}
		if len(a.ID) < idDigits {
			result.Restored++
		}
		if where, again := first[u.key]; again {
			return Imported{}, a.errorf("duplicate id %s (first used in %s)", a.ID, where)
		}
		first[u.key] = a.where
		if a.Shown == "" {
			result.Blank++
			continue
		}
		a.Annotator = annotator
		if a.When.IsZero() {
			a.When = now
		}
		label, err := blind.Label(a.Answer)
		if err != nil {
			return Imported{}, a.errorf("%w", err)
		}
		if before[u.key] {
			return Imported{}, a.errorf("%s has answered question %s before", annotator, a.ID)
		}
		result.Labels = append(result.Labels, label)
	}
	return result, nil
}

func readTable(file string) (list []answered, err error) {
	for row, err := range table.Read(file) {
		if err != nil {
			return nil, err
		}
		for _, needed := range []string{"id", "label"} {
			if !row.Has(needed) {
				return nil, row.HeaderErrorf("no column %s; expected the columns of an exported sheet", needed)
			}
		}
		a := answered{fmt.Sprintf("%s:%d", row.File, row.Line), Answer{ID: strings.TrimSpace(row.Values["id"]),
			Shown: strings.TrimSpace(row.Values["label"]), Comment: row.Values["comment"]}}
		if text := strings.TrimSpace(row.Values["seconds"]); text != "" {
			if a.Seconds, err = strconv.ParseFloat(text, 64); err != nil || !(a.Seconds >= 0 && a.Seconds < 1e9) {
				return nil, row.Errorf("seconds is %q; expected a number that is not negative", text)
			}
		}
		list = append(list, a)
	}
	return list, nil
}

// maxTasks bounds a file of tasks.
const maxTasks = 256 << 20 // bytes

// readTasks reads what Label Studio exports as JSON.
func readTasks(file string) ([]answered, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTasks+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxTasks {
		return nil, fmt.Errorf("%s: is larger than %d MiB", file, maxTasks>>20)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	line := func() int {
		rest := text[d.InputOffset():]
		next := len(rest) - len(bytes.TrimLeft(rest, ", \t\r\n")) // what is read next
		return 1 + bytes.Count(text[:int(d.InputOffset())+next], []byte("\n"))
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, fmt.Errorf("%s:1: expected a list of Label Studio's tasks", file)
	}
	var list []answered
	for d.More() {
		a := answered{where: fmt.Sprintf("%s:%d", file, line())}
		var t task
		if err := d.Decode(&t); err != nil {
			return nil, a.errorf("invalid task: %v", err)
		}
		a.ID = t.Data.ID
		given := slices.DeleteFunc(t.Annotations, func(n annotation) bool { return n.Cancelled })
		if len(given) > 1 {
			return nil, a.errorf("the task has %d annotations; export those of one annotator", len(given))
		}
		for _, n := range given {
			a.Seconds = n.Seconds
			a.When, _ = time.Parse(time.RFC3339, n.Created)
			var chosen []string
			for _, r := range n.Result {
				chosen = append(chosen, r.Value.Choices...)
				a.Comment = strings.Join(append(nonEmpty(a.Comment), r.Value.Text...), "\n")
			}
			if len(chosen) > 1 {
				return nil, a.errorf("the task has %d choices; expected one", len(chosen))
			}
			a.Shown = strings.Join(chosen, "")
		}
		list = append(list, a)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s:%d: the list of tasks does not end: %w", file, line(), err)
	}
	return list, nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
