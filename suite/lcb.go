package suite

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"
	"crosstalk/recorded"
)

const (
	maxArchive = 64 << 20 // bytes, packed and unpacked; the benchmark has 5 MB
	maxFiles   = 10000    // in an archive
)

// tasks are the benchmark's folders and the names of tasks in recorded answers.
var tasks = []string{"monolingual", "crosslingual"}

// importLCB reads the test sets of the Language Confusion Benchmark (Marchisio et al. 2024), as a zip file or a folder.
// Items have the names and labels of the answers that its authors published.
func importLCB(archive string) (*Suite, error) {
	root, names, err := testSets(archive)
	if err != nil {
		return nil, err
	}
	if z, ok := root.(io.Closer); ok {
		defer z.Close()
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: contains no file such as crosslingual/okapi/fr.csv; expected the test_sets of the "+
			"Language Confusion Benchmark", archive)
	}
	s := &Suite{Name: BaseName(archive), Instrument: "confusion", Version: 1}
	left := int64(maxArchive)
	lines := map[string]string{} // by id
	for _, name := range names {
		file, task := filepath.Join(archive, name), path.Base(path.Dir(path.Dir(name)))
		in, err := root.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		n := 0
		for row, err := range table.ReadFrom(file, &limited{in, &left}) {
			if err == nil {
				err = s.addLCB(task, row, n, lines)
			}
			if err != nil {
				return nil, errors.Join(err, in.Close())
			}
			n++
		}
		if err := in.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if s.Items.Len() == 0 {
		return nil, fmt.Errorf("%s: contains no prompts", archive)
	}
	return s, nil
}

var places = map[string]string{"Start": atStart, "Middle": integrated, "End": atEnd}

// addLCB builds an item from row n of a file, counted from 0.
func (s *Suite) addLCB(task string, row table.Row, n int, lines map[string]string) error {
	v := row.Values
	for _, column := range []string{"prompt", "source", "language"} {
		if strings.TrimSpace(v[column]) == "" {
			return row.Errorf("has no %s; expected the columns prompt, source and language, and optionally location", column)
		}
	}
	code, tag, err := recorded.LanguageOf(v["language"])
	if err != nil {
		return row.Errorf("%w", err)
	}
	p := &crosstalk.Prompt{Text: v["prompt"], Language: code, Tag: tag}
	if location := v["location"]; location != "" {
		place := places[location]
		if place == "" {
			return row.Errorf("location is %q; expected Start, Middle or End", location)
		}
		p.Placed = map[string]string{place: p.Text}
	}
	labels := map[string]string{"task": task, "length": crosstalk.LengthOf(p.Text)}
	for column, value := range v {
		if value != "" && column != "prompt" && column != "task" && column != "location" {
			labels[column] = value
		}
	}
	item := recorded.ConfusionItem(labels, strconv.Itoa(n), p)
	if other := lines[item.ID]; other != "" {
		return row.Errorf("duplicate item %q (first used at %s)", item.ID, other)
	}
	lines[item.ID] = fmt.Sprintf("%s:%d", row.File, row.Line)
	s.Items.Add(item)
	return nil
}

// testSets opens a folder or a zip file, which may have to be closed, and returns the names of the benchmark's files in
// it, sorted: TASK/SOURCE/LANGUAGE.csv, in a zip file anywhere, of a folder at its top or in test_sets.
func testSets(archive string) (root fs.FS, names []string, err error) {
	info, err := os.Stat(archive)
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		root = os.DirFS(archive)
		for _, task := range tasks {
			for _, folder := range []string{task, "test_sets/" + task} {
				found, _ := fs.Glob(root, folder+"/*/*.csv") // the pattern is valid
				names = append(names, found...)
			}
		}
	case info.Size() > maxArchive:
		return nil, nil, fmt.Errorf("%s: is larger than %d MiB", archive, maxArchive>>20)
	default:
		z, err := zip.OpenReader(archive)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", archive, err)
		}
		if names, err = namesIn(z.File); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("%s: %w", archive, err), z.Close())
		}
		root = z
	}
	slices.Sort(names)
	return root, names, nil
}

// namesIn returns the names of the benchmark's files among those of a zip file.
func namesIn(files []*zip.File) (names []string, err error) {
	seen := map[string]bool{}
	for i, f := range files {
		name := strings.TrimSuffix(f.Name, "/")
		switch {
		case i == maxFiles:
			return nil, fmt.Errorf("contains more than %d files", maxFiles)
		case !fs.ValidPath(name) || strings.Contains(name, `\`):
			return nil, fmt.Errorf("contains a file named %.100q, which points outside the archive", f.Name)
		case seen[name]:
			return nil, fmt.Errorf("contains %.100q twice", name)
		}
		seen[name] = true
		parts := strings.Split(name, "/")
		if n := len(parts); n >= 3 && slices.Contains(tasks, parts[n-3]) && path.Ext(name) == ".csv" &&
			parts[0] != "__MACOSX" && !f.FileInfo().IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// limited is a reader that fails when the bytes that all readers share are used up: few can expand to gigabytes.
type limited struct {
	in   io.Reader
	left *int64
}

func (l *limited) Read(p []byte) (int, error) {
	if *l.left <= 0 {
		return 0, fmt.Errorf("the unpacked files are larger than %d MiB", maxArchive>>20)
	}
	n, err := l.in.Read(p)
	*l.left -= int64(n)
	return n, err
}
