package torchfile

import "crosstalk/measure/encoder/tensor"

// The names that a pickle may mention, beside the types of storages. They are
// never called: reduce builds what they would.
const (
	orderedDict      = global("collections.OrderedDict")
	rebuildTensor    = global("torch._utils._rebuild_tensor_v2")
	rebuildParameter = global("torch._utils._rebuild_parameter")
)

// dtypes are the types of values by the types of storages.
var dtypes = map[global]string{
	"torch.FloatStorage": "F32", "torch.DoubleStorage": "F64", "torch.HalfStorage": "F16", "torch.BFloat16Storage": "BF16",
	"torch.LongStorage": "I64", "torch.IntStorage": "I32", "torch.ShortStorage": "I16", "torch.CharStorage": "I8",
	"torch.ByteStorage": "U8", "torch.BoolStorage": "BOOL",
}

// storage is an array in the file that tensors are views of.
type storage struct {
	key, dtype string
	count, at  int64 // values; offset in bytes, known when the pickle has been read
}

// view is a tensor: where its values are in a storage. Offset and strides are
// in values.
type view struct {
	storage        *storage
	offset         int64
	shape, strides []int
}

// reduce makes what a call of the named function would make.
func (m *machine) reduce(f, args any) {
	a, ok := args.(tuple)
	if !ok {
		m.fail("the arguments of a call are %s, expected a tuple", kind(args))
		return
	}
	switch f {
	case orderedDict:
		if len(a) > 0 {
			m.fail("%s is called with arguments, expected none", orderedDict)
			return
		}
		m.push(new(dict))
	case rebuildTensor:
		m.rebuild(a)
	case rebuildParameter: // a tensor, whether it is trained, hooks
		if len(a) != 3 || !empty(a[2]) {
			m.fail("%s has unknown arguments", rebuildParameter)
			return
		}
		v, ok := a[0].(*view)
		if !ok {
			m.fail("%s is called with %s, expected a tensor", rebuildParameter, kind(a[0]))
			return
		}
		m.push(v)
	default:
		m.fail("it calls %s", kind(f))
	}
}

// rebuild makes a tensor of a storage, an offset, a shape, strides, whether it
// is trained, hooks and perhaps metadata. Metadata (conjugate, negative) would
// change values, so there must be none.
func (m *machine) rebuild(a tuple) {
	if len(a) < 6 || len(a) > 7 || !empty(a[5]) || len(a) == 7 && !empty(a[6]) {
		m.fail("%s has unknown arguments", rebuildTensor)
		return
	}
	s, isStorage := a[0].(*storage)
	offset, isOffset := a[1].(int64)
	shape, isShape := ints(a[2])
	strides, isStrides := ints(a[3])
	if !isStorage || !isOffset || !isShape || !isStrides {
		m.fail("a tensor is made of %s, %s, %s, %s; expected a storage, its offset, its shape and its strides",
			kind(a[0]), kind(a[1]), kind(a[2]), kind(a[3]))
		return
	}
	m.push(&view{s, offset, shape, strides})
}

// empty tells whether a value is None or an empty dict.
func empty(v any) bool {
	d, ok := v.(*dict)
	return v == nil || ok && len(d.keys) == 0
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

// storage makes a storage of the id by which a pickle refers to it: "storage",
// the type, the key, a device, the number of values and, in the older form, a
// view of another storage.
func (m *machine) storage(id any) {
	t, _ := id.(tuple)
	if len(t) < 5 || len(t) > 6 || t[0] != "storage" || len(t) == 6 && t[5] != nil {
		m.fail("the id of a storage is unknown")
		return
	}
	class, _ := t[1].(global)
	key, isKey := t[2].(string)
	count, isCount := t[4].(int64)
	dtype := dtypes[class]
	if dtype == "" || !isKey || !isCount || count < 0 {
		m.fail("a storage has %s as type, %s as key, %s as size", kind(t[1]), kind(t[2]), kind(t[4]))
		return
	}
	s := m.storages[key]
	if s == nil {
		// All storages lie in the file, side by side.
		size := tensor.Size(dtype)
		if count > (m.file.size-m.bytes)/size {
			m.fail("storage %.100q has %d values of type %s, more than fit into a file of %d bytes", key, count, dtype, m.file.size)
			return
		}
		m.bytes += count * size
		if m.storages == nil {
			m.storages = map[string]*storage{}
		}
		s = &storage{key: key, dtype: dtype, count: count}
		m.storages[key] = s
		m.order = append(m.order, s)
	}
	if s.dtype != dtype || s.count != count {
		m.fail("storage %.100q has %d values of type %s, before it had %d of type %s", key, count, dtype, s.count, s.dtype)
		return
	}
	m.push(s)
}
