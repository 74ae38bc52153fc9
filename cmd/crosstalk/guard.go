package main

import (
	"os"
	"runtime/debug"

	"crosstalk/guard"
	"crosstalk/guard/server"
	"crosstalk/internal/config"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// mostMemory is what the service's garbage collector aims to keep below, unless GOMEMLIMIT says otherwise.
const mostMemory = 80 << 20

func guardCommand() *cobra.Command {
	var addr, lid string
	var strict bool
	var o server.Options
	c := &cobra.Command{
		Use:   "guard",
		Short: "Check answers as a service, for gateways and applications",
		Long: `Check answers over HTTP: whether they are in the language that they should be in,
and which parts are not, as 'crosstalk check' does. No model is asked, and texts
are neither logged nor kept.

  POST /v1/check                            one record, or a list of them
  POST /v1/check/stream                     a text as it arrives, with alarms
  POST /beta/litellm_basic_guardrail_api    for LiteLLM
  POST /promptfoo                           for promptfoo's webhook assertion
  GET  /metrics, /healthz                   for Prometheus; whether it runs

It only observes: callers are told to let answers pass, and gateways also what
cannot be checked. With --block, they are told to stop answers in another
language. By default, only this machine has access; with any other --addr,
requests need a token: that of the environment variable CROSSTALK_GUARD_TOKEN, or
else the one that is printed.`,
		Example: `  crosstalk guard
  crosstalk guard --language user --block
  crosstalk guard --addr :8030 --host guard.example`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			identifier, err := study.OpenIdentifier(lid)
			if err != nil {
				return err
			}
			o.Checker = guard.Checker{Identifier: identifier, Strict: strict}
			if err := o.Check(); err != nil {
				return err
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			if os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(mostMemory)
			}
			return server.Serve(ctx, c.ErrOrStderr(), addr, o)
		},
	}
	addAddress(c, &addr, "127.0.0.1:8030", &o.Hosts)
	config.Declare(c, "", []config.Flag{
		{Name: "language", To: &o.Language, Reach: config.Nothing,
			Help: "the language of records that name none: a tag such as ko, or user: that of the user's message " +
				"(default: refuse them)"},
		{Name: "block", To: &o.Block, Help: "tell callers to stop answers in another language, or with words of one"},
		{Name: "strict", To: &strict,
			Help: "take no excuses: words that may be names, loans, explanations or quotations, or are doubtful, " +
				"make an answer wrong"},
		{Name: "lid", To: &lid, Reach: config.Path,
			Help: "a fastText language identification model, for lines in languages without a model of words " +
				"(default: a small embedded one)"},
	})
	return c
}
