package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"crosstalk/guard/server"
	"crosstalk/internal/testing/browser"
)

// The guard's page can be used by everyone, in both widths and colours, and loads nothing from elsewhere.
func TestGuardInABrowser(t *testing.T) {
	b := browser.Start(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	printed, w := io.Pipe()
	go server.Serve(ctx, w, "127.0.0.1:0", server.Options{})
	text := make([]byte, 200)
	n, _ := printed.Read(text)
	go io.Copy(io.Discard, printed)
	_, url, found := strings.Cut(strings.TrimSpace(string(text[:n])), "at ")
	if !found {
		t.Fatal(string(text[:n]))
	}
	client := http.Client{Timeout: time.Minute}
	for _, body := range []string{`{"text":"Your order is on its way.","language":"de","model":"gpt-4o-mini"}`,
		`{"text":"Ihre Bestellung ist unterwegs.","language":"de","team":"support"}`} {
		r, err := client.Post(url+"v1/check", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	for _, look := range browser.Looks {
		t.Run(look.String(), func(t *testing.T) {
			p := b.Open(t, url, look)
			p.Check()
			p.CheckKeyboard()
		})
	}
}
