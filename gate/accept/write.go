package accept

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"
	"crosstalk/measure/stats"
	"crosstalk/report"
)

// acceptFile is an acceptance's file in the run: its settings before the first item was asked, and then its result.
const acceptFile = "accept.json"

// maxAcceptFile limits its size, far above what it can reach.
const maxAcceptFile = 1 << 20

// begin writes the settings before anything is asked. An acceptance that was begun earlier continues if its settings
// are the same: another order or margin would be another chance.
func begin(dir string, of Result) error {
	a, _ := os.Stat(of.Settings.Baseline) // nil for a model, which never equals a run
	b, _ := os.Stat(dir)
	if os.SameFile(a, b) {
		return fmt.Errorf("%s is the baseline itself: its answers would be taken for those of the model: use another --out",
			dir)
	}
	path := filepath.Join(dir, acceptFile)
	file, err := plainfile.Read(path, maxAcceptFile)
	if errors.Is(err, fs.ErrNotExist) {
		return write(dir, of)
	} else if err != nil {
		return err
	}
	var was Result
	if err := json.Unmarshal(file, &was); err != nil {
		return fmt.Errorf("%s: is not the file of an acceptance: %w", path, err)
	}
	if field := difference(reflect.ValueOf(was.Settings), reflect.ValueOf(of.Settings)); field != "" {
		return fmt.Errorf("%s: an acceptance with other settings was begun: its %s. A second one is a second chance to be "+
			"wrong: continue that one, or ask for new answers with another --out", path, field)
	}
	return nil
}

// difference returns the first setting that differs, with both values; "" if none does.
func difference(was, now reflect.Value) string {
	for i := range now.NumField() {
		a, b := was.Field(i), now.Field(i)
		name, _, _ := strings.Cut(now.Type().Field(i).Tag.Get("json"), ",")
		if a.Kind() == reflect.Struct {
			if field := difference(a, b); field != "" {
				return field
			}
		} else if name != "-" && !a.Equal(b) {
			return fmt.Sprintf("%s is %v, not %v", strings.ReplaceAll(name, "_", " "), a, b)
		}
	}
	return ""
}

func write(dir string, of Result) error {
	b, err := json.MarshalIndent(of, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytesPrivate(filepath.Join(dir, acceptFile), append(b, '\n'))
}

// Formats are the formats of Result.Write, the first by default.
var Formats = []string{"table", "json"}

// Write writes the result.
func (a Result) Write(w io.Writer, format string) error {
	if format == "json" {
		return report.WriteJSON(w, format, a, []Result{a})
	}
	_, err := io.WriteString(w, a.text())
	return err
}

// text describes the verdict, where reading stopped, and the estimated loss.
func (a Result) text() string {
	s := a.Settings
	label := instrument.Of(s.Measure).Measure(s.Measure).Label
	if instrument.IsFault(s.Measure) {
		label = "share with " + label
	}
	of := fmt.Sprintf("%s of these %d prompts", label, s.Items)
	if s.Target == Prompts {
		of = strings.Replace(of, fmt.Sprintf("these %d", s.Items), "all such", 1)
	}
	claim, what := fmt.Sprintf("at most %s worse than with %s", points(s.Test.Margin), s.Baseline), "loss     "
	if s.Require != "" {
		claim, what = "as required: "+s.Require, "wrong    "
	}
	is := "is"
	if a.Outcome == stats.Rejected {
		is = "is not"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the %s %s %s\nstopped after %d of %d prompts", a.Outcome, of, is, claim, a.Read, s.Items)
	if a.Cost > 0 {
		fmt.Fprintf(&b, ", %.2f of %.2f spent", a.Cost, a.Of)
	}
	value := "-"
	if a.Loss.Defined() {
		value = points(float64(a.Loss))
	}
	fmt.Fprintf(&b, "\n\n%s %s (%g to %g by the confidence sequence, each side %s)\n", what, value,
		round(100*a.Interval.Low), round(100*a.Interval.High), percent(s.Test.Level))
	if s.Require == "" {
		fmt.Fprintf(&b, "prompts   %g better, %g worse\n", round(a.Better), round(a.Worse))
	}
	if a.Unchecked > 0 {
		fmt.Fprintf(&b, "unchecked %d, which count against either verdict\n", a.Unchecked)
	}
	fmt.Fprintf(&b, "evidence  %s for accepting, %s for rejecting; %.3g decides\n",
		amount(a.Evidence[0]), amount(a.Evidence[1]), 1/(1-s.Test.Level))
	return b.String()
}

func amount(e crosstalk.Value) string {
	if !e.Defined() {
		return "certainty"
	}
	return fmt.Sprintf("%.3g", e)
}

func round(x float64) float64 { return math.Round(100*x) / 100 }

func points(x float64) string {
	if x = round(100 * x); math.Abs(x) == 1 {
		return fmt.Sprintf("%g point", x)
	}
	return fmt.Sprintf("%g points", x)
}

func percent(x float64) string { return fmt.Sprintf("%g %%", round(100*x)) }
