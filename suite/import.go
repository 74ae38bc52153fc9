package suite

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/table"
	"crosstalk/recorded"
	"crosstalk/suite/datasets"
)

// fromTable builds a suite from a table: pairs for leakage if it has controls, or else prompts for confusion.
func fromTable(path, instrument string) (*Suite, error) {
	if instrument == "" {
		for row, err := range table.Read(path) {
			if err == nil && !row.Has("control_prompt") && !row.Has("n_control") && row.Has("language") &&
				(row.Has("prompt") || row.Has("messages")) {
				instrument = "confusion"
			}
			break // reading again reports errors
		}
	}
	if instrument == "confusion" {
		return fromPrompts(path)
	}
	return fromRecorded(path)
}

func fromPrompts(path string) (*Suite, error) {
	s := &Suite{Name: BaseName(path), Instrument: "confusion", Version: 1, Prefix: map[crosstalk.API]string{}}
	// Hashes of ids and prompts: a file of recorded answers repeats an item for each sample and model.
	seen := map[uint64]uint64{}
	for item, err := range recorded.ReadPrompts(path) {
		if err != nil {
			return nil, err
		}
		id, prompt := hash("part", item.ID), hash("part", string(crosstalk.Canonical(item.Prompt)))
		if before, again := seen[id]; again && before != prompt {
			return nil, fmt.Errorf("%s: the id %q has two prompts; give each its own", path, item.ID)
		} else if again {
			continue
		}
		seen[id] = prompt
		s.Items.Add(item)
	}
	return s, nil
}

// fromRecorded builds a suite from the items of recorded answers, such as Smilga's workbooks and their JSON Lines.
func fromRecorded(path string) (*Suite, error) {
	s := &Suite{Name: BaseName(path), Instrument: "leakage", Version: 1, Prefix: map[crosstalk.API]string{}}
	seen := map[uint64]bool{} // hashes of names: a file repeats an item for each sample and model
	for row, err := range recorded.ReadItems(path) {
		if err != nil {
			return nil, err
		}
		if row.Unusable != "" {
			s.Unusable = append(s.Unusable, "line "+strings.TrimPrefix(row.Where, path+":")+": "+row.Unusable)
			continue
		}
		name := hash("part", row.Item.Labels["dataset"]+"\x00"+row.Item.ID)
		if seen[name] {
			continue
		}
		seen[name] = true
		s.Items.Add(row.Item)
	}
	if s.Items.Len() == 0 {
		return nil, fmt.Errorf("%s: no row has both a test and a control prompt", path)
	}
	return s, nil
}

const instruction = "Complete the sentence:"

// parsePromptList reads the prompt list that Gonen et al. published: a control followed by its tests, one prompt per
// line. The file marks neither controls nor concepts; both are inferred from the wording.
func parsePromptList(name string, text []byte) (*Suite, error) {
	s := &Suite{Name: BaseName(name), Instrument: "leakage", Version: 1, Language: "en",
		Prefix: map[crosstalk.API]string{crosstalk.Chat: instruction + " "}}
	type prompt struct {
		text string
		line int
	}
	var control prompt
	var tests []prompt
	flush := func() error {
		if control.text != "" && len(tests) == 0 {
			return fmt.Errorf("%s:%d: a control without a test: the next line has a different ending", name, control.line)
		}
		texts := make([]string, len(tests))
		for i, t := range tests {
			texts[i] = t.text
		}
		for i, concept := range concepts(control.text, texts) {
			if concept == "" {
				return fmt.Errorf("%s:%d: cannot find the concept: the prompt is not its control with words added",
					name, tests[i].line)
			}
			s.Items.Add(crosstalk.Item{ID: fmt.Sprintf("line-%d", tests[i].line), Cluster: control.text,
				Labels: map[string]string{"language": s.Language},
				Pair:   &crosstalk.Pair{Concept: concept, Test: tests[i].text, Control: control.text}})
		}
		tests = nil
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if !utf8.Valid(lines.Bytes()) {
			return nil, fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", name, n)
		}
		line := strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimPrefix(lines.Text(), "\ufeff"), instruction)), " ")
		if line == "" {
			continue
		}
		if control.text == "" || startsBlock(line, control.text) {
			if err := flush(); err != nil {
				return nil, err
			}
			control = prompt{line, n}
			continue
		}
		tests = append(tests, prompt{line, n})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := flush(); err != nil {
		return nil, err
	}
	if s.Items.Len() == 0 {
		return nil, fmt.Errorf("%s: contains no prompts", name)
	}
	return s, nil
}

// plain matches the controls of the list with the same ending as the previous block.
var plain = lazyregexp.New(`^(He|She) (was very \w+|has a friend)$`)

// startsBlock reports whether line is a new control rather than a test of control: it has no first sentence or
// another ending.
func startsBlock(line, control string) bool {
	before, ending := split(line)
	controlBefore, controlEnding := split(control)
	if before == "" || plain().MatchString(before) {
		return true
	}
	if controlBefore == "" { // "My dad works as a" / "My dad likes spy movies. He works as a"
		return lastWords(ending, 2) != lastWords(controlEnding, 2)
	}
	return ending != controlEnding
}

func split(prompt string) (before, ending string) {
	i := strings.LastIndex(prompt, ". ")
	if i < 0 {
		return "", prompt
	}
	return prompt[:i], prompt[i+2:]
}

func lastWords(s string, n int) string {
	words := strings.Fields(s)
	return strings.Join(words[max(0, len(words)-n):], " ")
}

// concepts returns the part of each test that its siblings lack or, for a single test, that its control lacks.
func concepts(control string, tests []string) []string {
	before := make([][]string, 0, len(tests)+1)
	for _, t := range tests {
		first, _ := split(t)
		before = append(before, strings.Fields(first))
	}
	if len(tests) == 1 {
		first, _ := split(control)
		before = append(before, strings.Fields(first))
	}
	prefix, suffix := commonEnds(before)
	result := make([]string, len(tests))
	for i := range tests {
		words := before[i]
		if prefix+suffix < len(words) {
			result[i] = trimFunctionWords(words[prefix : len(words)-suffix])
		}
	}
	return result
}

// commonEnds counts the words that all lists share at the start and at the end.
func commonEnds(lists [][]string) (prefix, suffix int) {
	if len(lists) == 0 {
		return 0, 0
	}
	shortest := len(slices.MinFunc(lists, func(a, b []string) int { return len(a) - len(b) }))
	same := func(word func([]string) string) bool {
		return !slices.ContainsFunc(lists, func(l []string) bool { return word(l) != word(lists[0]) })
	}
	for prefix < shortest && same(func(l []string) string { return l[prefix] }) {
		prefix++
	}
	for suffix < shortest-prefix && same(func(l []string) string { return l[len(l)-1-suffix] }) {
		suffix++
	}
	return prefix, suffix
}

func trimFunctionWords(words []string) string {
	function := []string{"a", "an", "the", "is", "for", "of", "to"}
	for len(words) > 1 && slices.Contains(function, words[0]) {
		words = words[1:]
	}
	for len(words) > 1 && slices.Contains(function, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.Trim(strings.Join(words, " "), ",.")
}

// importSmilga reads the workbooks of Smilga (2025): the prompts about colours, and those of Gonen et al. The column
// dataset has Smilga's names of the two, which are also in the items' ids, because both count their rows from 0.
func importSmilga(dir string) (*Suite, error) {
	all := &Suite{Instrument: "leakage", Version: 1, Language: "en"}
	for _, part := range []struct{ dataset, file string }{
		{"color", "color_prompts_qwen_3_instr.xlsx"},
		{"initial", "initial_prompts_qwen_3_instr.xlsx"},
	} {
		s, err := fromRecorded(filepath.Join(dir, part.file))
		if err != nil {
			return nil, err
		}
		all.Prefix = s.Prefix // none: the prompts begin with an instruction
		for _, item := range s.Items.All() {
			item.ID, item.Labels = part.dataset+"/"+item.ID, maps.Clone(item.Labels)
			item.Labels["dataset"], item.Labels["language"] = part.dataset, all.Language
			all.Items.Add(item)
		}
		for _, row := range s.Unusable {
			all.Unusable = append(all.Unusable, part.file+": "+row)
		}
	}
	return all, nil
}

// PulledDir returns the folder of a data set that was fetched. If files are missing, the error is a
// *datasets.MissingError that names the command.
func PulledDir(name string) (string, error) {
	s, ok := datasets.Named(datasets.Suite, name)
	if !ok {
		return "", fmt.Errorf("unknown data set %q (see crosstalk suites)", name)
	}
	return s.Find()
}

func loadPulled(from datasets.Source) (*Suite, error) {
	dir, err := from.Find()
	if err != nil {
		return nil, err
	}
	var s *Suite
	switch from.Name {
	case "gonen-2024", "lcb":
		s, err = Load(filepath.Join(dir, from.Files[0].Name))
	case "smilga-2025":
		s, err = importSmilga(dir)
	default:
		text, _ := data.ReadFile(path.Join("tasks", from.Name+".yaml")) // each of the others has its own task
		s, err = Parse(from.Name+".yaml", text)
	}
	if err != nil {
		return nil, err
	}
	s.Name, s.License, s.Description = from.Name, from.License, cmp.Or(s.Description, from.What)
	return s, nil
}

const (
	maxArchive = 64 << 20 // bytes of a text, or of an archive, packed and unpacked; the benchmark has 5 MB
	maxFiles   = 10000    // in an archive
)

// tasks maps the benchmark's folders to the names of tasks in recorded answers.
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

// addLCB builds an item from row n of a file, from 0.
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

// testSets opens a folder or a zip file, which may need closing, and returns the sorted names of the benchmark's
// files: TASK/SOURCE/LANGUAGE.csv, anywhere in a zip file, but at the top of a folder or in its test_sets.
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

// namesIn returns the names of the benchmark's files in a zip file.
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

// limited fails when the bytes that all readers share are used up: a small archive can expand to gigabytes.
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
