// Package suite reads sets of items: the embedded ones, files in our own format, and the papers' data.
package suite

import (
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
	"crosstalk/internal/nearest"
	"crosstalk/suite/datasets"
)

// Suite is a named set of items for one instrument.
type Suite struct {
	Name        string
	Instrument  string
	Version     int
	Language    string // BCP 47; empty if items differ
	License     string
	Description string
	Prefix      map[crosstalk.API]string // text before each prompt, by kind of request
	Card        *Card                    // nil: none
	MaxTokens   int                      // of an answer, unless the user says otherwise; 0: the protocol's
	Windows     string                   // leakage: Sentences, if answers are also scored sentence by sentence
	Begins      string                   // leakage: the language that prompts begin in, BCP 47, if they end in another one
	Tasks       []crosstalk.Task         // consistency: the tasks of the items
	Items       Items
	Whole       int      // number of items of the suite that this is a Part of; 0: it is whole
	Unusable    []string // rows of an imported file that are not usable: line and reason
	remarks     []string // what reading the file found for Check

	Demonstrations map[string][]crosstalk.Demonstration // for few-shot prompts, by language as in crosstalk.Prompt
}

// PrefixOf is the text before each prompt to an API, one of a Suite's Prefix. APIs with messages use Chat's.
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

// ID identifies the suite and its content in signatures: leakage-en@5a0c6f1e.
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

// Fingerprint is a short hash of a set of items in any order. It covers what is asked and scored, but not labels or
// possible answers of the reference model. The zero value is the fingerprint of the empty set.
type Fingerprint struct{ sum uint64 }

// Add adds an item, which the caller must not add twice.
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

// LoadFor is Load for one instrument; a suite for another one is an error.
func LoadFor(instrument, nameOrFile string) (*Suite, error) {
	s, err := loadAs(nameOrFile, instrument)
	if err == nil && s.Instrument != instrument {
		return nil, fmt.Errorf("%s is a %s suite; expected a %s suite (see crosstalk suites)",
			s.Name, s.Instrument, instrument)
	}
	return s, err
}

// Load returns the embedded suite of that name, or one that was fetched (see PulledDir), or reads a file: a suite
// (.yaml), a prompt list as Gonen et al. published it (.txt), the test sets of the Language Confusion Benchmark (.zip,
// or their folder), or a table (table.Formats) of prompts: pairs for leakage, or prompts with their languages for
// confusion. Answers in a table are ignored.
func Load(nameOrFile string) (*Suite, error) { return loadAs(nameOrFile, "") }

// Names returns the names of the embedded suites and of those that can be fetched.
func Names() []string {
	var pulled []string
	for _, s := range datasets.All(datasets.Suite) {
		pulled = append(pulled, s.Name)
	}
	slices.Sort(pulled)
	return append(names(), pulled...)
}

// loadAs reads a table as one of an instrument, or if that is "" as its columns say.
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
	text, err := os.ReadFile(nameOrFile)
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

// Sources identifies the suites that recorded answers come from: a file, or a data set in it, with its items' hash.
type Sources struct {
	files  []string
	groups map[string]*origin // by dataset; "" for all
}

type origin struct {
	names        []string
	fingerprints Fingerprint
	items        map[[2]string]struct{}
}

func NewSources(files []string) *Sources {
	return &Sources{files: files, groups: map[string]*origin{}}
}

// Add records an item. Adding it again has no effect.
func (s *Sources) Add(file string, item crosstalk.Item) {
	dataset := item.Labels["dataset"]
	name := BaseName(file)
	s.add("", file, name, item)
	if dataset != "" {
		s.add(dataset, file, name+"-"+dataset, item)
	}
}

func (s *Sources) add(group, file, name string, item crosstalk.Item) {
	g := s.groups[group]
	if g == nil {
		g = &origin{items: map[[2]string]struct{}{}}
		s.groups[group] = g
	}
	key := [2]string{item.Labels["dataset"], item.ID}
	if len(s.files) > 1 {
		key[0] = file + "\x00" + key[0]
	}
	if _, again := g.items[key]; again {
		return
	}
	g.items[key] = struct{}{}
	g.fingerprints.Add(item)
	if len(g.names) == 0 || g.names[len(g.names)-1] != name {
		g.names = append(g.names, name)
	}
}

// IDs names the suites as Suite.ID does: all that was met, and each data set.
func (s *Sources) IDs() crosstalk.SuiteIDs {
	ids := crosstalk.SuiteIDs{Column: "dataset", Each: map[string]string{}}
	for dataset, g := range s.groups {
		if dataset == "" {
			ids.All = BaseNames(s.files) + "@" + g.fingerprints.String()
		} else {
			ids.Each[dataset] = strings.Join(g.names, "+") + "@" + g.fingerprints.String()
		}
	}
	return ids
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

// BaseName is the name of a suite in a file: without folder and endings.
func BaseName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Card says what a user should know about a suite before trusting its figures.
type Card struct {
	Purpose    string `yaml:"purpose" json:"purpose"`
	Written    string `yaml:"written" json:"written"`       // how, and by which rules
	Weaknesses string `yaml:"weaknesses" json:"weaknesses"` // that are known
	Reviewed   string `yaml:"reviewed" json:"reviewed"`     // who has reviewed it in its language; "nobody", if nobody has
}

// Lines are the card's entries with their keys.
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
