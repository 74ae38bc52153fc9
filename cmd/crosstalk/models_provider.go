package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"crosstalk/internal/config"
	"crosstalk/internal/visible"
	"crosstalk/model"

	"github.com/spf13/cobra"
)

// providerFlags say where a provider's models are and how they are reached.
type providerFlags struct {
	options model.Options
	timeout time.Duration
}

func (p *providerFlags) add(c *cobra.Command) {
	p.timeout = 2 * time.Minute
	config.Declare(c, "", []config.Flag{
		{Name: "base-url", To: &p.options.BaseURL, Reach: config.Address,
			Help: "URL of the API (default: the provider's)"},
		{Name: "key-var", To: &p.options.KeyVar, Reach: config.Credential,
			Help: "environment variable that contains the API key (default: the provider's)"},
		{Name: "header", To: &p.options.Header, Whole: true, Reach: config.Credential,
			Help: "header to send with every request, NAME=VALUE or NAME=$VARIABLE"},
		{Name: "timeout", To: &p.timeout, Help: "maximum time to wait for the server"},
	})
}

// isProvider reports whether name is that of a provider of language models.
func isProvider(name string) bool {
	return slices.ContainsFunc(model.Presets(), func(p model.Preset) bool { return p.Name == strings.ToLower(name) })
}

// list prints the names of a server's models.
func (p *providerFlags) list(ctx context.Context, stdout io.Writer, name string) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	names, err := model.List(ctx, name, p.options)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(stdout, visible.Line(name)); err != nil {
			return err
		}
	}
	return nil
}

// check asks a model what it takes.
func (p *providerFlags) check(ctx context.Context, name string) (rows [][2]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	found, err := model.Check(ctx, name, p.options)
	if err != nil {
		return nil, err
	}
	return found.Rows(p.options), nil
}
