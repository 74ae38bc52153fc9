package web

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/run"
	"crosstalk/run/shard"
)

// The shards of a run are one row of the list, with how far they have come.
func TestListShards(t *testing.T) {
	dir := t.TempDir()
	model := crosstalk.Identity{Provider: "test", Name: "m"}
	makeShard := func(i int, finished bool) {
		of := shard.Shard{Index: i, Count: 3}
		d, err := run.Create(of.Dir(filepath.Join(dir, "sweep")),
			run.Plan{Instrument: "leakage", Suite: "s@1", Conditions: []run.Condition{{Model: model}}, Shard: of})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if err := d.SetAsks(10); err != nil {
			t.Fatal(err)
		}
		r := journal.Record{Identity: model, Answer: crosstalk.Answer{Status: crosstalk.Text}}
		r.Request.Prompt = of.String()
		r.Answer.Key = crosstalk.KeyOf(model, r.Request)
		if err := d.Journal.Put(r); err != nil {
			t.Fatal(err)
		}
		if finished {
			recordAll(t, d)
			if err := d.WriteEstimates(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	makeShard(1, true)
	makeShard(2, false)
	s, err := New(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	body := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(body, "<h2>sweep</h2>") || !strings.Contains(body, "1 of 3 shards finished, 2 of about 30 requests") {
		t.Errorf("%d\n%s", w.Code, body)
	}
	if strings.Count(body, `<li><div class="run">`) != 1 || strings.Count(body, `href="/runs/`) != 2 {
		t.Errorf("not one row with two links:\n%s", body)
	}
}
