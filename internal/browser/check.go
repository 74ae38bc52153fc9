package browser

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed check.js
var script string

// Check reports as errors of the test what keeps people from using the page as it is now: sideways scrolling, errors of
// the console, requests to elsewhere, controls without a name, and the faults that check.js looks for.
func (p *Page) Check() {
	p.t.Helper()
	for what, list := range p.faults() {
		p.report(what, list)
	}
}

func (p *Page) faults() map[string][]string {
	faults := map[string][]string{"faults of the page": Eval[[]string](p, script), "nameless": p.nameless()}
	p.mu.Lock()
	defer p.mu.Unlock()
	faults["errors of the console"], faults["requests"] = p.errors, p.requests
	return faults
}

// CheckKeyboard reports controls that the keyboard does not reach, or that do not show that they have the focus. It is
// called before anything has it.
func (p *Page) CheckKeyboard() {
	p.t.Helper()
	p.report("out of the keyboard's reach", p.unreached())
}

func (p *Page) report(what string, list []string) {
	p.t.Helper()
	if n := len(list); n > 0 {
		p.t.Errorf("%s: %d\n  %s", what, n, strings.Join(list[:min(n, 10)], "\n  "))
	}
}

// named are the roles that need a name.
var named = []string{"link", "button", "radio", "checkbox", "textbox", "searchbox", "combobox", "DisclosureTriangle",
	"DisclosureTriangleGrouped", "image", "img", "region", "navigation", "table", "group", "heading", "columnheader",
	"rowheader"}

func (p *Page) nameless() (list []string) {
	for _, n := range call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored || n.Role == nil || !slices.Contains(named, text(n.Role)) || text(n.Name) != "" {
			continue
		}
		if role := text(n.Role); role != "group" && role != "table" { // a table is named by the region that it fills
			list = append(list, fmt.Sprintf("%s (node %d)", role, n.BackendDOMNodeID))
		}
	}
	return list
}

func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.TrimSpace(strings.Trim(string(v.Value), `"`))
}

// stops is how many of a page's controls are gone through with the keyboard.
const stops = 60

// unreached goes through the page with the tabulator key.
func (p *Page) unreached() []string {
	Eval[bool](p, `(() => { window.reached = []; return true })()`)
	for range min(stops, Eval[int](p, `tabStops().length`)) {
		p.Do(chromedp.KeyEvent(kb.Tab))
		Eval[bool](p, `(() => {
			const e = document.activeElement
			window.reached.push(e)
			e.unseen = getComputedStyle(e).outlineStyle == "none"
			return true
		})()`)
	}
	return Eval[[]string](p, fmt.Sprintf(
		`tabStops().slice(0, %d).filter(e => !window.reached.includes(e) || e.unseen).map(describe)`, stops))
}
