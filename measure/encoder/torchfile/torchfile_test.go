package torchfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"crosstalk/measure/encoder/safetensors"
	"crosstalk/measure/encoder/tensor"
)

func read(b []byte) (map[string]*tensor.Tensor, error) {
	return Read(bytes.NewReader(b), int64(len(b)), "x.bin")
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rows are the bits of all values of a tensor.
func rows(t *testing.T, x *tensor.Tensor) (all [][]uint32) {
	t.Helper()
	if err := x.Rows(func(row []float32) {
		var bits []uint32
		for _, v := range row {
			bits = append(bits, math.Float32bits(v))
		}
		all = append(all, bits)
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// What PyTorch wrote in both forms equals the same weights in safetensors.
func TestGolden(t *testing.T) {
	b := golden(t, "model.safetensors")
	want, err := safetensors.Read(bytes.NewReader(b), int64(len(b)), "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"zip.bin", "old.bin"} {
		got, err := read(golden(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || len(got) != 45 {
			t.Errorf("%s has %d tensors, want %d", name, len(got), len(want))
		}
		strided := 0
		for key, w := range want {
			g := got[key]
			if g == nil || g.DType != w.DType || !slices.Equal(g.Shape, w.Shape) || g.Name != key {
				t.Errorf("%s: %s is %+v, want %+v", name, key, g, w)
				continue
			}
			if g.Strides != nil {
				strided++
			}
			switch w.DType {
			case "F32", "F16", "BF16":
				if g, w := fmt.Sprint(rows(t, g)), fmt.Sprint(rows(t, w)); g != w {
					t.Errorf("%s: %s is %s, want %s", name, key, g, w)
				}
			default:
				a, _ := io.ReadAll(io.NewSectionReader(g.Data, 0, g.Data.Size()))
				b, _ := io.ReadAll(io.NewSectionReader(w.Data, 0, w.Data.Size()))
				if !bytes.Equal(a, b) {
					t.Errorf("%s: %s is %x, want %x", name, key, a, b)
				}
			}
		}
		if strided != 10 { // 2 x 4 of the attention, a slice of a larger matrix, one repeated
			t.Errorf("%s: %d tensors with strides, want 10", name, strided)
		}
	}
}

// Short names for what pickles are made of.
const (
	pre     = "\x80\x02ccollections\nOrderedDict\n)R(" // then keys and values
	end     = "u."
	rebuild = "ctorch._utils\n_rebuild_tensor_v2\n("
	rest    = "\x89ccollections\nOrderedDict\n)RtR" // not trained, no hooks
)

func str(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func num(n int) string {
	return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(int32(n))))
}

func long8(n int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func nums(n ...int) string {
	s := "("
	for _, n := range n {
		s += num(n)
	}
	return s + "t"
}

// store is a storage of that many values.
func store(class, key string, n int) string {
	return "(" + str("storage") + "ctorch\n" + class + "\n" + str(key) + str("cpu") + num(n) + "tQ"
}

// entry is a tensor in storage 0 of 6 floats.
func entry(name string, offset int, shape, strides []int) string {
	return str(name) + rebuild + store("FloatStorage", "0", 6) + num(offset) + nums(shape...) + nums(strides...) + rest
}

// packed is a zip with a pickle and further entries: names and contents.
func packed(t testing.TB, pickle string, more ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, more := 0, append([]string{"m/data.pkl", pickle}, more...); i < len(more); i += 2 {
		e, err := w.CreateHeader(&zip.FileHeader{Name: more[i], Method: zip.Store})
		if err == nil {
			_, err = e.Write([]byte(more[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// six are the values 0 to 5.
var six = func() string {
	var b []byte
	for i := range 6 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i)))
	}
	return string(b)
}()

func one(t testing.TB, pickle string) []byte { return packed(t, pickle, "m/data/0", six) }

// older is the older form with a state dict, keys and data.
func older(state, keys, data string) []byte {
	return []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}(" + str("little_endian") + "\x88u." + state + keys + data)
}

const count6 = "\x06\x00\x00\x00\x00\x00\x00\x00"

var keys0 = "\x80\x02](" + str("0") + "e."

func TestViews(t *testing.T) {
	matrix := pre + entry("a", 0, []int{2, 3}, []int{3, 1}) + entry("b", 1, []int{2, 2}, []int{1, 3}) +
		entry("c", 6, []int{0, 9}, []int{9, 1}) +
		entry("d", 5, nil, nil) + entry("e", 0, []int{1, 6}, []int{99, 1}) + end
	for _, b := range [][]byte{one(t, matrix), packed(t, matrix, "m/data/0", six, "m/byteorder", "little", "m/.data/serialization_id", "7"), older(matrix, keys0, count6+six)} {
		tensors, err := read(b)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"a": "[[0 1 2] [3 4 5]]", "b": "[[1 4] [2 5]]", "c": "[]", "d": "[[5]]", "e": "[[0 1 2 3 4 5]]"} {
			var got [][]float32
			if err := tensors[name].Rows(func(row []float32) { got = append(got, slices.Clone(row)) }); err != nil {
				t.Fatal(err)
			}
			if s := fmt.Sprint(got); s != want {
				t.Errorf("%s: %s, want %s", name, s, want)
			}
		}
		if len(tensors) != 5 || tensors["b"].Strides == nil || tensors["e"].Strides != nil {
			t.Errorf("%d tensors, b %+v, e %+v", len(tensors), tensors["b"], tensors["e"])
		}
	}
}

// system is what a pickle of an attacker runs in Python.
const system = "cposix\nsystem\n" + "X\x0a\x00\x00\x00touch /tmp\x85R"

func TestErrors(t *testing.T) {
	good := entry("a", 0, []int{6}, []int{1})
	state := pre + good + end
	view := func(offset int, shape, strides []int) []byte {
		return one(t, pre+entry("a", offset, shape, strides)+end)
	}
	if _, err := read(one(t, state)); err != nil {
		t.Fatal(err)
	}
	if _, err := read(older(state, keys0, count6+six)); err != nil {
		t.Fatal(err)
	}
	wide := pre // small tensors that span a storage each
	for i := range 100 {
		wide += str(fmt.Sprint(i)) + rebuild + store("FloatStorage", "0", 1000) + num(0) + nums(2) + nums(999) + rest
	}
	compressed := func() []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		e, _ := w.Create("m/data.pkl")
		e.Write([]byte(state))
		w.Close()
		return b.Bytes()
	}()
	for _, c := range []struct {
		file []byte
		want string
	}{
		// Code.
		{one(t, "\x80\x02"+system+"."), `the pickle names "posix.system", which is no part of a tensor; nothing was executed`},
		{one(t, system+"."), `"posix.system"`},
		{one(t, pre+str("a")+system+end), `"posix.system"`},
		{[]byte("\x80\x02" + system + "."), `"posix.system"`},
		{older(pre+str("a")+system+end, keys0, count6+six), `"posix.system"`},
		{older(state, "\x80\x02]("+system+"e.", count6+six), `"posix.system"`},
		{one(t, "\x80\x02cbuiltins\neval\n)R."), `"builtins.eval"`},
		{one(t, "\x80\x02ctorch.storage\n_load_from_bytes\n)R."), `"torch.storage._load_from_bytes"`},
		{one(t, "\x80\x02ctorch._utils\n_rebuild_tensor_v3\n)R."), `"torch._utils._rebuild_tensor_v3"`},
		{one(t, "\x80\x02ctorch\nFloatStorage\n)R."), "it calls torch.FloatStorage"},
		{one(t, "\x80\x02ccollections\n"+strings.Repeat("x", 1000)+"\n)R."), `"collections.` + strings.Repeat("x", 88) + `",`},
		{one(t, "\x80\x04\x95."), "pickle protocol 4, expected 2"},
		{one(t, "\x80\x02(iposix\nsystem\n."), "opcode 0x69"},
		{one(t, "\x80\x02"+str("posix")+str("system")+"\x93."), "opcode 0x93"},
		{one(t, "\x80\x02ccollections\nOrderedDict\n)\x81."), "opcode 0x81"},
		{one(t, "\x80\x02}"+str("system")+"b."), "it sets attributes"},

		// Views.
		{view(0, []int{7}, []int{1}), `tensor "a" of shape [7] and strides [1] at 0 leaves its storage of 6 values`},
		{view(1, []int{2, 3}, []int{3, 1}), "leaves its storage"},
		{view(6, nil, nil), "leaves its storage"},
		{view(7, []int{0}, []int{1}), "leaves its storage"},
		{view(-1, []int{2}, []int{1}), "leaves its storage"},
		{view(5, []int{2}, []int{-1}), "strides [-1] for shape [2], expected one from 0 up"},
		{view(0, []int{6}, []int{1, 1}), "strides [1 1] for shape [6]"},
		{view(0, []int{-6}, []int{1}), "shape [-6]"},
		{view(0, []int{2, 2}, []int{math.MaxInt32, 1}), "leaves its storage"},
		{view(0, []int{math.MaxInt32, math.MaxInt32, math.MaxInt32}, []int{0, 0, 0}), "shape [2147483647"},
		{view(0, []int{1000, 6}, []int{0, 1}), "more than 4 times the size of the file"},
		{one(t, pre+strings.Repeat(good, 2)+end), `duplicate key "a"`},
		{one(t, pre+str("a")+rebuild+store("FloatStorage", "0", 6)+long8(math.MinInt64)+nums(6)+nums(1)+rest+end), "leaves its storage"},
		{one(t, pre+str("a")+rebuild+store("FloatStorage", "0", 6)+num(0)+"("+long8(math.MaxInt64)+"t"+nums(1)+rest+end), "shape [9223372036854775807]"},
		{one(t, pre+str("a")+rebuild+store("FloatStorage", "0", 6)+num(0)+nums(2)+"("+long8(math.MaxInt64)+"t"+rest+end), "leaves its storage"},
		{one(t, pre+str("a")+rebuild+store("FloatStorage", "0", 6)+num(0)+nums(6)+nums(1)+"\x89}"+str("x")+"NstR"+end), "unknown arguments"},
		{one(t, pre+str("a")+rebuild+store("FloatStorage", "0", 6)+num(0)+nums(6)+nums(1)+"\x89}}"+str("neg")+"\x88stR"+end), "unknown arguments"},
		{one(t, pre+str("a")+rebuild+"N"+num(0)+nums(6)+nums(1)+rest+end), "a tensor is made of None"},
		{one(t, pre+str("a")+num(7)+end), `entry "a" is a number, expected a tensor`},
		{one(t, pre+str("state_dict")+pre[2:]+good+"u"+end), `entry "state_dict" is a dict, expected a tensor`},
		{one(t, "\x80\x02N."), "it has None, expected a dict of tensors"},

		{one(t, pre+str("a")+"ctorch._utils\n_rebuild_parameter\n("+good[len(str("a")):]+"\x88}"+str("x")+"NstR"+end), "_rebuild_parameter has unknown arguments"},
		{one(t, pre+str("a")+"ctorch._utils\n_rebuild_parameter\n(N\x88}tR"+end), "_rebuild_parameter is called with None"},
		{one(t, "\x80\x02ccollections\nOrderedDict\n]\x85R."), "collections.OrderedDict is called with arguments"},
		{packed(t, wide+end, "m/data/0", strings.Repeat("\x00", 4000)), "more than 4 times the size of the file"},

		// Storages.
		{one(t, pre+str("a")+store("FloatStorage", "0", 60)+str("b")+store("FloatStorage", "1", 60)+str("c")+store("FloatStorage", "2", 60)+end),
			"more than fit into a file of"},
		{one(t, pre+str("a")+store("FloatStorage", "0", math.MaxInt32)+end), "more than fit into a file of"},
		{one(t, pre+str("a")+store("FloatStorage", "0", -6)+end), "a storage has torch.FloatStorage as type, a string as key, a number as size"},
		{one(t, pre+str("a")+store("ComplexFloatStorage", "0", 6)+end), `"torch.ComplexFloatStorage"`},
		{one(t, pre+str("a")+store("FloatStorage", "0", 6)+str("b")+store("FloatStorage", "0", 7)+end), "before it had 6"},
		{one(t, pre+str("a")+store("FloatStorage", "0", 6)+str("b")+store("IntStorage", "0", 6)+end), "of type I32, before"},
		{one(t, pre+str("a")+"("+str("storage")+"ctorch\nFloatStorage\n"+str("0")+str("cpu")+num(6)+nums(0, 1)+"tQ"+end), "the id of a storage is unknown"},
		{one(t, pre+str("a")+num(1)+"Q"+end), "the id of a storage is unknown"},
		{packed(t, state, "m/data/0", six[1:]), "m/data/0 has 23 bytes, expected 24 for 6 values of type F32"},
		{packed(t, state, "m/data/1", six), `no entry "m/data/0"`},
		{packed(t, state, "m/data/0", six, "m/data/0", six), `two entries "m/data/0"`},
		{packed(t, state, "m/data/0", six, "n/data.pkl", state), "the zip has m/data.pkl and n/data.pkl"},
		{packed(t, state, "m/data/0", six, "m/byteorder", "big"), `its byte order is "big", expected little`},
		{packed(t, state, "m/data/0", six, "m/byteorder", strings.Repeat("little", 99)), "m/byteorder has 594 bytes, expected at most 16"},
		{compressed, "m/data.pkl is compressed"},
		{one(t, state)[:99], "zip: not a valid zip file"},
		{one(t, strings.Repeat("N", maxPickle+1)), "expected at most 1048576"},

		// The older form.
		{older(state, keys0, count6+six[1:]), "truncated: storage \"0\" ends at byte"},
		{older(state, keys0, count6[1:]), "truncated at storage"},
		{older(state, keys0, count6+six+"x"), "1 bytes after the last storage"},
		{older(state, keys0, "\x07"+count6[1:]+six), "has 7 values, expected 6"},
		{older(state, "\x80\x02](e.", count6+six), "expected a list of the keys of 1 storages"},
		{older(state, "\x80\x02]("+str("1")+"e.", count6+six), `no tensor uses storage "1"`},
		{older(pre+good+str("b")+rebuild+store("FloatStorage", "1", 6)+num(0)+nums(6)+nums(1)+rest+end, "\x80\x02]("+str("0")+str("0")+"e.", count6+six+count6+six),
			`no tensor uses storage "0", or it is listed twice`},
		{older(state, "\x80\x02N.", count6+six), "after the state dict comes None"},
		{bytes.Replace(older(state, keys0, count6+six), []byte("\x88u."), []byte("\x89u."), 1), "little-endian"},
		{bytes.Replace(older(state, keys0, count6+six), []byte("M\xe9\x03"), []byte("M\xe8\x03"), 1), "the version of the format"},
		{[]byte(state), "the first pickle is a dict, expected the magic number 1950a86a20f9469cfc6c"},
		{older(state, keys0, "")[:100], "truncated"},
		{older(pre+strings.Repeat("N0", maxPickle), "", ""), "opcode 0x30"},

		// Pickles that do not end well.
		{one(t, ""), "truncated: 0 bytes left, expected 1"},
		{one(t, "\x80\x02"), "truncated"},
		{one(t, "\x80\x02X\xff\xff\xff\xffabc"), "truncated: 3 bytes left, expected 4294967295"},
		{one(t, "\x80\x02ccollections"), "truncated in a name"},
		{one(t, state+"N"), "expected the end of its"},
		{one(t, "\x80\x02."), "a value is missing"},
		{one(t, "\x80\x02N(."), "a value is missing"},
		{one(t, "\x80\x02NN."), "1 values are left"},
		{one(t, "\x80\x02t."), "a mark is missing"},
		{one(t, "\x80\x02h\x07."), "value 7 of the memo does not exist"},
		{one(t, "\x80\x02}(N)u."), "a key is None, expected a string"},
		{one(t, "\x80\x02}("+str("a")+"u."), "1 keys and values"},
		{one(t, "\x80\x02)("+str("a")+"Nu."), "may not be a dict"},
		{one(t, "\x80\x02)Na."), "not a list"},
		{one(t, "\x80\x02"+strings.Repeat("(", maxStack+1)), "more than 4096 values are open"},
		{one(t, "\x80\x02"+strings.Repeat("N", maxStack+1)), "more than 4096 values are open"},

		// No file of torch.save.
		{nil, "expected a zip or a pickle"},
		{[]byte("version https://git-lfs.github.com/spec/v1"), `it begins with "version https://", expected`},
	} {
		_, err := read(c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.bin: not a file of tensors") {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// A good file is an error wherever it is cut.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"zip.bin", "old.bin"} {
		b := golden(t, name)
		for n := 0; n < len(b); n += 11 {
			if _, err := read(b[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes are read without an error", name, n, len(b))
			}
		}
	}
}

// bombs are pickles that would grow.
func bombs() []string {
	const many = 200_000
	doubled := "\x80\x02)q\x00" // a tuple of twice the tuple before, 4000 times
	for i := range 4000 {
		doubled += string([]byte{'h', byte(i), 'h', byte(i), 0x86, 'q', byte(i + 1)})
	}
	return []string{
		doubled + ".",
		"\x80\x02)" + strings.Repeat("\x85", many) + ".",                         // a tuple in a tuple ...
		"\x80\x02]q\x00" + strings.Repeat("h\x00a", many) + ".",                  // a list in itself
		"\x80\x02" + strings.Repeat("]", 4000) + strings.Repeat("a", 3999) + ".", // a list in a list ...
		"\x80\x02" + strings.Repeat("}q\x000", many) + ".",
		"\x80\x02}q\x00" + str("a") + "h\x00s" + ".", // a dict in itself
		pre + strings.Repeat(entry("a", 0, []int{6}, []int{1})[:6], many) + end,
	}
}

// allocated fails if f allocates more than a small multiple of its input.
func allocated(t *testing.T, n int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if used, limit := after.TotalAlloc-before.TotalAlloc, uint64(200_000+60*n); used > limit {
		t.Errorf("%d bytes allocated for a file of %d, want at most %d", used, n, limit)
	}
}

func TestBombs(t *testing.T) {
	for i, p := range bombs() {
		for _, b := range [][]byte{one(t, p), older(p, keys0, count6+six)} {
			allocated(t, len(b), func() {
				if _, err := read(b); err == nil {
					t.Errorf("bomb %d is read without an error", i)
				}
			})
		}
	}
}

// visit reads all tensors in a fixed order, and checks that each gives as many values as its shape says.
func visit(t *testing.T, b []byte) {
	allocated(t, len(b), func() {
		tensors, err := read(b)
		if err != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(tensors)) {
			x, n := tensors[name], int64(0)
			if err := x.Rows(func(row []float32) { n += int64(len(row)) }); err == nil &&
				n*tensor.Size(x.DType) != tensor.Bytes(x.DType, x.Shape) {
				t.Errorf("%s: %d values of shape %v", name, n, x.Shape)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(golden(f, "zip.bin"))
	f.Add(golden(f, "old.bin"))
	state := pre + entry("a", 0, []int{2, 3}, []int{1, 2}) + end
	f.Add(one(f, state))
	f.Add(older(state, keys0, count6+six))
	f.Fuzz(visit)
}

// FuzzPickle changes the pickle alone, around which the zip stays whole.
func FuzzPickle(f *testing.F) {
	f.Add(pre + entry("a", 0, []int{2, 3}, []int{1, 2}) + entry("b", 2, []int{2, 2}, []int{2, 1}) + end)
	f.Add(pre + entry("a", 0, []int{6}, []int{1}) + "u}" + str("_metadata") + "}sb.")
	f.Add("\x80\x02" + system + ".")
	f.Fuzz(func(t *testing.T, pickle string) { visit(t, one(t, pickle)) })
}
