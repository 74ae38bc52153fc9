// Lcb compares the protocol crosstalk-1 with the published checks on the recorded answers of the Language Confusion
// Benchmark (../shared/data/lcb):
//
//	go -C tools run ./bench/lcb [-data DIR]
//
// It prints how often the decision on a line agrees with lid.176's where that is certain (probability above 0.9), LPR
// and WPR of each model under both with their intervals, and how many answers that pass the benchmark's own checks have
// words of another language.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/instrument/confusion"
	"crosstalk/measure/langid/fasttext"
	"crosstalk/measure/stats"
	"crosstalk/measure/wordlist"
	"crosstalk/recorded"
	"crosstalk/study"
	"crosstalk/tools/internal/bench"
)

var models = []string{"command-r-base", "command-r-plus", "gpt-3.5-turbo", "llama-3-instruct"}

// golden is the published script's result for an answer.
type golden struct {
	Lines []struct {
		Label string
		Score float64
		Used  *string // nil: too few words
	}
}

func main() {
	log.SetFlags(0)
	data := flag.String("data", "../../shared/data", "`folder` of the reference data, relative to the folder tools")
	flag.Parse()
	if _, err := os.Stat(filepath.Join(*data, "lcb")); err != nil {
		fmt.Printf("skipped: no reference data (%v)\n", err)
		return
	}
	if err := compare(*data); err != nil {
		log.Fatal(err)
	}
}

func compare(data string) error {
	lid, err := fasttext.Load(filepath.Join(data, "lid/lid.176.ftz"))
	if err != nil {
		return err
	}
	words, err := wordlist.Load(filepath.Join(data, "lcb/words"))
	if err != nil {
		return err
	}
	published, err := confusion.ProtocolNamed("lcb-script")
	if err != nil {
		return err
	}
	theirs := &confusion.Instrument{Protocol: published, Identifier: lid, Words: words}
	ours := &confusion.Instrument{Protocol: confusion.Protocols[0], Identifier: lid,
		Judge: guard.Checker{Identifier: lid}, Words: words}
	fmt.Println("Lines of at least five words that lid.176.ftz is certain of (p > 0.9), " +
		"and answers that pass the benchmark's checks")
	same, lines, unclear := map[string]int{}, map[string]int{}, map[string]int{}
	for _, model := range models {
		passed, wrong := 0, 0
		decisions, err := bench.ReadLines[golden](filepath.Join(data, "lcb/golden", model+".jsonl.gz"))
		if err != nil {
			return err
		}
		for row, err := range (recorded.Reading{}).Confusion(filepath.Join(data, "lcb/outputs", model+".csv.gz")) {
			if err != nil {
				return err
			}
			if len(decisions) == 0 {
				return fmt.Errorf("%s has more answers than decisions", model)
			}
			decision := decisions[0]
			decisions = decisions[1:]
			language, text := row.Item.Prompt.Language, row.Answer.Text
			if row.Answer.Status != crosstalk.Text {
				continue
			}
			mine := ours.Score(row.Item, 0, row.Answer)
			if passes(theirs.Score(row.Item, 0, row.Answer)) {
				passed++
				if value(mine, confusion.WPR) == 0 {
					wrong++
				}
			}
			checked := theirs.Rules().Lines(nil, language, text)
			j, err := guard.Checker{Identifier: lid}.Check(text, language)
			if err != nil {
				return err
			}
			n := 0
			for _, l := range decision.Lines {
				if l.Used == nil || n == len(checked) {
					continue
				}
				line := checked[n]
				n++
				if l.Score <= 0.9 {
					continue
				}
				switch got := verdict(j, line); {
				case got == guard.CannotTell:
					unclear[language]++
				case (got == guard.Right) == (l.Label == language):
					lines[language]++
					same[language]++
				default:
					lines[language]++
				}
			}
		}
		ci := stats.Wilson(float64(wrong), float64(passed), 0.95)
		fmt.Printf("  %-18s %5d answers pass; %4d have words of another language, %.1f %% (%.1f to %.1f)\n",
			model, passed, wrong,
			100*float64(wrong)/float64(passed), 100*ci.Low, 100*ci.High)
	}
	total := [3]int{}
	for _, language := range strings.Fields("ar de en es fr hi id it ja ko pt ru tr vi zh") {
		fmt.Printf("  %s agree %6.2f %% of %5d; cannot tell %d\n", language,
			100*float64(same[language])/float64(lines[language]), lines[language], unclear[language])
		total[0], total[1], total[2] = total[0]+same[language], total[1]+lines[language], total[2]+unclear[language]
	}
	ci := stats.Wilson(float64(total[0]), float64(total[1]), 0.95)
	fmt.Printf("  all agree %.2f %% (%.2f to %.2f) of %d; cannot tell %d\n",
		100*float64(total[0])/float64(total[1]), 100*ci.Low, 100*ci.High, total[1], total[2])
	return figures(data)
}

func value(observations []crosstalk.Observation, measure string) crosstalk.Value {
	for _, o := range observations {
		if o.Measure == measure {
			return o.Value
		}
	}
	return crosstalk.Undefined
}

// passes reports whether an answer passes the benchmark's checks; of many languages it has none for words.
func passes(o []crosstalk.Observation) bool {
	return value(o, confusion.LPR) == 1 && value(o, confusion.WPR) != 0
}

// verdict returns the judgement of a line: CannotTell if no judged part contains it.
func verdict(j guard.Judgement, line crosstalk.Span) guard.Verdict {
	got := guard.CannotTell
	for _, p := range j.Parts {
		for _, l := range p.Lines {
			if p.Verdict != guard.CannotTell && l.Start < line.End && line.Start < l.End {
				if got = p.Verdict; got == guard.Wrong {
					return got
				}
			}
		}
	}
	return got
}

// figures prints LPR and WPR of the models under the paper's rules and ours.
func figures(data string) error {
	var files []string
	for _, model := range models {
		files = append(files, filepath.Join(data, "lcb/outputs", model+".csv.gz"))
	}
	s, err := study.Confusion{Options: confusion.Options{Protocols: []string{"lcb-script", "crosstalk-1"}},
		Identifier: filepath.Join(data, "lid/lid.176.ftz"), Words: filepath.Join(data, "lcb/words")}.Recorded(files, "")
	if err != nil {
		return err
	}
	result, err := s.Score(context.Background())
	if err != nil {
		return err
	}
	all := result.Estimates
	slices.SortStableFunc(all, func(a, b crosstalk.Estimate) int {
		return strings.Compare(a.Measure+a.By["task"]+a.By["model"], b.Measure+b.By["task"]+b.By["model"])
	})
	for _, e := range all {
		if e.By["language"] == "all" && e.By["source"] == "all" &&
			(e.Measure == confusion.LPR || e.Measure == confusion.WPR) &&
			e.Interval != nil {
			fmt.Printf("  %-4s %-12s %-18s %-12s %6.2f (%.2f to %.2f) n %d, cannot tell %d, unchecked %d\n", e.Measure,
				e.By["task"], e.By["model"], e.By["protocol"],
				100*float64(e.Value), 100*e.Interval.Low, 100*e.Interval.High, e.Observations,
				e.Counts["cannot_tell"], e.Counts["unchecked"])
		}
	}
	return nil
}
