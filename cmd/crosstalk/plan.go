package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

// study is what a run measures: a suite, in the conditions of each protocol.
type study struct {
	instrument string
	suite      *suite.Suite
	by         []string
	columns    columns // that the instrument adds to the suite's and the grid's
	protocols  []protocol

	// begin, if it is set, gives what scores its surroundings when the run
	// directory is there. Until then no instrument scores.
	begin func(surroundings)

	// prepare, if it is set, asks what must be known before the items are.
	prepare func(ctx context.Context, dir *run.Dir, session *ask.Session) error
}

// protocol is the part of a study that is measured by one set of rules.
type protocol struct {
	scoring    run.Scoring
	conditions []condition
	set        func(condition) crosstalk.Instrument // to the condition
}

// plan is the run's: the conditions of all protocols, each once.
func (s *study) plan() run.Plan {
	plan := run.Plan{Instrument: s.instrument, Suite: s.suite.ID()}
	seen := map[string]bool{}
	for _, p := range s.protocols {
		for _, c := range p.conditions {
			if key := string(crosstalk.Canonical(c.Condition)); !seen[key] {
				seen[key] = true
				plan.Conditions = append(plan.Conditions, c.Condition)
			}
		}
	}
	return plan
}

// directory names the run's directory where the user does not.
func (s *study) directory() string {
	plan := s.plan()
	var models []string
	for _, c := range plan.Conditions {
		if n := len(models); n == 0 || models[n-1] != c.Model.Name {
			models = append(models, c.Model.Name)
		}
	}
	name := models[0]
	if n := len(models) - 1; n > 0 {
		name += fmt.Sprintf("-and-%d-more", n)
	}
	return filepath.Join("runs", fileName(s.suite.Name+"-"+name)+"-"+plan.Hash())
}

// asksPlanned counts what a run will ask.
type asksPlanned struct {
	asks   int
	worst  crosstalk.Usage
	cost   float64
	priced bool // whether the price of all is known
}

func (p *asksPlanned) add(worst crosstalk.Usage, prices ask.Prices, model string) {
	_, priced := prices[model]
	p.priced = priced && (p.priced || p.asks == 0)
	p.asks++
	p.worst.Prompt += worst.Prompt
	p.worst.Completion += worst.Completion
	p.cost += prices.Cost(model, worst)
}

// row is a condition of a plan with what it asks; what an earlier one asks too
// is not in total again.
type row struct {
	condition
	asksPlanned
}

// counter is an Asker that only counts. Its answers are texts, all different,
// so that asks which are made of answers are counted too.
type counter struct {
	mu     sync.Mutex
	id     crosstalk.Identity
	prices ask.Prices
	row    *asksPlanned
	own    map[crosstalk.Key]struct{}
	all    map[crosstalk.Key]struct{}
	total  *asksPlanned
}

func (n *counter) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(n.id, req)
	n.mu.Lock()
	defer n.mu.Unlock()
	worst := ask.Worst(req)
	if _, again := n.own[key]; !again {
		n.own[key] = struct{}{}
		n.row.add(worst, n.prices, n.id.Name)
	}
	if _, again := n.all[key]; !again {
		n.all[key] = struct{}{}
		n.total.add(worst, n.prices, n.id.Name)
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, nil
}

// count runs the instruments over the items without asking.
func (s *study) count(ctx context.Context, prices ask.Prices) (rows []row, total asksPlanned, err error) {
	all := map[crosstalk.Key]struct{}{}
	for _, p := range s.protocols {
		for _, c := range s.named(p) {
			r := row{condition: c}
			n := &counter{id: c.Model, prices: prices, row: &r.asksPlanned, own: map[crosstalk.Key]struct{}{}, all: all, total: &total}
			in := p.set(c)
			for _, item := range s.suite.Items {
				if _, err := in.Measure(ctx, n, item); err != nil {
					return nil, total, err
				}
			}
			rows = append(rows, r)
		}
	}
	return rows, total, nil
}

// named are the conditions under the names that observations have, which hold
// the protocol where there are several.
func (s *study) named(p protocol) []condition {
	if len(s.protocols) == 1 {
		return p.conditions
	}
	named := slices.Clone(p.conditions)
	for i := range named {
		named[i].Name = maps.Clone(named[i].Name)
		named[i].Name["protocol"] = p.scoring.Protocol
	}
	return named
}

// check refuses columns that neither the suite nor the grid has.
func (s *study) check(c *cobra.Command) error {
	known := maps.Clone(s.columns)
	for _, p := range s.protocols {
		for _, c := range s.named(p) {
			known.add(c.Name)
		}
	}
	for _, item := range s.suite.Items {
		known.add(item.Labels)
	}
	return known.check(c, s.by)
}

// printDryRun prints the grid and what it costs.
func printDryRun(w io.Writer, rows []row, total asksPlanned, out string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(rows) > 1 {
		fmt.Fprintln(t, "condition\tasks\ttokens in\tout at most\tcost at most")
		for _, r := range rows {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", describe(r.Name), r.asks, r.worst.Prompt, r.worst.Completion, r.price("unknown"))
		}
		fmt.Fprintf(t, "each ask once\t%d\t%d\t%d\t%s\n", total.asks, total.worst.Prompt, total.worst.Completion, total.price("unknown (name a price file with --prices)"))
		if err := t.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\ndirectory  %s\n", out)
		return err
	}
	_, err := fmt.Fprintf(w, `model      %s
asks       %d
tokens     about %d in, %d out at most
cost       %s
directory  %s
`, rows[0].Model, total.asks, total.worst.Prompt, total.worst.Completion, total.atMost(), out)
	return err
}

func (p asksPlanned) price(unknown string) string {
	if p.priced {
		return fmt.Sprintf("%.4f", p.cost)
	}
	return unknown
}

func (p asksPlanned) atMost() string {
	if p.priced {
		return p.price("") + " at most"
	}
	return "unknown (name a price file with --prices)"
}

// describe names a condition in words, the model first.
func describe(name map[string]string) string {
	parts := []string{name["model"]}
	for _, column := range slices.Sorted(maps.Keys(name)) {
		if column != "model" {
			parts = append(parts, column+" "+name[column])
		}
	}
	return strings.Join(parts, ", ")
}
