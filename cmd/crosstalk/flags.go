package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/internal/shell"
	"crosstalk/model"
	"crosstalk/report"
	"crosstalk/report/overview"
	"crosstalk/run/shard"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

type modelFlags struct {
	sweep   study.Sweep
	options ask.Options
	systems []string // texts or files
	zip     []string

	prices, families string // paths of files
}

// add adds the flags; standIn is the default model.
func (m *modelFlags) add(c *cobra.Command, standIn string) {
	s, o := &m.sweep, &m.options
	s.Models = []string{standIn}
	o.Timeout, o.Retries, o.Patience = 2*time.Minute, 8, 10*time.Minute
	config.Declare(c, often, []config.Flag{
		{Name: "model,m", To: &s.Models, Values: "models",
			Help: "provider:name, as in openai:gpt-4o-mini or ollama:llama3.2. --model, --api, --temperature, --top-p, " +
				"--reasoning, --system, --prefix and --param accept several values, which are compared"},
		{Name: "system", To: &m.systems, Whole: true,
			Help: "system message for chat models; @FILE reads it from a file; " +
				"for a text that begins with @, write @@ (default: the protocol's)"},
		{Name: "temperature", To: &s.Temperatures,
			Help: "sampling temperature, or \"default\" for the provider's (default: the protocol's)"},
		{Name: "samples", To: &s.Samples, Positive: true, Help: "answers per prompt (default: the protocol's)"},
	})
	config.Declare(c, models, []config.Flag{
		{Name: "base-url", To: &s.BaseURLs,
			Help: "URL of the API, one for all models or one for each (default: the provider's)"},
		{Name: "api", To: &s.APIs, Choices: apis, Help: "chat, completions or responses (default: the provider's)"},
		{Name: "key-var", To: &s.KeyVar,
			Help: "environment variable that contains the API key (default: the provider's)"},
		{Name: "header", To: &s.Headers, Whole: true,
			Help: "header to send with every request, NAME=VALUE or NAME=$VARIABLE; " +
				"values are kept out of files and messages"},
		{Name: "reasoning", To: &s.Reasoning, Choices: []string{"default", crosstalk.ReasoningOff, crosstalk.ReasoningLow,
			crosstalk.ReasoningMedium, crosstalk.ReasoningHigh},
			Help: "how much the model thinks: off, low, medium, high, or \"default\" for the model's own " +
				"(default: the model's own)"},
		{Name: "reasoning-tokens", To: &s.ReasoningTokens, Rare: true, Positive: true,
			Help: "tokens for thinking, in addition to --max-tokens (default: what the model is known to need)"},
		{Name: "param", To: &s.Params, Whole: true,
			Help: "any other setting as NAME=VALUE, as in --param reasoning_effort=low"},
		{Name: "families", To: &m.families, Rare: true,
			Help: "a YAML file of what models take and refuse, before the built-in table (docs/models.md)"},
	})
	config.Declare(c, asked, []config.Flag{
		{Name: "items", To: &s.Items, Positive: true,
			Help: "ask N items of the suite: always the same ones, from all categories, languages and sources (default: all)"},
		{Name: "prefix", To: &s.Prefixes, Whole: true,
			Help: "text to put before each prompt (default: the suite's)"},
	})
	config.Declare(c, sampling, []config.Flag{
		{Name: "top-p", To: &s.TopPs,
			Help: "top-p (nucleus) sampling, or \"default\" for the provider's (default: the protocol's)"},
		{Name: "zip", To: &m.zip, Whole: true,
			Help: "settings whose values are paired in order instead of combined, such as temperature,top-p"},
		{Name: "max-tokens", To: &s.MaxTokens, Positive: true, Help: "maximum tokens per answer (default: the protocol's)"},
		{Name: "seed", To: &s.Seed, Help: "seed for models that accept one; sample k uses seed+k (default: none)"},
	})
	config.Declare(c, limits, []config.Flag{
		{Name: "prices", To: &m.prices,
			Help: "a YAML file of prices per million tokens: {gpt-4o-mini: {input: 0.15, output: 0.60}}"},
		{Name: "budget-cost", To: &o.Budget.Cost, Positive: true, Help: "stop before exceeding this cost (needs --prices)"},
		{Name: "budget-asks", To: &o.Budget.Asks, Positive: true, Help: "stop before exceeding N requests"},
		{Name: "batch", To: &o.Batch,
			Help: "send the requests in batches: half the price at most providers, answers within a day; " +
				"can be interrupted and resumed"},
		{Name: "batch-give-up", To: &o.BatchGiveUp, Rare: true,
			Help: "send requests again, at the full price, whose answers in a batch cannot be read within patience " +
				"(default: stop)"},
		{Name: "concurrency", To: &o.Concurrency, Positive: true,
			Help: "maximum concurrent requests; fewer if more are not faster (default 64)"},
		{Name: "rpm", To: &o.RPM, Rare: true, Positive: true, Help: "maximum requests per minute (default: no limit)"},
		{Name: "timeout", To: &o.Timeout, Rare: true, Positive: true, Help: "maximum time per request"},
		{Name: "retries", To: &o.Retries, Rare: true, Help: "retries after a transient error"},
		{Name: "patience", To: &o.Patience, Rare: true, Positive: true,
			Help: "maximum time to wait for a server that is down or asks to wait; " +
				"a batch in progress is always waited for"},
	})
}

var apis = []string{string(crosstalk.Chat), string(crosstalk.Completions), string(crosstalk.Responses)}

// Set by tests, which cannot wait; 0: the default.
var batchPoll, batchSettle time.Duration

// check reads texts and prices from files, and validates what the study does not check.
func (m *modelFlags) check() (err error) {
	o := &m.options
	if o.Retries < 0 {
		return crosstalk.BadOption("retries", " is %d; expected a number from 0", o.Retries)
	}
	if m.systems != nil {
		m.sweep.Systems = make([]string, len(m.systems))
	}
	for i, text := range m.systems {
		if m.sweep.Systems[i], err = config.TextOrFile(text); err != nil {
			return crosstalk.BadOption("system", ": %w", err)
		}
	}
	for _, list := range m.zip {
		settings := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
		m.sweep.Zip = append(m.sweep.Zip, settings)
	}
	if o.Retries == 0 {
		o.Retries = -1
	}
	o.Poll, o.Settle = batchPoll, batchSettle
	if m.sweep.Families, err = model.ReadFamilies(m.families); err != nil {
		return err
	}
	o.Budget.Prices, err = ask.ReadPrices(m.prices)
	return err
}

// Flags of several instruments.

// protocolFlag is the flag of an instrument's protocols, the first by default.
func protocolFlag(chosen *[]string, names []string) config.Flag {
	*chosen = names[:1]
	return config.Flag{Name: "protocol", To: chosen, Choices: names,
		Help: "measuring rules; several are compared: " + strings.Join(names, ", ")}
}

// byFlag declares --by, the columns that group figures; the default is the instrument's.
func byFlag(columns *[]string, standard []string, more string) config.Flag {
	return config.Flag{Name: "by", To: columns, Shown: standard,
		Help: "group figures by columns of the suite or the recorded data" + more}
}

// execEnvFlag is the flag that names the environment variables that programs (exec:) get.
func execEnvFlag(names *[]string) config.Flag {
	return config.Flag{Name: "exec-env", To: names, Rare: true,
		Help: "environment variables to pass to exec: programs, which get no API keys, tokens or passwords otherwise"}
}

// shardFlag chooses the part of a measurement that this process does.
type shardFlag struct{ text string }

func (s *shardFlag) add(c *cobra.Command) {
	config.Declare(c, limits, []config.Flag{{Name: "shard", To: &s.text,
		Help: "measure one of several parts of the items, in OUT/shard-I-of-N, as in 3/64; auto takes it from a Slurm " +
			"job array or a Kubernetes Indexed Job; 'crosstalk merge' makes one run of all (default: all items)"}})
}

// take assigns the shard to a study and divides the limits that shards share. It returns notes for the user.
func (s *shardFlag) take(c *cobra.Command, of *study.Study, o *ask.Options) (notes []string, err error) {
	if s.text == "" && c.Flags().Changed("shard") { // for instance from an unset variable
		return nil, crosstalk.BadOption("shard", " is empty; expected I/N, as in 3/64, or auto")
	}
	part, err := shard.Parse(s.text, os.Getenv)
	if err != nil {
		return nil, crosstalk.BadOption("shard", ": %w", err)
	}
	if err := of.Take(c.Context(), part); err != nil {
		return nil, err
	}
	return study.Divide(o, part)
}

type outputFlags struct{ format string }

func (o *outputFlags) add(c *cobra.Command) {
	config.Declare(c, output, []config.Flag{formatFlag(&o.format, report.Formats)})
	addQuiet(c, "print only the result and errors")
}

// formatFlag is the flag of an output format, the first by default.
func formatFlag(chosen *string, formats []string) config.Flag {
	*chosen = formats[0]
	return config.Flag{Name: "format", To: chosen, Choices: formats, Help: strings.Join(formats, ", ")}
}

func addQuiet(c *cobra.Command, help string) {
	config.Declare(c, output, []config.Flag{{Name: "quiet,q", To: new(bool), Help: help}})
}

func quiet(c *cobra.Command) bool {
	f := c.Flags().Lookup("quiet")
	return f != nil && f.Value.String() == "true"
}

// notes returns where a command writes remarks for the user besides its result: stderr, or nowhere with --quiet.
func notes(c *cobra.Command) io.Writer {
	if quiet(c) {
		return io.Discard
	}
	return c.ErrOrStderr()
}

// languageGroups names the grouping columns of every study that has a column language.
const languageGroups = "groups of languages (family, script, indo_european, latin)"

// anyGiven returns the first of these flags that the command line or a file sets, or "".
func anyGiven(c *cobra.Command, flags ...string) string {
	if i := slices.IndexFunc(flags, c.Flags().Changed); i >= 0 {
		return flags[i]
	}
	return ""
}

type figureFlags struct {
	outputFlags
	all bool
}

func (f *figureFlags) add(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{
		{Name: "all", To: &f.all, Help: "print all figures, not only a screenful"}})
	f.outputFlags.add(c)
}

// short reports whether the short answer is wanted: not all figures, and no other format.
func (f *figureFlags) short() bool { return !f.all && f.format == report.Formats[0] }

// write prints figures: the short answer, unless another format or all figures are wanted.
func (f *figureFlags) write(c *cobra.Command, instrument string, figures []crosstalk.Estimate,
	names report.Names, examples *overview.Examples) error {
	if !f.short() {
		return report.WriteNamed(c.OutOrStdout(), f.format, figures, names)
	}
	return overview.Write(c.OutOrStdout(), instrument, figures, names, examples)
}

// answerFlags are the output flags of run and score.
type answerFlags struct {
	figureFlags
	labels []string
	names  report.Names

	examples *overview.Examples // examples of faults
}

func (a *answerFlags) add(c *cobra.Command) {
	config.Declare(c, output, []config.Flag{
		{Name: "label", To: &a.labels, Whole: true,
			Help: "what tables and plots call a model, a system message or another value: VALUE=NAME; " +
				"the value may be @FILE"}})
	a.figureFlags.add(c)
}

func (a *answerFlags) check() error {
	if a.labels == nil {
		return nil
	}
	names, err := report.ParseNames(a.labels)
	a.names = report.Names{}
	for value, name := range names {
		if value, err = config.TextOrFile(value); err != nil {
			break
		}
		a.names[value] = name
	}
	if err != nil {
		return crosstalk.BadOption("label", ": %w", err)
	}
	return nil
}

// follow makes a study use names for values, and keeps examples of the faults it finds.
func (a *answerFlags) follow(s *study.Study) {
	s.Names = a.names
	a.examples = overview.NewExamples(s.Instrument, s.By)
	s.Observe = a.examples.Add
}

func (a *answerFlags) print(c *cobra.Command, s *study.Study, result study.Result) error {
	if unused := a.names.Unused(result.Estimates); len(unused) > 0 {
		fmt.Fprintf(notes(c), "note: --label names %s, which no figure has\n", strings.Join(unused, ", "))
	}
	return a.write(c, s.Instrument, result.Estimates, a.names, a.examples)
}

// sayNext prints where to read the answers of a run.
func sayNext(w io.Writer, run string) {
	serve := "crosstalk serve"
	if dir := filepath.Dir(run); dir != "runs" {
		serve += " " + shell.Quote(dir)
	}
	fmt.Fprintf(w, "Every answer: %s\nPage: crosstalk report %s\n", serve, shell.Quote(run))
}
