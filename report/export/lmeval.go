package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
)

// sample is a line of lm-evaluation-harness' samples_TASK.jsonl, as
// lm_eval/evaluator.py (evaluate) and lm_eval/loggers/evaluation_tracker.py
// (save_results_samples) of version 0.4.9 write it. The metrics are fields of the
// same object.
type sample struct {
	DocID         int                       `json:"doc_id"`
	Doc           map[string]string         `json:"doc"`
	Target        string                    `json:"target"`
	Arguments     map[string]map[string]any `json:"arguments"` // gen_args_I: arg_0 is the prompt, arg_1 the settings
	Resps         [][]string                `json:"resps"`
	FilteredResps []string                  `json:"filtered_resps"`
	Filter        string                    `json:"filter"`
	Metrics       []string                  `json:"metrics"`
	DocHash       string                    `json:"doc_hash"`
	PromptHash    string                    `json:"prompt_hash"`
	TargetHash    string                    `json:"target_hash"`
}

// writeSamples writes observations as lm-evaluation-harness' samples: a line for
// each answer, or group of compared answers, under each condition. asked returns
// an answer with its request, if they are known.
func writeSamples(w io.Writer, all iter.Seq2[crosstalk.Observation, error],
	asked func(crosstalk.Key) (journal.Record, bool)) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	docs := map[string]int{}
	var group []crosstalk.Observation
	flush := func() error {
		if group == nil {
			return nil
		}
		s, metrics := sampleOf(group, asked)
		id, known := docs[s.Doc["id"]]
		if !known {
			id = len(docs)
			docs[s.Doc["id"]] = id
		}
		s.DocID, group = id, nil
		return e.Encode(merged(s, metrics))
	}
	for o, err := range all {
		if err == nil && instrument.Measure(o.Measure).OfTokens {
			continue
		}
		if err == nil && group != nil && !together(group[0], o) {
			err = flush()
		}
		if err != nil {
			return err
		}
		group = append(group, o)
	}
	return flush()
}

// together reports whether two observations are of the same answers under the
// same condition.
func together(a, b crosstalk.Observation) bool {
	return a.Item == b.Item && a.Sample == b.Sample && a.Variant == b.Variant &&
		maps.Equal(a.Condition, b.Condition) && maps.Equal(a.Labels, b.Labels)
}

func sampleOf(group []crosstalk.Observation, asked func(crosstalk.Key) (journal.Record, bool)) (
	s sample, metrics map[string]float64) {
	o := group[0]
	s = sample{Doc: map[string]string{"id": o.Item}, Arguments: map[string]map[string]any{}, Filter: "none",
		Metrics: []string{}}
	for name, columns := range map[string]map[string]string{"": o.Labels, "condition_": o.Condition} {
		for k, v := range columns {
			s.Doc[name+k] = v
		}
	}
	metrics = map[string]float64{}
	for _, o := range group {
		if o.Value.Defined() && o.NotScored == "" {
			if _, twice := metrics[o.Measure]; !twice {
				s.Metrics = append(s.Metrics, o.Measure)
			}
			metrics[o.Measure] = float64(o.Value)
		}
	}
	s.Target = target(o)
	var prompts []string
	for _, t := range o.Texts {
		if t.Role != crosstalk.Side {
			continue
		}
		i, text := len(prompts), t.Text
		raw, prompt, settings := text, "", any(map[string]any{})
		if i < len(o.Answers) {
			if a, ok := asked(o.Answers[i]); ok {
				raw, prompt, settings = a.Answer.Text, a.Request.Text(), a.Request.Decoding
			}
		}
		prompts = append(prompts, prompt)
		s.Arguments[fmt.Sprintf("gen_args_%d", i)] = map[string]any{"arg_0": prompt, "arg_1": settings}
		s.Resps, s.FilteredResps = append(s.Resps, []string{raw}), append(s.FilteredResps, text)
	}
	if prompts == nil { // no text was sent
		prompts, s.Resps, s.FilteredResps = []string{""}, [][]string{}, []string{}
	}
	s.DocHash, s.PromptHash, s.TargetHash = hash(dumped(s.Doc)), hash(prompts[0]), hash(s.Target)
	return s, metrics
}

// target is the correct class, the requested language, or the concept.
func target(o crosstalk.Observation) string {
	name := instrument.Of(o.Measure).Target
	return cmp.Or(o.Text(name), o.Labels[name])
}

// merged is a sample with its metrics beside its own fields.
func merged(s sample, metrics map[string]float64) map[string]any {
	text, _ := json.Marshal(s) // strings and numbers only
	m := map[string]any{}
	json.Unmarshal(text, &m)
	for k, v := range metrics {
		m[k] = v
	}
	return m
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// dumped is Python's json.dumps(doc, indent=2, ensure_ascii=False), keys sorted.
func dumped(doc map[string]string) string {
	var fields []string
	for _, k := range slices.Sorted(maps.Keys(doc)) {
		fields = append(fields, "  "+quoted(k)+": "+quoted(doc[k]))
	}
	return "{\n" + strings.Join(fields, ",\n") + "\n}"
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if i := strings.IndexRune("\"\\\n\r\t\b\f", r); i >= 0 {
			b.WriteString([]string{`\"`, `\\`, `\n`, `\r`, `\t`, `\b`, `\f`}[i])
		} else if r < ' ' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
