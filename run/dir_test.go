package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask/journal"
)

func temperature(t float64) *float64 { return &t }

func plan() Plan {
	return Plan{Instrument: "leakage", Suite: "s@1", Conditions: []Condition{{Model: crosstalk.Identity{Provider: "openai", Endpoint: "http://h/v1", Name: "m"},
		Prompting: crosstalk.PromptConfig{API: crosstalk.Chat, Prefix: "p",
			Decoding: crosstalk.Decoding{Temperature: temperature(0.5), MaxTokens: 10, Extra: map[string]any{"top_k": 5.0}}}}}}
}

func create(t *testing.T, path string, p Plan) *Dir {
	t.Helper()
	d, err := Create(path, p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A directory is for one plan. A second Create of the same plan keeps what was
// there; of another it says what differs and changes nothing.
func TestOnePlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "run")
	d := create(t, path, plan())
	scoring := Scoring{Protocol: "crosstalk-1", Rules: json.RawMessage(`{"round":3}`), Samples: 2, By: []string{"category"}}
	if err := errors.Join(d.SetScoring([]Scoring{scoring}, crosstalk.SuiteIDs{All: "s@1"}, 0, nil), d.Close()); err != nil {
		t.Fatal(err)
	}
	before := read(t, path)
	for want, change := range map[string]func(*Plan){
		`instrument is "leakage", not "other"`:         func(p *Plan) { p.Instrument = "other" },
		`suite is "s@1", not "s@2"`:                    func(p *Plan) { p.Suite = "s@2" },
		`provider is "openai", not "vllm"`:             func(p *Plan) { p.Conditions[0].Model.Provider = "vllm" },
		`endpoint is "http://h/v1", not "http://i/v1"`: func(p *Plan) { p.Conditions[0].Model.Endpoint = "http://i/v1" },
		`model is "m", not "<n>"`:                      func(p *Plan) { p.Conditions[0].Model.Name = "<n>" },
		`api is "chat", not "completions"`:             func(p *Plan) { p.Conditions[0].Prompting.API = crosstalk.Completions },
		`prefix is "p", not ""`:                        func(p *Plan) { p.Conditions[0].Prompting.Prefix = "" },
		`system is "", not "s"`:                        func(p *Plan) { p.Conditions[0].Prompting.System = "s" },
		`temperature is 0.5, not 1`:                    func(p *Plan) { p.Conditions[0].Prompting.Decoding.Temperature = temperature(1) },
		`temperature is 0.5, not null`:                 func(p *Plan) { p.Conditions[0].Prompting.Decoding.Temperature = nil },
		`top_p is null, not 0.9`:                       func(p *Plan) { p.Conditions[0].Prompting.Decoding.TopP = temperature(0.9) },
		`max_tokens is 10, not 11`:                     func(p *Plan) { p.Conditions[0].Prompting.Decoding.MaxTokens = 11 },
		`seed is null, not 7`:                          func(p *Plan) { n := int64(7); p.Conditions[0].Prompting.Decoding.Seed = &n },
		`extra is {"top_k":5}, not {"top_k":6}`:        func(p *Plan) { p.Conditions[0].Prompting.Decoding.Extra = map[string]any{"top_k": 6} },
		`format is null, not {"shots":"2"}`:            func(p *Plan) { p.Conditions[0].Format = map[string]string{"shots": "2"} },
		`number of conditions is 1, not 2`:             func(p *Plan) { p.Conditions = append(p.Conditions, p.Conditions[0]) },
		`stop is null, not ["."]`:                      func(p *Plan) { p.Conditions[0].Prompting.Decoding.Stop = []string{"."} },
	} {
		p := plan()
		change(&p)
		_, err := Create(path, p)
		if err == nil || err.Error() != path+" has a run with other settings: its "+want+": use another --out, or the settings of that run" {
			t.Errorf("%v; want %s", err, want)
		}
		if p.Hash() == plan().Hash() {
			t.Errorf("%s: an equal hash", want)
		}
	}
	if after := read(t, path); after["manifest.json"] != before["manifest.json"] {
		t.Error("a refused Create changed the manifest")
	}
	d = create(t, path, plan())
	defer d.Close()
	if got, want := d.Manifest.Scoring[0], scoring; string(crosstalk.Canonical(got)) != string(crosstalk.Canonical(want)) {
		t.Errorf("%+v; want %+v", got, want)
	}
	if _, err := Create(path, plan()); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
}

// read returns the files of a directory.
func read(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// A directory of somebody else, a file, and manifests that are none are
// refused, and nothing is added to them.
func TestForeignDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"thesis":        {map[string]string{"thesis.tex": "x"}, "is not empty and not a run directory (thesis.tex): use another --out"},
		"no JSON":       {map[string]string{"manifest.json": "{"}, "manifest.json: invalid manifest"},
		"a list":        {map[string]string{"manifest.json": "[]"}, "manifest.json: invalid manifest"},
		"empty":         {map[string]string{"manifest.json": "\x00\x00\n"}, "manifest.json: is empty"},
		"other program": {map[string]string{"manifest.json": `{"name":"app"}`}, `manifest.json: unknown schema ""; expected "crosstalk/run/v1"`},
		"newer":         {map[string]string{"manifest.json": `{"schema":"crosstalk/run/v2","plan":{}}`}, `unknown schema "crosstalk/run/v2"; expected "crosstalk/run/v1": update crosstalk, or use another --out`},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(path, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Create(path, plan()); err == nil || !strings.Contains(err.Error(), path) ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %s", err, c.want)
			}
			if got := read(t, path); len(got) != len(c.files) {
				t.Errorf("files were added: %v", got)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, plan()); err == nil || !strings.Contains(err.Error(), file+" is a file; expected a directory") {
		t.Errorf("%v", err)
	}
	if _, err := Create(filepath.Join(file, "run"), plan()); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
}

// A run that was killed before its manifest was whole is taken up again.
func TestKilledBeforeTheManifest(t *testing.T) {
	for _, left := range [][]string{
		{},
		{"answers.db.lock"},
		{"answers.db", "answers.db.lock", "answers.db-wal"},
		{"answers.db.lock", "manifest.json.0a1b2c3d.part"},
	} {
		path := t.TempDir()
		for _, name := range left {
			if err := os.WriteFile(filepath.Join(path, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		d := create(t, path, plan())
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if m, err := ReadManifest(path); err != nil || m.Plan.Suite != "s@1" || m.Crosstalk != crosstalk.Version {
			t.Errorf("after %v: %+v, %v", left, m, err)
		}
		if files := read(t, path); len(files) != 3 {
			t.Errorf("after %v: %d files", left, len(files))
		}
	}
}

// A write that is broken off leaves the file of the last one.
func TestInterruptedWrites(t *testing.T) {
	path := t.TempDir()
	d := create(t, path, plan())
	defer func() { d.Close() }()
	one := crosstalk.Observation{Measure: "m", Item: "<i>", Value: crosstalk.Undefined, Answers: []crosstalk.Key{{1}}}
	write := func(n int, end error) error {
		r, err := d.Record()
		if err != nil {
			return err
		}
		defer r.Discard()
		for range n {
			if err := r.AddAt(one, Place{}); err != nil {
				return err
			}
		}
		if end != nil {
			return end
		}
		return r.Commit()
	}
	if err := write(3, nil); err != nil {
		t.Fatal(err)
	}
	before := read(t, path)["observations.jsonl"]
	if strings.Count(before, "\n") != 3 || !strings.Contains(before, `"<i>"`) {
		t.Errorf("%q", before)
	}
	stopped := errors.New("stopped")
	if err := write(5000, stopped); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	if err := d.WriteEstimates([]crosstalk.Estimate{{Interval: &crosstalk.Interval{Low: math.NaN()}}}); err == nil {
		t.Error("NaN was written")
	}
	files := read(t, path)
	if files["observations.jsonl"] != before {
		t.Error("the old observations are gone")
	}
	for name := range files {
		if strings.HasSuffix(name, ".part") {
			t.Errorf("%s is left", name)
		}
	}
	// The next run removes a .part file that a kill left, and no others.
	for _, name := range []string{"observations.jsonl.0a1b2c3d.part", "film.part"} {
		if err := os.WriteFile(filepath.Join(path, name), []byte(strings.Repeat("x", 1e5)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = create(t, path, plan())
	files = read(t, path)
	if files["observations.jsonl.0a1b2c3d.part"] != "" || files["film.part"] == "" {
		t.Errorf("%d files after a kill", len(files))
	}
	if err := write(1, nil); err != nil {
		t.Fatal(err)
	}
	n := 0
	for o, err := range ReadObservations(path) {
		if n++; err != nil || o.Item != one.Item || !math.IsNaN(float64(o.Value)) || o.Answers[0] != one.Answers[0] {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if n != 1 {
		t.Errorf("%d observations", n)
	}
}

func TestReading(t *testing.T) {
	path := t.TempDir()
	if _, err := ReadManifest(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	for _, place := range []string{path, "dir_test.go"} {
		if _, err := ReadEstimates(place); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), place+" is not a run directory: expected ") {
			t.Errorf("%v", err)
		}
	}
	for _, err := range ReadObservations(path) {
		if !os.IsNotExist(err) {
			t.Errorf("%v", err)
		}
	}
	d := create(t, path, plan())
	defer d.Close()
	if _, err := ReadEstimates(path); !errors.Is(err, ErrUnfinished) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without figures: %v", err)
	}
	want := []crosstalk.Estimate{{Measure: "m", Value: 0.25, N: 4, Signature: "s"}}
	if err := d.WriteEstimates(want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadEstimates(path); err != nil || len(got) != 1 || got[0].Value != 0.25 || got[0].N != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	text, err := os.ReadFile(filepath.Join(path, "estimates.json"))
	if err != nil {
		t.Fatal(err)
	}
	replace := func(text []byte) {
		if err := os.WriteFile(filepath.Join(path, "estimates.json"), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	replace(bytes.Replace(text, []byte("0.25"), []byte("0.26"), 1))
	if _, err := ReadEstimates(path); !errors.As(err, new(*ChangedError)) || !strings.Contains(err.Error(), "estimates.json: was changed after it was written") {
		t.Errorf("edited: %v", err)
	}
	if d2, err := Create(t.TempDir(), plan()); err != nil { // the next scoring writes what the manifest says
		t.Fatal(err)
	} else if err := errors.Join(d2.WriteEstimates(nil), d2.SetScoring(nil, crosstalk.SuiteIDs{}, 0, nil),
		d2.Close()); err != nil || d2.Manifest.EstimatesSHA256 != "" {
		t.Errorf("the figures of an older scoring are taken: %v", err)
	}
	replace(text)
	if _, err := ReadEstimates(path); err != nil {
		t.Errorf("restored: %v", err)
	}
	if err := d.SetScoring(nil, crosstalk.SuiteIDs{}, 0, nil); err != nil { // as in runs that do not say what they are
		t.Fatal(err)
	}
	replace([]byte("no"))
	if _, err := ReadEstimates(path); err == nil || !strings.Contains(err.Error(), "estimates.json: invalid estimates") {
		t.Errorf("%v", err)
	}
	good, _ := json.Marshal(crosstalk.Observation{Item: "a"})
	if err := os.WriteFile(filepath.Join(path, "observations.jsonl"), []byte(string(good)+"\n{\"item\":3}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	n := 0
	for o, err := range ReadObservations(path) {
		if n++; n == 1 && (err != nil || o.Item != "a") || n == 2 && (err == nil || !strings.Contains(err.Error(), "observations.jsonl:2: ")) {
			t.Errorf("%d: %+v, %v", n, o, err)
		}
	}
	if n != 2 {
		t.Errorf("%d observations", n)
	}
}
