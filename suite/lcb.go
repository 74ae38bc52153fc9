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

// testSet is one file of the benchmark, TASK/SOURCE/LANGUAGE.csv, anywhere in a zip file or a folder.
type testSet struct {
	name string // including the archive or folder, for errors
	task string
	open func() (io.ReadCloser, error)
}

// tasks are the benchmark's folders and the names of tasks in recorded answers.
var tasks = []string{"monolingual", "crosslingual"}

// importLCB reads the test sets of the Language Confusion Benchmark (Marchisio et al. 2024), as a zip file or a folder.
// Items have the names and labels of the answers that its authors published.
func importLCB(archive string) (*Suite, error) {
	sets, closeAll, err := testSets(archive)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s: contains no file such as crosslingual/okapi/fr.csv; expected the test_sets of the "+
			"Language Confusion Benchmark", archive)
	}
	s := &Suite{Name: BaseName(archive), Instrument: "confusion", Version: 1}
	left := int64(maxArchive)
	lines := map[string]string{} // by id
	for _, set := range sets {
		in, err := set.open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set.name, err)
		}
		n := 0
		for row, err := range table.ReadFrom(set.name, &limited{in, &left}) {
			if err == nil {
				err = s.addLCB(set.task, row, n, lines)
			}
			if err != nil {
				return nil, errors.Join(err, in.Close())
			}
			n++
		}
		if err := in.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", set.name, err)
		}
	}
	if s.Items.Len() == 0 {
		return nil, fmt.Errorf("%s: contains no prompts", archive)
	}
	return s, nil
}

// places maps the benchmark's names of positions to ours.
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

// testSets finds the benchmark's files, sorted by their names.
func testSets(archive string) (sets []testSet, closeAll func() error, err error) {
	info, err := os.Stat(archive)
	if err != nil {
		return nil, nil, err
	}
	closeAll = func() error { return nil }
	if info.IsDir() {
		sets, err = setsOfFolder(archive)
	} else if info.Size() > maxArchive {
		err = fmt.Errorf("%s: is larger than %d MiB", archive, maxArchive>>20)
	} else {
		sets, closeAll, err = setsOfZip(archive)
	}
	slices.SortFunc(sets, func(a, b testSet) int { return strings.Compare(a.name, b.name) })
	return sets, closeAll, err
}

// setsOfFolder searches the folder and its subfolder test_sets.
func setsOfFolder(dir string) (sets []testSet, err error) {
	root := os.DirFS(dir)
	for _, task := range tasks {
		for _, folder := range []string{task, "test_sets/" + task} {
			names, err := fs.Glob(root, folder+"/*/*.csv")
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				sets = append(sets, testSet{filepath.Join(dir, name), task,
					func() (io.ReadCloser, error) { return root.Open(name) }})
			}
		}
	}
	return sets, nil
}

// setsOfZip reads only the names; nothing is unpacked to the disk.
func setsOfZip(archive string) (sets []testSet, closeAll func() error, err error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", archive, err)
	}
	seen := map[string]bool{}
	for i, f := range z.File {
		name := strings.TrimSuffix(f.Name, "/")
		switch {
		case i == maxFiles:
			err = fmt.Errorf("%s: contains more than %d files", archive, maxFiles)
		case !fs.ValidPath(name) || strings.Contains(name, `\`):
			err = fmt.Errorf("%s: contains a file named %.100q, which points outside the archive", archive, f.Name)
		case seen[name]:
			err = fmt.Errorf("%s: contains %.100q twice", archive, name)
		}
		if err != nil {
			return nil, nil, errors.Join(err, z.Close())
		}
		seen[name] = true
		parts := strings.Split(name, "/")
		if n := len(parts); n >= 3 && slices.Contains(tasks, parts[n-3]) && path.Ext(name) == ".csv" &&
			parts[0] != "__MACOSX" && !f.FileInfo().IsDir() {
			sets = append(sets, testSet{archive + "/" + name, parts[n-3], f.Open})
		}
	}
	return sets, z.Close, nil
}

// limited is a reader that fails when the byte limit that all readers share is
// used up, because a few packed bytes can expand to gigabytes.
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
