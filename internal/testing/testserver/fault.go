package testserver

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
)

// Fault is a way to misbehave, by its name in replies.yaml, which describes each.
type Fault string

func kindOf(f Fault) string {
	for kind, list := range data().Kinds {
		if slices.Contains(list, f) {
			return kind
		}
	}
	return ""
}

// fate is the outcome of one attempt. If failure and outcome are empty, it is a plain answer.
type fate struct {
	failure, outcome Fault
	slow, dribble    bool
	jitter           float64 // in [0, 1)
}

func (o *Options) fate(hash string, attempt int) fate {
	u := func(purpose string, attempt int) float64 { return uniform(o.Seed, purpose, hash, attempt) }
	f := fate{
		outcome: o.pick("outcome", u("outcome", 0)),
		slow:    u("slow", attempt) < o.Faults["slow"],
		dribble: u("dribble", attempt) < o.Faults["dribble"],
		jitter:  u("jitter", attempt),
	}
	if attempt <= o.FailFirst {
		f.failure = "500"
	} else if o.FailFirst == 0 {
		f.failure = o.pick("failure", u("failure", attempt))
	}
	return f
}

// pick returns the fault of a kind into whose share of [0, 1) u falls, or "".
func (o *Options) pick(kind string, u float64) Fault {
	for _, f := range slices.Sorted(maps.Keys(o.Faults)) {
		if kindOf(f) != kind {
			continue
		}
		if u < o.Faults[f] {
			return f
		}
		u -= o.Faults[f]
	}
	return ""
}

func uniform(seed int64, purpose, hash string, attempt int) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %d", seed, purpose, hash, attempt))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// change describes how a fault alters the answers to some calls; replies.yaml lists them.
type change struct {
	Of     string   // upload, create, list, look, results
	Status int      // status of an error to send instead; 0: none
	Edit   []string // pairs of an expression and the replacement for its matches in the body
	Do     string   // the name of a further change: to the results, to the body, or a response instead of it
}

var withResults = map[string]func([]batchResult) []batchResult{
	"half": func(all []batchResult) []batchResult { return all[:(len(all)+1)/2] },
	"twice": func(all []batchResult) []batchResult {
		for _, r := range all {
			other := r
			other.Body = regexp.MustCompile(`"(content|text)":"`).ReplaceAll(r.Body, []byte("${0}OTHER "))
			all = append(all, r, other)
		}
		return all
	},
	"foreign": func(all []batchResult) []batchResult {
		for _, r := range all {
			r.ID = fmt.Sprintf("%064x", len(all))
			all = append(all, r)
		}
		return all
	},
	"swapped": func(all []batchResult) []batchResult {
		first := all[0].ID
		for i := range all[1:] {
			all[i].ID = all[i+1].ID
		}
		all[len(all)-1].ID = first
		return all
	},
	"failed": func(all []batchResult) []batchResult {
		for i := range all {
			all[i].Status, all[i].Body = 500, []byte(`{"type":"error","error":{"type":"api_error","message":"x"}}`)
		}
		return all
	},
}

var withBody = map[string]func([]byte) []byte{
	"page": func([]byte) []byte { return htmlPage(200) },
	"cut":  func(b []byte) []byte { return b[:len(b)/2] },
	"long": func(b []byte) []byte {
		return append([]byte(`{"pad":"`+strings.Repeat("x", 17<<20)+`",`), b[1:]...)
	},
	"noise": func([]byte) []byte {
		noise := make([]byte, 300_000)
		rand.NewChaCha8([32]byte{}).Read(noise)
		return noise
	},
	"wait": func(b []byte) []byte {
		time.Sleep(300 * time.Millisecond)
		return b
	},
	"damage": func(b []byte) []byte { // cuts the first line, and adds one that belongs to no request
		first, rest, _ := bytes.Cut(b, []byte("\n"))
		stranger := bytes.Clone(first)
		b = slices.Concat(first[:len(first)/2], []byte("\n"), rest)
		if i := bytes.Index(stranger, []byte(`_id":"`)); i > 0 {
			stranger[i+6] ^= 1
			b = slices.Concat(b, stranger, []byte("\n"))
		}
		return b
	},
	"others": func([]byte) []byte { // a page of others' batches, which another page follows
		at, id := time.Now(), fmt.Sprintf("batch_x%d", time.Now().UnixNano())
		return fmt.Appendf(nil, `{"data":[{"id":%q,"created_at":%d,"metadata":{"crosstalk":"another"}}],"has_more":true,`+
			`"last_id":%[1]q,"operations":[{"name":"batches/%[1]s","metadata":{"displayName":"another"}}],`+
			`"nextPageToken":%[1]q}`, id, at.Unix())
	},
}

var instead = map[string]func(*exchange, []byte){
	"hang up": func(*exchange, []byte) { panic(http.ErrAbortHandler) },
	"redirect": func(c *exchange, _ []byte) {
		http.Redirect(c.w, c.r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
	},
	"break off": func(c *exchange, body []byte) {
		c.w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		c.w.Write(body[:len(body)/2])
		http.NewResponseController(c.w).Flush()
		panic(http.ErrAbortHandler)
	},
	"never end": func(c *exchange, _ []byte) {
		lines := bytes.Repeat([]byte(`{"custom_id":"x"}`+"\n"), 1000)
		for {
			if _, err := c.w.Write(lines); err != nil {
				return
			}
		}
	},
}

// changes returns the changes that the fault makes to the answer to a call, if it shows there. A call may have
// several names.
func (c *exchange) changes(call string) (list []change) {
	o := c.opts.Batches
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	for _, change := range data().Batches[o.Results] {
		if strings.Contains(call, change.Of) && (change.Of != "create" || c.book.stats.Creates == 1) {
			list = append(list, change)
		}
	}
	if list == nil || c.healed.Load() || o.Faulty > 0 && c.book.shown >= o.Faulty {
		return nil
	}
	c.book.shown++
	return list
}

func (c *exchange) say(changes []change, mediaType string, body []byte) {
	for _, f := range changes {
		for pair := range slices.Chunk(f.Edit, 2) {
			body = regexp.MustCompile(`(?s)`+pair[0]).ReplaceAll(body, []byte(pair[1]))
		}
		if do := withBody[f.Do]; do != nil && len(body) > 0 {
			body = do(body)
		}
		switch send := instead[f.Do]; {
		case f.Status != 0:
			c.fail(failed(c.protocol, f.Status))
			return
		case send != nil:
			send(c, body)
			return
		}
	}
	if bytes.HasPrefix(body, []byte("<")) {
		mediaType = "text/html; charset=utf-8"
	}
	c.w.Header().Set("Content-Type", mediaType)
	c.w.Write(body)
}

func show(changes []change, all []batchResult) []batchResult {
	all = slices.Clone(all)
	for _, f := range changes {
		if do := withResults[f.Do]; do != nil && len(all) > 0 {
			all = do(all)
		}
	}
	return all
}

var (
	//go:embed profiles.yaml
	profilesFile []byte
	//go:embed replies.yaml
	repliesFile []byte
)

var data = sync.OnceValue(func() (d struct {
	Profiles           []profile
	Before, After      []rule // for all requests, before and after the profile's
	Unsupported        rule
	Paths              map[string][]rule
	Openings, Closings []string
	Wrong              []string // JSON
	Failures           map[Protocol]map[int]problem
	Problems           map[string]problem
	Batches            map[string][]change
	Kinds              map[string][]Fault
	Enclosing          map[string][2]string // the marks before and after thoughts, by the place where they are shown
}) {
	for _, file := range [][]byte{profilesFile, repliesFile} {
		if err := yaml.Unmarshal(file, &d); err != nil {
			panic(err)
		}
	}
	return d
})

// profile describes the behaviour of one family of models; profiles.yaml explains the fields.
type profile struct {
	Name                     string
	Models                   []string // patterns of names (path.Match), lower case
	Thinks                   string   // a condition
	Refuse                   [][]rule
	Shown                    string
	Outside, Unsplit, Strict bool
	Filtered                 *problem
	Finish                   string
	Ignores                  []string
}

type rule struct {
	If    string
	Each  []string // the names that replace {name} in the condition
	Known []string // the parameters that are not refused
	Error problem  `yaml:",inline"`
}

func (o *Options) profileOf(model string) *profile {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	matches := func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	}
	profiles := data().Profiles
	for i := range profiles {
		p := &profiles[i]
		if o.Profile == p.Name || o.Profile == "" && slices.ContainsFunc(p.Models, matches) {
			return p
		}
	}
	return &profile{}
}

// Profiles returns the names of all profiles, for [Options.Profile].
func Profiles() []string {
	var names []string
	for _, p := range data().Profiles {
		names = append(names, p.Name)
	}
	return names
}

func (p *profile) refusal(rules []rule, given params) *problem {
	for _, r := range rules {
		names, condition := r.Each, cmp.Or(r.If, "{name}")
		switch {
		case r.Known != nil:
			names, condition = slices.Sorted(maps.Keys(given)), "always"
			names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(r.Known, name) })
		case names == nil:
			names = []string{""}
		}
		for _, name := range names {
			if met := strings.ReplaceAll(condition, "{name}", name); p.holds(given, met) {
				return r.about(name, met, given)
			}
		}
	}
	return nil
}

func (r rule) about(name, condition string, given params) *problem {
	_, listed, _ := strings.Cut(condition, " in ")
	quoted := toJSON(name)
	e := r.Error
	e.Message = strings.NewReplacer(
		"{name}", name, "{value}", string(given[name]), "{effort}", given.effort(), "{listed}", listed,
	).Replace(e.Message)
	e.Param = strings.ReplaceAll(e.Param, "{name}", name)
	e.Body = strings.ReplaceAll(e.Body, "{name}", quoted[1:len(quoted)-1])
	return &e
}

func (p *profile) holds(given params, condition string) bool {
	for part := range strings.SplitSeq(condition, " and ") {
		part, not := strings.CutPrefix(part, "not ")
		if p.meets(given, part) == not {
			return false
		}
	}
	return true
}

// meets is like holds, for one part: a name, an operator and an argument, or a name alone.
func (p *profile) meets(given params, part string) bool {
	name, test, _ := strings.Cut(part, " ")
	operator, argument, _ := strings.Cut(test, " ")
	low, high, _ := strings.Cut(argument, "..")
	value, number, bound := given.value(name), given.number(name), given.number(low)
	switch {
	case name == "always":
		return true
	case name == "thinks":
		return p.thinks(given)
	}
	switch operator {
	case "":
		return value != "" && value != "null"
	case "is": // empty
		return slices.Contains([]string{"", "null", "[]", `""`}, value)
	case "has":
		contains := func(text string) bool { return strings.Contains(value, text) }
		return slices.ContainsFunc(strings.Split(argument, " or "), contains)
	case "in":
		return slices.Contains(strings.Split(argument, ", "), strings.Trim(value, `"`))
	}
	met, known := map[string]bool{
		"=": number == bound, "!=": number < bound || number > bound, "<": number < bound, ">": number > bound,
		">=": number >= bound, "outside": number < bound || number > given.number(high),
	}[operator]
	if !known {
		panic("testserver: unknown operator " + operator)
	}
	return met
}

func (p *profile) thinks(given params) bool { return p.Thinks != "" && p.holds(given, p.Thinks) }

type params map[string]json.RawMessage

func (p params) value(name string) string {
	switch effort := p.effort(); {
	case name == "effort" && effort != "":
		return toJSON(effort)
	case name == "budget_tokens":
		var thinking params
		json.Unmarshal(p["thinking"], &thinking)
		return string(thinking[name])
	}
	return string(p[name])
}

// number parses a number, or returns the parameter with this name, NaN if the call does not set it.
func (p params) number(text string) float64 {
	v := math.NaN()
	json.Unmarshal([]byte(cmp.Or(p.value(text), text)), &v)
	return v
}

// effort returns the requested level of reasoning, or "".
func (p params) effort() string {
	var effort string
	var inner struct{ Effort string }
	if json.Unmarshal(p["reasoning_effort"], &effort) != nil && json.Unmarshal(p["reasoning"], &inner) == nil {
		effort = inner.Effort
	}
	return effort
}

const thoughtTokens = 390

func (p *profile) show(c *choice) {
	c.Content = c.Text
	if c.Refusal != "" {
		c.Content = nil
	}
	if p.Finish != "" && c.Finish == "content_filter" {
		c.Finish, c.Content = p.Finish, nil
	}
	if c.Reasoning == 0 || p.Shown == "" || p.Shown == "empty" {
		return
	}
	c.Shown = p.Shown
	if e, ok := data().Enclosing[c.Shown]; ok {
		text := c.Text
		if c.Text = e[0] + c.Thought(); c.Produced > c.Reasoning || c.Finish != "length" {
			c.Text += e[1] + text
		}
	}
	c.Content, c.tokens = c.Text, tokens(c.Text)
}
