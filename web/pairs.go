package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/report/page"
	"crosstalk/web/index"
)

// outcome is what became of an item from one side to the other.
type outcome string

// The outcomes.
const (
	broken    outcome = "broken"
	fixed     outcome = "fixed"
	stayWrong outcome = "still wrong"
	stayRight outcome = "still right"
	unscored  outcome = "not scored"
)

// outcomes are all outcomes; the first two are changes.
var outcomes = []outcome{broken, fixed, stayWrong, stayRight, unscored}

// What is shown besides items of one outcome.
const (
	changed = "changed"
	all     = "all"
)

func (o outcome) changes() bool { return o == broken || o == fixed }

// outcomeOf compares two verdicts.
func outcomeOf(before, after index.Verdict) outcome {
	switch {
	case before == index.Unscored || after == index.Unscored:
		return unscored
	case before == after && before == index.Fault:
		return stayWrong
	case before == after:
		return stayRight
	case after == index.Fault:
		return broken
	}
	return fixed
}

// pair is an item that both sides have.
type pair struct {
	before, after int // numbers of answers
	outcome       outcome
}

// pairCard is an item side by side.
type pairCard struct {
	Item    string
	Sample  int // from 2; 0: the first
	Head    string
	Expect  page.Setting
	Outcome outcome
	Change  bool
	Prompts []page.Setting
	Same    bool // the texts are the same
	Other   bool // they have little in common: changes are not marked
	Sides   [2]pairSide
	Number  int // of the answer after
}

// pairSide is one answer of a pair.
type pairSide struct {
	Title string
	Card  *page.Card
	To    string
}

// fill adds the items that match the URL.
func (p *comparePage) fill(r *http.Request) error {
	ctx, query := r.Context(), r.URL.Query()
	chosen := filter{Where: newFilter(r.URL, p.B.columns).Where}
	delete(chosen.Where, index.Found)
	chosen.columns = p.common()
	maps.DeleteFunc(chosen.Where, func(c, _ string) bool {
		return !slices.ContainsFunc(chosen.columns, func(k index.Column) bool { return k.Name == c })
	})
	p.Fields = chosen.fields(instrument.Named(p.A.Run.Manifest.Plan.Instrument))
	pairs, alone, err := p.match(ctx, chosen.Where)
	if err != nil {
		return err
	}
	counts := map[outcome]int{}
	for _, x := range pairs {
		counts[x.outcome]++
	}
	show := query.Get("show")
	if show != all && !slices.Contains(outcomes, outcome(show)) {
		show = changed
	}
	base := []string{"a", p.A.Run.ID, "b", p.B.Run.ID, "ac", strconv.Itoa(p.A.at), "bc", strconv.Itoa(p.B.at)}
	to := func(more ...string) string { return chosen.to("/compare", append(slices.Clone(base), more...)...) }
	chip := func(name string, n int) {
		p.Chips = append(p.Chips, choice{name, n, to("show", name), show == name})
	}
	chip(changed, counts[broken]+counts[fixed])
	for _, o := range outcomes {
		chip(string(o), counts[o])
	}
	chip(all, len(pairs))
	for i := 0; i < len(base); i += 2 {
		p.Kept = append(p.Kept, field{Parameter: base[i], Chosen: base[i+1]})
	}
	p.Kept = append(p.Kept, field{Parameter: "show", Chosen: show})
	p.Matched = number(len(pairs), "answer is", "answers are") + " to the same item on both sides."
	if alone[0]+alone[1] > 0 {
		p.Matched += " Without a counterpart: " + count(alone[0]) + " before, " + count(alone[1]) + " after."
	}
	pairs = slices.DeleteFunc(pairs, func(x pair) bool {
		return show != all && string(x.outcome) != show && !(show == changed && x.outcome.changes())
	})
	from := min(placeOf(r.URL, "skip"), len(pairs))
	end := min(from+pairsPerPage, len(pairs))
	p.Count = "No items match."
	if end > from {
		p.Count = count(from+1) + "–" + count(end) + " of " + number(len(pairs), "item", "items")
	}
	if from > 0 {
		p.Previous = to("show", show, "skip", strconv.Itoa(max(0, from-pairsPerPage)))
	}
	if end < len(pairs) {
		p.Next = to("show", show, "skip", strconv.Itoa(end))
	}
	return p.cards(ctx, pairs[from:end])
}

// common are the columns of items by which both sides can be filtered, with the
// values of the side after.
func (p *comparePage) common() (columns []index.Column) {
	for _, c := range p.B.columns {
		_, a := p.A.Condition[c.Name]
		_, b := p.B.Condition[c.Name]
		both := slices.ContainsFunc(p.A.columns, func(other index.Column) bool { return other.Name == c.Name })
		kind := instrument.Named(p.A.Run.Manifest.Plan.Instrument)
		if both && !a && !b && !kind.Column(c.Name).Within && slices.Contains(kind.Choices, c.Name) {
			columns = append(columns, c)
		}
	}
	return columns
}

// match pairs the answers to the same item, in the order of the side after. alone
// are the numbers of the others.
func (p *comparePage) match(ctx context.Context, where map[string]string) (pairs []pair, alone [2]int, err error) {
	before, err := p.A.facts(ctx, where)
	if err != nil {
		return nil, alone, err
	}
	after, err := p.B.facts(ctx, where)
	if err != nil {
		return nil, alone, err
	}
	at := make(map[uint64]int, len(before))
	for i, f := range before {
		if _, twice := at[f.Key]; !twice {
			at[f.Key] = i
		}
	}
	for _, f := range after {
		i, ok := at[f.Key]
		if !ok {
			alone[1]++
			continue
		}
		delete(at, f.Key)
		pairs = append(pairs, pair{before[i].Number, f.Number, outcomeOf(before[i].Verdict, f.Verdict)})
	}
	alone[0] = len(before) - len(pairs)
	return pairs, alone, nil
}

// facts are the facts of the side's answers.
func (x *side) facts(ctx context.Context, where map[string]string) ([]index.Numbered, error) {
	facts, err := x.open.index.Facts(ctx, where)
	return slices.DeleteFunc(facts, func(f index.Numbered) bool { return int(f.Condition) != x.at }), err
}

// cards are the pairs as they are shown.
func (p *comparePage) cards(ctx context.Context, pairs []pair) error {
	before, after := newPrompts(p.A.Run.path), newPrompts(p.B.Run.path)
	defer before.close()
	defer after.close()
	for _, x := range pairs {
		c := pairCard{Outcome: x.outcome, Number: x.after, Change: x.outcome.changes()}
		var cards [2]*page.Card
		var texts [2][]string
		for i, of := range []struct {
			*side
			title   string
			number  int
			prompts *prompts
		}{{&p.A, p.A.label(&p.B), x.before, before}, {&p.B, p.B.label(&p.A), x.after, after}} {
			list, err := of.open.index.Observations(ctx, of.number)
			if err != nil {
				return err
			}
			cards[i] = page.NewCard(list[0], 0, of.prompts.prompt, of.prompts.reasoning)
			texts[i] = answersOf(list[0])
			c.Item, c.Head, c.Expect = cards[i].Name, cards[i].Head, cards[i].Expected
			if c.Sample = list[0][0].Sample; c.Sample > 0 {
				c.Sample++
			}
			cards[i].Name, cards[i].Head = "", "" // they are above both
			c.Sides[i] = pairSide{of.title, cards[i], fmt.Sprintf("/runs/%s/answers/%d", of.Run.ID, of.number)}
		}
		c.Same = slices.Equal(texts[0], texts[1])
		if !c.Same {
			c.Other = page.MarkChanges(cards[0], cards[1])
		}
		if slices.Equal(cards[0].Prompts, cards[1].Prompts) {
			c.Prompts = cards[1].Prompts
			cards[0].Prompts, cards[1].Prompts = nil, nil
		}
		p.Pairs = append(p.Pairs, c)
	}
	return nil
}

// answersOf are the texts of an answer's sides.
func answersOf(of []crosstalk.Observation) (texts []string) {
	for _, o := range of {
		for _, t := range o.Texts {
			if t.Role == crosstalk.Side && !slices.Contains(texts, t.Text) {
				texts = append(texts, t.Text)
			}
		}
	}
	return texts
}
