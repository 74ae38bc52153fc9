package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"crosstalk/internal/testing/browser"

	"github.com/chromedp/chromedp"
)

// reportPage writes the page of a run and returns its address.
func reportPage(t *testing.T, run string) string {
	t.Helper()
	inProcess(t, "report", run, "--quiet")
	page := filepath.Join(run, "report.html")
	info, err := os.Stat(page)
	if err != nil || info.Size() > 5_000_000 {
		t.Errorf("a page of %d bytes, %v; expected less than 5 MB", info.Size(), err)
	}
	return "file://" + filepath.ToSlash(page)
}

// inProcess runs the command in this process and wants exit code 0.
func inProcess(t *testing.T, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := execute(args, &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, &stderr)
	}
}

func lookAt(t *testing.T, p *browser.Page) {
	p.Check()
	p.CheckKeyboard()
	// The first group of answers opens with the keyboard.
	p.Do(chromedp.Focus("section[aria-labelledby=answers] summary"), chromedp.KeyEvent("\r"))
	p.Wait(`document.querySelector("section[aria-labelledby=answers] details").open`)
	p.Check()
	p.Do(chromedp.Focus("#show-faults"), chromedp.KeyEvent(" "))
	p.Wait(`[...document.querySelectorAll("details[open] .card:not(.fault)")].every(e => !e.checkVisibility())`) // only answers with a finding
	if browser.Eval[bool](p, `"pwned" in window`) {
		t.Error("an answer ran a script")
	}
}

// hostileAnswers is a file of recorded answers made to break a page.
func hostileAnswers(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	for i, text := range []string{
		"<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'><svg onload='window.pwned = 1'>",
		"</p></article></details></section></main></body><style>* { display: none }</style><iframe src='javascript:parent.pwned = 1'></iframe>",
		"\x1b[2J\x1b[31mred \u202eevil\u202c \u2066x \u200b\U000e0041 \x00 \x9b \r\n" + `"><a href="javascript:window.pwned = 1" autofocus onfocus="window.pwned = 1">x</a>`,
		strings.Repeat("<b onclick=1>", 1<<20/13),
		strings.Repeat("a", 1<<20),
	} {
		row, err := json.Marshal(map[string]string{"id": text[:min(len(text), 80)] + strconv.Itoa(i), "model": "<i>m</i>", "language": "de", "source": "<u>s", "completion": text})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(row, '\n'))
	}
	file := filepath.Join(t.TempDir(), "hostile.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}
