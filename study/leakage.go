package study

import (
	"cmp"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/model/reference"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Leakage is a study of semantic leakage. The zero value measures a reference model on the suite leakage-en.
type Leakage struct {
	Sweep
	leakage.Options
	Suite        string   // an embedded suite or a file
	Similarities []string // similarities.Open; nil: gloss
	By           []string // nil: leakage.By
	ExecEnv      []string // environment variables with keys that programs (exec:) see nevertheless
	CountOnly    bool     // nothing that scores is opened: the study can count, not run

	Columns  map[string]string  // of recorded answers: recorded.Reading
	FileName *recorded.FileName // likewise
}

// Open opens suite, models and similarities. It sends no request.
func (l Leakage) Open() (*Study, error) {
	s, err := suite.LoadFor("leakage", cmp.Or(l.Suite, "leakage-en"))
	if err != nil {
		return nil, err
	}
	if s, err = grouped(s.Part(l.Items), unchanged); err != nil {
		return nil, err
	}
	protocols, err := Suited(l.Options, s).Resolve()
	if err != nil {
		return nil, err
	}
	if err := similarities.CheckGloss(l.similarities(), s.Name, s.Languages()); err != nil {
		return nil, err
	}
	study := &Study{Instrument: "leakage", Suite: s, columns: Columns{"similarity": true}, env: similarities.NewEnv()}
	study.ask()
	if err := study.group(l.By, leakage.By); err != nil {
		return nil, err
	}
	study.env.Programs(l.keyVars(), l.ExecEnv)
	for _, rules := range protocols {
		in := leakage.Instrument{Protocol: rules, Samples: cmp.Or(l.Samples, rules.Samples)}
		names := similarities.ForProtocol(rules.Name, l.similarities())
		if !l.CountOnly {
			if in.Similarities, err = similarities.OpenAll(names, LanguageOf(s), study.env); err != nil {
				return nil, err
			}
		}
		conditions, err := study.conditions(l.Sweep, rules.Name, defaults{model: reference.DefaultLeaky, system: rules.System,
			decoding: crosstalk.Decoding{MaxTokens: cmp.Or(s.MaxTokens, rules.MaxTokens), Temperature: &rules.Temperature}})
		if err != nil {
			return nil, err
		}
		study.add(in.Rules(), run.Scoring{Protocol: rules.Name, Similarities: names, Samples: in.Samples}, conditions,
			func(c Condition, score bool) crosstalk.Instrument {
				of := in
				of.Prompting, of.Condition, of.AskOnly = c.Prompting, c.Name, !score
				return &of
			})
	}
	return study, nil
}

// Suited are the options with what the suite says where the user says nothing. Answers to open-ended prompts, and
// to questions that something else precedes, are scored whole, since they may leak anywhere.
func Suited(o leakage.Options, s *suite.Suite) leakage.Options {
	o.Windows = cmp.Or(o.Windows, s.Windows)
	if s.Windows != "" || s.InContext() {
		o.Post = cmp.Or(o.Post, string(leakage.None))
	}
	return o
}

func (l Leakage) similarities() []string {
	if l.Similarities == nil {
		return []string{"gloss"}
	}
	return l.Similarities
}

// LanguageOf is the one language of a suite's items.
func LanguageOf(s *suite.Suite) similarities.Language {
	return func() (string, error) { return similarities.CommonLanguage(s.Languages()) }
}
