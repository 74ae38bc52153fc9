// Package browser looks at pages in a real browser, for tests: Debian's
// chromium or any other in the path. Without one tests are skipped.
package browser

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test may take in the browser.
const patience = 2 * time.Minute

// Page is a page in a browser.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	errors   []string // of the console
	requests []string // other than of the page's own server
}

// Look says how a page is looked at.
type Look struct {
	Width, Height int64
	Dark          bool
}

// Looks are the ways in which every page is tested.
var Looks = []Look{{1280, 900, false}, {1280, 900, true}, {390, 844, false}, {390, 844, true}}

func (l Look) String() string {
	if l.Dark {
		return fmt.Sprintf("%d dark", l.Width)
	}
	return fmt.Sprintf("%d light", l.Width)
}

// Open shows a page.
func Open(t testing.TB, url string, look Look) *Page {
	t.Helper()
	path := find()
	if path == "" {
		t.Skip("there is no browser: Debian's is apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		chromedp.Cancel(ctx) // waits until it has ended and its files are gone
		stop()
	})
	p := &Page{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.note(url)); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: look.Width, Height: look.Height, DeviceScaleFactor: 1, Mobile: look.Width < 600})
	p.Do(chromedp.Navigate(url))
	return p
}

// find returns the path of a browser, "" if there is none.
func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// note remembers what pages ought not to do.
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

// sameServer reports whether two addresses are of one web server.
func sameServer(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == "http" && x.Scheme == y.Scheme && x.Host == y.Host
}

// Do carries out actions.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func call[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// Errors are what the console said, and Requests what was asked of the network.
func (p *Page) Errors() []string   { p.mu.Lock(); defer p.mu.Unlock(); return p.errors }
func (p *Page) Requests() []string { p.mu.Lock(); defer p.mu.Unlock(); return p.requests }
