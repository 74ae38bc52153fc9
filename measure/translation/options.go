package translation

import (
	"errors"
	"fmt"
	"strconv"
)

// Code shared by BLEU and chrF: checks of arguments, words of signatures.

var errNoReference = errors.New("no reference, or only empty ones")

// checkLengths refuses reference sets whose length differs from that of the
// hypotheses.
func checkLengths(hyps []string, refs [][]string) error {
	if len(refs) == 0 {
		return errors.New("translation: no references given")
	}
	for k, set := range refs {
		if len(set) != len(hyps) {
			return fmt.Errorf("translation: %d hypotheses but %d references in set %d", len(hyps), len(set), k+1)
		}
	}
	return nil
}

func checkOrder(what string, n int) error {
	if n < 0 || n > 100 {
		return fmt.Errorf("translation: %s order %d; expected 1 to 100, or 0 for the default", what, n)
	}
	return nil
}

func nrefsName(n int) string {
	if n < 0 {
		return "var"
	}
	return strconv.Itoa(n)
}

func caseName(lower bool) string {
	if lower {
		return "lc"
	}
	return "mixed"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
