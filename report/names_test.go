package report

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"crosstalk"
)

func TestShorten(t *testing.T) {
	for _, c := range []struct{ values, want []string }{
		{[]string{"ollama:llama3.2", "openai:gpt-4o-mini"}, []string{"ollama:llama3.2", "openai:gpt-4o-mini"}},
		{[]string{"bertscore:distilbert-prefixed@sha256-82cf835f2d85/L2"}, []string{"bertscore:distilbert-prefixed/L2"}},
		{[]string{"reference:leaky?rate=0.3&seed=1", "reference:leaky?rate=0.8&seed=1"}, []string{"…rate=0.3…", "…rate=0.8…"}},
		{[]string{"vllm:Qwen/Qwen2.5-0.5B-Instruct-AWQ", "vllm:Qwen/Qwen2.5-1.5B-Instruct-AWQ"}, []string{"…Qwen2.5-0.5B-I…uct-AWQ", "…Qwen2.5-1.5B-I…uct-AWQ"}},
		{[]string{"Answer in the language of the user. Be brief.", "Answer in the language of the user. Be kind.", "plain"},
			[]string{"…brief.", "…kind.", "plain"}},
		{[]string{"You are a helpful assistant.", "You are a helpful assistant. Be brief."}, []string{"…assistant.", "…assistant. Be brief."}},
		{[]string{strings.Repeat("a", 30) + "1" + strings.Repeat("b", 30), strings.Repeat("a", 30) + "2" + strings.Repeat("b", 30)},
			[]string{"aaaaaaaaaaaaaaa…bbbbbbbb", "aaaaaaaaaaaaa…bbbbbb (2)"}},
		{[]string{"Be brief in all the answers that you give.", "Be kind in all the answers that you give."}, []string{"…brief…", "…kind…"}},
		{[]string{"openai:some-organisation/model-1", "openai:some-organisation/model-22"}, []string{"…model-1", "…model-22"}},
		{[]string{strings.Repeat("a", 30) + "1" + strings.Repeat("b", 30) + "/c", strings.Repeat("a", 30) + "2" + strings.Repeat("b", 30) + "/c"},
			[]string{"aaaaaaaaaaaaaa…bbbbbbb…", "aaaaaaaaaaaaa…bbbbb… (2)"}},
		{[]string{strings.Repeat("a", 49)}, []string{strings.Repeat("a", 31) + "…" + strings.Repeat("a", 16)}},
		{[]string{strings.Repeat("a", 24), strings.Repeat("b", 25)},
			[]string{strings.Repeat("a", 24), strings.Repeat("b", 15) + "…" + strings.Repeat("b", 8)}},
		{[]string{strings.Repeat("a", 48)}, []string{strings.Repeat("a", 48)}},
		{[]string{"", "all", "ja"}, []string{"", "all", "ja"}},
	} {
		var rows []map[string]string
		for _, v := range c.values {
			rows = append(rows, map[string]string{"column": v, "other": "x"})
		}
		var got []string
		for i, row := range Shorten(rows, 24) {
			got = append(got, row["column"])
			if row["other"] != "x" || rows[i]["column"] != c.values[i] {
				t.Errorf("%q: other columns or the rows changed: %v %v", c.values[i], row, rows[i])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.values, got, c.want)
		}
	}
}

// Short names are short, and different values keep different names.
func FuzzShorten(f *testing.F) {
	f.Add("reference:leaky?rate=0.3", "reference:leaky?rate=0.35", "x", 10)
	f.Add("a b", "a  b", " a b", 12)
	f.Add("你好你好你好你好你好你好", "你好你好你好你好你好你好你", "好", 10)
	f.Fuzz(func(t *testing.T, a, b, c string, most int) {
		if most < 10 || most > 100 || !utf8.ValidString(a) || !utf8.ValidString(b) || !utf8.ValidString(c) {
			return
		}
		values := map[string]string{}
		for _, row := range Shorten([]map[string]string{{"x": a}, {"x": b}, {"x": c}}, most) {
			if n := utf8.RuneCountInString(row["x"]); n > 2*most || n > most && (a != b || b != c) || !utf8.ValidString(row["x"]) {
				t.Errorf("%q has %d characters", row["x"], n)
			}
			values[row["x"]] = ""
		}
		if different := slices.Compact(slices.Sorted(slices.Values([]string{a, b, c}))); len(values) != len(different) {
			t.Errorf("%q are called %v", different, values)
		}
	})
}

func TestNames(t *testing.T) {
	names, err := ParseNames([]string{"reference:leaky?rate=0.3&seed=1=weak", "bertscore:d/L2=BERTScore", "none=x"})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{"model": "reference:leaky?rate=0.3&seed=1", "similarity": "bertscore:d@sha256-82cf835f2d85/L2", "category": "all"}
	estimates := []crosstalk.Estimate{{By: by}}
	got := names.Estimates(estimates)[0].By
	if got["model"] != "weak" || got["similarity"] != "BERTScore" || got["category"] != "all" {
		t.Errorf("named %v", got)
	}
	if by["model"] == "weak" {
		t.Error("the figures themselves have changed")
	}
	if unused := names.Unused(estimates); !slices.Equal(unused, []string{"none"}) {
		t.Errorf("unused: %q", unused)
	}
	for want, pairs := range map[string][]string{`"a": expected VALUE=NAME, such as openai:gpt-4o-mini=mini`: {"a"},
		`"=x": expected VALUE=NAME, such as openai:gpt-4o-mini=mini`:  {"=x"},
		`"a= ": expected VALUE=NAME, such as openai:gpt-4o-mini=mini`: {"a= "}, "a and b have the same name, x": {"a=x", "b= x"}} {
		if names, err := ParseNames(pairs); err == nil || err.Error() != want {
			t.Errorf("%q are %v, %v; want %s", pairs, names, err, want)
		}
	}
	if names, err := ParseNames([]string{"a=x", "a=x", "b=y"}); err != nil || len(names) != 2 {
		t.Errorf("a name given twice: %v %v", names, err)
	}
}

// A name for a column's value is for this column alone, and comes before one for all.
func TestNamesOfColumns(t *testing.T) {
	names, err := ParseNames([]string{"3=three", "model:3=3B", "judge:d/L2=D", "openai:x=X", "model:9=nine"})
	if err != nil {
		t.Fatal(err)
	}
	estimates := []crosstalk.Estimate{{By: map[string]string{"model": "3", "category": "3", "judge": "d@sha256-82cf835f2d85/L2", "other": "openai:x"}}}
	by := names.Estimates(estimates)[0].By
	if by["model"] != "3B" || by["category"] != "three" || by["judge"] != "D" || by["other"] != "X" {
		t.Errorf("named %v", by)
	}
	if _, ok := names.Of("category", "9"); ok {
		t.Error("a name for a column names another one's value")
	}
	if unused := names.Unused(estimates); !slices.Equal(unused, []string{"model:9"}) {
		t.Errorf("unused: %q", unused)
	}
}
