package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// message is a structure of Thrift's compact protocol with these fields: numbers and values in turn.
func message(fields ...any) (b []byte) {
	last := 0
	for i := 0; i < len(fields); i += 2 {
		id := fields[i].(int)
		kind, body := byte(0), []byte(nil)
		switch v := fields[i+1].(type) {
		case bool:
			kind = map[bool]byte{true: thriftTrue, false: thriftFalse}[v]
		case int:
			kind, body = thriftInt64, binary.AppendVarint(nil, int64(v))
		case float64:
			kind, body = thriftDouble, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
		case string:
			kind, body = thriftBytes, append(binary.AppendUvarint(nil, uint64(len(v))), v...)
		case []byte:
			kind, body = thriftStruct, v
		case [][]byte:
			kind, body = thriftList, binary.AppendUvarint([]byte{0xf0 | thriftStruct}, uint64(len(v)))
			body = append(body, bytes.Join(v, nil)...)
		case map[string]int:
			kind, body = thriftMap, binary.AppendUvarint(nil, uint64(len(v)))
			if len(v) > 0 {
				body = append(body, thriftBytes<<4|thriftInt32)
			}
			for name, n := range v {
				body = binary.AppendVarint(append(append(body, byte(len(name))), name...), int64(n))
			}
		}
		if delta := id - last; delta > 0 && delta < 16 {
			b = append(b, byte(delta)<<4|kind)
		} else {
			b = binary.AppendVarint(append(b, kind), int64(id))
		}
		b, last = append(b, body...), id
	}
	return append(b, 0)
}

// made is a file of one column, "a", and one row group.
type made struct {
	kind, repetition, codec, values, rows, total, start, length, dictionary int
	path                                                                    string
	schemaKind                                                              int
	pages                                                                   []byte
	schema                                                                  [][]byte
}

func (m made) file() []byte {
	if m.schema == nil {
		m.schema = [][]byte{message(4, "schema", 5, 1), message(1, m.schemaKind, 3, m.repetition, 4, "a")}
	}
	of := message(1, m.kind, 4, m.codec, 5, m.values, 7, len(m.pages)+m.length, 9, 4+m.start, 11, m.dictionary)
	group := message(1, [][]byte{message(1, m.path, 3, of)}, 3, m.rows)
	footer := message(1, 1, 2, m.schema, 3, m.total, 4, [][]byte{group},
		5, map[string]int{"x": 1}, 6, map[string]int{}, 300, 1.5, 7, true)
	b := append([]byte("PAR1"), m.pages...)
	b = binary.LittleEndian.AppendUint32(append(b, footer...), uint32(len(footer)))
	return append(b, "PAR1"...)
}

// page is a page of version 1 of n values with these levels, each as it lies in the file.
func onePage(n, encoding int, data string) []byte {
	header := message(1, n, 2, encoding, 3, runLength, 4, runLength)
	return append(message(1, dataPage, 2, len(data), 3, len(data), 5, header), data...)
}

func dictionaryOf(n int, data string) []byte {
	return append(message(1, dictionaryPage, 2, len(data), 3, len(data), 7, message(1, n, 2, plain)), data...)
}

func secondPage(n, encoding, definition, repetition int, packed bool, data string) []byte {
	return append(message(1, dataPageV2, 2, len(data), 3, len(data),
		8, message(1, n, 2, 0, 3, n, 4, encoding, 5, definition, 6, repetition, 7, packed)), data...)
}

func words(list ...string) (text string) {
	for _, w := range list {
		text += string(binary.LittleEndian.AppendUint32(nil, uint32(len(w)))) + w
	}
	return text
}

// sized is data with its length before it, as levels are.
func sized(data string) string { return words(data) }

// Files that were made by hand, of all kinds of pages and with everything that can be wrong in them: what is read, or
// the error.
func TestMade(t *testing.T) {
	text := made{kind: kindByteArray, schemaKind: kindByteArray, values: 2, rows: 2, total: 2,
		pages: onePage(2, plain, words("x", "yz"))}
	with := func(change func(*made)) made {
		m := text
		change(&m)
		return m
	}
	numbers := func(kind, n int, data string) made {
		return with(func(m *made) {
			m.kind, m.schemaKind, m.values, m.rows, m.total, m.pages = kind, kind, n, n, n, onePage(n, plain, data)
		})
	}
	paged := func(repetition, values, rows int, pages ...[]byte) made {
		return with(func(m *made) {
			m.repetition, m.values, m.rows, m.total, m.pages = repetition, values, rows, rows, bytes.Join(pages, nil)
		})
	}
	listed := [][]byte{message(4, "schema", 5, 1), message(3, 1, 4, "l", 5, 1), message(3, 2, 4, "list", 5, 1),
		message(1, kindByteArray, 3, 1, 4, "e")}
	lists := func(data string, n, rows int) made {
		m := paged(0, n, rows, onePage(n, plain, data))
		m.schema = listed
		return m
	}
	leaf := message(1, kindByteArray, 4, "a")
	schema := func(elements ...[]byte) made { return with(func(m *made) { m.schema = elements }) }
	deep := [][]byte{message(5, 1)}
	for range maxDepth {
		deep = append(deep, message(4, "d", 5, 1))
	}
	for what, c := range map[string]struct {
		made
		want string
	}{
		"text":           {text, `a["x" "yz"]`},
		"pages":          {paged(0, 3, 3, onePage(1, plain, words("x")), onePage(2, plain, words("", "z"))), `a["x" "" "z"]`},
		"booleans":       {numbers(kindBoolean, 9, "\x05\x01"), `a["true" "false" "true" "false" "false" "false" "false" "false" "true"]`},
		"few booleans":   {numbers(kindBoolean, 9, "\x05"), "column a, row group 1: is cut off"},
		"32 bits":        {numbers(kindInt32, 2, "\xff\xff\xff\xff\x00\x01\x00\x00"), `a["-1" "256"]`},
		"few 32 bits":    {numbers(kindInt32, 2, "\xff\xff\xff\xff\x00\x01\x00"), "column a, row group 1: is cut off"},
		"64 bits":        {numbers(kindInt64, 2, "\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x01\x00\x00\x00\x00\x00\x00"), `a["-2" "256"]`},
		"few 64 bits":    {numbers(kindInt64, 2, "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x01\x00\x00\x00\x00\x00"), "column a, row group 1: is cut off"},
		"floats":         {numbers(kindFloat, 2, "\xcd\xcc\xcc\x3d\x00\x00\x00\xc0"), `a["0.1" "-2"]`},
		"few floats":     {numbers(kindFloat, 1, "\xcd\xcc\xcc"), "column a, row group 1: is cut off"},
		"doubles":        {numbers(kindDouble, 2, "\x9a\x99\x99\x99\x99\x99\xb9\x3f\x00\x00\x00\x00\x00\x00\xf0\x3f"), `a["0.1" "1"]`},
		"few doubles":    {numbers(kindDouble, 1, "\x9a\x99\x99\x99\x99\x99\xb9"), "column a, row group 1: is cut off"},
		"96 bits":        {numbers(kindInt96, 1, "123456789012"), ``},
		"fixed lengths":  {numbers(kindFixed, 1, "1"), ``},
		"unknown type":   {numbers(8, 1, "1"), ``},
		"negative type":  {numbers(-1, 1, "1"), ``},
		"no UTF-8":       {paged(0, 1, 1, onePage(1, plain, words("\xff"))), "column a, row group 1: text is not valid UTF-8"},
		"cut length":     {paged(0, 1, 1, onePage(1, plain, "\x01\x00\x00")), "column a, row group 1: is cut off"},
		"cut text":       {paged(0, 1, 1, onePage(1, plain, "\x02\x00\x00\x00x")), "column a, row group 1: is cut off"},
		"second is cut":  {paged(0, 2, 2, onePage(2, plain, words("abcd"))), "column a, row group 1: is cut off"},
		"run of levels":  {paged(1, 3, 3, onePage(3, plain, sized("\x06\x01")+words("x", "y", "z"))), `a["x" "y" "z"]`},
		"nulls":          {paged(1, 3, 3, onePage(3, plain, sized("\x03\x05")+words("x", "z"))), `a["x" "" "z"]`},
		"levels":         {paged(1, 1, 1, onePage(1, plain, "\x01\x00\x00")), "column a, row group 1: is cut off"},
		"levels are cut": {paged(1, 1, 1, onePage(1, plain, "\x03\x00\x00\x00\x02\x01")), "column a, row group 1: is cut off"},
		"too deep level": {paged(1, 1, 1, onePage(1, plain, sized("\x02\x02")+words("x"))), "column a, row group 1: a definition level of 2; expected at most 1"},
		"no runs":        {paged(1, 2, 2, message(1, dataPage, 2, 0, 3, 0, 5, message(1, 2, 2, plain, 3, 4, 4, runLength))), "column a, row group 1: levels in the unsupported encoding BIT_PACKED"},
		"lists":          {lists(sized("\x04\x00\x02\x01\x02\x00")+sized("\x02\x03\x02\x02\x02\x03\x02\x01")+words("x", "z"), 4, 3), `l.list.e[["x"] ["" "z"] []]`},
		"no first row":   {lists(sized("\x02\x01")+sized("\x02\x03")+words("x"), 1, 1), "column l.list.e, row group 1: a list continues without a start"},
		"too many rows":  {lists(sized("\x04\x00")+sized("\x04\x03")+words("x", "y"), 2, 1), "column l.list.e, row group 1: has 2 rows; expected 1"},
		"dictionary": {paged(0, 4, 4, dictionaryOf(2, words("x", "y")), onePage(3, dictionaryIndex, "\x01\x04\x01\x02\x00"), onePage(1, plainDictionary, "\x01\x02\x01")),
			`a["y" "y" "x" "y"]`},
		"empty dictionary": {paged(1, 1, 1, dictionaryOf(0, ""), onePage(1, dictionaryIndex, sized("\x02\x00"))), `a[""]`},
		"beyond it":        {paged(0, 1, 1, dictionaryOf(1, words("x")), onePage(1, dictionaryIndex, "\x01\x02\x01")), "column a, row group 1: entry 1 of a dictionary of 1"},
		"without it":       {paged(0, 1, 1, onePage(1, dictionaryIndex, "\x01\x02\x01")), "column a, row group 1: the dictionary is missing"},
		"two of them":      {paged(0, 1, 1, dictionaryOf(0, ""), dictionaryOf(0, "")), "column a, row group 1: a second dictionary"},
		"less than none":   {paged(0, 1, 1, dictionaryOf(-1, "")), "column a, row group 1: a dictionary of -1 values"},
		"a huge one":       {paged(0, 1, 1, dictionaryOf(maxValues, "")), fmt.Sprintf("column a, row group 1: a dictionary of %d values", maxValues)},
		"a large one":      {paged(0, 1, 1, dictionaryOf(maxValues-1, "")), "column a, row group 1: is cut off"},
		"wide entries":     {paged(0, 1, 1, dictionaryOf(1, words("x")), onePage(1, dictionaryIndex, "\x20\x02\x00\x00\x00\x00")), `a["x"]`},
		"too wide":         {paged(0, 1, 1, dictionaryOf(1, words("x")), onePage(1, dictionaryIndex, "\x21\x02\x00\x00\x00\x00\x00")), "column a, row group 1: is cut off"},
		"no width":         {paged(0, 1, 1, dictionaryOf(1, words("x")), onePage(1, dictionaryIndex, "")), "column a, row group 1: is cut off"},
		"runs of booleans": {with(func(m *made) {
			m.kind, m.schemaKind, m.pages = kindBoolean, kindBoolean, onePage(2, runLength, sized("\x04\x01"))
		}), `a["true" "true"]`},
		"cut booleans":       {with(func(m *made) { m.kind, m.schemaKind, m.pages = kindBoolean, kindBoolean, onePage(2, runLength, "abc") }), "column a, row group 1: is cut off"},
		"runs of text":       {paged(0, 1, 1, onePage(1, runLength, sized("\x02\x01"))), "column a, row group 1: values in the unsupported encoding 3"},
		"deltas":             {paged(0, 1, 1, onePage(1, 7, "x")), "column a, row group 1: values in the unsupported encoding DELTA_BYTE_ARRAY"},
		"version 2":          {paged(1, 3, 3, secondPage(3, plain, 2, 0, false, "\x03\x05"+words("x", "z"))), `a["x" "" "z"]`},
		"version 2, packed":  {paged(1, 1, 1, secondPage(1, plain, 2, 0, true, "\x02\x01"+words("x"))), `a["x"]`},
		"version 2, cut":     {paged(1, 1, 1, secondPage(1, plain, 3, 0, false, "\x02\x01")), "column a, row group 1: is cut off"},
		"version 2, less":    {paged(1, 1, 1, secondPage(1, plain, -1, 0, false, "\x02\x01")), "column a, row group 1: is cut off"},
		"version 2, no runs": {paged(1, 1, 1, secondPage(1, plain, 0, 0, false, "")), "column a, row group 1: is cut off"},
		"too many in a page": {paged(0, 1, 1, onePage(2, plain, words("x", "y"))), "column a, row group 1: a page of 2 values; expected at most 1"},
		"less than none in":  {paged(0, 1, 1, onePage(-1, plain, "")), "column a, row group 1: a page of -1 values; expected at most 1"},
		"an index":           {paged(0, 1, 1, message(1, 1, 2, 0, 3, 0)), "column a, row group 1: a page of the unknown kind 1"},
		"a page that is cut": {paged(0, 1, 1, message(1, 0, 2, 9, 3, 1)), "column a, row group 1: is cut off"},
		"a negative page":    {paged(0, 1, 1, message(1, 0, 2, 9, 3, -1)), "column a, row group 1: is cut off"},
		"no page":            {paged(0, 1, 1), "column a, row group 1: page header: is cut off"},
		"no values":          {paged(0, 0, 0), `a[]`},
		"Brotli":             {with(func(m *made) { m.codec = 4 }), "column a, row group 1: is compressed with Brotli; expected Snappy, gzip, Zstandard or none"},
		"codec 9":            {with(func(m *made) { m.codec = 9 }), "column a, row group 1: is compressed with the unknown codec 9; expected Snappy, gzip, Zstandard or none"},
		"another file":       {with(func(m *made) { m.path = "b" }), `damaged footer: row group 1: column a is in the other file "b"`},
		"another type":       {with(func(m *made) { m.schemaKind = kindInt32 }), "damaged footer: row group 1: column a has another type in the schema"},
		"values below 0":     {with(func(m *made) { m.values = -1 }), "damaged footer: row group 1: column a has -1 values; expected at most 2097152"},
		"the most values":    {with(func(m *made) { m.values = maxValues }), "column a, row group 1: page header: is cut off"},
		"too many values":    {with(func(m *made) { m.values = maxValues + 1 }), "damaged footer: row group 1: column a has 2097153 values; expected at most 2097152"},
		"in the magic":       {with(func(m *made) { m.start = -1 }), "damaged footer: row group 1: column a lies outside the file"},
		"beyond the end":     {with(func(m *made) { m.length = 1 << 20 }), "damaged footer: row group 1: column a lies outside the file"},
		"starts there":       {with(func(m *made) { m.start = 1 << 20 }), "damaged footer: row group 1: column a lies outside the file"},
		"negative length":    {with(func(m *made) { m.length = -1000 }), "damaged footer: row group 1: column a lies outside the file"},
		"dictionary first":   {with(func(m *made) { m.start, m.dictionary = 2, 4 }), `a["x" "yz"]`},
		"dictionary later":   {with(func(m *made) { m.dictionary = 6 }), `a["x" "yz"]`},
		"fewer rows":         {with(func(m *made) { m.rows, m.total = 1, 1 }), "column a, row group 1: has 2 rows; expected 1"},
		"other rows":         {with(func(m *made) { m.total = 3 }), "damaged footer: 3 rows in all, 2 in the row groups"},
		"rows below 0":       {with(func(m *made) { m.rows = -1 }), "damaged footer: row group 1: -1 rows; expected at most 2097152 in a file"},
		"too many rows in":   {with(func(m *made) { m.rows = maxValues + 1 }), "damaged footer: row group 1: 2097153 rows; expected at most 2097152 in a file"},
		"the most rows":      {with(func(m *made) { m.rows, m.total = maxValues, maxValues }), "column a, row group 1: has 2 rows; expected 2097152"},
		"no schema":          {with(func(m *made) { m.schema = [][]byte{} }), "damaged footer: the schema is cut off or too deep"},
		"no columns":         {schema(message(4, "s")), "damaged footer: the schema has no columns"},
		"schema cut":         {schema(message(5, 2), leaf), "damaged footer: the schema is cut off or too deep"},
		"two columns":        {schema(message(5, 2), leaf, leaf), "damaged footer: row group 1: 1 columns; the schema has 2"},
		"the deepest":        {schema(append(deep[:maxDepth:maxDepth], leaf)...), strings.Repeat("d.", maxDepth-1) + `a["x" "yz"]`},
		"too deep":           {schema(append(deep, leaf)...), "damaged footer: the schema is cut off or too deep"},
		"lists of lists":     {schema(message(5, 1), message(3, 2, 4, "l", 5, 1), message(1, kindByteArray, 3, 2, 4, "e")), ``},
	} {
		data := c.file()
		columns, _, err := Read(bytes.NewReader(data), int64(len(data)))
		got := ""
		for _, column := range columns {
			got += column.Name + fmt.Sprintf("%q", column.Texts)
			if column.Lists != nil {
				got = column.Name + fmt.Sprintf("%q", column.Lists)
			}
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// The footer lies within the file, which has a largest size.
func TestFooter(t *testing.T) {
	whole := func(footer string, n uint32) []byte {
		return append(binary.LittleEndian.AppendUint32(append([]byte("PAR1"), footer...), n), "PAR1"...)
	}
	for want, data := range map[string][]byte{
		"damaged footer: is cut off":                         whole("", 0),
		"damaged: its footer has 1 bytes of 12":              whole("", 1),
		"damaged footer: the schema is cut off or too deep":  whole("\x00", 1),
		"damaged footer: has a field of the unknown type 13": whole("\x1d", 1),
		"damaged: its footer has 8388609 bytes of 8388621":   whole(strings.Repeat("\x00", maxFooter+1), maxFooter+1),
		"damaged footer: has too many values":                whole("\x19\xfc\xff\xff\xff\x07"+strings.Repeat("\x00", maxNodes+9), maxNodes+15),
		"is not a Parquet file":                              []byte("PAR1\x00\x00\x00PAR1"),
		"is not a Parquet file, or is cut off":               []byte("PAR2\x00\x00\x00\x00PAR1"),
	} {
		if _, _, err := Read(bytes.NewReader(data), int64(len(data))); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for size, want := range map[int64]string{maxFile: "is not a Parquet file, or is cut off", maxFile + 1: "is larger than 256 MiB"} {
		if _, _, err := Read(zeros{}, size); err == nil || err.Error() != want {
			t.Errorf("%d bytes: %v, want %s", size, err, want)
		}
	}
}

type zeros struct{}

func (zeros) ReadAt(b []byte, _ int64) (int, error) { return len(b), nil }

// Numbers of any width, in runs and packed, are those that are written.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		data  string
		width int
		want  []int
	}{
		{"\x06\x02", 2, []int{2, 2, 2}}, {"\x06\x02\x01", 9, []int{258, 258, 258}}, {"\x02\x01\x04\x00", 1, []int{1, 0, 0}},
		{"\x03\x88\xc6\xfa", 3, []int{0, 1, 2, 3, 4, 5, 6, 7}}, {"\x03\x88\xc6\xfa\x02\x05", 3, []int{0, 1, 2, 3, 4, 5, 6, 7, 5}},
		{"\x05\xff\x01", 1, []int{1, 1, 1, 1, 1, 1, 1, 1, 1}}, {"\x03", 0, []int{0, 0, 0}}, {"", 1, []int{}},
	} {
		got, err := decodeRuns([]byte(c.data), c.width, len(c.want))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %v, %v; want %v", c.data, got, err, c.want)
		}
	}
	for _, data := range []string{"\x03\x88\xc6", "\x06", "\x00", "\x01", "\x80", "\x07\x88\xc6\xfa\x88\xc6\xfa\x88\xc6"} {
		if got, err := decodeRuns([]byte(data), 3, 20); err == nil {
			t.Errorf("%q: %v", data, got)
		}
	}
}
