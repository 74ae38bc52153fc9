package parquet

import "encoding/binary"

// thriftWriter writes a structure in Thrift's compact protocol. Fields are
// written in the order of their numbers.
type thriftWriter struct {
	data []byte
	last int16
}

func (t *thriftWriter) field(id int16, kind byte) {
	t.data = append(t.data, byte(id-t.last)<<4|kind) // numbers are never more than 15 apart
	t.last = id
}

func (t *thriftWriter) number(id int16, v int64) {
	t.field(id, thriftInt32)
	t.data = binary.AppendVarint(t.data, v)
}

func (t *thriftWriter) number64(id int16, v int64) {
	t.field(id, thriftInt64)
	t.data = binary.AppendVarint(t.data, v)
}

func (t *thriftWriter) text(id int16, s string) {
	t.field(id, thriftBytes)
	t.appendText(s)
}

func (t *thriftWriter) appendText(s string) {
	t.data = append(binary.AppendUvarint(t.data, uint64(len(s))), s...)
}

func (t *thriftWriter) structure(id int16, write func(*thriftWriter)) {
	t.field(id, thriftStruct)
	t.nested(write)
}

func (t *thriftWriter) nested(write func(*thriftWriter)) {
	inner := thriftWriter{data: t.data}
	write(&inner)
	t.data = inner.end()
}

func (t *thriftWriter) list(id int16, kind byte, n int, write func(t *thriftWriter, i int)) {
	t.head(id, kind, n)
	for i := range n {
		t.nested(func(t *thriftWriter) { write(t, i) })
	}
}

func (t *thriftWriter) head(id int16, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.data = append(t.data, byte(n)<<4|kind)
		return
	}
	t.data = binary.AppendUvarint(append(t.data, 0xf0|kind), uint64(n))
}

func (t *thriftWriter) numbers(id int16, values ...int64) {
	t.head(id, thriftInt32, len(values))
	for _, v := range values {
		t.data = binary.AppendVarint(t.data, v)
	}
}

func (t *thriftWriter) texts(id int16, values ...string) {
	t.head(id, thriftBytes, len(values))
	for _, s := range values {
		t.appendText(s)
	}
}

// end ends the structure.
func (t *thriftWriter) end() []byte { return append(t.data, 0) }
