package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/labels"
	"crosstalk/run"
)

// Answers holds as many answers of a run as fit on a page, collected from its observations.
type Answers struct {
	// Asked returns an answer with its request, if known. It may be nil.
	Asked func(crosstalk.Key) (run.Record, bool)

	// Noted counts the answers with a note or a mark, on the page or not.
	Noted labels.Noted

	noted   map[string]bool // keys of their notes
	apart   []string        // columns with a section for each combination of values
	by      string          // the column by which answers are grouped within a section
	list    []*Section
	groups  map[string]*Group // by the values of these columns
	open    []*Card           // of the current item
	whole   int               // bytes for all answers
	room    int               // bytes left
	dropped int
	clean   []*Card // the kept cards without a fault or a note, in order
	others  []*Card // with one
}

// Section holds the answers of a condition.
type Section struct {
	Name   string
	Groups []*Group
	labels map[string]string
}

// Group holds the answers of a figure.
type Group struct {
	Name    string
	Figures string // the estimates that include the answers
	Cards   []*Card
	value   string
	seen    int
	faults  int // cards with a fault
}

// Count describes the number of items in a group.
func (g *Group) Count() string {
	s := fmt.Sprintf("%d %s, %d with a finding", g.seen, plural(g.seen, "item", "items"), g.faults)
	if n := len(g.Cards); n < g.seen {
		s += fmt.Sprintf("; %d shown", n)
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Approximate sizes in bytes, of a page and of an estimate in its tables.
const (
	pageRoom     = 4_700_000
	estimateRoom = 400
	leastRoom    = 1_000_000 // for answers, regardless of the number of estimates
)

func roomBeside(estimates []crosstalk.Estimate) int {
	return max(leastRoom, pageRoom-estimateRoom*len(estimates))
}

// newAnswers collects answers for a page about these estimates. Their columns determine sections and groups or, if by
// is not nil, groups are by these columns.
func newAnswers(estimates []crosstalk.Estimate, by []string) *Answers {
	a := &Answers{noted: map[string]bool{}, groups: map[string]*Group{}, whole: roomBeside(estimates)}
	a.room = a.whole
	all, one, within, columns := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, e := range estimates {
		kind := instrument.Of(e.Measure)
		for c, v := range e.By {
			within[c] = within[c] || kind.Column(c).Within
			all[c], one[c] = all[c] || v == crosstalk.All, one[c] || v != crosstalk.All
		}
		maps.Copy(columns, e.By)
	}
	for _, c := range by {
		columns[c] = crosstalk.All
	}
	for _, c := range instrument.Columns([]map[string]string{columns}) {
		switch {
		case within[c]:
		case !all[c] && one[c]:
			a.apart = append(a.apart, c)
		case a.by == "" && (by == nil && one[c] || slices.Contains(by, c)):
			a.by = c
		}
	}
	return a
}

// Add adds an observation with the note on its answer. The observations of an item must be consecutive.
func (a *Answers) Add(o crosstalk.Observation, note labels.Note) {
	if len(a.open) > 0 && a.open[0].Name != o.Item {
		a.keep()
	}
	group := a.groupOf(o)
	i := slices.IndexFunc(a.open, func(c *Card) bool { return c.group == group })
	if i < 0 {
		i = len(a.open)
		a.open = append(a.open, &Card{Name: o.Item, group: group})
	}
	a.open[i].add(o, note)
	if !note.Empty() && !a.noted[note.Key()] {
		a.noted[note.Key()] = true
		a.Noted.Add(note)
	}
}

func (a *Answers) groupOf(o crosstalk.Observation) *Group {
	by, key := o.Column(a.by), ""
	for _, c := range a.apart {
		key += o.Column(c) + "\x00"
	}
	if g := a.groups[key+by]; g != nil {
		return g
	}
	labels, names := map[string]string{}, []string(nil)
	for _, c := range a.apart {
		if labels[c] = o.Column(c); labels[c] != "" {
			names = append(names, c+" "+labels[c])
		}
	}
	i := slices.IndexFunc(a.list, func(s *Section) bool { return maps.Equal(s.labels, labels) })
	if i < 0 {
		i = len(a.list)
		a.list = append(a.list, &Section{Name: cmp.Or(strings.Join(names, " · "), "All answers"), labels: labels})
	}
	g := &Group{value: by, Name: cmp.Or(by, crosstalk.All)}
	a.list[i].Groups = append(a.list[i].Groups, g)
	a.groups[key+by] = g
	return g
}

// ask adds to a card what is known about the origin of its answers: prompts, and the model's thoughts.
func (a *Answers) ask(c *Card) {
	if a.Asked == nil {
		return
	}
	names := []string{"asked"}
	if len(c.sides) > 1 {
		names = c.sides
	}
	for i, name := range names[:min(len(names), len(c.asked))] {
		if record, ok := a.Asked(c.asked[i]); ok {
			c.Prompts = append(c.Prompts, Setting{crosstalk.Words(name), shorten(record.Request.Text())})
		}
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		for k, key := range e.asked {
			record, _ := a.Asked(key) // the zero value if unknown
			text := record.Answer.Reasoning
			if strings.TrimSpace(text) == "" {
				continue
			}
			name := "Thoughts"
			if len(e.asked) > 1 {
				name += " before " + crosstalk.Words(e.sides[k])
			}
			e.Thoughts = append(e.Thoughts, Setting{name, shorten(text)})
		}
	}
}

const promptRoom = 600 // the most bytes of a prompt, or of thoughts, on the page

func shorten(s string) string {
	if len(s) <= promptRoom {
		return s
	}
	return strings.ToValidUTF8(s[:promptRoom], "") + fmt.Sprintf("… (%d more bytes not shown)", len(s)-promptRoom)
}

// keep adds the item's cards to the page if there is space. Cards with a finding or a note replace the others.
func (a *Answers) keep() {
	for _, c := range a.open {
		c.group.seen++
		if c.Fault {
			c.group.faults++
		}
		size, list := c.size(), &a.clean
		if c.Fault || c.Noted {
			for list = &a.others; size > a.room && len(a.clean) > 0; {
				a.drop(&a.clean)
			}
		}
		if size > a.room {
			a.dropped++
			continue
		}
		a.room -= size
		*list = append(*list, c)
		c.group.Cards = append(c.group.Cards, c)
	}
	a.open = nil
}

func (a *Answers) drop(list *[]*Card) {
	c := (*list)[len(*list)-1]
	*list = (*list)[:len(*list)-1]
	a.room += c.size()
	*c = Card{dropped: true}
	a.dropped++
}

// sections returns the answers in the order of the page: groups and answers with findings first.
func (a *Answers) sections(estimates []crosstalk.Estimate) []*Section {
	if a == nil {
		return nil
	}
	a.keep()
	a.room -= max(0, a.whole-roomBeside(estimates)) // there may be more estimates than when collecting began
	for _, list := range []*[]*Card{&a.clean, &a.others} {
		for a.room < 0 && len(*list) > 0 {
			a.drop(list)
		}
	}
	for _, s := range a.list {
		slices.SortStableFunc(s.Groups, func(g, h *Group) int { return h.faults - g.faults })
		for _, g := range s.Groups {
			g.Cards = slices.DeleteFunc(g.Cards, func(c *Card) bool { return c.dropped })
			slices.SortStableFunc(g.Cards, func(x, y *Card) int { return one(y.Fault) - one(x.Fault) })
			for _, c := range g.Cards {
				a.ask(c)
				if size := c.thoughtRoom(); size <= a.room { // cards with a finding have priority
					a.room -= size
				} else {
					for i := range c.Entries {
						c.Entries[i].Thoughts = nil
					}
				}
				c.finish()
			}
			g.Figures = a.figuresOf(estimates, s, g)
		}
	}
	return a.list
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (a *Answers) figuresOf(estimates []crosstalk.Estimate, s *Section, g *Group) string {
	const mostFigures = 4 // the most figures in the title of a group
	var figures []string
	for _, e := range estimates {
		kind := instrument.Of(e.Measure)
		fits := len(figures) < mostFigures && !kind.Measure(e.Measure).ByClass
		for c, v := range e.By {
			switch {
			case c == a.by:
				fits = fits && (v == g.value || g.value == "" && v == crosstalk.All)
			case slices.Contains(a.apart, c):
				fits = fits && v == s.labels[c]
			case !kind.Column(c).Within:
				fits = fits && v == crosstalk.All
			}
		}
		if !fits {
			continue
		}
		h := headline(e)
		name := []string{h.Label}
		for _, c := range kind.Columns {
			if v := e.By[c.Key]; v != "" && c.Within {
				name = append(name, v)
			}
		}
		figures = append(figures, strings.Join(name, " ")+" "+h.Value+strings.TrimRight(" "+h.Unit, " "))
	}
	return strings.Join(figures, " · ")
}

// Note describes which answers are on the page.
func (a *Answers) Note() string {
	if a.dropped == 0 {
		return "Every answer, scored or not, under the figure that includes it."
	}
	return fmt.Sprintf("To keep this page small, %d items are not shown; items with a finding or a note have priority. "+
		"'crosstalk export RUN' writes all of them.", a.dropped)
}
