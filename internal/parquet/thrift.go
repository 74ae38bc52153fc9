package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// fields is a structure in Thrift's compact protocol, as which Parquet stores
// what describes the data: int64, bool, []byte, []any and fields, by the
// number of the field. Floating-point numbers are passed over.
type fields map[int16]any

// Types of Thrift's compact protocol.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftInt8
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBytes
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

const (
	maxNodes = 200_000 // values in one message; each takes at least a byte
	maxDepth = 16
)

var errCut = errors.New("is cut off")

// thrift reads one message.
type thrift struct {
	data  []byte
	at    int
	nodes int
}

// count counts a value in a structure or list that is so deep.
func (t *thrift) count(depth int) error {
	if t.nodes++; t.nodes > maxNodes || depth > maxDepth {
		return errors.New("has too many values")
	}
	return nil
}

func (t *thrift) byte() (byte, error) {
	if t.at >= len(t.data) {
		return 0, errCut
	}
	t.at++
	return t.data[t.at-1], nil
}

func (t *thrift) uvarint() (uint64, error) {
	v, n := binary.Uvarint(t.data[t.at:])
	if n <= 0 {
		return 0, errCut
	}
	t.at += n
	return v, nil
}

func (t *thrift) varint() (int64, error) {
	v, n := binary.Varint(t.data[t.at:]) // zigzag, as Thrift's
	if n <= 0 {
		return 0, errCut
	}
	t.at += n
	return v, nil
}

func (t *thrift) length() (int, error) {
	n, err := t.uvarint()
	if err == nil && n > uint64(len(t.data)-t.at) {
		err = errCut
	}
	return int(n), err
}

func (t *thrift) structure(depth int) (fields, error) {
	f := fields{}
	id := int16(0)
	for {
		head, err := t.byte()
		if err != nil {
			return nil, err
		}
		kind := head & 0xf
		if kind == 0 {
			return f, nil
		}
		if err := t.count(depth); err != nil {
			return nil, err
		}
		if delta := head >> 4; delta != 0 {
			id += int16(delta)
		} else {
			v, err := t.varint()
			if err != nil {
				return nil, err
			}
			id = int16(v)
		}
		if kind == thriftTrue || kind == thriftFalse {
			f[id] = kind == thriftTrue
			continue
		}
		if f[id], err = t.value(kind, depth); err != nil {
			return nil, err
		}
	}
}

func (t *thrift) value(kind byte, depth int) (any, error) {
	switch kind {
	case thriftTrue, thriftFalse: // in a list
		b, err := t.byte()
		return b == thriftTrue, err
	case thriftInt8:
		b, err := t.byte()
		return int64(int8(b)), err
	case thriftInt16, thriftInt32, thriftInt64:
		return t.varint()
	case thriftDouble:
		if len(t.data)-t.at < 8 {
			return nil, errCut
		}
		t.at += 8
		return nil, nil
	case thriftBytes:
		n, err := t.length()
		if err != nil {
			return nil, err
		}
		t.at += n
		return t.data[t.at-n : t.at], nil
	case thriftList, thriftSet:
		return t.list(depth)
	case thriftMap:
		return nil, t.skipMap(depth)
	case thriftStruct:
		return t.structure(depth + 1)
	}
	return nil, fmt.Errorf("has a field of the unknown type %d", kind)
}

func (t *thrift) list(depth int) ([]any, error) {
	head, err := t.byte()
	if err != nil {
		return nil, err
	}
	n := int(head >> 4)
	if n == 15 {
		if n, err = t.length(); err != nil {
			return nil, err
		}
	}
	var values []any
	for range n {
		if err := t.count(depth); err != nil {
			return nil, err
		}
		v, err := t.value(head&0xf, depth+1)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

func (t *thrift) skipMap(depth int) error {
	n, err := t.length()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := t.byte()
	if err != nil {
		return err
	}
	for range n {
		if err := t.count(depth); err != nil {
			return err
		}
		for _, kind := range []byte{kinds >> 4, kinds & 0xf} {
			if _, err := t.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// The fields of a structure, with zero for one that is not there or is of
// another type.

func (f fields) int(id int16) int64 {
	v, _ := f[id].(int64)
	return v
}

func (f fields) text(id int16) string {
	v, _ := f[id].([]byte)
	return string(v)
}

func (f fields) sub(id int16) fields {
	v, _ := f[id].(fields)
	return v
}

func (f fields) list(id int16) []any {
	v, _ := f[id].([]any)
	return v
}
