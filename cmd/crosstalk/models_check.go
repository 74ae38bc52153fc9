package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"crosstalk"
	"crosstalk/internal/config"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
	"crosstalk/study"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

func modelsCheckCommand() *cobra.Command {
	var provider providerFlags
	c := &cobra.Command{
		Use:   "check MODEL",
		Short: "Ask a language model what it takes, or try one for --similarity or --lid",
		Long: `For provider:name, find out what a language model takes. This sends at most
three short requests (about 2,000 tokens each if the model thinks). It prints

  - whether the model takes a temperature, top-p beside a temperature and a
    system message, and the name of the parameter that limits its answers;
  - whether log probabilities come back;
  - whether it thinks, where its thoughts come back, and which levels of
    reasoning have an effect;
  - which model answered, by the server's own account;
  - the flags of a run that spell this out. Under the protocol crosstalk-1, a run
    does the same without them.

For a model of --similarity, load it and compare two sentences: print its
properties, the code that runs it, and the time it takes. Nothing is fetched. A
model without bertscore: or sbert: is used for sentence vectors. For lid.176,
lid.176.ftz and files ending in .bin or .ftz, identify the language of a
sentence.`,
		Example: `  crosstalk models check openai:gpt-4o-mini
  crosstalk models check compatible:my-model --base-url http://localhost:8000/v1
  crosstalk models check gloss
  crosstalk models check bertscore
  crosstalk models check bertscore:./my-model/L5
  crosstalk models check sbert:all-MiniLM-L6-v2
  crosstalk models check lid.176`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if name, _, found := strings.Cut(args[0], ":"); found && isProvider(name) {
				return provider.check(c.Context(), c.OutOrStdout(), args[0])
			}
			return checkModel(c.Context(), c.OutOrStdout(), args[0])
		},
	}
	provider.add(c)
	c.Flags().Var(families{&provider.options.Families}, "families",
		"a YAML file of what models take and refuse, before the built-in table (docs/models.md)")
	config.Harmless(c.Flags(), "families")
	c.Flags().StringVar(&provider.api, "api", "", "chat, completions or responses (default: the provider's)")
	config.Choices(c.Flags(), "api", string(crosstalk.Chat), string(crosstalk.Completions), string(crosstalk.Responses))
	return c
}

func checkModel(ctx context.Context, stdout io.Writer, arg string) error {
	if _, known := study.PublishedIdentifier(arg); known || strings.HasSuffix(arg, ".bin") || strings.HasSuffix(arg, ".ftz") {
		return checkIdentifier(stdout, arg)
	}
	started := time.Now()
	l, err := loadToCheck(arg)
	if err != nil {
		return err
	}
	loaded := time.Now()
	scores, err := l.similarity.Scores(ctx,
		[]similarity.Pair{{A: checked[0], B: checked[0]}, {A: checked[0], B: checked[1]}})
	if err != nil {
		return err
	}
	took := time.Since(loaded)
	l.say("similarity", "%s", l.similarity.Name())
	l.say("time", "%v to load, %v to compare two sentences",
		loaded.Sub(started).Round(time.Millisecond), took.Round(10*time.Microsecond))
	l.say("scores", "%.4f a sentence with itself, %.4f with another", scores[0], scores[1])
	if err := l.print(stdout); err != nil {
		return err
	}
	if !(math.Abs(scores[0]-l.self) < 1e-3) || math.IsNaN(scores[1]) {
		return fmt.Errorf("%s: a sentence scores %v with itself; expected %v: the weights are wrong", arg, scores[0], l.self)
	}
	return nil
}

// checkIdentifier loads a language identifier and tries it on a sentence.
func checkIdentifier(stdout io.Writer, name string) error {
	file, err := study.IdentifierFile(name)
	if err != nil {
		return err
	}
	started := time.Now()
	m, err := study.OpenIdentifier(name)
	if err != nil {
		return err
	}
	loaded := time.Since(started)
	guess := m.Identify(checked[0])
	var c checkedModel
	c.say("model", "%s", m.Name())
	c.say("file", "%s", file)
	c.say("identifies", "%d languages; an English sentence as %s, probability %.4f", len(m.Labels()), guess.Language, guess.Probability)
	c.say("time", "%v to load", loaded.Round(time.Millisecond))
	return c.print(stdout)
}

var checked = [2]string{"His favourite food is fresh bread with butter.", "The train to the mountains was late."}

// checkedModel is a similarity with the rows to print about it.
type checkedModel struct {
	similarity similarity.Similarity
	self       float64 // score of a text with itself
	rows       [][2]string
}

func (c *checkedModel) say(what, format string, args ...any) {
	c.rows = append(c.rows, [2]string{what, fmt.Sprintf(format, args...)})
}

func (c *checkedModel) print(stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, row := range c.rows {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	return w.Flush()
}

// loadToCheck opens the similarity that the argument names.
func loadToCheck(arg string) (*checkedModel, error) {
	if arg == "gloss" {
		s, err := similarities.Open(arg, nil, nil)
		if err != nil {
			return nil, err
		}
		c := &checkedModel{similarity: s, self: 1.2} // the sum of the weights of its three parts
		c.say("model", "word vectors from WordNet 3.0, embedded")
		return c, nil
	}
	m, err := parseModelArgument(arg)
	if err != nil {
		return nil, err
	}
	c := &checkedModel{self: 1}
	dir, commit, err := m.Find()
	if err != nil {
		return nil, err
	}
	c.say("model", "%s", m.Name)
	if commit != "" {
		c.say("commit", "%s", commit)
	}
	c.say("folder", "%s", dir)
	if m.Kind == "bertscore" {
		s, err := similarities.OpenBERTScore(m)
		if err != nil {
			return nil, err
		}
		c.similarity = s
		c.sayEncoder(s.Config(), s.MaxTokens())
		c.say("compares", "token vectors of layer %d", s.Layer())
		return c, nil
	}
	s, err := similarities.OpenSBERT(m)
	if err != nil {
		return nil, err
	}
	c.similarity = s
	c.sayEncoder(s.Config(), s.MaxTokens())
	c.say("pooling", "%s", strings.Join(s.Pooling(), ", "))
	return c, nil
}

func (c *checkedModel) sayEncoder(e encoder.Config, most int) {
	kernels := encoder.Kernels()
	c.say("encoder", "%s, %d layers, %d wide, at most %d tokens", e.Type, e.Layers, e.Hidden, most)
	c.say("kernel", "%s", kernels[len(kernels)-1])
}
