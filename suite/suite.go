// Package suite reads sets of items: the embedded ones, files in our own format, and the papers' data.
package suite

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/nearest"
	"crosstalk/internal/strictyaml"
	"crosstalk/recorded"
	"crosstalk/suite/datasets"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Suite is a named set of items for one instrument.
type Suite struct {
	Name        string
	Instrument  string
	Version     int
	Language    string // BCP 47; empty if items differ
	License     string
	Description string
	Prefix      map[crosstalk.API]string // text before each prompt, by API
	Card        *Card                    // nil: none
	MaxTokens   int                      // of an answer, unless the user sets another; 0: the protocol's
	Windows     string                   // leakage: Sentences, if answers are also scored sentence by sentence
	Begins      string                   // leakage: the language in which prompts begin, BCP 47, if they end in another
	Tasks       []crosstalk.Task         // consistency: the tasks of the items
	Items       Items
	Whole       int      // number of items of the suite of which this is a Part; 0: it is whole
	Unusable    []string // unusable rows of an imported file: line and reason
	remarks     []string // found while reading the file, for Check

	Demonstrations map[string][]crosstalk.Demonstration // for few-shot prompts, by language as in crosstalk.Prompt
}

// PrefixOf returns the text before each prompt to an API, from a Suite's Prefix. APIs with messages use Chat's prefix.
func PrefixOf(prefixes map[crosstalk.API]string, api crosstalk.API) string {
	if api == crosstalk.Responses {
		api = crosstalk.Chat
	}
	return prefixes[api]
}

// InContext reports whether the suite measures context leakage.
func (s *Suite) InContext() bool {
	return s.Items.Len() > 0 && s.Items.At(0).Pair != nil && s.Items.At(0).Pair.Context != nil
}

// ID returns the name and fingerprint of the suite for signatures: leakage-en@5a0c6f1e.
func (s *Suite) ID() string {
	var f Fingerprint
	for _, task := range s.Tasks {
		f.add(task)
	}
	for _, item := range s.Items.All() {
		f.Add(item)
	}
	if len(s.Demonstrations) > 0 {
		f.add(s.Demonstrations)
	}
	name := s.Name
	if s.Whole > 0 {
		name = fmt.Sprintf("%s[%d of %d]", s.Name, s.Items.Len(), s.Whole)
	}
	return name + "@" + f.String()
}

// Fingerprint is a short hash of a set of items, in any order. It covers what is asked and scored, but neither labels
// nor the reference model's answers. The zero value is the fingerprint of the empty set.
type Fingerprint struct{ sum uint64 }

// Add adds an item, which must not be added twice.
func (f *Fingerprint) Add(item crosstalk.Item) {
	item.Cluster, item.Labels = "", nil
	if p := item.Pair; p != nil {
		item.Pair = &crosstalk.Pair{Concept: p.Concept, Test: p.Test, Control: p.Control, Remove: p.Remove,
			Context: p.Context}
	}
	f.add(item)
}

func (f *Fingerprint) add(content any) {
	hash := sha256.Sum256(crosstalk.Canonical(content))
	f.sum += binary.BigEndian.Uint64(hash[:])
}

func (f Fingerprint) String() string { return fmt.Sprintf("%08x", uint32(f.sum>>32)^uint32(f.sum)) }

// data contains the embedded suites, each as a file and compiled, and the tasks of published data sets.
//
//go:embed data/*.yaml compiled/*.zst tasks/*.yaml
var data embed.FS

// Embedded returns the suites that come with the program, sorted by name.
func Embedded() ([]*Suite, error) {
	var suites []*Suite
	for _, name := range names() {
		s, err := embedded(name)
		if err != nil {
			return nil, err
		}
		suites = append(suites, s)
	}
	return suites, nil
}

func embedded(name string) (*Suite, error) {
	text, err := data.ReadFile(path.Join("data", name+".yaml"))
	if err != nil {
		return nil, err
	}
	if s, ok := compiled(name, text); ok {
		return s, nil
	}
	return Parse(name+".yaml", text)
}

// LoadFor is like Load, for one instrument; a suite for another one is an error.
func LoadFor(instrument, nameOrFile string) (*Suite, error) {
	s, err := loadAs(nameOrFile, instrument)
	if err == nil && s.Instrument != instrument {
		return nil, fmt.Errorf("%s is a %s suite; expected a %s suite (see crosstalk suites)",
			s.Name, s.Instrument, instrument)
	}
	return s, err
}

// Load returns the embedded suite of that name, or one that was fetched (see PulledDir), or reads a file: a suite
// (.yaml), a prompt list as published by Gonen et al. (.txt), the test sets of the Language Confusion Benchmark
// (.zip,
// or their folder), or a table (table.Formats) of prompts: pairs for leakage, or prompts with their languages for
// confusion. Answers in a table are ignored.
func Load(nameOrFile string) (*Suite, error) { return loadAs(nameOrFile, "") }

// Names returns the names of the embedded suites, and of those that can be fetched.
func Names() []string {
	var pulled []string
	for _, s := range datasets.All(datasets.Suite) {
		pulled = append(pulled, s.Name)
	}
	slices.Sort(pulled)
	return append(names(), pulled...)
}

// loadAs reads a table for an instrument or, if that is "", the one that its columns imply.
func loadAs(nameOrFile, instrument string) (*Suite, error) {
	if slices.Contains(names(), nameOrFile) {
		return embedded(nameOrFile)
	}
	if from, ok := datasets.Named(datasets.Suite, nameOrFile); ok {
		return loadPulled(from)
	}
	ext := strings.ToLower(filepath.Ext(nameOrFile))
	if info, err := os.Stat(nameOrFile); ext == ".zip" || err == nil && info.IsDir() {
		return importLCB(nameOrFile)
	} else if err != nil && ext == "" && !strings.ContainsRune(nameOrFile, filepath.Separator) {
		all := Names()
		return nil, fmt.Errorf("unknown suite %q; %schoose one of: %s; or name a file (.yaml, .zip, .txt, .csv, .tsv, "+
			".jsonl, .json, .xlsx, .parquet)", nameOrFile, nearest.Question(nameOrFile, all), strings.Join(all, ", "))
	}
	if !slices.Contains([]string{".yaml", ".yml", ".txt"}, ext) {
		return fromTable(nameOrFile, instrument)
	}
	text, err := strictyaml.ReadFile(nameOrFile, maxArchive)
	if err != nil {
		return nil, err
	}
	if ext == ".txt" {
		return parsePromptList(nameOrFile, text)
	}
	return Parse(nameOrFile, text)
}

func names() []string {
	files, _ := data.ReadDir("data")
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = strings.TrimSuffix(f.Name(), ".yaml")
	}
	slices.Sort(list) // leakage-de before leakage-de-en, unlike their files
	return list
}

// BaseNames names the suite of answers in several files.
func BaseNames(files []string) string {
	const most = 20
	names := make([]string, min(len(files), most))
	for i := range names {
		names[i] = BaseName(files[i])
	}
	if n := len(files) - most; n > 0 {
		names = []string{names[0], fmt.Sprintf("%d more", len(files)-1)}
	}
	return strings.Join(names, "+")
}

// BaseName returns the name of a suite in a file: the file's name without folder and extensions.
func BaseName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Card tells what a user should know about a suite before trusting its figures.
type Card struct {
	Purpose    string `yaml:"purpose" json:"purpose"`
	Written    string `yaml:"written" json:"written"`       // how, and by which rules
	Weaknesses string `yaml:"weaknesses" json:"weaknesses"` // known weaknesses
	Reviewed   string `yaml:"reviewed" json:"reviewed"`     // who has reviewed it in its language; "nobody", if nobody has
}

// Lines returns the card's entries with their keys.
func (c Card) Lines() [][2]string {
	return [][2]string{{"purpose", c.Purpose}, {"written", c.Written}, {"weaknesses", c.Weaknesses},
		{"reviewed", c.Reviewed}}
}

// check refuses a card with an empty entry, and trims the others.
func (c *Card) check(d document) {
	if c == nil {
		return
	}
	for _, line := range c.Lines() {
		if strings.TrimSpace(line[1]) == "" {
			d.refuse(d.lineOf("card"), "card: %s is missing", line[0])
		}
	}
	*c = Card{strings.TrimSpace(c.Purpose), strings.TrimSpace(c.Written), strings.TrimSpace(c.Weaknesses),
		strings.TrimSpace(c.Reviewed)}
}

// header has the fields of all instruments' suites. docs/suites.md describes these and the others.
type header struct {
	Suite       string `yaml:"suite"`
	Instrument  string `yaml:"instrument"`
	Version     int    `yaml:"version"`
	Language    string `yaml:"language"`
	License     string `yaml:"license"`
	Description string `yaml:"description"`
	Card        *Card  `yaml:"card"`
}

type reader struct {
	name     string
	clusters string // what the items of a cluster share
	read     func(document, *Suite)
	check    func(*Suite, *findings)
}

var instruments = []reader{
	{"leakage", "controls", readLeakage, checkPairs},
	{"confusion", "prompts", readConfusion, checkPrompts},
	{"consistency", "clusters", readConsistency, checkTasks},
}

// reader returns the reader of the suite's instrument. That of an unknown instrument reads nothing.
func (s *Suite) reader() reader {
	if i := slices.IndexFunc(instruments, func(r reader) bool { return r.name == s.Instrument }); i >= 0 {
		return instruments[i]
	}
	return reader{clusters: "clusters", check: func(*Suite, *findings) {}}
}

func instrumentNames() (names []string) {
	for _, i := range instruments {
		names = append(names, i.name)
	}
	return names
}

// A suite's name is part of signatures and of the names of run directories.
var suiteName = lazyregexp.New(`^[\pL\pN][\pL\pN._-]*$`)

// Parse reads a suite in our own format. name is the file's name for errors, which also name the line.
func Parse(name string, text []byte) (*Suite, error) {
	return parse(name, text, false)
}

// parse reads a suite. A partial one has only what is needed to score recorded answers.
func parse(name string, text []byte, partial bool) (s *Suite, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case refused:
			s, err = nil, p.error
		default:
			panic(p)
		}
	}()
	root, err := strictyaml.Parse(name, text, limits)
	if err != nil {
		return nil, err
	}
	d := document{name, text, root, partial}
	var h header
	d.decode(&h)
	d.refuseIf(h.Suite == "", 1, "expected suite: NAME")
	d.refuseIf(!suiteName().MatchString(h.Suite), d.lineOf("suite"),
		"%.40q is not a valid suite name; use only letters, digits, -, _ and .", h.Suite)
	d.refuseIf(h.Version < 0, d.lineOf("version"), "version is %d; expected a whole number from 1", h.Version)
	h.Card.check(d)
	s = &Suite{Card: h.Card, Name: h.Suite, Instrument: h.Instrument, Version: h.Version, Language: h.Language,
		License: h.License, Description: strings.TrimSpace(h.Description), Prefix: map[crosstalk.API]string{}}
	r := s.reader()
	d.refuseIf(r.read == nil, d.lineOf("instrument"), "instrument is %.40q; expected %s", h.Instrument,
		strings.Join(instrumentNames(), " or "))
	r.read(d, s)
	return s, nil
}

// refused is the panic of a reader that finds a mistake in a file, however deep; parse returns the error.
type refused struct{ error }

// document is a parsed file that is not decoded yet.
type document struct {
	name    string
	text    []byte
	root    ast.Node // nil for an empty file
	partial bool     // items of a task may be missing or have no texts
}

// limits bound a suite's file. A suite needs a depth of 5 and 10 keys per map.
var limits = strictyaml.Limits{Bytes: maxYAML, Depth: 16, Keys: 100, One: "suite"}

const maxYAML = 4 << 20

func (d document) decode(v any, options ...yaml.DecodeOption) {
	if err := strictyaml.Decode(d.name, d.root, v, options...); err != nil {
		panic(refused{err})
	}
}

// refuse stops reading the file because of a mistake in a line.
func (d document) refuse(line int, format string, args ...any) {
	panic(refused{fmt.Errorf("%s:%d: %w", d.name, line, fmt.Errorf(format, args...))})
}

func (d document) refuseIf(wrong bool, line int, format string, args ...any) {
	if wrong {
		d.refuse(line, format, args...)
	}
}

// language parses the language tag in a line of a list; see recorded.LanguageOf.
func (d document) language(line int, list, tag string) (code, scripted string) {
	code, scripted, err := recorded.LanguageOf(tag)
	d.refuseIf(err != nil, line, "%s: %w", list, err)
	return code, scripted
}

// lineOf returns the line of a top-level key.
func (d document) lineOf(key string) int {
	for i, line := range strings.Split(string(d.text), "\n") {
		if strings.HasPrefix(line, key+":") {
			return i + 1
		}
	}
	return 1
}

// at is a value with the line where it starts, so that errors found after decoding can name the line.
type at[T any] struct {
	value T
	line  int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (a *at[T]) UnmarshalYAML(node ast.Node) error {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		a.line = m.Values[0].Key.GetToken().Position.Line
	} else {
		a.line = node.GetToken().Position.Line
	}
	return yaml.NodeToValue(node, &a.value, yaml.Strict())
}

// inOrder is a map whose entries keep the file's order.
type inOrder[T any] []entry[T]

type entry[T any] struct {
	key   string
	value T
	line  int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (m *inOrder[T]) UnmarshalYAML(node ast.Node) error {
	var whole map[string]any // reports an error unless it is a map
	if err := yaml.NodeToValue(node, &whole); err != nil {
		return err
	}
	mapping, ok := node.(ast.MapNode)
	if !ok { // null
		return nil
	}
	for i := mapping.MapRange(); i.Next(); {
		e := entry[T]{key: i.Key().GetToken().Value, line: i.Key().GetToken().Position.Line}
		if err := yaml.NodeToValue(i.Value(), &e.value, yaml.Strict()); err != nil {
			return err
		}
		*m = append(*m, e)
	}
	return nil
}

// starters are commented files to start a suite from, by instrument.
//
//go:embed starters/*.yaml
var starters embed.FS

// Starter returns a commented file of a small suite to edit. It is valid, but too small.
func Starter(name, instrument string) ([]byte, error) {
	if !suiteName().MatchString(name) {
		return nil, fmt.Errorf("%.40q is not a valid suite name; use only letters, digits, '.', '-' and '_'", name)
	}
	text, err := starters.ReadFile(path.Join("starters", instrument+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("unknown instrument %q; choose one of: %s", instrument, strings.Join(instrumentNames(), ", "))
	}
	return bytes.Replace(text, []byte("suite: NAME"), []byte("suite: "+name), 1), nil
}
