package study

import "context"

// CheckSuite returns the error with which a run of an instrument would refuse a suite, a
// name or a file, before it asks anything, whatever the model. It sends nothing.
func CheckSuite(ctx context.Context, suite, instrument string) (err error) {
	var of *Study
	sweep := Sweep{Models: []string{"ollama:any"}} // a reference model cannot answer all suites
	switch instrument {
	case "leakage":
		of, err = Leakage{Sweep: sweep, Suite: suite, CountOnly: true, Similarities: []string{"bertscore"}}.Open() // whatever its language
	case "confusion":
		of, err = Confusion{Sweep: sweep, Suite: suite}.Open()
	case "consistency":
		of, err = Consistency{Sweep: sweep, Suite: suite}.Open()
	default:
		return nil
	}
	if err == nil {
		_, err = of.count(ctx, nil, false)
	}
	return err
}
