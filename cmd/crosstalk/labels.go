package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/labels"

	"github.com/spf13/cobra"
)

func labelsCommand() *cobra.Command {
	return group("labels", "Ask people about a run's answers in spreadsheets",
		`Ask people about the answers of a run in spreadsheets: export questions, let one or
more people fill them in, and import their labels into the run. ('crosstalk
annotate' asks them in a browser.) Then 'crosstalk agreement' compares the labels,
and 'crosstalk report --corrected' corrects the run's figures with them.`,
		labelsExportCommand(), labelsImportCommand())
}

type sheetFlags struct {
	out, format, annotator, question string
	sample                           labels.Sample
}

// questionHelp is the help of --question.
const questionHelp = "leakage; confusion (of answers) or lines; consistency, reading or codes " +
	"(default: the run's instrument)"

// addSample adds the flags that choose what people are asked about.
func addSample(c *cobra.Command, s *labels.Sample) {
	s.Seed = 1
	config.Declare(c, "", []config.Flag{
		{Name: "sample", To: &s.N, Help: "number of questions (default: all)"},
		{Name: "by", To: &s.By, Reach: config.Nothing,
			Help: "columns to stratify the sample by, such as category, language or finding"},
		{Name: "only", To: &s.Only, Reach: config.Nothing,
			Help: "ask about some answers only: COLUMN=VALUE; disputed (similarities disagree) or " +
				"doubtful (near the identifier's threshold, or nearly a tie)"},
		{Name: "seed", To: &s.Seed, Help: "seed of the sample, the order and the sides"},
	})
}

func labelsExportCommand() *cobra.Command {
	var s sheetFlags
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write questions about a run's answers for an annotator",
		Long: `Write questions about the answers of a run, for one annotator to answer: a CSV
table, or tasks for Label Studio (.json). Fill in the column label, and import
the file with 'crosstalk labels import'.

Leakage: which of two texts is more related to the word X? Confusion: is the
answer in language X? Consistency: do two answers mean the same? --question asks
another one: reading (what does the answer say?), codes (why do two differ?).

The sheet is blind. It names no model, setting or item. The order and the sides
A and B are drawn for each annotator from --seed and a secret in RUN/labels.json,
without which nobody can tell the sides. Do not give that file to annotators.

--sample N asks about N of the answers, as many from each value of the columns in
--by; finding is what the instrument found. --only asks about some answers only,
such as those on which similarities disagree. The same seed draws the same sample.`,
		Example: `  crosstalk labels export RUN --annotator ann --out ann.csv
  crosstalk labels export RUN --annotator bob --out bob.csv --sample 200 --by finding
  crosstalk labels export RUN --out tasks.json --only disputed
  crosstalk labels export RUN --out lines.csv --question lines --sample 60`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return s.run(c, args[0]) },
	}
	config.Declare(c, "", []config.Flag{
		{Name: "out", To: &s.out, Reach: config.Path, Help: "the file to write: .csv or .json (default: stdout)"},
		{Name: "format", To: &s.format, Choices: labels.Formats,
			Help: strings.Join(labels.Formats, ", ") + " (default: as --out ends, else csv)"},
		{Name: "annotator", To: &s.annotator, Reach: config.Nothing,
			Help: "who is asked: another name draws another order and other sides"},
		{Name: "question", To: &s.question, Reach: config.Nothing, Help: questionHelp},
	})
	addSample(c, &s.sample)
	return c
}

func (s *sheetFlags) run(c *cobra.Command, path string) error {
	format := cmp.Or(s.format, labels.FormatOf(s.out))
	if err := cmp.Or(s.sample.Check(), labels.CheckFormat(format)); err != nil {
		return err
	}
	q, err := labels.NewQuestionnaire(path, s.question, s.annotator, s.sample)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return q.Write(w, format) }
	if s.out == "" {
		return write(c.OutOrStdout())
	}
	if err := atomicfile.Write(s.out, write); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%d of %d questions: %s\n", len(q.Asked), q.Of, s.out)
	return nil
}

func labelsImportCommand() *cobra.Command {
	var annotator, question string
	c := &cobra.Command{
		Use:   "import RUN FILE",
		Short: "Read an annotator's labels into a run",
		Long: `Read a sheet that 'crosstalk labels export' wrote and an annotator filled in, and
add its labels to RUN/labels.jsonl, un-blinded. FILE is CSV, TSV, JSON Lines, a
workbook, or Label Studio's export (.json).

Questions without a label are skipped. If an id or a label is unknown, or a
question was answered before by this annotator, nothing is imported.`,
		Example: `  crosstalk labels import RUN ann.csv --annotator ann
  crosstalk labels import RUN project-1.json --annotator bob`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if annotator == "" {
				return usagef("expected --annotator NAME")
			}
			imported, err := labels.ImportInto(args[0], question, args[1], annotator, time.Now())
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "%d labels by %s added; %d questions without a label\n",
				len(imported.Labels), annotator, imported.Blank)
			if imported.Restored > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "note: %d ids had lost the zeros at their beginning, as in a spreadsheet\n",
					imported.Restored)
			}
			return nil
		},
	}
	config.Declare(c, "", []config.Flag{
		{Name: "annotator", To: &annotator, Reach: config.Nothing, Help: "who filled in the sheet (required)"},
		{Name: "question", To: &question, Reach: config.Nothing, Help: questionHelp},
	})
	return c
}
