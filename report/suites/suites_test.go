package suites

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/golden"
	"crosstalk/suite"

	"github.com/rogpeppe/go-internal/txtar"
)

// The first file of testdata/text/*.txtar is a suite, for which others may be needed.
// Last come the texts about it: its card and items, what check says, or what is sent
// to an API.
func TestText(t *testing.T) {
	requests := map[string]func(crosstalk.PromptConfig, []crosstalk.Task, crosstalk.Item) []crosstalk.NamedRequest{
		"leakage": leakage.Requests, "confusion": confusion.Requests, "consistency": consistency.Requests}
	files, err := filepath.Glob("testdata/text/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write := map[string]func(*suite.Suite, io.Writer) error{
				"items": func(s *suite.Suite, w io.Writer) error { return Write(w, s) },
				"check": func(s *suite.Suite, w io.Writer) error {
					_, err := fmt.Fprintln(w, strings.Join(suite.Check(s), "\n"))
					return err
				},
			}
			for _, api := range []crosstalk.API{crosstalk.Chat, crosstalk.Completions, crosstalk.Responses} {
				write[string(api)] = func(s *suite.Suite, w io.Writer) error {
					return WriteRequests(w, s, api, requests[s.Instrument])
				}
			}
			var s *suite.Suite
			for i, f := range a.Files {
				text, found := write[f.Name]
				if !found {
					if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if s == nil {
					if s, err = suite.Load(filepath.Join(dir, a.Files[0].Name)); err != nil {
						t.Fatal(err)
					}
				}
				var b bytes.Buffer
				if err := text(s, &b); err != nil {
					t.Error(f.Name, err)
				}
				a.Files[i].Data = b.Bytes()
			}
			golden.Check(t, file, string(txtar.Format(a)))
		})
	}
}

// What follows the number of items depends on the instrument.
func TestDetails(t *testing.T) {
	for name, want := range map[string]string{
		"confusion":   "",
		"consistency": ", 3 tasks: paraphrase 120, inference 120, questions 60",
	} {
		s, err := suite.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Details(s); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	unknown := &suite.Suite{Name: "s", Items: suite.ItemsOf(crosstalk.Item{ID: "a"})}
	var b bytes.Buffer
	if err := Write(&b, unknown); err != nil || !strings.HasSuffix(b.String(), ": 1 items, 1 clusters\n\na\n") {
		t.Errorf("%q, %v", b.String(), err)
	}
	s := &suite.Suite{Instrument: "leakage", Items: suite.ItemsOf(crosstalk.Item{ID: "a"})}
	if got := Summary(s) + Details(s); got != "1 items, 1 controls, no categories" {
		t.Error(got)
	}
	s.Items.Add(crosstalk.Item{ID: "b", Cluster: "b", Labels: map[string]string{"category": "food", "language": "de"}})
	if got := Summary(s) + Details(s); got != "2 items, 2 controls, in de, 1 categories: food" {
		t.Error(got)
	}
}
