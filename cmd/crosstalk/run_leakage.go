package main

import (
	"crosstalk/model/reference"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func runLeakageCommand() *cobra.Command {
	var r runFlags
	var l leakageFlags
	c := &cobra.Command{
		Use:   "leakage",
		Short: "Measure semantic leakage",
		Long: `Measure semantic leakage: how often the answer to a prompt that mentions a
concept is closer in meaning to the concept than the answer to the same prompt
without it. 50 % means no leakage.

Without --model, a reference model answers, whose leakage is known.`,
		Example: `  crosstalk run leakage
  crosstalk run leakage --model openai:gpt-4o-mini --temperature 0,0.5,1
  crosstalk run leakage --model ollama:llama3.2,ollama:qwen2.5 --suite mine.yaml
  crosstalk run leakage --suite pairs.csv --model ollama:llama3.2 \
      --system @system.txt
  crosstalk run leakage --model openai:my-model \
      --base-url http://localhost:8000/v1
  crosstalk run leakage --model anthropic:claude-sonnet-4-5 --dry-run \
      --prices prices.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return r.run(c, func() (*study.Study, error) {
				s := l.study(c)
				s.Sweep, s.Suite, s.CountOnly = r.sweep, r.suite, r.dry
				return s.Open()
			})
		},
	}
	r.add(c, reference.Provider+":"+reference.DefaultLeaky, "leakage-en")
	l.add(c)
	return c
}
