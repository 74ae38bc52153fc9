package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The page that 'crosstalk report' wrote can be read, and can do nothing. One that
// is older than the figures has no link.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mine")
	makeRun(t, path, "leakage", nil)
	s := newServer(t, dir, Options{})
	page, link := "/runs/"+idOf("mine"), "/runs/"+idOf("mine")+"/report.html"
	if body := get(s, page).Body.String(); strings.Contains(body, link) ||
		!strings.Contains(body, "crosstalk report mine") || get(s, link).Code != 404 {
		t.Error(body)
	}
	file := filepath.Join(path, "report.html")
	if err := os.WriteFile(file, []byte("<!DOCTYPE html><script>alert(1)</script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if body := get(s, page).Body.String(); !strings.Contains(body, link) {
		t.Error(body)
	}
	w := get(s, link)
	if policy := w.Header().Get("Content-Security-Policy"); w.Code != 200 ||
		!strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") || strings.Contains(policy, "script-src") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, long, long); err != nil {
		t.Fatal(err)
	}
	if body := get(s, page).Body.String(); strings.Contains(body, link) {
		t.Error("a page of earlier figures is linked")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", file); err != nil {
		t.Fatal(err)
	}
	if w := get(s, link); w.Code == 200 {
		t.Errorf("a link is followed: %s", w.Body)
	}
}
