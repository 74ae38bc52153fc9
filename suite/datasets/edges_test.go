package datasets

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/fetch"
)

func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, v := range []string{"CROSSTALK_MIRROR", "XDG_CACHE_HOME", "HOME"} {
		t.Setenv(v, "")
	}
	t.Setenv("CROSSTALK_CACHE", "here")
	if got, err := some().dir(); got != filepath.Join(dir, "here", "some") || err != nil {
		t.Errorf("%s %v", got, err)
	}
	t.Setenv("CROSSTALK_CACHE", "")
	_, findErr := some().Find()
	_, pullErr := some().Pull(t.Context(), nil)
	for _, err := range []error{findErr, pullErr} {
		if err == nil || !strings.HasPrefix(err.Error(), "cannot find the user's cache folder (") ||
			!strings.HasSuffix(err.Error(), "): set CROSSTALK_CACHE to a folder") {
			t.Errorf("without a home: %v", err)
		}
	}
	t.Setenv("HOME", dir)
	t.Setenv("LocalAppData", dir)
	user, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cacheRoot(); got != filepath.Join(user, "crosstalk") || err != nil {
		t.Errorf("%s %v", got, err)
	}
}

func TestMirrorAddresses(t *testing.T) {
	for address, want := range map[string]string{"": "https://b.example/c/d", " http://m/x/ ": "http://m/x/b.example/c/d",
		"https://m": "https://m/b.example/c/d", "ftp://m": "", "m": "", "http:///x": "", "http://m\x7f": ""} {
		t.Setenv("CROSSTALK_MIRROR", address)
		m, err := mirror()
		if want == "" {
			if fmt.Sprint(err) != "CROSSTALK_MIRROR is not a URL; expected one like https://mirror.example/files" {
				t.Errorf("%q: %v", address, err)
			}
			continue
		}
		if got, errAddress := addressOf("https://b.example/c/d", m); got != want || err != nil || errAddress != nil {
			t.Errorf("%q: %s %v %v, want %s", address, got, err, errAddress, want)
		}
		if _, err := addressOf("http://\x7f", m); (err != nil) != (m != nil) {
			t.Errorf("%q: %v", address, err)
		}
	}
	serve(t)
	t.Setenv("CROSSTALK_MIRROR", "http://127.0.0.1:1")
	if _, err := some("http://\x7f").Pull(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "invalid control character") {
		t.Error(err)
	}
}

// Which addresses are tried, and which are not.
func TestAddressesTried(t *testing.T) {
	dead := serve(t)
	dead.Close()
	s := serve(t)
	s.files["/b"] = content
	if _, err := some(dead.URL+"/a", dead.URL+"/b", s.URL+"/a", s.URL+"/b", s.URL+"/c").Pull(t.Context(), nil); err != nil ||
		!slices.Equal(s.asked, []string{"/a", "/b"}) || len(dead.asked) > 0 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
	// Where there is no folder to write to, no other address helps.
	s = serve(t)
	dir := filepath.Join(os.Getenv("CROSSTALK_CACHE"), "some")
	if err := os.MkdirAll(filepath.Join(dir, "data.bin.incomplete"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := some(s.URL+"/a", s.URL+"/b").Pull(t.Context(), nil)
	if err == nil || strings.Contains(err.Error(), "by hand") || len(s.asked) > 0 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
	if err := os.Rename(filepath.Join(dir, "data.bin.incomplete"), filepath.Join(dir, "data.bin")); err != nil {
		t.Fatal(err)
	}
	want := ": is a directory: delete the file and run the same command again to fetch it"
	if _, err := some(s.URL+"/a").Pull(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
	}
	// The whole advice.
	s = serve(t)
	_, err = some(s.URL+"/a", s.URL+"/b").Pull(t.Context(), nil)
	want = "cannot fetch " + s.URL + "/a (HTTP 404 Not Found)\ncannot fetch " + s.URL + "/b (HTTP 404 Not Found)\nTo fetch data.bin " +
		"by hand, put it into " + filepath.Join(os.Getenv("CROSSTALK_CACHE"), "some") + " and run the same command again: it has 524288 " +
		"bytes and the SHA-256 checksum " + sum(content) + " (see https://some.example)"
	if fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

var errStopped = errors.New("stopped")

// An interrupted download is not tried elsewhere.
func TestInterruptedAtOneAddress(t *testing.T) {
	s := serve(t)
	fetch.FirstWait = 1 << 40
	ctx, stop := context.WithCancelCause(t.Context())
	s.fault = func(w http.ResponseWriter, _ *http.Request) bool {
		stop(errStopped)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	_, err := some(s.URL+"/a", s.URL+"/b").Pull(ctx, nil)
	if err != errStopped || !slices.Equal(s.asked, []string{"/a"}) {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}

// A file that is not an archive, or is truncated, is an error that names it.
func TestUnpackErrors(t *testing.T) {
	dir := t.TempDir()
	whole := archive(t, "tar", "./x/a", "A", "x/b", strings.Repeat("B", 5000))
	zipped := archive(t, "zip", "x/a", "A")
	method := bytes.Clone(zipped) // one that nobody knows, in both headers
	method[8], method[bytes.Index(method, []byte("PK\x01\x02"))+10] = 99, 99
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"a.zip":    {[]byte("x"), "zip: not a valid zip file"},
		"b.zip":    {method, "zip: unsupported compression algorithm"},
		"a.tar.gz": {[]byte("xxxxxxxxxxxx"), "gzip: invalid header"},
		"b.tar.gz": {whole[:len(whole)-20], "unexpected EOF"},
		"c.tar.gz": {archive(t, "tar", "x/b", "B"), "has no file x/a"},
		"d.tar.gz": {whole, ""},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.content, 0o644); err != nil {
			t.Fatal(err)
		}
		err := File{Name: name, Members: []string{"x/a"}}.unpack(dir)
		if c.want == "" && err != nil || c.want != "" && fmt.Sprint(err) != path+": "+c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		os.Remove(path)
		if err := (File{Name: name, Members: []string{"x/a"}}).unpack(dir); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		if err := (File{Name: name}).unpack(dir); err != nil { // nothing to unpack
			t.Error(err)
		}
	}
	if err := writeMember(filepath.Join(dir, "a", "b"), strings.NewReader("x")); err == nil { // a is a file
		t.Error("wrote below a file")
	}
}

// Nothing that is longer than any member is written.
func TestLongestMember(t *testing.T) {
	dir := t.TempDir()
	for n, want := range map[int64]string{maxMember: "", maxMember + 1: "a is longer than 64 MiB"} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("x/a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, n); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "a.zip")
		if err := errors.Join(z.Close(), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		err = File{Name: "a.zip", Members: []string{"x/a"}}.unpack(dir)
		if want == "" && err != nil || want != "" && fmt.Sprint(err) != path+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
		info, err := os.Stat(filepath.Join(dir, "a"))
		if (err == nil) != (want == "") || err == nil && info.Size() != n {
			t.Errorf("%d bytes: %v, %v", n, info, err)
		}
		os.Remove(filepath.Join(dir, "a"))
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestKinds(t *testing.T) {
	for _, kind := range []Kind{Suite, Model} {
		for _, s := range All(kind) {
			other := map[Kind]Kind{Suite: Model, Model: Suite}[kind]
			if _, known := Named(other, s.Name); s.Kind != kind || known {
				t.Errorf("%s: %s", kind, s.Name)
			}
		}
	}
	if n := len(All(Suite)) + len(All(Model)); n != len(catalogue()) || len(All(Model)) == 0 {
		t.Errorf("%d of %d", n, len(catalogue()))
	}
	if got := (Source{Kind: Model, Name: "m", Files: []File{{Size: 3}, {Size: 4}}}); got.Size() != 7 || got.Command() != "crosstalk models pull m" {
		t.Errorf("%d %s", got.Size(), got.Command())
	}
	for member, want := range map[string]string{"x/a": "a", "x/a/b": "a/b", "x/./a/../c": "c", "x": "."} {
		if got := filepath.ToSlash(memberPath(".", member)); got != want {
			t.Errorf("%s: %s, want %s", member, got, want)
		}
	}
}
