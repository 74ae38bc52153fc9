package datasets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crosstalk/internal/fetch"
)

// server serves files by their path. What it was asked is in asked.
type server struct {
	*httptest.Server
	files map[string][]byte
	fault func(w http.ResponseWriter, r *http.Request) bool

	mu    sync.Mutex
	asked []string
}

func serve(t *testing.T) *server {
	s := &server{files: map[string][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
		s.mu.Unlock()
		if s.fault != nil && s.fault(w, r) {
			return
		}
		content, ok := s.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	t.Setenv("CROSSTALK_CACHE", t.TempDir())
	t.Setenv("CROSSTALK_MIRROR", "")
	wait, stall := fetch.FirstWait, fetch.Stall
	fetch.FirstWait = time.Millisecond
	t.Cleanup(func() { fetch.FirstWait, fetch.Stall = wait, stall })
	return s
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

var content = bytes.Repeat([]byte("0123456789abcdef"), 1<<15)

// some is a source of one file at these addresses.
func some(urls ...string) Source {
	return Source{Name: "some", Kind: Suite, Home: "https://some.example",
		Files: []File{{Name: "data.bin", URLs: urls, Size: int64(len(content)), SHA256: sum(content)}}}
}

func TestPull(t *testing.T) {
	s := serve(t)
	s.files["/a/data.bin"] = content
	from := some(s.URL + "/a/data.bin")
	var missing *MissingError
	if _, err := from.Find(); !errors.As(err, &missing) || err.Error() != "the suite some is not on this machine: fetch it with crosstalk suites pull some" {
		t.Errorf("before: %v", err)
	}
	var last, total int64
	dir, err := from.Pull(t.Context(), func(file string, done, all int64) {
		if file != "data.bin" || done < last {
			t.Errorf("progress of %s: %d after %d", file, done, last)
		}
		last, total = done, all
	})
	if err != nil || last != from.Size() || total != from.Size() {
		t.Fatalf("%v; progress ended at %d of %d", err, last, total)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "data.bin")); err != nil || !bytes.Equal(got, content) {
		t.Errorf("another content, %v", err)
	}
	if found, err := from.Find(); found != dir || err != nil || dir != filepath.Join(os.Getenv("CROSSTALK_CACHE"), "some") {
		t.Errorf("found in %s (%v), pulled into %s", found, err, dir)
	}
	s.asked = nil
	if again, err := from.Pull(t.Context(), nil); again != dir || err != nil || s.asked != nil {
		t.Errorf("again: %s %v, asked %q", again, err, s.asked)
	}
}

func TestPullGoesOn(t *testing.T) {
	s := serve(t)
	s.files["/data.bin"] = content
	from := some(s.URL + "/data.bin")
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", "524288")
		w.Write(content[:100000])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := from.Pull(ctx, func(_ string, done, _ int64) {
		if done >= 100000 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if _, err := from.Find(); err == nil {
		t.Fatal("the source is taken for whole")
	}
	s.fault, s.asked = nil, nil
	if _, err := from.Pull(t.Context(), nil); err != nil || !slices.Equal(s.asked, []string{"/data.bin bytes=100000-"}) {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}

func TestPullOtherAddresses(t *testing.T) {
	other := bytes.ToUpper(content)
	for name, c := range map[string]struct {
		files map[string][]byte
		says  []string // of the error, none: it succeeds
	}{
		"the second has it":      {map[string][]byte{"/b": content}, nil},
		"the first has another":  {map[string][]byte{"/a": other, "/b": content}, nil},
		"the first has a longer": {map[string][]byte{"/a": append(content, 'x'), "/b": content}, nil},
		"none has it":            {nil, []string{"/a (HTTP 404 Not Found)", "/b (HTTP 404 Not Found)"}},
		"both have another": {map[string][]byte{"/a": other, "/b": content[1:]}, []string{"data.bin: its checksum is " + sum(other) + ", expected " + sum(content) + "; the download was discarded",
			"data.bin: the server's file has 524287 bytes, expected 524288", "To fetch data.bin by hand, put it into ", "it has 524288 bytes and the SHA-256 checksum " + sum(content) + " (see https://some.example)"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			s.files = c.files
			from := some(s.URL+"/a", s.URL+"/b")
			_, err := from.Pull(t.Context(), nil)
			if (err == nil) != (c.says == nil) {
				t.Fatalf("error %v", err)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %s", err, want)
				}
			}
			if _, found := from.Find(); (found == nil) != (err == nil) {
				t.Errorf("after %v: %v", err, found)
			}
		})
	}
}

func TestPullUnreachable(t *testing.T) {
	s := serve(t)
	s.Close()
	from := some(s.URL+"/a", s.URL+"/b")
	_, err := from.Pull(t.Context(), nil)
	if err == nil || strings.Count(err.Error(), s.URL+" cannot be reached") != 1 || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("error %v", err)
	}
}

func TestPullBusy(t *testing.T) {
	s := serve(t)
	s.files["/data.bin"] = content
	status := []int{503, 429, 500}
	s.fault = func(w http.ResponseWriter, _ *http.Request) bool {
		if len(status) == 0 {
			return false
		}
		w.WriteHeader(status[0])
		status = status[1:]
		return true
	}
	if _, err := some(s.URL+"/data.bin").Pull(t.Context(), nil); err != nil || len(s.asked) != 4 {
		t.Errorf("%v after %d requests", err, len(s.asked))
	}
}

// A server that never sends more than a part is not asked for ever.
func TestPullShort(t *testing.T) {
	s := serve(t)
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return true
		}
		w.Write(content[:100])
		http.NewResponseController(w).Flush() // so that no length is said
		return true
	}
	if _, err := some(s.URL+"/data.bin").Pull(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "after 6 attempts") || len(s.asked) > 10 {
		t.Errorf("%v after %d requests", err, len(s.asked))
	}
}

func TestPullByHand(t *testing.T) {
	serve(t)
	from := some("http://127.0.0.1:1/data.bin")
	dir := filepath.Join(os.Getenv("CROSSTALK_CACHE"), "some")
	put := func(b []byte) {
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, "data.bin"), b, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	put(content[1:])
	if _, err := from.Pull(t.Context(), nil); err == nil ||
		!strings.Contains(err.Error(), "data.bin: its checksum is "+sum(content[1:])+", expected "+sum(content)+": delete the file") {
		t.Errorf("a wrong file: %v", err)
	}
	put(content)
	if got, err := from.Pull(t.Context(), nil); got != dir || err != nil {
		t.Errorf("the right file: %s %v", got, err)
	}
}

func TestPullMirror(t *testing.T) {
	s := serve(t)
	s.files["/files/some.example/~x/data.bin"] = content
	t.Setenv("CROSSTALK_MIRROR", s.URL+"/files/")
	if _, err := some("https://some.example/~x/data.bin").Pull(t.Context(), nil); err != nil {
		t.Errorf("%v, asked %q", err, s.asked)
	}
	t.Setenv("CROSSTALK_MIRROR", "ftp://x")
	if _, err := (Source{Name: "other", Files: some("https://some.example/a").Files}).Pull(t.Context(), nil); err == nil ||
		!strings.Contains(err.Error(), "CROSSTALK_MIRROR is not a URL") {
		t.Error(err)
	}
}

func archive(t *testing.T, kind string, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	if kind == "zip" {
		z := zip.NewWriter(&b)
		for i := 0; i < len(files); i += 2 {
			w, e := z.Create(files[i])
			if e == nil {
				_, e = w.Write([]byte(files[i+1]))
			}
			err = errors.Join(err, e)
		}
		err = errors.Join(err, z.Close())
	} else {
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for i := 0; i < len(files); i += 2 {
			e := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1]))})
			if e == nil {
				_, e = w.Write([]byte(files[i+1]))
			}
			err = errors.Join(err, e)
		}
		err = errors.Join(err, w.Close(), z.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPullUnpacks(t *testing.T) {
	for name, kind := range map[string]string{"data.zip": "zip", "data.tar.gz": "tar"} {
		t.Run(kind, func(t *testing.T) {
			s := serve(t)
			packed := archive(t, kind, "x/en/a.tsv", "A", "x/en/train.tsv", "not needed", "../x/evil", "evil", "x/b.tsv", "B")
			s.files["/"+name] = packed
			from := Source{Name: "packed", Kind: Suite,
				Files: []File{{Name: name, URLs: []string{s.URL + "/" + name}, Size: int64(len(packed)), SHA256: sum(packed),
					Members: []string{"x/b.tsv", "x/en/a.tsv"}}}}
			dir, err := from.Pull(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"en/a.tsv": "A", "b.tsv": "B"} {
				if got, err := os.ReadFile(filepath.Join(dir, file)); string(got) != want || err != nil {
					t.Errorf("%s: %q %v", file, got, err)
				}
			}
			all, _ := filepath.Glob(filepath.Join(dir, "*"))
			if len(all) != 4 { // the archive, its lock, what was wanted
				t.Errorf("the folder holds %q", all)
			}
			// What is lost is unpacked again, without a network.
			os.Remove(filepath.Join(dir, "b.tsv"))
			s.Close()
			if _, err := from.Find(); !errors.As(err, new(*MissingError)) {
				t.Errorf("with a file lost: %v", err)
			}
			if _, err := from.Pull(t.Context(), nil); err != nil {
				t.Error(err)
			}
			from.Files[0].Members = append(from.Files[0].Members, "x/c.tsv")
			if _, err := from.Pull(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), name+": has no file x/c.tsv") {
				t.Error(err)
			}
		})
	}
}

func TestPullersWait(t *testing.T) {
	s := serve(t)
	s.files["/data.bin"] = content
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := some(s.URL+"/data.bin").Pull(context.Background(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(s.asked) != 1 {
		t.Errorf("asked %q", s.asked)
	}
}

// What the commands show of each source is there, and a source's files can be
// where they are said to be.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range catalogue() {
		if seen[s.Name] || s.What == "" || s.License == "" || s.Cite == "" || len(s.Files) == 0 ||
			(s.Kind == Suite) != (s.Instrument != "") || s.Size() <= 0 {
			t.Errorf("%s is not complete, or there twice: %+v", s.Name, s)
		}
		seen[s.Name] = true
		if named, ok := Named(s.Kind, s.Name); !ok || named.Name != s.Name {
			t.Errorf("%s is not found", s.Name)
		}
		for _, f := range s.Files {
			if b, err := hex.DecodeString(f.SHA256); err != nil || len(b) != sha256.Size || f.Size <= 0 || len(f.URLs) == 0 ||
				filepath.Base(f.Name) != f.Name {
				t.Errorf("%s: %+v", s.Name, f)
			}
			for _, address := range append(f.URLs, s.Home) {
				if u, err := url.Parse(address); err != nil || u.Scheme != "https" || u.Host == "" {
					t.Errorf("%s: address %q", s.Name, address)
				}
			}
			for _, m := range f.Members {
				if !filepath.IsLocal(filepath.FromSlash(m)) || !strings.Contains(m, "/") {
					t.Errorf("%s: member %q", s.Name, m)
				}
			}
		}
	}
	if pawsx, _ := Named(Suite, "paws-x"); len(pawsx.Files[0].Members) != 14 {
		t.Errorf("%d files of PAWS-X, want 14", len(pawsx.Files[0].Members))
	}
}
