package web

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/report/results"
	"crosstalk/run"
)

// judged are answers of a model to items, one for each letter: "r" is right, "w"
// wrong, "u" unchecked, "-" none.
func judged(model, letters string) (list []crosstalk.Observation) {
	for i, letter := range letters {
		o := crosstalk.Observation{Measure: "lpr", Item: fmt.Sprintf("item-%d", i), Cluster: fmt.Sprint(i), Value: 1,
			Condition: map[string]string{"model": model},
			Labels:    map[string]string{"language": []string{"ar", "de"}[i%2], "task": "monolingual"}, Numbers: map[string]float64{"margin": float64(10-i) / 20}}
		o.AddText(crosstalk.Given, "recorded_prompt", fmt.Sprintf("سؤال %d.", i))
		o.AddText(crosstalk.Side, "answer", fmt.Sprintf("=answer %d%s", i, strings.Repeat(" word", i%7)))
		switch letter {
		case 'w':
			o.Value, o.Finding = 0, "full answer"
			o.Spans = []crosstalk.Span{{Line: 1, Start: 0, End: 3, Text: "x", Language: "fr", Probability: 0.9}}
		case 'u':
			o.Value, o.NotScored = crosstalk.Undefined, "unchecked"
		case '-':
			continue
		}
		list = append(list, o)
	}
	return list
}

// saying are the observations with other answers to the first items.
func saying(list []crosstalk.Observation, answers ...string) []crosstalk.Observation {
	for i, text := range answers {
		list[i].Texts[1].Text = text
	}
	return list
}

// judgedRun is a run with a figure for each model.
func judgedRun(t *testing.T, path string, of ...[]crosstalk.Observation) {
	t.Helper()
	d, err := run.Create(path, run.Recorded("confusion", "suite@1", "model"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	recordAll(t, d, slices.Concat(of...)...)
	var estimates []crosstalk.Estimate
	for _, list := range of {
		estimates = append(estimates, crosstalk.Estimate{Measure: "lpr", Value: 0.5, N: len(list), Observations: len(list),
			Better: crosstalk.Higher, Signature: "lpr|s",
			By: map[string]string{"model": list[0].Condition["model"], "task": "monolingual", "language": "all"}})
	}
	if err := d.WriteEstimates(estimates); err != nil {
		t.Fatal(err)
	}
}

var pairHeads = regexp.MustCompile(`<bdi>(item-\d+)</bdi> <span class="badge[^"]*">([a-z ]+)</span>`)

// pairsOf are the items of a comparison with their outcomes.
func pairsOf(body string) string {
	var list []string
	for _, m := range pairHeads.FindAllStringSubmatch(body, -1) {
		list = append(list, strings.TrimPrefix(m[1], "item-")+" "+m[2])
	}
	return strings.Join(list, ", ")
}

// Two runs, and two conditions of a run, are compared item by item.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "old"), judged("m", "rwrwu-r"))
	judgedRun(t, filepath.Join(dir, "new"), saying(judged("m", "wrrwrr-"), "something else", "=answer 1 Wort"))
	judgedRun(t, filepath.Join(dir, "both"), judged("first", "wwww"), judged("second", "wrrr"))
	makeRun(t, filepath.Join(dir, "other"), "leakage", nil)
	s := newServer(t, dir, Options{})
	old, young, both := idOf("old"), idOf("new"), idOf("both")
	for _, id := range []string{old, young, both} {
		built(t, s, id)
	}
	page := "/compare?a=" + old + "&b=" + young
	for query, want := range map[string]string{
		"":                              "0 broken, 1 fixed",
		"&show=fixed":                   "1 fixed",
		"&show=broken":                  "0 broken",
		"&show=still+wrong":             "3 still wrong",
		"&show=not+scored":              "4 not scored",
		"&show=all":                     "0 broken, 1 fixed, 2 still right, 3 still wrong, 4 not scored",
		"&show=all&is.language=de":      "1 fixed, 3 still wrong",
		"&show=all&skip=3":              "3 still wrong, 4 not scored",
		"&show=nonsense&skip=99999":     "",
		"&is.found=wrong+language":      "0 broken, 1 fixed", // found is compared
		"&is.nosuch=1&ac=7&bc=-1":       "0 broken, 1 fixed",
		"&show=all&is.language=ar&ac=0": "0 broken, 2 still right, 4 not scored",
	} {
		w := get(s, page+query)
		if got := pairsOf(w.Body.String()); w.Code != 200 || got != want {
			t.Errorf("%s: %d, %q; want %q", query, w.Code, got, want)
		}
	}
	body := get(s, page).Body.String()
	if !strings.Contains(body, "Without a counterpart: 1 before, 1 after") || !strings.Contains(body, "/runs/"+old+"/answers/1") || !strings.Contains(body, `class="badge broken"`) || harm(body) != "" {
		t.Errorf("%s", body)
	}
	if strings.Count(body, "<del>word</del>") != 1 || strings.Count(body, "<ins>Wort</ins>") != 1 || strings.Count(body, `<span class="badge">another text</span>`) != 1 {
		t.Errorf("changed words are not marked: %s", body)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(body, "no difference shown"); body = get(s, page).Body.String() {
		if time.Now().After(end) {
			t.Fatalf("no figures: %s", body)
		}
	}
	if strings.Contains(body, "The signatures differ") {
		t.Errorf("these signatures are equal: %s", body)
	}
	if body := get(s, "/compare?a="+old+"&b="+old+"&show=all").Body.String(); pairsOf(body) != "0 still right, 1 still wrong, 2 still right, 3 still wrong, 4 not scored, 6 still right" || !strings.Contains(body, `>old</a></p>`) {
		t.Error(body)
	}
	// The conditions of a run are compared with each other unless one asks for another run.
	if got := pairsOf(get(s, "/compare?a="+both).Body.String()); got != "1 fixed, 2 fixed, 3 fixed" {
		t.Errorf("two conditions: %q", got)
	}
	if got := pairsOf(get(s, "/compare?a="+both+"&b="+both+"&ac=1&bc=0").Body.String()); got != "1 broken, 2 broken, 3 broken" {
		t.Errorf("swapped: %q", got)
	}
	if w := get(s, "/compare?run="+young+"&run="+old); w.Code != http.StatusSeeOther || w.Header().Get("Location") != page {
		t.Errorf("%d, %s; want the older run first", w.Code, w.Header().Get("Location"))
	}
	for target, want := range map[string]int{"/compare": 200, "/compare?a=" + old: 200, "/compare?a=nosuch": 404, "/compare?run=" + old: 422, "/compare?run=a&run=b": 404,
		"/compare?a=" + old + "&b=" + idOf("other"): 200} {
		if w := get(s, target); w.Code != want || harm(w.Body.String()) != "" {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if body := get(s, "/compare?a="+old+"&b="+idOf("other")).Body.String(); !strings.Contains(body, "measure different things") {
		t.Error(body)
	}
}

// The page shows what the command prints with its default flags, digit by digit.
func TestComparisonEqualsCommand(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "old"), filepath.Join(dir, "new")}
	inFours := func(list []crosstalk.Observation) []crosstalk.Observation { // p-values depend on the seed
		for i := range list {
			list[i].Cluster = fmt.Sprint(i / 4)
		}
		return list
	}
	judgedRun(t, paths[0], inFours(judged("m", strings.Repeat("rrrwrrrrrr", 9))))
	judgedRun(t, paths[1], inFours(judged("m", strings.Repeat("wwrrwrrrrw", 9))))
	judgedRun(t, filepath.Join(dir, "three"), judged("a", "rrww"), judged("b", "rwrw"), judged("c", "wwrw"))
	var printed strings.Builder
	runs, err := compare.Open(paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := results.Comparison{}
	if result.Result, err = compare.Runs(runs, compare.Default); err == nil {
		err = result.Write(&printed, "table")
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, dir, Options{})
	built(t, s, idOf("old"))
	built(t, s, idOf("new"))
	built(t, s, idOf("three"))
	page := ""
	for page == "" || strings.Contains(page, "are being computed") {
		page = get(s, "/compare?a="+idOf("three")+"&b="+idOf("three")+"&ac=1&bc=2").Body.String()
	}
	if !strings.Contains(page, "no difference shown") {
		t.Errorf("two conditions that the command does not compare: %s", page)
	}
	page = ""
	for strings.Contains(page, "are being computed") || page == "" {
		page = get(s, "/compare?a="+idOf("old")+"&b="+idOf("new")).Body.String()
	}
	row := regexp.MustCompile(`(?s)<tr><th scope="row".*?</tr>`).FindString(page)
	for _, cell := range regexp.MustCompile(`data-label="(?:Before|After|Difference|95 % interval|p|Items)"[^>]*>(?:<b>)?([^<]+)`).
		FindAllStringSubmatch(row, -1) {
		if !strings.Contains(printed.String(), " "+html.UnescapeString(cell[1])+" ") {
			t.Errorf("%s is not in\n%s", cell[1], &printed)
		}
	}
	if !strings.Contains(html.UnescapeString(page), result.Adjusted()) || strings.Count(row, "data-label") != 7 {
		t.Errorf("the page: %s", page)
	}
}

var cardNames = regexp.MustCompile(`<h4>(item-\d+)`)

// Answers come in the order that was asked for, and can be downloaded in it.
func TestOrderAndDownload(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "mine"), judged("m", "rwrwuwrrr"))
	s := newServer(t, dir, Options{})
	id := idOf("mine")
	built(t, s, id)
	for query, want := range map[string]string{
		"": "0 1 2 3 4 5 6 7 8", "?sort=doubtful": "8 7 6 5 4 3 2 1 0", "?sort=longest": "6 5 4 3 2 1 8 0 7", "?sort=shortest": "0 7 1 8 2 3 4 5 6", "?sort=x": "0 1 2 3 4 5 6 7 8",
		"?sort=doubtful&is.found=wrong+language": "5 3 1", "?sort=doubtful&skip=3": "5 4 3 2 1 0",
	} {
		var got []string
		for _, m := range cardNames.FindAllStringSubmatch(get(s, "/runs/"+id+"/answers"+query).Body.String(), -1) {
			got = append(got, strings.TrimPrefix(m[1], "item-"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s; want %s", query, got, want)
		}
		if strings.Contains(query, "skip") {
			continue
		}
		w := get(s, "/runs/"+id+"/answers.csv"+query)
		rows, err := csv.NewReader(w.Body).ReadAll()
		if err != nil || w.Header().Get("Content-Disposition") != `attachment; filename="answers.csv"` {
			t.Fatal(err, w.Header())
		}
		got = nil
		for _, row := range rows[1:] {
			got = append(got, strings.TrimPrefix(row[1], "item-"))
		}
		if strings.Join(got, " ") != want || !slices.Equal(rows[0], []string{"number", "item", "sample", "variant", "condition.model", "label.language", "label.task",
			"text.answer", "text.recorded_prompt", "value.lpr", "finding", "unscored", "not_error", "note"}) {
			t.Errorf("%s: %v; want %s", query, rows, want)
		}
	}
	w := get(s, "/runs/"+id+"/answers.jsonl?is.language=de")
	var list []answerRecord
	for d := json.NewDecoder(w.Body); d.More(); {
		var a answerRecord
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	if len(list) != 4 || list[0].Number != 2 || list[0].Values["lpr"] != 0 ||
		list[0].Texts["answer"] != "=answer 1 word" || len(list[0].Findings) != 1 || len(list[0].Spans) != 1 {
		t.Errorf("%+v", list)
	}
}

// post sends a form as a page of the server does.
func post(s http.Handler, target, form string, change ...func(*http.Request)) (code int, to string) {
	w := get(s, target, append([]func(*http.Request){func(r *http.Request) {
		body := bytes.NewReader([]byte(form))
		r.Method, r.Body, r.ContentLength = "POST", http.NoBody, int64(len(form))
		if len(form) > 0 {
			r.Body = readCloser{body}
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}}, change...)...)
	return w.Code, w.Header().Get("Location")
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// Notes and marks are kept, counted, shown and downloaded; forms of other sites
// are refused.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "mine"), judged("m", "rwrwr"))
	s := newServer(t, dir, Options{})
	id := idOf("mine")
	built(t, s, id)
	answers := "/runs/" + id + "/answers"
	if code, to := post(s, answers+"/2/note", "mark=1&back="+answers+"%3Fis.found%3Dwrong%2Blanguage"); code != 303 || to != answers+"?is.found=wrong+language#answer-2" {
		t.Errorf("%d to %s", code, to)
	}
	if code, to := post(s, answers+"/4/note", "mark=0&mark=1&text=%3Cb%3Ename%0D%0Aof+a+ship"); code != 303 || to != answers+"/4#note" {
		t.Errorf("%d to %s", code, to)
	}
	if code, _ := post(s, answers+"/1/note", "mark=0&text=fine"); code != 303 {
		t.Error(code)
	}
	for _, back := range []string{"https://evil.example/", "//evil.example" + answers, "/", "javascript:alert(1)", answers + "/../x"} {
		if _, to := post(s, answers+"/1/note", "back="+back); to != answers+"/1#note" {
			t.Errorf("%s leads to %s", back, to)
		}
	}
	body := get(s, answers).Body.String()
	for _, want := range []string{`with a note or a mark <span class="n">3`, `marked as no error <span class="n">2`} {
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(body, "<bdi>", ""), "</bdi>", ""), want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	numbers := regexp.MustCompile(`id="answer-(\d+)"`)
	for noted, want := range map[string]string{"note": "1 2 4", "no-error": "2 4"} {
		var got []string
		for _, m := range numbers.FindAllStringSubmatch(get(s, answers+"?noted="+noted).Body.String(), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v; want %s", noted, got, want)
		}
	}
	// Another server, as after a kill, has them too. Text and mark change apart.
	s = newServer(t, dir, Options{})
	built(t, s, id)
	post(s, answers+"/4/note", "mark=0")
	w := get(s, answers+".jsonl?noted=note")
	if text := w.Body.String(); !strings.Contains(text, `"note":"<b>name\nof a ship"`) || strings.Count(text, `"not_error":true`) != 1 {
		t.Error(text)
	}
	if page := get(s, answers+"/4").Body.String(); !strings.Contains(page, "&lt;b&gt;name") || harm(page) != "" {
		t.Error(page)
	}
	if page := get(s, "/runs/"+id).Body.String(); !strings.Contains(page, "3 answers have a note or a mark; 1 is marked as no error.") {
		t.Error(page)
	}
	post(s, answers+"/2/note", "mark=0")
	if page := get(s, "/runs/"+id).Body.String(); !strings.Contains(page, "2 answers have a note.") {
		t.Error(page)
	}
	for form, want := range map[string]int{"text=" + strings.Repeat("x", 4001): 422, "text=" + strings.Repeat("x", mostBody): 400, "text=%ff": 422} {
		if code, _ := post(s, answers+"/1/note", form); code != want {
			t.Errorf("%.20s...: %d; want %d", form, code, want)
		}
	}
	for target, want := range map[string]int{answers + "/9/note": 404, "/runs/nosuch/answers/1/note": 404, answers + "/1": 405, "/": 405} {
		if code, _ := post(s, target, "text=x"); code != want {
			t.Errorf("%s: %d; want %d", target, code, want)
		}
	}
	if code, _ := post(s, answers+"/1/note", "text=x", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); code != http.StatusForbidden {
		t.Errorf("from another site: %d", code)
	}
}
