package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/run/shard"
)

// Plan determines the requests of a run. Adding samples, or scoring answers again, does not change it.
type Plan struct {
	Instrument string      `json:"instrument"`
	Suite      string      `json:"suite"` // name@hash
	Conditions []Condition `json:"conditions"`
	Shard      shard.Shard `json:"shard,omitzero"` // which measures a part of the items; the others are of all
}

// Whole is the plan of the measurement that a shard is a part of.
func (p Plan) Whole() Plan {
	p.Shard = shard.Shard{}
	return p
}

// Condition is a model with its decoding settings and prompt format: a point of a sweep.
type Condition struct {
	Model     crosstalk.Identity     `json:"model"`
	Prompting crosstalk.PromptConfig `json:"prompting"`
	Format    map[string]string      `json:"format,omitempty"` // the instrument's own settings of the prompt
	Name      map[string]string      `json:"name,omitempty"`   // in observations: the model and what varies
}

// Adapted is what asking has shown that a condition's model does not take: who resumes or scores again asks alike.
type Adapted struct {
	Condition int      `json:"condition"`         // its index in the plan
	Without   []string `json:"without,omitempty"` // parameters that the model refused, in the order in which it did
	Room      bool     `json:"room,omitempty"`    // the model thinks, and got room for it
}

// Recorded is the plan for scoring recorded answers.
func Recorded(instrument, suite, model string) Plan {
	return Plan{Instrument: instrument, Suite: suite,
		Conditions: []Condition{{Model: crosstalk.Identity{Provider: "recorded", Name: model}}}}
}

// Hash is a short hash of the plan, for naming directories.
func (p Plan) Hash() string {
	sum := sha256.Sum256(crosstalk.Canonical(p))
	return hex.EncodeToString(sum[:4])
}

// Scoring is how the answers were last scored. It can change without changing the answers.
type Scoring struct {
	Protocol     string          `json:"protocol"`
	Rules        json.RawMessage `json:"rules"` // the instrument's (instrument.ReadRules)
	Similarities []string        `json:"similarities,omitempty"`
	Samples      int             `json:"samples"`
	By           []string        `json:"by"`
}

// Difference names the first field in which two plans differ, as the manifest does, with both values; "" for none.
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

// SuiteIDs names suites as the figures of a run with this plan do, which are about the shard's part of them.
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

// Names names runs by the last parts of their paths, as few as are unique. A path given twice gets a number.
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
