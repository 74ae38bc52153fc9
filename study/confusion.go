package study

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/instrument/confusion"
	"crosstalk/measure/langid"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/fasttext"
	"crosstalk/measure/segment/japanese"
	"crosstalk/measure/wordlist"
	"crosstalk/model"
	"crosstalk/model/reference"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/study/similarities"
	"crosstalk/suite"
	"crosstalk/suite/datasets"
)

// Confusion is a study of language confusion. The zero value measures a reference model on the suite confusion.
type Confusion struct {
	Sweep
	confusion.Options
	Suite      string   `json:"suite,omitempty"`      // an embedded suite or a file
	Languages  []string `json:"languages,omitempty"`  // of answers; nil: all of the suite's
	Identifier string   `json:"identifier,omitempty"` // as for OpenIdentifier
	// Words is a file of English words, one per line; "": the embedded list. The judge uses none.
	Words string   `json:"words,omitempty"`
	By    []string `json:"by,omitempty"` // columns; nil: confusion.By

	// Settings for recorded answers.
	Prompts  string             `json:"-"` // the suite of prompts for answers recorded without, found by id; "": none
	Columns  map[string]string  `json:"-"` // as in recorded.Reading
	FileName *recorded.FileName `json:"-"` // as in recorded.Reading
	Expect   string             `json:"-"` // as in recorded.Reading

	// Settings that may mitigate confusion. Several values of a field are compared.
	Positions []string `json:"positions,omitempty"` // confusion.Positions
	Shots     []int    `json:"shots,omitempty"`     // demonstrations before each prompt
	// Shown are the demonstrations: InOther, InExpected, or a file of the paper's own; "": InOther.
	Shown     string   `json:"shown,omitempty"`
	Templates []string `json:"templates,omitempty"` // confusion.Templates
	Beams     []int    `json:"beams,omitempty"`     // beam widths

	Logprobs int `json:"logprobs,omitempty"` // alternatives per token; 0: none
}

// Values of Confusion.Shown: demonstrations in other languages than the expected one (Marchisio et al. 2024), or in it.
const (
	InOther    = "other"
	InExpected = "expected"
)

// Open opens suite, models and identifier. It sends no request.
func (c Confusion) Open() (*Study, error) {
	if err := c.checkSettings(); err != nil {
		return nil, err
	}
	study, instruments, languages, err := c.open()
	if err != nil {
		return nil, err
	}
	s, err := c.suiteOf()
	if err != nil {
		return nil, err
	}
	if s, err = judgeable(s, languages); err != nil {
		return nil, err
	}
	study.Suite, study.columns, study.settings = s, figures.Columns{"position": true}, kept(&c)
	study.ask()
	demonstrations, shown, err := c.demonstrations(s, languages)
	if err != nil {
		return nil, err
	}
	format := c.formats(shown)
	for _, in := range instruments {
		rules := in.Protocol
		in.Samples = cmp.Or(c.Samples, rules.Samples)
		in.Prompting.Logprobs, in.Demonstrations = c.Logprobs, demonstrations // part of the rules
		conditions, err := study.conditions(c.Sweep, rules.Name, defaults{
			model: reference.DefaultConfused, logprobs: c.Logprobs, format: format,
			decoding: crosstalk.Decoding{MaxTokens: rules.MaxTokens, Temperature: &rules.Temperature, TopP: &rules.TopP}})
		if err != nil {
			return nil, err
		}
		study.add(in.Rules(), run.Scoring{Protocol: rules.Name, Samples: in.Samples}, conditions,
			func(c Condition, score bool) crosstalk.Instrument {
				of := in
				of.Prompting, of.Condition, of.AskOnly = c.Prompting, c.Name, !score
				shots, _ := strconv.Atoi(c.Format["shots"]) // "" is 0
				of.Format = confusion.Format{Position: c.Format["position"], Shots: shots,
					Template: confusion.Template(c.Format["template"]), Demonstrations: demonstrations}
				return &of
			})
	}
	return study, nil
}

// open opens what all studies of confusion share: a study without protocols, and an instrument for each protocol.
func (c Confusion) open() (study *Study, instruments []confusion.Instrument, languages labeller, err error) {
	protocols, err := c.Resolve()
	if err != nil {
		return nil, nil, languages, err
	}
	if c.Words != "" && confusion.OnlyProse(protocols) {
		return nil, nil, languages, crosstalk.BadOption("words",
			" has no effect on the protocol %s; choose another one with --protocol, such as lcb-paper", protocols[0].Name)
	}
	study = &Study{Instrument: "confusion"}
	if err := study.group(c.By, confusion.By); err != nil {
		return nil, nil, languages, err
	}
	identifier, err := OpenIdentifier(c.Identifier)
	if err != nil {
		return nil, nil, languages, err
	}
	words := wordlist.English()
	if c.Words != "" {
		if words, err = wordlist.Load(c.Words); err != nil {
			return nil, nil, languages, err
		}
	}
	for _, p := range protocols {
		judge := guard.Checker{Identifier: identifier, Threshold: p.Risk}
		instruments = append(instruments, confusion.Instrument{Protocol: p, Identifier: identifier, Judge: judge,
			Words: words, Part: confusion.Part(c.Part)})
	}
	return study, instruments, labeller{identifier, map[string]string{}}, nil
}

// labeller labels prompts with the identifier's labels for their languages.
type labeller struct {
	identifier *fasttext.Model
	labels     map[string]string // by language; "" if the identifier does not know it
}

// label labels a prompt, or clears a language that the identifier does not know. It starts loading dictionaries.
func (l labeller) label(p *crosstalk.Prompt) (known bool) {
	label, seen := l.labels[p.Language]
	if !seen {
		label, _ = langid.LabelOf(p.Language, l.identifier.Labels())
		l.labels[p.Language] = label
		if label == "ja" {
			go japanese.Load() // takes a fifth of a second, so start it before the first answer is scored
		}
	}
	if label != p.Language {
		p.Language, p.Tag = label, cmp.Or(p.Tag, p.Language)
	}
	return label != ""
}

func (l labeller) unknown(language string) string {
	return fmt.Sprintf("the model cannot identify the language %s (it knows %d others)",
		language, len(l.identifier.Labels()))
}

// judgeable is like grouped, and also labels items and demonstrations. Its error names an item in an unknown
// language.
func judgeable(s *suite.Suite, l labeller) (*suite.Suite, error) {
	with, err := grouped(s, func(item *crosstalk.Item) error {
		prompt := *item.Prompt
		if !l.label(&prompt) {
			return fmt.Errorf("item %s: %s; name a model that can with --lid, or leave it out with --language",
				item.ID, l.unknown(item.Prompt.Language))
		}
		item.Prompt = &prompt
		return nil
	})
	if err != nil {
		return nil, err
	}
	with.Demonstrations = l.labelled(s.Demonstrations)
	return with, nil
}

// labelled returns demonstrations by the identifier's labels for their languages, as far as items have these.
func (l labeller) labelled(of map[string][]crosstalk.Demonstration) map[string][]crosstalk.Demonstration {
	if of == nil {
		return nil
	}
	all := map[string][]crosstalk.Demonstration{}
	for language, shown := range of {
		all[cmp.Or(l.labels[language], language)] = shown
	}
	return all
}

func (c Confusion) suiteOf() (*suite.Suite, error) {
	s, err := suite.LoadFor("confusion", cmp.Or(c.Suite, "confusion"))
	if err != nil {
		return nil, err
	}
	if len(c.Languages) == 0 {
		return s.Part(c.Items), nil
	}
	of := map[string]bool{}
	for _, item := range s.Items.All() {
		of[item.Prompt.Language] = true
	}
	chosen := map[string]bool{}
	for _, language := range c.Languages {
		_, tag := langid.Canonical(language) // DE and deu are de
		if chosen[tag] = true; !of[tag] {
			return nil, crosstalk.BadOption("language", ": the suite %s has no prompts for answers in %q; choose one of: %s",
				s.Name, language, strings.Join(slices.Sorted(maps.Keys(of)), ", "))
		}
	}
	part := *s
	part.Items = s.Items.Select(func(item crosstalk.Item) bool { return chosen[item.Prompt.Language] })
	return part.Part(c.Items), nil
}

func (c Confusion) checkSettings() error {
	for _, position := range c.Positions {
		if !slices.Contains(confusion.Positions, position) {
			return crosstalk.BadOption("position", " is %q; expected %s", position, strings.Join(confusion.Positions, ", "))
		}
	}
	for _, template := range c.Templates {
		if _, err := crosstalk.Chosen("template", template, confusion.Templates); err != nil {
			return crosstalk.BadOption("template", ": %w", err)
		}
	}
	if i := slices.IndexFunc(c.Shots, func(n int) bool { return n < 0 }); i >= 0 {
		return crosstalk.BadOption("shots", " is %d; expected 0 or more", c.Shots[i])
	}
	for _, n := range c.Beams {
		if n < 1 {
			return crosstalk.BadOption("beams", " is %d; expected 1 or more", n)
		}
		for _, name := range c.Models {
			if _, err := model.Beams(name, n); err != nil {
				return crosstalk.BadOption("beams", ": %w", err)
			}
		}
	}
	if c.Logprobs < 0 || c.Logprobs == 1 {
		return crosstalk.BadOption("logprobs", " is %d; expected 0, or at least 2 candidates, "+
			"since some servers return the chosen token as the first", c.Logprobs)
	}
	for _, name := range c.Models {
		if err := model.HasLogprobs(name, c.Families); err != nil && c.Logprobs > 0 {
			return crosstalk.BadOption("logprobs", ": %w", err)
		}
	}
	return nil
}

// demonstrations returns what is shown before the prompts of a suite if any Shots are, and its name in manifests: with
// the languages for each expected one, or the suite that it comes from.
func (c Confusion) demonstrations(s *suite.Suite, l labeller) (shown confusion.Demonstrations, name string, err error) {
	most := slices.Max(append(c.Shots, 0))
	if most == 0 {
		if c.Shown != "" {
			err = crosstalk.BadOption("demonstrations", " has no effect without --shots")
		}
		return shown, "", err
	}
	all, from := s.Demonstrations, ""
	if all == nil {
		own, err := suite.Load("confusion")
		if err != nil {
			return shown, "", err
		}
		all, from = l.labelled(own.Demonstrations), own.ID()
	}
	switch c.Shown {
	case InExpected:
		return confusion.Demonstrations{Monolingual: all, Crosslingual: all}, from, nil
	case InOther, "":
		languages := map[string]bool{}
		for _, item := range s.Items.All() {
			languages[item.Prompt.Language] = true
		}
		targets := slices.Sorted(maps.Keys(languages))
		shown = confusion.InOtherLanguages(all, targets)
		shown.Name = InOther + "@" + confusion.InOtherLanguages(all, slices.Sorted(maps.Keys(all))).Fingerprint()
		name = shown.Name
		for _, target := range targets {
			drawn := func(crosslingual bool) string {
				_, of := confusion.Draw(all, target, crosslingual)
				return strings.Join(of[:min(most, len(of))], " ")
			}
			name += "; " + target + " after " + drawn(false)
			if across := drawn(true); across != drawn(false) {
				name += " (crosslingual: " + across + ")"
			}
		}
		return shown, name, nil
	}
	monolingual, crosslingual, err := suite.PublishedDemonstrations(c.Shown)
	if err != nil {
		return shown, "", crosstalk.BadOption("demonstrations", " is neither %s nor %s, nor a file that can be read: %w",
			InOther, InExpected, err)
	}
	shown.Monolingual, shown.Crosslingual = l.labelled(monolingual), l.labelled(crosslingual)
	shown.Name = filepath.Base(c.Shown) + "@" + shown.Fingerprint()
	return shown, shown.Name, nil
}

// formats returns the settings of prompts. demonstrations names what is shown; "": nothing, or the suite's in the
// expected language.
func (c Confusion) formats(demonstrations string) (all axes) {
	add := func(name string, values []string) {
		all.add(name, values, func(c *Condition, i int) {
			if c.Format == nil {
				c.Format = map[string]string{}
			}
			c.Format[name] = values[i]
		})
	}
	add("position", c.Positions)
	add("template", c.Templates)
	add("shots", numbers(c.Shots))
	if demonstrations != "" {
		add("demonstrations", []string{demonstrations})
	}
	all.add("beams", numbers(c.Beams), func(condition *Condition, i int) {
		extra, _ := model.Beams(condition.name, c.Beams[i]) // already checked
		for name, value := range extra {
			condition.setExtra(name, value)
		}
	})
	return all
}

func numbers(list []int) (texts []string) {
	for _, n := range list {
		texts = append(texts, strconv.Itoa(n))
	}
	return texts
}

// embeddedIdentifier names the embedded identifier, like "".
const embeddedIdentifier = "embedded"

// OpenIdentifier opens a fastText model to identify languages: a file, lid.176, lid.176.ftz, "" or "embedded".
func OpenIdentifier(name string) (*fasttext.Model, error) {
	if name == "" || name == embeddedIdentifier {
		return embedded.Identifier(), nil
	}
	file, err := identifierFile(name)
	if err != nil {
		return nil, err
	}
	return fasttext.Load(file)
}

// IsIdentifier reports whether OpenIdentifier finds an identifier by this name: embedded, published or a file.
func IsIdentifier(name string) bool {
	_, published := PublishedIdentifier(name)
	_, err := os.Stat(name)
	return published || name == embeddedIdentifier || err == nil
}

// NamesIdentifier reports whether a name can only name an identifier: embedded, published, or named like
// fastText's files.
func NamesIdentifier(name string) bool {
	_, published := PublishedIdentifier(name)
	return published || name == embeddedIdentifier || strings.HasSuffix(name, ".bin") || strings.HasSuffix(name, ".ftz")
}

// PublishedIdentifier returns the published identifier of that name.
func PublishedIdentifier(name string) (datasets.Source, bool) {
	if name == "lid.176.bin" {
		name = "lid.176"
	}
	return datasets.Named(datasets.Model, name)
}

func identifierFile(name string) (string, error) {
	s, published := PublishedIdentifier(name)
	if _, err := os.Stat(name); err == nil || !published {
		return name, nil
	}
	dir, err := s.Find()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, s.Files[0].Name), nil
}

// CheckIdentifier loads a language identifier and tries it on a sentence. The rows are names and texts to show.
func CheckIdentifier(name string) (rows [][2]string, err error) {
	file, err := identifierFile(name)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	m, err := OpenIdentifier(name)
	if err != nil {
		return nil, err
	}
	loaded := time.Since(started)
	if name == embeddedIdentifier {
		file = "in the program"
	}
	guess := m.Identify(similarities.Sentences[0])
	return [][2]string{
		{"model", m.Name()},
		{"file", file},
		{"identifies", fmt.Sprintf("%d languages; an English sentence as %s, probability %.4f",
			len(m.Labels()), guess.Language, guess.Probability)},
		{"time", fmt.Sprintf("%v to load", loaded.Round(time.Millisecond))},
	}, nil
}
