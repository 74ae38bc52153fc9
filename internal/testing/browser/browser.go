// Package browser tests pages in a real browser: Debian's chromium or any other in the path. These tests take minutes:
// they run where CROSSTALK_TEST_BROWSER is set, and are skipped elsewhere.
package browser

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience limits the time of one step in the browser. It is long because a busy machine may starve a browser.
const patience = 4 * time.Minute

// Browser is a running browser. Starting one takes longer than most tests of pages, so the subtests of a test share it.
type Browser struct{ ctx context.Context }

// Start starts a browser that lives as long as the test, or skips the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	if os.Getenv("CROSSTALK_TEST_BROWSER") == "" {
		t.Skip("set CROSSTALK_TEST_BROWSER=1 to test pages in a browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		if path, err = exec.LookPath("google-chrome"); err != nil {
			t.Fatal("there is no browser: Debian's is apt-get install chromium")
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(patience))
	// The test's context ends before its cleanup, which would kill the browser: it would leave processes and files.
	ctx, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		end, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		chromedp.Cancel(end)
		stop()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal("the browser does not start: ", err)
	}
	return &Browser{ctx}
}

// Page is a page in a browser.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	errors   []string // console errors
	requests []string // requests to other servers than the page's own
}

// Look is a window size and a colour scheme.
type Look struct {
	Width, Height int64
	Dark          bool
}

// Looks are the ways in which every page is tested: each width and each colour scheme once.
var Looks = []Look{{1280, 900, false}, {390, 844, true}}

func (l Look) scheme() string { return map[bool]string{true: "dark", false: "light"}[l.Dark] }
func (l Look) String() string { return fmt.Sprintf("%d %s", l.Width, l.scheme()) }

// Open shows a page in a tab with no cookies and no cache, which is closed when the test ends.
func (b *Browser) Open(t testing.TB, url string, look Look) *Page {
	t.Helper()
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	p := &Page{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.note(url)); err != nil {
		t.Fatal(err)
	}
	p.Do() // opens the tab; a tab that opens within a step would live as long as that step may take
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme()}}})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: look.Width, Height: look.Height, DeviceScaleFactor: 1, Mobile: look.Width < 600})
	p.Do(chromedp.Navigate(url))
	return p
}

// note records the events that a page should not cause.
func (p *Page) note(page string) func(any) {
	return func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.errors = append(p.errors, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" || e.Type == "warning" {
				p.errors = append(p.errors, fmt.Sprint(e.Args))
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == "error" || e.Entry.Level == "warning" {
				p.errors = append(p.errors, e.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			if asked := e.Request.URL; asked != page && !strings.HasPrefix(asked, "data:") && !sameServer(asked, page) {
				p.requests = append(p.requests, asked)
			}
		}
	}
}

func sameServer(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == "http" && x.Scheme == y.Scheme && x.Host == y.Host
}

// Do runs actions.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	for _, action := range actions {
		step(p, func(ctx context.Context) (chromedp.Void, error) { return chromedp.Void{}, chromedp.Do(ctx, action) })
	}
}

func call[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	return step(p, func(ctx context.Context) (R, error) { return chromedp.Call(ctx, command, params) })
}

// Eval returns the value of a JavaScript expression. Use Wait if the page may be about to load another one.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	return step(p, func(ctx context.Context) (T, error) { return chromedp.Run(ctx, chromedp.Evaluate[T](expression)) })
}

// step returns the result of f in the page; f must not take longer than patience.
func step[T any](p *Page, f func(context.Context) (T, error)) T {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	value, err := f(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// Wait waits until a JavaScript expression is true in a loaded page. Meanwhile the page may load others; while one
// loads, there is nothing to evaluate the expression in.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		ctx, stop := context.WithDeadline(p.ctx, end)
		met, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState == "complete" && (`+expression+`)`))
		stop()
		if met {
			return
		}
		last = err
	}
	p.t.Fatalf("waited in vain for %s (%v) on the page\n%s", expression, last, Eval[string](p, "document.body.innerText"))
}

//go:embed check.js
var script string

// Check reports as test errors what keeps people from using the page in its current state: sideways scrolling,
// console errors, requests to other servers, controls without a name, and the faults that check.js finds.
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

// CheckKeyboard reports controls that the keyboard does not reach, or that do not show the focus. No control has the
// focus yet.
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

// stops is the most controls of a page that are visited with the keyboard.
const stops = 60

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
