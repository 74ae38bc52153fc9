package labels_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"crosstalk/labels"
	"crosstalk/study"
)

// Ask a person about some answers of a run, and compare what they say with the instrument.
func Example() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)
	run := filepath.Join(dir, "run")
	of := study.Leakage{Sweep: study.Sweep{Models: []string{"reference:leaky?rate=0.6"}, Items: 20}}
	if _, err := study.Run(context.Background(), of, run); err != nil {
		log.Fatal(err)
	}
	sheet, err := labels.Open(run, "leakage")
	if err != nil {
		log.Fatal(err)
	}
	// A question of a blind sheet does not tell which text is of the test. This person finds what the instrument found.
	design, err := labels.Plan(run, labels.Sample{})
	if err != nil {
		log.Fatal(err)
	}
	blind := sheet.Blind(design)
	for _, asked := range design.Ask(sheet.Question, sheet.Units, "Ann", 1) {
		unit, _ := blind.Unit(asked.ID)
		said := "neither"
		if found := unit.Judged[0].Value; found != 0.5 {
			said = map[bool]string{true: "A", false: "B"}[(found == 1) == (asked.A == unit.Texts[0])]
		}
		label, err := blind.Label(labels.Answer{ID: asked.ID, Shown: said, Annotator: "Ann", When: time.Now()})
		if err == nil {
			err = labels.Append(run, label)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	agreement, err := labels.AgreementOf(run, "leakage", labels.Options{By: []string{}})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range agreement.Figures {
		if f.Measure == labels.CohensKappa {
			fmt.Printf("%d labels, %s with %s %.2f\n", agreement.Labels, f.Measure, f.Of, f.Value)
		}
	}
	// Output: 20 labels, kappa with gloss@1 and people 1.00
}
