package study

import (
	"context"
	"fmt"
	"io"

	"crosstalk/report/suites"
	"crosstalk/suite"
)

// CheckSuite writes the likely mistakes in a suite, a name or a file: what is suspicious in it, and why a run would
// refuse it; without any, what it has. Then it writes what figures of the suite cannot tell. Each line begins with
// the name. It sends nothing. A suite that cannot be read is an error.
func CheckSuite(ctx context.Context, w io.Writer, name string) error {
	s, err := suite.Load(name)
	if err != nil {
		return err
	}
	remarks := suite.Check(s)
	if err := runRefuses(ctx, name, s.Instrument); err != nil {
		remarks = append(remarks, fmt.Sprintf("run %s refuses the suite as it is: %v", s.Instrument, err))
	}
	for _, r := range remarks {
		fmt.Fprintf(w, "%s: %s\n", name, r)
	}
	if len(remarks) == 0 {
		fmt.Fprintf(w, "%s: %s%s\n", name, suites.Summary(s), suites.Details(s))
	}
	for _, l := range suite.Limits(s) {
		fmt.Fprintf(w, "%s: note: %s\n", name, l)
	}
	return nil
}

// runRefuses is the error with which a run would refuse a suite before it asks anything, whatever the model.
func runRefuses(ctx context.Context, suite, instrument string) error {
	sweep := Sweep{Models: []string{"ollama:any"}} // a reference model cannot answer all suites
	whateverLanguage := []string{"bertscore"}
	of := map[string]interface{ Open() (*Study, error) }{
		"leakage":     Leakage{Sweep: sweep, Suite: suite, CountOnly: true, Similarities: whateverLanguage},
		"confusion":   Confusion{Sweep: sweep, Suite: suite},
		"consistency": Consistency{Sweep: sweep, Suite: suite},
	}[instrument]
	s, err := of.Open()
	if err == nil {
		_, err = s.count(ctx, nil, false)
	}
	return err
}
