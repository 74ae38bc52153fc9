package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/labels"
	"crosstalk/study"
)

// agreement scores 1,000 recorded answers, has some of each finding labelled on a sheet, and counts how often the
// intervals of crosstalk agreement contain the run's sensitivity and specificity.
func agreement(out io.Writer, sets int) (bool, error) {
	fmt.Fprintf(out, "%-52s%8s%13s%8s%13s%8s\n", "labels by finding, 95 % intervals of the run's", "n",
		"sensitivity", "width", "specificity", "width")
	ok := true
	for _, s := range []judged{{.02, .9, .99}, {.05, .8, .98}, {.1, .8, .97}, {.2, .8, .95}, {.3, .9, .97}} {
		for _, n := range []int{60, 100, 200} {
			runs, errs, sum := make([][4]float64, sets), make([]error, sets), [4]float64{}
			parallel(sets, func(seed int) { runs[seed], errs[seed] = s.label(n, uint64(seed)) })
			if err := errors.Join(errs...); err != nil {
				return false, err
			}
			for _, r := range runs {
				for i, x := range r {
					sum[i] += 100 * x / float64(sets)
				}
			}
			good := min(sum[0], sum[2]) >= 93
			ok = ok && good
			name := fmt.Sprintf("*rate %.0f %%, sensitivity %g, specificity %g, %d labels", 100*s.rate, s.sensitivity,
				s.specificity, n)
			fmt.Fprintf(out, "%-52s%8d%12.1f%%%7.1f%%%12.1f%%%7.1f%%%s\n", name, sets, sum[0], sum[1], sum[2], sum[3],
				map[bool]string{false: " !"}[good])
		}
	}
	return ok, nil
}

// judged is an instrument's errors at a rate of faults.
type judged struct{ rate, sensitivity, specificity float64 }

// label makes a run, and has n of its answers labelled by someone who is always right. It returns whether the interval
// of sensitivity contains the truth, 0 or 1, and its width, and then the same of specificity.
func (s judged) label(n int, seed uint64) (all [4]float64, err error) {
	dir, err := os.MkdirTemp("", "agreement")
	if err != nil {
		return all, err
	}
	defer os.RemoveAll(dir)
	random := rand.New(rand.NewPCG(seed, uint64(1000*s.rate)+uint64(n)))
	var answers strings.Builder
	var count [2][2]float64 // of faults and of the rest: judged wrongly, and rightly
	for i := range 1000 {
		fault, kind := true, 0
		if random.Float64() >= s.rate {
			fault, kind = false, 1
		}
		right := random.Float64() < [2]float64{s.sensitivity, s.specificity}[kind]
		count[kind][int(indicator(right))]++
		text := "The weather in the small town by the sea was fine on day"
		if fault == right {
			text = "바닷가 작은 마을의 날씨는 그날 아주 좋았습니다"
		}
		number := 2*i + 1 - kind // odd: a fault
		fmt.Fprintf(&answers, `{"id": "%d", "language": "en", "completion": "%s %d"}`+"\n", i, text, number)
	}
	file, path, sheet := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "run"), filepath.Join(dir, "sheet.csv")
	if err := os.WriteFile(file, []byte(answers.String()), 0o600); err != nil {
		return all, err
	}
	recorded, err := study.Confusion{}.Recorded([]string{file}, "m")
	if err != nil {
		return all, err
	}
	if _, err := recorded.Run(context.Background(), path, ask.Options{}); err != nil {
		return all, err
	}
	if err := fillIn(path, sheet, labels.Sample{N: n, By: []string{"finding"}, Seed: seed}); err != nil {
		return all, err
	}
	if _, err := labels.ImportInto(path, "", sheet, "ann", false, time.Unix(0, 0)); err != nil {
		return all, err
	}
	result, err := labels.AgreementOf(path, "", labels.Options{Seed: seed})
	if err != nil {
		return all, err
	}
	for i, measure := range []string{"sensitivity", "specificity"} {
		at := slices.IndexFunc(result.Figures, func(f labels.Figure) bool { return f.Measure == measure && len(f.By) == 0 })
		interval, truth := &crosstalk.Interval{High: 1}, count[i][1]/(count[i][0]+count[i][1])
		if at >= 0 && result.Figures[at].Interval != nil {
			interval = result.Figures[at].Interval
		}
		all[2*i], all[2*i+1] = indicator(interval.Low <= truth && truth <= interval.High), interval.High-interval.Low
	}
	return all, nil
}

// fillIn draws questions about a run, and writes a sheet with the right answers.
func fillIn(path, sheet string, sample labels.Sample) error {
	q, err := labels.NewQuestionnaire(path, "", "ann", sample, false)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := q.Write(&text); err != nil {
		return err
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil {
		return err
	}
	answer, label := slices.Index(rows[0], "a"), slices.Index(rows[0], "label")
	for _, row := range rows[1:] {
		row[label] = "right"
		if strings.ContainsAny(row[answer][len(row[answer])-1:], "13579") {
			row[label] = "wrong"
		}
	}
	f, err := os.Create(sheet)
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(f).WriteAll(rows), f.Close())
}
