// Package run reads and writes run directories: a measurement's plan, answers, observations and estimates.
//
//	manifest.json       the plan, and the settings of the last scoring
//	answers.db          the journal: every request and answer
//	observations.jsonl  the measured values, in the suite's order
//	estimates.json      the figures, as --format json prints them
//
// A directory may come from somebody else. Only regular files in it are opened, never links, and each is read up to a
// bound. New directories and files are accessible only to their owner.
package run

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"
	"crosstalk/run/shard"
)

// Manifest is the content of manifest.json.
type Manifest struct {
	Schema    string    `json:"schema"`
	Crosstalk string    `json:"crosstalk"` // the version that last wrote it
	Plan      Plan      `json:"plan"`
	Scoring   []Scoring `json:"scoring"`        // one for each protocol
	Asks      int       `json:"asks,omitempty"` // total number of requests; 0: unknown

	// Settings are those of the study (study.FromRun), as of the last scoring; nil: recorded answers, or an older run.
	Settings json.RawMessage `json:"settings,omitempty"`

	Suites      crosstalk.SuiteIDs `json:"suites"`                 // of the figures; for a shard, of the whole measurement
	NotMeasured int                `json:"not_measured,omitempty"` // items that were not: a limit, or a dead model
	Missing     []Missing          `json:"missing,omitempty"`      // these items, by group; nil: unknown (an older run)
	Changes     []string           `json:"changes,omitempty"`      // settings that were not sent as planned, described
	Adapted     []Adapted          `json:"adapted,omitempty"`      // changes made because of models' answers, by condition

	Names        map[string]string `json:"names,omitempty"`        // names that people give to values of columns
	Observations *Content          `json:"observations,omitempty"` // of the last scoring; nil: unknown (an older run)
	// EstimatesSHA256 is the hash of estimates.json, in hexadecimal; empty: unknown (an older run, or an interrupted
	// scoring).
	EstimatesSHA256 string `json:"estimates_sha256,omitempty"`
}

// OtherSettings names the first setting in which the measurements of two runs differ, with both values; "" if there is
// none, or if one was written by an older version. The names of files may differ: their contents are in plan and
// scoring.
func OtherSettings(a, b Manifest) string {
	if a.Settings == nil || b.Settings == nil {
		return ""
	}
	var of, other map[string]json.RawMessage
	if errors.Join(json.Unmarshal(a.Settings, &of), json.Unmarshal(b.Settings, &other)) != nil {
		return "settings are invalid"
	}
	names := maps.Clone(of)
	maps.Copy(names, other)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if slices.Contains([]string{"suite", "identifier", "words", "texts", "instructions", "overrides"}, name) {
			continue
		}
		x, y := crosstalk.Canonical(of[name]), crosstalk.Canonical(other[name])
		if !bytes.Equal(x, y) {
			return fmt.Sprintf("%s is %s, not %s", name, x, y)
		}
	}
	return ""
}

// Missing is a number of items with the same labels that were not measured under a condition.
type Missing struct {
	Items  int               `json:"items"`
	Labels map[string]string `json:"labels"` // columns of the condition and of the items
}

// In reports whether figures with these columns would cover the items: each column has crosstalk.All or the items'
// value. Items are in all values of a column that only observations have, such as the similarity.
func (m Missing) In(by map[string]string) bool {
	for column, value := range by {
		if own, has := m.Labels[column]; has && value != "" && value != crosstalk.All && value != own {
			return false
		}
	}
	return true
}

// MissingItems returns the items that were not measured, by group; of an older run, all of them as one group without
// labels.
func (m Manifest) MissingItems() []Missing {
	if m.Missing == nil && m.NotMeasured > 0 {
		return []Missing{{Items: m.NotMeasured}}
	}
	return m.Missing
}

// SuiteIDs returns the suites as the run's figures name them; a shard's name its part, leakage-en@5a0c6f1e[3/64].
func (m Manifest) SuiteIDs() crosstalk.SuiteIDs { return m.Plan.SuiteIDs(m.Suites) }

// InstructionsFile is the run's file of rewritten instructions, if models rewrite them.
const InstructionsFile = "instructions.yaml"

const (
	manifestFile     = "manifest.json"
	observationsFile = "observations.jsonl"
	estimatesFile    = "estimates.json"
)

const schema = "crosstalk/run/v1"

// Dir is a run directory, open for writing by one process at a time.
type Dir struct {
	Path     string
	Journal  *journal.Journal
	Manifest Manifest
	made     bool // created by Create
}

// Create opens the directory for a run of this plan, and creates it if necessary. It returns an error if the
// directory has another plan, or if another process is writing to it.
func Create(path string, plan Plan) (*Dir, error) {
	if _, err := admit(path, plan); err != nil {
		return nil, err
	}
	_, err := os.Stat(path)
	made := errors.Is(err, fs.ErrNotExist)
	// Only the owner can use a new directory; its parents get the usual permissions. An existing one keeps its own.
	err = os.MkdirAll(filepath.Dir(filepath.Clean(path)), 0o777)
	if err == nil {
		err = os.Mkdir(path, 0o700)
	}
	if info, failed := os.Stat(path); failed != nil || !info.IsDir() {
		return nil, fmt.Errorf("cannot create the run directory: %w", cmp.Or(err, failed))
	}
	j, err := journal.Open(filepath.Join(path, journal.Name))
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path, Journal: j, made: made}
	d.Manifest, err = admit(path, plan) // again, now that no other process can write to it
	if err == nil {
		err = removeParts(path)
	}
	if err == nil {
		d.Manifest.Schema, d.Manifest.Crosstalk, d.Manifest.Plan = schema, crosstalk.Version, plan
		err = d.writeManifest()
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return d, nil
}

// Close releases the directory.
func (d *Dir) Close() error { return d.Journal.Close() }

// Discard closes the directory, and removes it if Create made it.
func (d *Dir) Discard() error {
	err := d.Close()
	if d.made {
		err = errors.Join(err, os.RemoveAll(d.Path))
	}
	return err
}

// admit returns the manifest in path, if there is one, and an error if the directory is not for a run of this plan.
func admit(path string, plan Plan) (Manifest, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, nil
	}
	if err == nil && !info.IsDir() {
		return Manifest{}, fmt.Errorf("%s is a file; expected a directory: use another --out", path)
	}
	old, err := ReadManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(path)
		if err != nil {
			return old, fmt.Errorf("%s: cannot read the directory: %w", path, err)
		}
		kept := func(e fs.DirEntry) bool { return e.Name() == journal.Name }
		if slices.ContainsFunc(entries, kept) { // its manifest is lost; the answers are found by their requests
			return old, nil
		}
		for _, e := range entries { // a run that was killed before it wrote a manifest has only these
			if !strings.HasPrefix(e.Name(), journal.Name) && !isPart(e.Name(), manifestFile) {
				return old, fmt.Errorf("%s is not empty and not a run directory (%s): use another --out", path, e.Name())
			}
		}
		return old, nil
	}
	if err != nil {
		return old, err
	}
	if field := old.Plan.Difference(plan); field != "" {
		return old, fmt.Errorf("%s has a run with other settings: its %s: use another --out, or the settings of that "+
			"run", path, field)
	}
	return old, nil
}

// removeParts removes unfinished files left by a killed process. It needs the journal's lock.
func removeParts(path string) error {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if isPart(e.Name(), manifestFile, observationsFile, estimatesFile) {
			err = errors.Join(err, os.Remove(filepath.Join(path, e.Name())))
		}
	}
	return err
}

// isPart reports whether name is the unfinished part of one of these files.
func isPart(name string, files ...string) bool {
	return strings.HasSuffix(name, atomicfile.Ending) &&
		slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(name, file+".") })
}

// Bounds of a run's files, far above what runs need, so that a crafted file cannot exhaust memory.
const (
	maxManifest  = 16 << 20  // bytes
	maxEstimates = 256 << 20 // bytes
	maxObjects   = 1 << 20   // in either file: an empty object takes two bytes, and hundreds in memory
)

// ManifestText returns the text of a run's manifest, at most 16 MiB.
func ManifestText(path string) ([]byte, error) {
	return plainfile.Read(filepath.Join(path, manifestFile), maxManifest)
}

// notRun is the error for a path without a manifest. It is fs.ErrNotExist.
type notRun struct{ path string }

func (e notRun) Error() string {
	return e.path + " is not a run directory: expected one written by 'crosstalk run'"
}

func (e notRun) Is(target error) bool { return target == fs.ErrNotExist }

// ErrUnfinished is the error for a run without figures.
var ErrUnfinished = errors.New("is not finished: run the same command again to resume it")

// ReadManifest reads a run's manifest. The error is fs.ErrNotExist if path is not a run directory.
func ReadManifest(path string) (Manifest, error) {
	text, err := ManifestText(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Manifest{}, notRun{path}
	}
	if err != nil {
		return Manifest{}, err
	}
	return parseManifest(filepath.Join(path, manifestFile), text)
}

func parseManifest(file string, text []byte) (Manifest, error) {
	var m Manifest
	if len(bytes.Trim(text, "\x00 \r\n")) == 0 {
		return m, fmt.Errorf("%s: is empty, as after a power failure: delete it and run the same command again; the answers "+
			"are in %s", file, journal.Name)
	}
	if err := decode(file, text, "manifest", &m); err != nil {
		return m, err
	}
	if m.Schema != schema {
		return m, fmt.Errorf("%s: unknown schema %q; expected %q: update crosstalk, or use another --out", file,
			m.Schema, schema)
	}
	return m, nil
}

// decode unmarshals the text of a file into v.
func decode(file string, text []byte, what string, v any) error {
	if n := bytes.Count(text, []byte("{")); n > maxObjects {
		return fmt.Errorf("%s: has %d objects; expected at most %d", file, n, maxObjects)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: invalid %s: %w", file, what, err)
	}
	return nil
}

// SetScoring records in the manifest how answers are scored from now on, the suites of the figures, how many items
// were not measured, and which settings were not sent as planned.
func (d *Dir) SetScoring(s []Scoring, suites crosstalk.SuiteIDs, notMeasured int, changes []string) error {
	d.Manifest.Scoring, d.Manifest.Suites, d.Manifest.NotMeasured, d.Manifest.Changes = s, suites, notMeasured, changes
	d.Manifest.EstimatesSHA256 = "" // unknown until WriteEstimates
	return d.writeManifest()
}

// SetAsks records the total number of requests in the manifest, to show progress.
func (d *Dir) SetAsks(n int) error {
	d.Manifest.Asks = n
	return d.writeManifest()
}

// SetAdapted records which settings the models turned out to refuse or need.
func (d *Dir) SetAdapted(adapted []Adapted) error {
	d.Manifest.Adapted = adapted
	return d.writeManifest()
}

// WriteEstimates writes the figures into the directory, and their hash into the manifest.
func (d *Dir) WriteEstimates(estimates []crosstalk.Estimate) error {
	text, err := d.write(estimatesFile, crosstalk.NewDocument(estimates))
	if err != nil {
		return err
	}
	d.Manifest.EstimatesSHA256 = sha256Of(text)
	return d.writeManifest()
}

func (d *Dir) writeManifest() error {
	_, err := d.write(manifestFile, d.Manifest)
	return err
}

func (d *Dir) write(name string, v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return text, atomicfile.WriteBytesPrivate(filepath.Join(d.Path, name), text)
}

func sha256Of(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ReadEstimates reads the figures that a finished run wrote. The error is ErrUnfinished if the run has not written
// any, and a *ChangedError if their hash differs from the manifest's.
func ReadEstimates(path string) ([]crosstalk.Estimate, error) {
	manifest, err := ReadManifest(path) // before the file: if that is replaced meanwhile, the manifest is older
	if err != nil {
		return nil, err
	}
	file := filepath.Join(path, estimatesFile)
	text, err := plainfile.Read(file, maxEstimates)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w", path, ErrUnfinished)
	}
	if err != nil {
		return nil, err
	}
	var document struct {
		Schema    string               `json:"schema"`
		Estimates []crosstalk.Estimate `json:"estimates"`
	}
	if err := decode(file, text, "estimates", &document); err != nil {
		return nil, err
	}
	if document.Schema != crosstalk.EstimatesSchema {
		return nil, fmt.Errorf("%s: unknown schema %q; expected %q: update crosstalk", file, document.Schema,
			crosstalk.EstimatesSchema)
	}
	if got := sha256Of(text); manifest.EstimatesSHA256 != "" && got != manifest.EstimatesSHA256 {
		// A scoring that ended in between has replaced both.
		now, err := ReadManifest(path)
		if err != nil || now.EstimatesSHA256 != "" && now.EstimatesSHA256 != got {
			return nil, &ChangedError{File: file}
		}
	}
	return document.Estimates, nil
}

// Plan determines the requests of a run. Adding samples, or scoring answers again, does not change it.
type Plan struct {
	Instrument string      `json:"instrument"`
	Suite      string      `json:"suite"` // name@hash
	Conditions []Condition `json:"conditions"`
	Shard      shard.Shard `json:"shard,omitzero"` // the part measured; other fields describe the whole
}

// Whole returns the plan of the whole measurement, of which a shard is a part.
func (p Plan) Whole() Plan {
	p.Shard = shard.Shard{}
	return p
}

// Condition is a model with its decoding settings and prompt format: a point of a sweep.
type Condition struct {
	Model     crosstalk.Identity     `json:"model"`
	Prompting crosstalk.PromptConfig `json:"prompting"`
	Format    map[string]string      `json:"format,omitempty"` // the instrument's own settings for the prompt
	Name      map[string]string      `json:"name,omitempty"`   // in observations: the model and the settings that vary
}

// Adapted records what a condition's model refused or needed, so that resuming or scoring again sends the same
// requests.
type Adapted struct {
	Condition int      `json:"condition"`         // its index in the plan
	Without   []string `json:"without,omitempty"` // parameters that the model refused, in the order of the refusals
	Room      bool     `json:"room,omitempty"`    // the model thinks, and got more tokens for it
}

// Recorded returns the plan for scoring recorded answers.
func Recorded(instrument, suite, model string) Plan {
	return Plan{Instrument: instrument, Suite: suite,
		Conditions: []Condition{{Model: crosstalk.Identity{Provider: "recorded", Name: model}}}}
}

// Hash returns a short hash of the plan, to name directories.
func (p Plan) Hash() string {
	sum := sha256.Sum256(crosstalk.Canonical(p))
	return hex.EncodeToString(sum[:4])
}

// Scoring describes how the answers were last scored. It can change without changing the answers.
type Scoring struct {
	Protocol     string          `json:"protocol"`
	Rules        json.RawMessage `json:"rules"` // the instrument's (instrument.ReadRules)
	Similarities []string        `json:"similarities,omitempty"`
	Samples      int             `json:"samples"`
	By           []string        `json:"by"`
}

// Difference names the first field in which two plans differ, as in the manifest, with both values; "" if none.
func (p Plan) Difference(from Plan) string {
	if a, b := len(p.Conditions), len(from.Conditions); a != b {
		return fmt.Sprintf("number of conditions is %d, not %d", a, b)
	}
	return difference(reflect.ValueOf(p), reflect.ValueOf(from))
}

// Difference describes how two scorings differ, as Plan.Difference does for plans.
func (s Scoring) Difference(from Scoring) string {
	return difference(reflect.ValueOf(s), reflect.ValueOf(from))
}

func difference(have, want reflect.Value) string {
	for i := range have.NumField() {
		a, b := have.Field(i), want.Field(i)
		switch {
		case a.Kind() == reflect.Struct && a.Type() != reflect.TypeFor[shard.Shard]():
			if inner := difference(a, b); inner != "" {
				return inner
			}
		case a.Type() == reflect.TypeFor[[]Condition]():
			for k := range a.Len() {
				inner := difference(a.Index(k), b.Index(k))
				if inner != "" && a.Len() > 1 {
					return fmt.Sprintf("condition %d: %s", k+1, inner)
				}
				if inner != "" {
					return inner
				}
			}
		}
		x, y := crosstalk.Canonical(a.Interface()), crosstalk.Canonical(b.Interface())
		if !bytes.Equal(x, y) {
			name, _, _ := strings.Cut(have.Type().Field(i).Tag.Get("json"), ",")
			return fmt.Sprintf("%s is %s, not %s", name, x, y)
		}
	}
	return ""
}

// SuiteIDs names suites as the figures of a run with this plan do: by the shard's part of them.
func (p Plan) SuiteIDs(whole crosstalk.SuiteIDs) crosstalk.SuiteIDs {
	if p.Shard.IsZero() {
		return whole
	}
	part := crosstalk.SuiteIDs{Column: whole.Column, Each: map[string]string{}}
	of := fmt.Sprintf("[%v]", p.Shard)
	if whole.All != "" {
		part.All = whole.All + of
	}
	for value, id := range whole.Each {
		part.Each[value] = id + of
	}
	return part
}

// Names names runs by as few last parts of their paths as make them unique. A path given twice gets a number.
func Names(paths []string) []string {
	names := make([]string, len(paths))
	for parts := 1; ; parts++ {
		longer := false
		for i, path := range paths {
			all := strings.Split(strings.Trim(filepath.ToSlash(filepath.Clean(path)), "/"), "/")
			longer = longer || len(all) > parts
			names[i] = strings.Join(all[max(0, len(all)-parts):], "/")
		}
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names) {
			return names
		}
		if !longer {
			break
		}
	}
	for i, name := range names {
		if first := slices.Index(names, name); first < i {
			names[i] += "#" + strconv.Itoa(i+1)
		}
	}
	return names
}
