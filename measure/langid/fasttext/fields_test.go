package fasttext

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
)

// field is a number or a text of a model's file.
type field struct {
	name  string
	value any
}

func encoded(fields []field) []byte {
	var b bytes.Buffer
	for _, f := range fields {
		if text, ok := f.value.(string); ok {
			f.value = append([]byte(text), 0)
		}
		if err := binary.Write(&b, binary.LittleEndian, f.value); err != nil {
			panic(f.name + ": " + err.Error())
		}
	}
	return b.Bytes()
}

// floats are n numbers from -1 to 1 without an order.
func floats(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(i*37%101)/50 - 1
	}
	return list
}

// small returns a model file with three words, three labels and this many columns, as fastText writes it: with or
// without hierarchical softmax, and with or without quantised, pruned n-grams.
func small(columns int, tree, quantised bool) (fields []field) {
	add := func(name string, value any) { fields = append(fields, field{name, value}) }
	add("magic", int32(magic))
	add("version", int32(12))
	add("dim", int32(columns))
	for _, name := range []string{"ws", "epoch", "minCount", "neg"} {
		add(name, int32(5))
	}
	add("wordNgrams", int32(2))
	add("loss", map[bool]int32{true: 1, false: 3}[tree])
	add("model", int32(supervised))
	add("bucket", int32(7))
	add("minn", int32(1))
	add("maxn", int32(3))
	add("lrUpdateRate", int32(100))
	add("t", 0.0001)
	add("entries", int32(6))
	add("words", int32(3))
	add("labels", int32(3))
	add("tokens", int64(99))
	pruned := int64(-1)
	grams := [][2]int32{{0, 0}, {2, 1}, {5, 2}, {6, 2}}
	if quantised {
		pruned = int64(len(grams))
	}
	add("pruned", pruned)
	for i, word := range []string{"</s>", "für", "ab", "__label__a", "b", "__label__c"} {
		add("entry", word)
		add("count", int64(9-i%4))
		add("type", byte(i/3))
	}
	rows := 3 + 7
	for _, g := range grams[:max(0, int(pruned))] {
		add("gram", g[0])
		add("row", g[1])
		rows = 3 + 3
	}
	add("quantised", quantised)
	if quantised {
		parts, last := (columns+1)/2, 2-columns%2
		add("norms", true)
		add("rows", int64(rows))
		add("columns", int64(columns))
		codes := make([]byte, rows*parts)
		for i := range codes {
			codes[i] = byte(i * 59)
		}
		add("codes", int32(len(codes)))
		add("code", codes)
		for _, q := range [][4]int32{{int32(columns), int32(parts), 2, int32(last)}, {1, 1, 1, 1}} {
			if q[0] == 1 && q[2] == 1 {
				add("norm", codes[:rows])
			}
			for i, name := range []string{"quantiser", "parts", "width", "last"} {
				add(name, q[i])
			}
			add("centroids", floats(256*int(q[0])))
		}
	} else {
		add("rows", int64(rows))
		add("columns", int64(columns))
		add("input", floats(rows*columns))
	}
	add("quantised output", false)
	add("rows", int64(3))
	add("columns", int64(columns))
	add("output", floats(3*columns))
	return fields
}

// set changes the at-th field of this name.
func set(fields []field, name string, at int, value any) []field {
	for i, f := range fields {
		if f.name != name {
			continue
		}
		if at--; at < 0 {
			fields[i].value = value
			return fields
		}
	}
	panic(name)
}

// without leaves out an entry of the dictionary.
func without(fields []field, entry string) []field {
	at := slices.IndexFunc(fields, func(f field) bool { return f.value == any(entry) })
	return slices.Delete(slices.Clone(fields), at, at+3)
}

// wide is a quantised model with this many rows of n-grams, in parts of 32 columns, without norms.
func wide(rows int) []field {
	f := small(64, false, true)
	at := slices.IndexFunc(f, func(x field) bool { return x.name == "norms" })
	end := slices.IndexFunc(f, func(x field) bool { return x.name == "quantised output" })
	codes := make([]byte, 2*rows)
	return slices.Concat(f[:at], []field{{"norms", false}, {"rows", int64(rows)}, {"columns", int64(64)},
		{"codes", int32(len(codes))}, {"code", codes}, {"quantiser", int32(64)}, {"parts", int32(2)}, {"width", int32(32)},
		{"last", int32(32)}, {"centroids", floats(256 * 64)}}, f[end:])
}

// Words end at the bytes that are spaces in C++, and at zero bytes.
func TestSpaces(t *testing.T) {
	for c := range 256 {
		space := c == 0 || c == ' ' || c >= 9 && c <= 13
		word, rest := nextWord(string([]byte{'a', byte(c), 'b'}))
		if (word == "a") != space || space && rest != string([]byte{byte(c), 'b'}) {
			t.Errorf("byte %d: %q, %q", c, word, rest)
		}
	}
}

// Each number of a model's file may have any value: then it is an error that says what was expected, or another model.
// See testdata/fields.txt; -update writes it anew.
func TestFields(t *testing.T) {
	predictions := func(title string, fields []field) string {
		m, err := read(encoded(fields))
		if err != nil {
			return " " + err.Error()
		}
		var b strings.Builder
		for _, text := range []string{"", "ab", "für ab\tab", "ab unknown __label__a b", "x </s> ab", "日 ab"} {
			fmt.Fprintf(&b, " %q", text)
			best := m.Identify(text)
			for i, p := range m.Predict(text) {
				if i == 0 && text != "" && best.Probability != p.Probability { // of equal ones the label may be another
					t.Errorf("%s: %q is %v, its first prediction %v", title, text, best, p)
				}
				fmt.Fprintf(&b, " %s %.4f", p.Label, p.Probability)
			}
			fmt.Fprintf(&b, ", best %s;", best.Language)
		}
		return b.String()
	}
	var sheet strings.Builder
	for _, kind := range []struct{ tree, quantised bool }{{}, {true, false}, {false, true}, {true, true}} {
		for _, columns := range []int{1, 2, 8, 9} {
			title := fmt.Sprintf("%d columns, tree %v, quantised %v", columns, kind.tree, kind.quantised)
			fmt.Fprintf(&sheet, "%s:%s\n", title, predictions(title, small(columns, kind.tree, kind.quantised)))
		}
		whole := small(3, kind.tree, kind.quantised)
		unchanged := predictions("unchanged", whole)
		for i, f := range whole {
			var values []any
			switch v := f.value.(type) {
			case int32:
				values = []any{int32(-1), int32(0), int32(1), v - 1, v + 1, int32(255), int32(256), int32(math.MaxInt32)}
			case int64:
				values = []any{int64(-2), int64(0), v - 1, v + 1, int64(1e15), int64(math.MaxInt64)}
			case bool:
				values = []any{!v, byte(2)}
			case byte:
				values = []any{1 - v, byte(2)}
			case string:
				values = []any{"", "ab", "__label__a"}
			case []float32:
				list := slices.Clone(v)
				list[len(list)/2] = float32(math.Inf(1))
				large := slices.Repeat([]float32{3e38}, len(v))
				values = []any{list, large, v[1:], append(slices.Clone(v), 1)}
			case []byte:
				values = []any{make([]byte, len(v)), bytes.Repeat([]byte{255}, len(v)), v[1:]}
			}
			for _, value := range values {
				changed := slices.Clone(whole)
				changed[i].value = value
				text := fmt.Sprint(value)
				if len(text) > 24 {
					text = text[:24]
				}
				title := fmt.Sprintf("  %s %s", f.name, text)
				got := predictions(title, changed)
				if got == unchanged {
					got = " is not used"
				}
				fmt.Fprintf(&sheet, "%s:%s\n", title, got)
			}
		}
	}
	// Several numbers are wrong in a way that agrees.
	for _, c := range []struct {
		title     string
		quantised bool
		edit      func(f []field) []field
	}{
		{"one label", false, func(f []field) []field {
			f = without(without(f, "__label__a"), "__label__c")
			set(f, "entries", 0, int32(4))
			set(f, "labels", 0, int32(1))
			set(f, "type", 3, byte(1))
			set(f, "rows", 1, int64(1))
			return set(f, "output", 0, floats(3))
		}},
		{"no label", false, func(f []field) []field {
			f = without(without(without(f, "__label__a"), "b"), "__label__c")
			set(f, "entries", 0, int32(3))
			set(f, "labels", 0, int32(0))
			set(f, "rows", 1, int64(0))
			return set(f, "output", 0, floats(0))
		}},
		{"more rows than labels", false, func(f []field) []field {
			set(f, "rows", 1, int64(4))
			return set(f, "output", 0, floats(12))
		}},
		{"more columns in the quantiser", true, func(f []field) []field {
			set(f, "quantiser", 0, int32(5))
			return set(f, "parts", 0, int32(3))
		}},
		{"no columns in the last part", true, func(f []field) []field {
			set(f, "width", 0, int32(3))
			return set(f, "last", 0, int32(0))
		}},
		{"no columns in the parts", true, func(f []field) []field {
			set(f, "width", 0, int32(0))
			return set(f, "last", 0, int32(3))
		}},
		{"parts below none", true, func(f []field) []field {
			set(f, "parts", 0, int32(0))
			set(f, "width", 0, int32(1))
			return set(f, "last", 0, int32(4))
		}},
		{"one part", true, func(f []field) []field {
			set(f, "parts", 0, int32(1))
			set(f, "width", 0, int32(3))
			set(f, "last", 0, int32(3))
			set(f, "codes", 0, int32(6))
			return set(f, "code", 0, make([]byte, 6))
		}},
	} {
		fmt.Fprintf(&sheet, "%s:%s\n", c.title, predictions(c.title, c.edit(small(3, false, c.quantised))))
	}
	// Wide parts take little of the file and much memory: up to eight times the file's.
	for _, rows := range []int{7, 100, 8000} {
		fmt.Fprintf(&sheet, "%d rows of wide parts:%s\n", rows, predictions("wide", wide(rows)))
	}
	for rows, seen := 2200, 0; seen < 4; rows++ {
		data := encoded(wide(rows))
		if over := 4*64*rows - 8*len(data); over > -400 {
			seen++
			if _, err := read(data); (err != nil) != (over > 0) {
				t.Errorf("%d rows in %d bytes: %v", rows, len(data), err)
			}
		}
	}
	// Files that are cut, and files with less content than they declare.
	digits := regexp.MustCompile(`\d+`)
	for _, kind := range []struct{ tree, quantised bool }{{}, {true, true}} {
		whole, last := encoded(small(3, kind.tree, kind.quantised)), ""
		for n := range whole {
			_, err := read(whole[:n])
			text := digits.ReplaceAllString(fmt.Sprint(err), "N")
			if text != last {
				fmt.Fprintf(&sheet, "cut to %d bytes: %v\n", n, err)
			}
			last = text
			_, err = Read(bytes.NewReader(whole[:n]), int64(len(whole)), "short")
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("ends after %d bytes", n)) {
				t.Errorf("%d of %d bytes: %v", n, len(whole), err)
			}
		}
	}
	golden.Check(t, "testdata/fields.txt", sheet.String())
}

// Words with the same hash stay distinct.
func TestSameHash(t *testing.T) {
	if hash("costarring") != hash("liquid") {
		t.Fatal("these words have other hashes")
	}
	d := dictionary{entries: []string{"liquid", "x", "costarring"}}
	d.index()
	for word, want := range map[string]int32{"liquid": 0, "x": 1, "costarring": 2, "y": -1} {
		if got := d.find(word, hash(word)); got != want {
			t.Errorf("%s is entry %d, want %d", word, got, want)
		}
	}
	d = dictionary{entries: []string{"liquid"}}
	if d.index(); d.find("costarring", hash("costarring")) != -1 {
		t.Error("a word with the hash of another is taken for it")
	}
}
