package similarities

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/hub"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/sbert"
)

// openBERTScore opens the model named, or that for the language.
func openBERTScore(name string, language Language) (*bertscore.Scorer, error) {
	if name == "" {
		of, err := language()
		if err != nil {
			return nil, fmt.Errorf("bertscore: %w", err)
		}
		name = bertscore.ModelFor(of)
	}
	m, err := parseHubModel("bertscore", name)
	if err != nil {
		return nil, err
	}
	return loadBERTScore(m)
}

// loadBERTScore opens a model for token vectors. A layer that is neither named
// nor recommended is an error.
func loadBERTScore(m HubModel) (*bertscore.Scorer, error) {
	dir, commit, err := m.Find()
	name := m.Name
	if err == nil && commit == "" {
		name, commit, err = encoder.Identity(dir)
	}
	if err != nil {
		return nil, err
	}
	if _, known := bertscore.Layer(name); !known && m.layer == 0 {
		return nil, fmt.Errorf("bertscore: no layer is recommended for %s; name one, such as %s/L8 for the eighth", m.given, m)
	}
	return bertscore.Load(dir, bertscore.Options{Model: name, Revision: commit, Layer: m.layer})
}

// DefaultSBERT is the model of Smilga (2025), gonenSBERT that of Gonen et al. (2024). Their figures are not comparable.
const (
	DefaultSBERT = "sentence-transformers/all-MiniLM-L6-v2"
	gonenSBERT   = "efederici/sentence-bert-base"
)

// ForProtocol returns the names with "sbert" alone standing for the model of the protocol's paper.
func ForProtocol(protocol string, names []string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		if kind, model, _ := strings.Cut(name, ":"); protocol == "gonen-2024" && kind == "sbert" && model == "" {
			names[i] = "sbert:" + gonenSBERT
		}
	}
	return names
}

func openSBERT(name string) (*sbert.Scorer, error) {
	if name == "" {
		name = DefaultSBERT
	}
	m, err := parseHubModel("sbert", name)
	if err != nil {
		return nil, err
	}
	return loadSBERT(m)
}

// loadSBERT opens a model for sentence vectors.
func loadSBERT(m HubModel) (*sbert.Scorer, error) {
	dir, commit, err := m.Find()
	if err != nil {
		return nil, err
	}
	o := sbert.Options{Model: m.Name, Revision: commit}
	if commit == "" { // a folder, which is named by what is in it
		o = sbert.Options{}
	}
	return sbert.Load(dir, o)
}

// HubModel is a model as it is named on the command line: NAME, NAME@REVISION
// or the path of a folder, and for bertscore a layer behind it, NAME/L5, as in
// signatures.
type HubModel struct {
	Kind     string // "bertscore", "sbert"; "" if not said
	given    string // the name as it was given
	Name     string // its full name
	Revision string // "": main
	layer    int    // 0: the recommended one
}

var layerSuffix = regexp.MustCompile(`/L([0-9]{1,4})$`)

// parseHubModel reads the name of a model; kind is that of the similarity, or
// empty. Nothing is looked for.
func parseHubModel(kind, name string) (HubModel, error) {
	m := HubModel{Kind: kind, Name: name}
	if suffix := layerSuffix.FindStringSubmatch(name); suffix != nil && kind == "bertscore" {
		m.Name = strings.TrimSuffix(name, suffix[0])
		if m.layer, _ = strconv.Atoi(suffix[1]); m.layer == 0 {
			m.layer = bertscore.Embeddings
		}
	}
	m.given = m.Name
	if hub.IsPath(m.Name) {
		return m, nil
	}
	var found bool
	if m.given, m.Revision, found = strings.Cut(m.Name, "@"); found && m.Revision == "" {
		return m, fmt.Errorf("%q: expected a revision after @", name)
	}
	m.Name = hub.Canonical(m.given)
	return m, nil
}

// String is the name without the layer, as it can be given again.
func (m HubModel) String() string {
	s := m.given
	if m.Kind != "" {
		s = m.Kind + ":" + s
	}
	if m.Revision != "" {
		s += "@" + m.Revision
	}
	return s
}

// Find returns where the model is, and its commit, "" for a folder. Nothing is
// fetched.
func (m HubModel) Find() (dir, commit string, err error) {
	var decisive []string
	if m.Kind != "bertscore" {
		decisive = []string{"modules.json"} // says how a sentence vector is made
	}
	dir, commit, err = hub.Find(m.Name, m.Revision, decisive...)
	var missing *hub.MissingError
	if errors.As(err, &missing) && missing.Revision != "" {
		err = fmt.Errorf("the model of %s is not on this machine. Fetch it with:\n  crosstalk models pull %s\n%w", m, m, err)
	}
	return dir, commit, err
}
