package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
)

// writeSamples writes observations as the lines of lm-evaluation-harness' samples_TASK.jsonl, as lm_eval/evaluator.py
// (evaluate) and lm_eval/loggers/evaluation_tracker.py (save_results_samples) of version 0.4.9 write them, without
// hashes: a line for each answer, or group of compared answers, under each condition. asked returns an answer with its
// request, if they are known.
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
		if _, known := docs[group[0].Item]; !known {
			docs[group[0].Item] = len(docs)
		}
		s := sampleOf(group, asked)
		s["doc_id"], group = docs[group[0].Item], nil
		return e.Encode(s)
	}
	for o, err := range all {
		if err == nil && instrument.Measure(o.Measure).OfTokens {
			continue
		}
		if err == nil && group != nil { // one group has the same answers under the same condition
			if last := group[0]; last.Item != o.Item || last.Sample != o.Sample || last.Variant != o.Variant ||
				!maps.Equal(last.Condition, o.Condition) || !maps.Equal(last.Labels, o.Labels) {
				err = flush()
			}
		}
		if err != nil {
			return err
		}
		group = append(group, o)
	}
	return flush()
}

// sampleOf is a sample, with its metrics among its fields.
func sampleOf(group []crosstalk.Observation, asked func(crosstalk.Key) (journal.Record, bool)) map[string]any {
	o := group[0]
	s, metrics := map[string]any{}, []string{}
	for _, o := range group {
		if o.Value.Defined() && o.NotScored == "" {
			if _, twice := s[o.Measure]; !twice {
				metrics = append(metrics, o.Measure)
			}
			s[o.Measure] = float64(o.Value)
		}
	}
	doc := map[string]string{"id": o.Item}
	maps.Copy(doc, o.Labels)
	for k, v := range o.Condition {
		doc["condition_"+k] = v
	}
	arguments, sent, filtered := map[string]any{}, [][]string{}, []string{}
	for _, t := range o.Texts {
		if t.Role != crosstalk.Side {
			continue
		}
		i, raw, prompt, settings := len(sent), t.Text, "", map[string]any{}
		if i < len(o.Answers) {
			if a, ok := asked(o.Answers[i]); ok {
				raw, prompt = a.Answer.Text, a.Request.Text()
				text, _ := json.Marshal(a.Request.Decoding)
				json.Unmarshal(text, &settings)
			}
		}
		arguments[fmt.Sprintf("gen_args_%d", i)] = map[string]any{"arg_0": prompt, "arg_1": settings}
		sent, filtered = append(sent, []string{raw}), append(filtered, t.Text)
	}
	target := instrument.Of(o.Measure).Target // the correct class, the requested language, or the concept
	maps.Copy(s, map[string]any{"doc": doc, "target": cmp.Or(o.Text(target), o.Labels[target]), "arguments": arguments,
		"resps": sent, "filtered_resps": filtered, "filter": "none", "metrics": metrics})
	return s
}
