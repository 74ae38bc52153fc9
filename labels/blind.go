package labels

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/ordered"
	"crosstalk/internal/plainfile"
)

// Blind is a sheet whose questions are found by the ids that annotators see.
type Blind struct {
	*Sheet
	ids map[string]side
}

// side is a unit, and whether its sides were exchanged.
type side struct {
	unit    int
	swapped bool
}

// Blind returns the sheet with its ids.
func (s *Sheet) Blind(d Design) Blind {
	b := Blind{s, make(map[string]side, 2*len(s.Units))}
	for i, u := range s.Units {
		b.ids[d.id(u.key, false)] = side{i, false}
		if s.Question.paired() {
			b.ids[d.id(u.key, true)] = side{i, true}
		}
	}
	return b
}

// Unit returns the unit with an id.
func (b Blind) Unit(id string) (*Unit, bool) {
	at, known := b.ids[id]
	if !known {
		return nil, false
	}
	return &b.Units[at.unit], true
}

// Answer is an annotator's answer to a question as it was shown.
type Answer struct {
	ID        string
	Shown     string // the choice as shown: "A"; case does not matter
	Annotator string
	Decides   bool // the annotator is an adjudicator
	When      time.Time
	Seconds   float64 // time taken; 0: unknown
	Comment   string
	Words     [][2]int // marked in the text: byte ranges [start, end), in any order
}

// Label un-blinds an answer. Unknown ids and choices, and marked words that are not in the text, are errors.
func (b Blind) Label(a Answer) (Label, error) {
	at, known := b.ids[a.ID]
	if !known {
		return Label{}, fmt.Errorf("unknown id %s", a.ID)
	}
	u := &b.Units[at.unit]
	q, choices := b.Question, u.Choices
	if choices == nil {
		choices = b.Question.shown()
	}
	var label string
	var err error
	switch i := slices.IndexFunc(choices, func(c string) bool { return strings.EqualFold(c, a.Shown) }); {
	case q.Several:
		label, err = listed(a.Shown)
	case i < 0:
		err = unknownLabel(a.Shown, choices)
	case u.Choices != nil:
		label = u.Choices[i]
	default:
		label = q.Choices[q.onSide(i, at.swapped)].Label
	}
	if err != nil {
		return Label{}, err
	}
	var words []Word
	if len(a.Words) > 0 {
		unmarked := func(w Word) bool { return !slices.Contains(a.Words, [2]int{w.Start, w.End}) }
		if words = slices.DeleteFunc(b.Words(u), unmarked); len(words) != len(a.Words) {
			err = errors.New("marked words are not words of the text")
		}
	}
	return Label{Question: b.Question.Name, Place: u.Place, Annotator: a.Annotator, Decides: a.Decides, Label: label,
		Words: words, When: a.When.UTC(), Seconds: a.Seconds, Comment: a.Comment}, err
}

// onSide returns the choice with this index, or the one for the other side if sides were exchanged.
func (q Question) onSide(i int, swapped bool) int {
	if swapped && q.Choices[i].Shown != "" {
		return 1 - i // A and B come first
	}
	return i
}

// listed normalises a list of labels: "a; b", in alphabetical order, each once.
func listed(text string) (string, error) {
	var list []string
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			list = append(list, part)
		}
	}
	if len(list) == 0 {
		return "", errors.New("no label; expected words, several separated by semicolons")
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "; "), nil
}

// Words returns the words of a unit that people can mark, with their offsets in its first text.
func (b Blind) Words(u *Unit) (words []Word) {
	if !b.Question.Words || b.splits == nil {
		return nil
	}
	for _, w := range b.splits.Split(u.Topic, u.Texts[0]) {
		words = append(words, Word{w.Start, w.End, u.Texts[0][w.Start:w.End]})
	}
	return words
}

const designFile = "labels.json"

const designSchema = "crosstalk/labels/v1"

// Design records how a run's questions were drawn. Without its secret nobody can tell which side is which.
type Design struct {
	Schema  string   `json:"schema"`
	Secret  string   `json:"secret"`            // 32 bytes in hexadecimal
	Samples []Sample `json:"samples,omitempty"` // exported samples, each kind once
}

// Sample is a choice of units to ask about.
type Sample struct {
	N    int      `json:"n"`              // units; 0: all
	By   []string `json:"by,omitempty"`   // columns of the strata, besides the condition
	Only []string `json:"only,omitempty"` // "column=value", or a column that must be yes: the units to draw from
	Seed uint64   `json:"seed"`
}

// Check returns an error for impossible settings.
func (s Sample) Check() error {
	if s.N < 0 {
		return crosstalk.BadOption("sample", " is %d; expected a positive number", s.N)
	}
	if len(s.By) > 0 && s.N == 0 {
		return crosstalk.BadOption("by", " needs --sample: without it, every answer is asked about")
	}
	return nil
}

// strata returns the columns by which any sample was stratified. Within all of them, labels were drawn at random. What
// Sample.Only leaves out is also a stratum.
func (d Design) strata() []string {
	var columns []string
	for _, s := range d.Samples {
		columns = slices.Concat(columns, s.By, s.Only)
	}
	return ordered.Distinct(columns, func(condition string) string {
		column, _, _ := strings.Cut(condition, "=")
		return column
	})
}

// ReadDesign reads the design of a run; zero if it has none.
func ReadDesign(run string) (Design, error) {
	file := filepath.Join(run, designFile)
	var d Design
	text, err := plainfile.Read(file, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("%s: invalid design: %w", file, err)
	}
	if d.Schema != designSchema {
		return d, fmt.Errorf("%s: unknown schema %q; expected %q: update crosstalk", file, d.Schema, designSchema)
	}
	if secret, err := hex.DecodeString(d.Secret); err != nil || len(secret) != 32 {
		return d, fmt.Errorf("%s: invalid secret; expected 64 hexadecimal digits", file)
	}
	return d, nil
}

// Plan records a sample in the run's design, and makes the design if there is none.
func Plan(run string, s Sample) (Design, error) {
	d, err := ReadDesign(run)
	if err != nil {
		return d, err
	}
	if slices.ContainsFunc(d.Samples, func(old Sample) bool {
		return bytes.Equal(crosstalk.Canonical(old), crosstalk.Canonical(s))
	}) {
		return d, nil
	}
	if d.Secret == "" {
		secret := make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			return d, err
		}
		d.Schema, d.Secret = designSchema, hex.EncodeToString(secret)
	}
	d.Samples = append(d.Samples, s)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return d, err
	}
	return d, atomicfile.WriteBytesPrivate(filepath.Join(run, designFile), append(text, '\n'))
}

// Token is an annotator's secret; it is constant for the run's design.
func (d Design) Token(annotator string) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(d.mac("token", annotator)[:16])
}

func (d Design) mac(words ...string) []byte {
	secret, _ := hex.DecodeString(d.Secret) // ReadDesign has checked it
	h := hmac.New(sha256.New, secret)
	for _, w := range words {
		fmt.Fprintf(h, "%d:%s", len(w), w)
	}
	return h.Sum(nil)
}

// Asked is a question as an annotator sees it.
type Asked struct {
	ID     string // meaningless without the run's secret
	Topic  string
	A, B   string
	Given  [2]string // what A and B answer, if people should see that
	Labels []string  // to choose from, as shown

	at []byte // its place among the others
}

// Ask returns the questions about units for an annotator: sides and order are drawn from the run's secret, the
// annotator's name and the seed. They do not depend on the contents of units or on findings.
func (d Design) Ask(q Question, units []Unit, annotator string, seed uint64) []Asked {
	asked := make([]Asked, len(units))
	for i, u := range units {
		draw := d.mac("draw", annotator, fmt.Sprint(seed), u.key)
		swapped := q.paired() && draw[0]&1 == 1
		a := Asked{ID: d.id(u.key, swapped), Topic: u.Topic, A: u.Texts[0], B: u.Texts[1], Given: u.Given,
			Labels: u.Choices, at: draw[1:]}
		if swapped {
			a.A, a.B = a.B, a.A
			a.Given[0], a.Given[1] = a.Given[1], a.Given[0]
		}
		if a.Labels == nil {
			a.Labels = q.shown()
		}
		asked[i] = a
	}
	slices.SortFunc(asked, func(a, b Asked) int { return cmp.Or(bytes.Compare(a.at, b.at), cmp.Compare(a.ID, b.ID)) })
	return asked
}

// id identifies a question on a sheet. With the secret, it reveals the unit and the sides, whoever was asked. It begins
// with a letter, so no spreadsheet reads it as a number.
func (d Design) id(unit string, swapped bool) string {
	return "q" + hex.EncodeToString(d.mac("id", unit, fmt.Sprint(swapped))[:8])
}

// Draw returns the units of a sample in the sheet's order. Each stratum contributes equally, and strata with fewer
// units contribute all; within a stratum, units are drawn at random. A larger sample with the same seed contains a
// smaller one, except for units that stand in for those that small strata lacked.
func (s *Sheet) Draw(sample Sample) ([]Unit, error) {
	if err := s.check("by", sample.By); err != nil {
		return nil, err
	}
	units, err := s.only(sample.Only)
	if err != nil {
		return nil, err
	}
	if sample.N <= 0 {
		return units, nil
	}
	ranks := ordered.Map(units, func(u Unit) [sha256.Size]byte {
		return sha256.Sum256(fmt.Appendf(nil, "%d:%s", sample.Seed, u.key))
	})
	strata := ordered.Groups(indexes(len(units)), func(i int) string { return units[i].stratum(sample.By) })
	if sample.N < len(strata) {
		return nil, fmt.Errorf("a sample of %d is smaller than the number of strata, %d; "+
			"use a larger --sample or fewer columns in --by", sample.N, len(strata))
	}
	slices.SortFunc(strata, func(a, b []int) int { // the smallest first: the others supply what it lacks
		one, other := units[a[0]], units[b[0]]
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(one.stratum(sample.By), other.stratum(sample.By)))
	})
	var chosen []int
	left := sample.N
	for i, stratum := range strata {
		take := min(len(stratum), left/(len(strata)-i))
		left -= take
		slices.SortFunc(stratum, func(a, b int) int { return bytes.Compare(ranks[a][:], ranks[b][:]) })
		chosen = append(chosen, stratum[:take]...)
	}
	slices.Sort(chosen)
	return pick(units, chosen), nil
}

// Disagreed returns the units that several people labelled, not all alike: those that an adjudicator decides.
func (s *Sheet) Disagreed(labels []Label) (units []Unit) {
	all, _ := s.labelled(nil, s.own(labels))
	for _, u := range all {
		if len(slices.Compact(slices.Sorted(maps.Values(u.labels)))) > 1 {
			units = append(units, *u.Unit)
		}
	}
	return units
}

// Share returns the units of a team's member. Each unit is drawn for overlap members; all get as many, or one more.
func (d Design) Share(units []Unit, team []string, overlap int, member string) (share []Unit) {
	order := indexes(len(units))
	rank := ordered.Map(units, func(u Unit) []byte { return d.mac("share", u.key) })
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(rank[a], rank[b]) })
	load, mine := map[string]int{}, map[int]bool{}
	for _, i := range order {
		draw := func(name string) []byte { return d.mac("member", name, units[i].key) }
		free := slices.SortedFunc(slices.Values(team), func(a, b string) int {
			return cmp.Or(cmp.Compare(load[a], load[b]), bytes.Compare(draw(a), draw(b)))
		})
		for _, name := range free[:min(overlap, len(free))] {
			load[name]++
			mine[i] = mine[i] || name == member
		}
	}
	for i, u := range units {
		if mine[i] {
			share = append(share, u)
		}
	}
	return share
}

// Shown returns a unit's label as the question with this id shows it: A for the first side.
func (b Blind) Shown(id, label string) string {
	at, known := b.ids[id]
	q := b.Question
	i := slices.IndexFunc(q.Choices, func(c crosstalk.Choice) bool { return c.Label == label })
	if !known || i < 0 || q.Choices[i].Shown == "" {
		return label
	}
	return q.Choices[q.onSide(i, at.swapped)].Shown
}

// only returns the units that have these values: "column=value", or a column for "column=yes". Units must match all
// columns, with any of the values stated for a column.
func (s *Sheet) only(conditions []string) ([]Unit, error) {
	if len(conditions) == 0 {
		return s.Units, nil
	}
	wanted := map[string][]string{}
	for _, c := range conditions {
		column, value, given := strings.Cut(c, "=")
		if !given {
			value = "yes"
		}
		if err := s.check("only", []string{column}); err != nil {
			return nil, err
		}
		wanted[column] = append(wanted[column], value)
	}
	units := slices.DeleteFunc(slices.Clone(s.Units), func(u Unit) bool {
		for column, values := range wanted {
			if !slices.Contains(values, u.column(column)) {
				return true
			}
		}
		return false
	})
	if len(units) == 0 {
		return nil, crosstalk.BadOption("only", " %s: there is no such answer", strings.Join(conditions, ","))
	}
	return units, nil
}
