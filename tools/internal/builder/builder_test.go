package builder

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upper is a builder that writes its source in capitals.
func upper(t *testing.T) Builder {
	dir := t.TempDir()
	b := Builder{Source: "letters 1.0", Install: "apt-get install letters", In: filepath.Join(dir, "in"), Out: filepath.Join(dir, "out"),
		Build: func(in string, notes io.Writer) ([]byte, error) {
			content, err := os.ReadFile(in)
			return bytes.ToUpper(content), err
		}}
	write(t, b.In, []byte("abc"))
	return b
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWriteAndCheck(t *testing.T) {
	b := upper(t)
	if err := b.run([]string{"-check"}, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("check without a file: %v", err)
	}
	if err := b.run(nil, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(b.Out); string(got) != "ABC" {
		t.Errorf("wrote %q", got)
	}
	if err := b.run([]string{"-check"}, io.Discard); err != nil {
		t.Error(err)
	}
	write(t, b.Out, []byte("ABc"))
	err := b.run([]string{"-check"}, io.Discard)
	if want := b.Out + " is not what its builder makes of letters 1.0: run go generate"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if got, _ := os.ReadFile(b.Out); string(got) != "ABc" {
		t.Errorf("the check wrote %q", got)
	}
}

func TestMissingSource(t *testing.T) {
	b := upper(t)
	write(t, b.Out, []byte("ABC"))
	missing := b.In + ".missing"
	for _, args := range [][]string{{"-in", missing}, {"-in", missing, "-check"}} {
		err := b.run(args, io.Discard)
		if want := "letters 1.0 is not installed (apt-get install letters): "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), missing) {
			t.Errorf("%q: error %v, want %q and the path", args, err, want)
		}
	}
	if got, _ := os.ReadFile(b.Out); string(got) != "ABC" {
		t.Errorf("without its source it wrote %q", got)
	}
}

func TestUnexpectedArgument(t *testing.T) {
	b := upper(t)
	if err := b.run([]string{"now"}, io.Discard); err == nil || err.Error() != `unexpected argument "now"` {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(b.Out); err == nil {
		t.Error("it wrote a file")
	}
}

// The check does not depend on how well a file is compressed.
func TestSameContent(t *testing.T) {
	content := []byte(strings.Repeat("crosstalk ", 1000))
	var fast bytes.Buffer
	z, err := gzip.NewWriterLevel(&fast, gzip.HuffmanOnly)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(content)
	z.Close()
	best := Compress(content)
	if bytes.Equal(fast.Bytes(), best) {
		t.Fatal("both levels give the same file")
	}
	for _, x := range []struct {
		name string
		a, b []byte
		want bool
	}{
		{"other level", fast.Bytes(), best, true},
		{"other content", Compress(content[1:]), best, false},
		{"other plain content", []byte("a"), []byte("b"), false},
	} {
		if got, err := sameContent(x.a, x.b); got != x.want || err != nil {
			t.Errorf("%s: %v, %v", x.name, got, err)
		}
	}
	if _, err := sameContent(best[:len(best)/2], best); err == nil {
		t.Error("half a file is no error")
	}
}

func TestStream(t *testing.T) {
	var s Stream
	s.Byte(7)
	s.Uint(300)
	s.Int(-1)
	s.Float(1)
	if want := []byte{7, 0xac, 2, 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}; !bytes.Equal(s, want) {
		t.Errorf("% x, want % x", s, want)
	}
}
