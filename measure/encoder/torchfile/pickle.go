package torchfile

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"
)

// The opcodes of pickle protocol 2 that a dict of tensors needs. Source:
// pickletools.py of Python 3.11.
const (
	opProto      = 0x80
	opStop       = '.'
	opMark       = '('
	opNone       = 'N'
	opTrue       = 0x88
	opFalse      = 0x89
	opInt1       = 'K'
	opInt2       = 'M'
	opInt4       = 'J'
	opLong1      = 0x8a
	opUnicode    = 'X'
	opEmptyTuple = ')'
	opTuple      = 't'
	opTuple1     = 0x85
	opTuple2     = 0x86
	opTuple3     = 0x87
	opEmptyList  = ']'
	opAppend     = 'a'
	opAppends    = 'e'
	opEmptyDict  = '}'
	opSetItem    = 's'
	opSetItems   = 'u'
	opPut1       = 'q'
	opPut4       = 'r'
	opGet1       = 'h'
	opGet4       = 'j'
	opGlobal     = 'c'
	opReduce     = 'R'
	opBuild      = 'b'
	opPersistent = 'Q'
)

// maxStack is the limit of values that wait to be put together. Python writes
// a dict in batches of 1000 pairs.
const maxStack = 4096

// The values of a pickle: nil, bool, string, int64, *big.Int (beyond int64),
// and
type (
	tuple  []any
	list   struct{ values []any }
	global string // module.name
)

// dict has strings as keys, in the order of the file.
type dict struct {
	keys   []string
	values []any
	index  map[string]int
}

// get returns the value of a key, or nil.
func (d *dict) get(key string) any {
	if i, ok := d.index[key]; ok {
		return d.values[i]
	}
	return nil
}

// kind names the type of a value for an error. It never looks into a value,
// which may contain itself.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a truth value"
	case string:
		return "a string"
	case int64, *big.Int:
		return "a number"
	case tuple:
		return "a tuple"
	case *list:
		return "a list"
	case *dict:
		return "a dict"
	case *storage:
		return "a storage"
	case *view:
		return "a tensor"
	case global:
		return string(v)
	}
	panic("unreachable")
}

// machine reads pickles one after the other. Its first error sticks.
type machine struct {
	file file
	in   []byte
	at   int
	err  error

	stack []any
	marks []int // heights of the stack
	memo  map[uint32]any

	storages map[string]*storage
	order    []*storage // as they come
	bytes    int64      // of all storages
}

func (m *machine) fail(format string, a ...any) {
	if m.err == nil {
		m.err = m.file.fail(format+" (at byte %d of the pickle)", append(a, m.at)...)
	}
}

// run reads a pickle and returns its value, or nil after an error.
func (m *machine) run() any {
	m.stack, m.marks, m.memo = m.stack[:0], m.marks[:0], map[uint32]any{}
	for m.err == nil {
		op := m.byte()
		if m.err != nil {
			break
		}
		if op == opStop {
			v := m.pop()
			if len(m.stack)+len(m.marks) > 0 {
				m.fail("%d values are left at the end, expected none", len(m.stack))
			}
			if m.err != nil {
				break
			}
			return v
		}
		m.step(op)
	}
	return nil
}

func (m *machine) step(op byte) {
	switch op {
	case opProto:
		if v := m.byte(); m.err == nil && v != 2 {
			m.fail("pickle protocol %d, expected 2, which torch.save uses", v)
		}
	case opMark:
		m.marks = append(m.marks, len(m.stack))
		m.limit()
	case opNone:
		m.push(nil)
	case opTrue, opFalse:
		m.push(op == opTrue)
	case opInt1:
		m.push(int64(m.byte()))
	case opInt2:
		m.push(int64(m.uint(2)))
	case opInt4:
		m.push(int64(int32(m.uint(4))))
	case opLong1:
		m.push(long(m.take(int(m.byte()))))
	case opUnicode:
		m.push(string(m.take(int(m.uint(4)))))
	case opEmptyTuple:
		m.push(tuple(nil))
	case opTuple:
		m.push(tuple(m.popMark()))
	case opTuple1, opTuple2, opTuple3:
		t := make(tuple, op-opTuple1+1)
		for i := len(t) - 1; i >= 0; i-- {
			t[i] = m.pop()
		}
		m.push(t)
	case opEmptyList:
		m.push(new(list))
	case opAppend:
		m.extend([]any{m.pop()})
	case opAppends:
		m.extend(m.popMark())
	case opEmptyDict:
		m.push(new(dict))
	case opSetItem:
		value := m.pop()
		m.set([]any{m.pop(), value})
	case opSetItems:
		m.set(m.popMark())
	case opPut1:
		m.put(uint32(m.byte()))
	case opPut4:
		m.put(m.uint(4))
	case opGet1:
		m.get(uint32(m.byte()))
	case opGet4:
		m.get(m.uint(4))
	case opGlobal:
		m.global()
	case opReduce:
		args := m.pop()
		m.reduce(m.pop(), args)
	case opBuild:
		// The attributes of an OrderedDict: state dicts have _metadata, the
		// versions of PyTorch's modules.
		state := m.pop()
		_, object := top[*dict](m)
		if _, ok := state.(*dict); !ok || !object {
			m.fail("it sets attributes of something that is not a dict")
		}
	case opPersistent:
		m.storage(m.pop())
	default:
		m.at--
		m.fail("opcode 0x%02x, which a dict of tensors does not need", op)
	}
}

// byte reads a byte.
func (m *machine) byte() byte {
	if b := m.take(1); b != nil {
		return b[0]
	}
	return 0
}

// take reads n bytes, without a copy; nil after an error.
func (m *machine) take(n int) []byte {
	if n < 0 || n > len(m.in)-m.at {
		if int64(len(m.in)) == maxPickle {
			m.fail("a pickle of more than %d bytes, expected less", maxPickle)
		}
		m.fail("truncated: %d bytes left, expected %d", len(m.in)-m.at, n)
	}
	if m.err != nil {
		return nil
	}
	m.at += n
	return m.in[m.at-n : m.at : m.at]
}

// uint reads a little-endian number of n bytes, at most 4.
func (m *machine) uint(n int) uint32 {
	var b [4]byte
	copy(b[:], m.take(n))
	return binary.LittleEndian.Uint32(b[:])
}

// long is the value of a little-endian number in two's complement.
func long(b []byte) any {
	b = slices.Clone(b)
	slices.Reverse(b)
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

func (m *machine) push(v any) {
	m.stack = append(m.stack, v)
	m.limit()
}

func (m *machine) limit() {
	if len(m.stack)+len(m.marks) > maxStack {
		m.fail("more than %d values are open at once", maxStack)
	}
}

// pop takes the last value, which must be above the last mark; nil after an
// error.
func (m *machine) pop() any {
	low := 0
	if len(m.marks) > 0 {
		low = m.marks[len(m.marks)-1]
	}
	if len(m.stack) <= low {
		m.fail("a value is missing")
		return nil
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// popMark takes the last mark and the values above it.
func (m *machine) popMark() []any {
	if len(m.marks) == 0 {
		m.fail("a mark is missing")
		return nil
	}
	low := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	values := slices.Clone(m.stack[low:])
	m.stack = m.stack[:low]
	return values
}

// top returns the last value if it has type T, and leaves it.
func top[T any](m *machine) (v T, ok bool) {
	x := m.pop()
	if m.err == nil {
		m.stack = append(m.stack, x)
	}
	v, ok = x.(T)
	return v, ok
}

func (m *machine) extend(values []any) {
	l, ok := top[*list](m)
	if !ok {
		m.fail("it appends to something that is not a list")
		return
	}
	l.values = append(l.values, values...)
}

func (m *machine) set(pairs []any) {
	d, ok := top[*dict](m)
	if !ok || len(pairs)%2 != 0 {
		m.fail("%d keys and values for something that may not be a dict", len(pairs))
		return
	}
	for ; len(pairs) > 0; pairs = pairs[2:] {
		key, ok := pairs[0].(string)
		if !ok {
			m.fail("a key is %s, expected a string", kind(pairs[0]))
			return
		}
		if _, ok := d.index[key]; ok {
			m.fail("duplicate key %q", key)
			return
		}
		if d.index == nil {
			d.index = map[string]int{}
		}
		d.index[key] = len(d.keys)
		d.keys, d.values = append(d.keys, key), append(d.values, pairs[1])
	}
}

func (m *machine) put(i uint32) {
	v, _ := top[any](m)
	if m.err == nil {
		m.memo[i] = v
	}
}

func (m *machine) get(i uint32) {
	v, ok := m.memo[i]
	if !ok {
		m.fail("value %d of the memo does not exist", i)
		return
	}
	m.push(v)
}

// global reads a name: a line of the module, a line of the name in it.
func (m *machine) global() {
	start := m.at
	var parts [2]string
	for i := range parts {
		n := bytes.IndexByte(m.in[m.at:], '\n')
		if n < 0 {
			m.fail("truncated in a name")
			return
		}
		parts[i] = string(m.take(n + 1)[:n])
	}
	g := global(strings.Join(parts[:], "."))
	switch _, isStorage := dtypes[g]; {
	case isStorage, g == orderedDict, g == rebuildTensor, g == rebuildParameter:
		m.push(g)
	default:
		m.at = start
		m.fail("the pickle names %.100q, which is no part of a tensor; nothing was executed. "+
			"Expected only collections.OrderedDict, torch._utils._rebuild_tensor_v2 and types such as torch.FloatStorage", string(g))
	}
}
