package torchfile

import (
	"bytes"
	"encoding/binary"
	"slices"

	"crosstalk/measure/encoder/tensor"
)

// maxStack is the limit of values that wait to be put together. Python writes a dict in batches of 1000 pairs.
const maxStack = 4096

// The values of a pickle: nil, bool, string, int64, *storage, *view, and
type (
	tuple  []any
	list   struct{ values []any }
	dict   map[string]any
	wide   string   // an integer of more than eight bytes, little-endian
	global string   // module.name
	mark   struct{} // on the stack: where the values of a tuple, list or dict begin
)

// The names that a pickle may mention, besides the types of storages. They are never called: reduce builds what they
// would.
const (
	orderedDict      = global("collections.OrderedDict")
	rebuildTensor    = global("torch._utils._rebuild_tensor_v2")
	rebuildParameter = global("torch._utils._rebuild_parameter")
)

// dtypes are the types of values by the types of storages.
var dtypes = map[global]string{
	"torch.FloatStorage": "F32", "torch.DoubleStorage": "F64", "torch.HalfStorage": "F16",
	"torch.BFloat16Storage": "BF16", "torch.LongStorage": "I64", "torch.IntStorage": "I32",
	"torch.ShortStorage": "I16", "torch.CharStorage": "I8", "torch.ByteStorage": "U8", "torch.BoolStorage": "BOOL",
}

// storage is an array in the file that tensors are views of.
type storage struct {
	key, dtype string
	count, at  int64 // values; offset in bytes, known when the pickle has been read
}

// view is a tensor: where its values are in a storage. Offset and strides are in values.
type view struct {
	storage        *storage
	offset         int64
	shape, strides []int
}

// kind names the type of a value for an error. It never looks into a value, which may contain itself.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a truth value"
	case string:
		return "a string"
	case int64, wide:
		return "a number"
	case tuple:
		return "a tuple"
	case *list:
		return "a list"
	case dict:
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

// machine reads pickles one after the other.
type machine struct {
	file  file
	in    []byte
	at    int
	stack []any
	memo  map[uint32]any

	storages map[string]*storage
	bytes    int64 // of all storages
}

// fail ends Read with an error.
func (m *machine) fail(format string, a ...any) {
	m.file.fail(format+" (at byte %d of the pickle)", append(a, m.at)...)
}

// run reads a pickle and returns its value.
func (m *machine) run() any {
	m.stack, m.memo = m.stack[:0], map[uint32]any{}
	for {
		op := m.byte()
		if op == '.' { // STOP
			v := m.pop()
			if len(m.stack) > 0 {
				m.fail("%d values are left at the end, expected none", len(m.stack))
			}
			return v
		}
		m.step(op)
	}
}

// step executes one of the opcodes of pickle protocol 2 that a dict of tensors needs. Source: pickletools.py of Python
// 3.11, which gives the names.
func (m *machine) step(op byte) {
	switch op {
	case 0x80: // PROTO
		if v := m.byte(); v != 2 {
			m.fail("pickle protocol %d, expected 2, which torch.save uses", v)
		}
	case '(': // MARK
		m.push(mark{})
	case 'N': // NONE
		m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		m.push(op == 0x88)
	case 'K': // BININT1
		m.push(int64(m.byte()))
	case 'M': // BININT2
		m.push(int64(m.uint(2)))
	case 'J': // BININT
		m.push(int64(int32(m.uint(4))))
	case 0x8a: // LONG1
		m.push(long(m.take(int(m.byte()))))
	case 'X': // BINUNICODE
		m.push(string(m.take(int(m.uint(4)))))
	case ')': // EMPTY_TUPLE
		m.push(tuple(nil))
	case 't': // TUPLE
		m.push(tuple(m.popMark()))
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		t := make(tuple, op-0x84)
		for i := len(t) - 1; i >= 0; i-- {
			t[i] = m.pop()
		}
		m.push(t)
	case ']': // EMPTY_LIST
		m.push(new(list))
	case 'a': // APPEND
		m.extend(m.pop())
	case 'e': // APPENDS
		m.extend(m.popMark()...)
	case '}': // EMPTY_DICT
		m.push(dict{})
	case 's': // SETITEM
		value := m.pop()
		m.set(m.pop(), value)
	case 'u': // SETITEMS
		m.set(m.popMark()...)
	case 'q': // BINPUT
		m.memo[uint32(m.byte())] = m.top()
	case 'r': // LONG_BINPUT
		m.memo[m.uint(4)] = m.top()
	case 'h': // BINGET
		m.get(uint32(m.byte()))
	case 'j': // LONG_BINGET
		m.get(m.uint(4))
	case 'c': // GLOBAL
		m.global()
	case 'R': // REDUCE
		args := m.pop()
		m.push(m.reduce(m.pop(), args))
	case 'b': // BUILD
		// The attributes of an OrderedDict: state dicts have _metadata, the versions of PyTorch's modules.
		_, attributes := m.pop().(dict)
		if _, object := m.top().(dict); !object || !attributes {
			m.fail("it sets attributes of something that is not a dict")
		}
	case 'Q': // BINPERSID
		m.push(m.storage(m.pop()))
	default:
		m.at--
		m.fail("opcode 0x%02x, which a dict of tensors does not need", op)
	}
}

func (m *machine) byte() byte { return m.take(1)[0] }

// take reads n bytes, without a copy.
func (m *machine) take(n int) []byte {
	if n < 0 || n > len(m.in)-m.at {
		if len(m.in) == maxPickle {
			m.fail("a pickle of more than %d bytes, expected less", maxPickle)
		}
		m.fail("truncated: %d bytes left, expected %d", len(m.in)-m.at, n)
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
	if len(b) > 8 {
		return wide(b)
	}
	var n int64
	for _, digit := range slices.Backward(b) {
		n = n<<8 | int64(digit)
	}
	unused := 64 - 8*len(b)
	return n << unused >> unused // extends the sign
}

func (m *machine) push(v any) {
	if len(m.stack) == maxStack {
		m.fail("more than %d values are open at once", maxStack)
	}
	m.stack = append(m.stack, v)
}

// top returns the last value, which must be above the last mark.
func (m *machine) top() any {
	if n := len(m.stack); n > 0 && m.stack[n-1] != any(mark{}) {
		return m.stack[n-1]
	}
	m.fail("a value is missing")
	return nil
}

func (m *machine) pop() any {
	v := m.top()
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// popMark removes the last mark and returns the values above it.
func (m *machine) popMark() []any {
	for i, v := range slices.Backward(m.stack) {
		if _, found := v.(mark); found {
			values := slices.Clone(m.stack[i+1:])
			m.stack = m.stack[:i]
			return values
		}
	}
	m.fail("a mark is missing")
	return nil
}

func (m *machine) extend(values ...any) {
	l, ok := m.top().(*list)
	if !ok {
		m.fail("it appends to something that is not a list")
	}
	l.values = append(l.values, values...)
}

func (m *machine) set(pairs ...any) {
	d, ok := m.top().(dict)
	if !ok || len(pairs)%2 != 0 {
		m.fail("%d keys and values for something that may not be a dict", len(pairs))
	}
	for pair := range slices.Chunk(pairs, 2) {
		key, ok := pair[0].(string)
		if !ok {
			m.fail("a key is %s, expected a string", kind(pair[0]))
		}
		if _, ok := d[key]; ok {
			m.fail("duplicate key %q", key)
		}
		d[key] = pair[1]
	}
}

func (m *machine) get(i uint32) {
	v, ok := m.memo[i]
	if !ok {
		m.fail("value %d of the memo does not exist", i)
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
		}
		parts[i] = string(m.take(n + 1)[:n])
	}
	g := global(parts[0] + "." + parts[1])
	if dtypes[g] == "" && g != orderedDict && g != rebuildTensor && g != rebuildParameter {
		m.at = start
		m.fail("the pickle names %.100q, which is no part of a tensor; nothing was executed. Expected only "+
			"collections.OrderedDict, torch._utils._rebuild_tensor_v2 and types such as torch.FloatStorage", string(g))
	}
	m.push(g)
}

// reduce makes what a call of the named function would make.
func (m *machine) reduce(f, args any) any {
	a, ok := args.(tuple)
	if !ok {
		m.fail("the arguments of a call are %s, expected a tuple", kind(args))
	}
	switch f {
	case orderedDict:
		if len(a) > 0 {
			m.fail("%s is called with arguments, expected none", orderedDict)
		}
		return dict{}
	case rebuildTensor:
		return m.rebuild(a)
	case rebuildParameter: // a tensor, whether it is trained, hooks
		if len(a) != 3 || !empty(a[2]) {
			m.fail("%s has unknown arguments", rebuildParameter)
		}
		if _, ok := a[0].(*view); !ok {
			m.fail("%s is called with %s, expected a tensor", rebuildParameter, kind(a[0]))
		}
		return a[0]
	}
	m.fail("it calls %s", kind(f))
	return nil
}

// rebuild makes a tensor of a storage, an offset, a shape, strides, whether it is trained, hooks and perhaps metadata.
// Metadata (conjugate, negative) would change values, so there must be none.
func (m *machine) rebuild(a tuple) *view {
	if len(a) < 6 || len(a) > 7 || !empty(a[5]) || len(a) == 7 && !empty(a[6]) {
		m.fail("%s has unknown arguments", rebuildTensor)
	}
	s, isStorage := a[0].(*storage)
	offset, isOffset := a[1].(int64)
	shape, isShape := ints(a[2])
	strides, isStrides := ints(a[3])
	if !isStorage || !isOffset || !isShape || !isStrides {
		m.fail("a tensor is made of %s, %s, %s, %s; expected a storage, its offset, its shape and its strides",
			kind(a[0]), kind(a[1]), kind(a[2]), kind(a[3]))
	}
	return &view{s, offset, shape, strides}
}

// empty tells whether a value is None or an empty dict.
func empty(v any) bool {
	d, ok := v.(dict)
	return v == nil || ok && len(d) == 0
}

func ints(v any) ([]int, bool) {
	t, ok := v.(tuple)
	values := make([]int, len(t))
	for i, v := range t {
		n, isInt := v.(int64)
		if values[i] = int(n); !isInt || int64(values[i]) != n {
			return nil, false
		}
	}
	return values, ok
}

// storage makes a storage of the id by which a pickle refers to it: "storage", the type, the key, a device, the number
// of values and, in the older form, a view of another storage.
func (m *machine) storage(id any) *storage {
	t, _ := id.(tuple)
	if len(t) < 5 || len(t) > 6 || t[0] != "storage" || len(t) == 6 && t[5] != nil {
		m.fail("the id of a storage is unknown")
	}
	class, _ := t[1].(global)
	key, isKey := t[2].(string)
	count, isCount := t[4].(int64)
	dtype := dtypes[class]
	if dtype == "" || !isKey || !isCount || count < 0 {
		m.fail("a storage has %s as type, %s as key, %s as size", kind(t[1]), kind(t[2]), kind(t[4]))
	}
	s := m.storages[key]
	if s == nil {
		// All storages lie in the file, side by side.
		size := tensor.Size(dtype)
		if count > (m.file.size-m.bytes)/size {
			m.fail("storage %.100q has %d values of type %s, more than fit into a file of %d bytes",
				key, count, dtype, m.file.size)
		}
		m.bytes += count * size
		s = &storage{key: key, dtype: dtype, count: count}
		m.storages[key] = s
	}
	if s.dtype != dtype || s.count != count {
		m.fail("storage %.100q has %d values of type %s, before it had %d of type %s", key, count, dtype, s.count, s.dtype)
	}
	return s
}
