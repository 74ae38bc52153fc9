package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"crosstalk/internal/fetch"
	"crosstalk/internal/testing/hubtest"
)

const tiny = "some-lab/tiny"

// weights are larger than what is read at once.
var weights = func() []byte {
	b := make([]byte, 1<<20+13)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}()

func tinyModel() *hubtest.Model {
	return &hubtest.Model{Files: map[string][]byte{
		"README.md":             []byte("not needed"),
		"config.json":           []byte(`{"model_type": "bert"}`),
		"vocab.txt":             []byte("[PAD]\n"),
		"tokenizer.json":        []byte(`{}`),
		"tokenizer_config.json": []byte(`{"do_lower_case": true}`),
		"model.safetensors":     weights,
		"pytorch_model.bin":     []byte("not needed"),
		"onnx/model.onnx":       []byte("not needed"),
	}}
}

// start serves the tiny model to an empty cache.
func start(t *testing.T) *hubtest.Server {
	s := hubtest.New()
	t.Cleanup(s.Close)
	s.Models[tiny] = tinyModel()
	for _, v := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} {
		t.Setenv(v, "")
	}
	t.Setenv("HF_ENDPOINT", s.URL)
	t.Setenv("HF_HOME", t.TempDir())
	wait, stall := fetch.FirstWait, fetch.Stall
	fetch.FirstWait = time.Millisecond
	t.Cleanup(func() { fetch.FirstWait, fetch.Stall = wait, stall })
	return s
}

func cached() string { return filepath.Join(os.Getenv("HF_HOME"), "hub", "models--some-lab--tiny") }

func pull(t *testing.T, name, revision string) (dir string) {
	t.Helper()
	dir, _, err := Pull(t.Context(), name, revision, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// refuses checks that a pull fails with an error that says all of this.
func refuses(t *testing.T, name, revision string, says ...string) error {
	t.Helper()
	_, _, err := Pull(t.Context(), name, revision, nil)
	if err == nil {
		t.Fatalf("%s %s was pulled; expected an error", name, revision)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
	if _, _, err := Find(name, revision); err == nil {
		t.Errorf("%s %s is taken for whole", name, revision)
	}
	return err
}

func count(requests []hubtest.Request, server, method string) (n int) {
	for _, r := range requests {
		if r.Server == server && r.Method == method {
			n++
		}
	}
	return n
}

func TestPull(t *testing.T) {
	s := start(t)
	seen := map[string][2]int64{}
	dir, commit, err := Pull(t.Context(), tiny, "", func(file string, done, total int64) {
		if done < seen[file][0] || done > total {
			t.Errorf("progress of %s: %d of %d after %d", file, done, total, seen[file][0])
		}
		seen[file] = [2]int64{done, total}
	})
	if err != nil {
		t.Fatal(err)
	}
	if commit != s.Models[tiny].Commit() || dir != filepath.Join(cached(), "snapshots", commit) {
		t.Errorf("pulled commit %s into %s", commit, dir)
	}
	// The layout, as the documentation of the cache has it.
	for file, content := range s.Models[tiny].Files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		switch file {
		case "config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors":
			if to, err := os.Readlink(path); err != nil || to != filepath.Join("..", "..", "blobs", hubtest.Etag(file, content)) {
				t.Errorf("%s is a link to %s (%v)", file, to, err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s has another content (%v)", file, err)
			}
			if seen[file] != [2]int64{int64(len(content)), int64(len(content))} {
				t.Errorf("progress of %s ended at %v", file, seen[file])
			}
		default:
			if _, err := os.Lstat(path); err == nil || seen[file] != [2]int64{} {
				t.Errorf("%s was fetched and is not needed", file)
			}
		}
	}
	if ref, _ := os.ReadFile(filepath.Join(cached(), "refs", "main")); string(ref) != commit {
		t.Errorf("refs/main holds %q", ref)
	}
	if !isFile(filepath.Join(cached(), ".no_exist", commit, "modules.json")) {
		t.Error("the cache does not note that there is no modules.json")
	}
	if parts, _ := filepath.Glob(filepath.Join(cached(), "blobs", "*.incomplete")); parts != nil {
		t.Errorf("%v were left", parts)
	}
	if found, of, err := Find(tiny, ""); found != dir || of != commit || err != nil {
		t.Errorf("Find: %s %s %v", found, of, err)
	}
	if found, _, err := Find(tiny, commit, "modules.json"); found != dir || err != nil {
		t.Errorf("Find by commit: %s %v", found, err)
	}

	s.Requests()
	before := written(t)
	pull(t, tiny, "")
	if r := s.Requests(); len(r) != 1 {
		t.Errorf("pulling again sent %v", r)
	}
	if after := written(t); !after.Equal(before) {
		t.Error("pulling again wrote to the cache")
	}
	pull(t, tiny, commit)
	if r := s.Requests(); len(r) != 0 {
		t.Errorf("pulling a commit again sent %v", r)
	}
}

// written is when refs/main was.
func written(t *testing.T) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(cached(), "refs", "main"))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

func TestPullNewCommitFetchesWhatChanged(t *testing.T) {
	s := start(t)
	old := pull(t, tiny, "")
	s.Requests()
	s.Models[tiny].Files["config.json"] = []byte(`{"model_type": "bert", "pad_token_id": 0}`)
	dir := pull(t, tiny, "")
	if r := s.Requests(); count(r, "cdn", "GET") != 0 || count(r, "hub", "GET") != 2 {
		t.Errorf("sent %v; expected the listing and config.json", r)
	}
	if dir == old {
		t.Error("the old commit was returned")
	}
	if found, _, err := Find(tiny, ""); found != dir || err != nil {
		t.Errorf("Find: %s %v", found, err)
	}
	if _, _, err := Find(tiny, filepath.Base(old)); err != nil {
		t.Errorf("the old commit: %v", err)
	}
}

func TestPullRevision(t *testing.T) {
	s := start(t)
	s.Models[tiny].Branch = "refs/pr/7"
	dir := pull(t, tiny, "refs/pr/7")
	if found, _, err := Find(tiny, "refs/pr/7"); found != dir || err != nil {
		t.Errorf("Find: %s %v", found, err)
	}
	refuses(t, tiny, "", "has no revision main")
	for _, bad := range []string{"../x", "/x", "a/../../x", `a\b`, "c:x"} {
		refuses(t, tiny, bad, "is not a revision")
	}
}

func TestPullResumes(t *testing.T) {
	for name, noRange := range map[string]bool{"ranges": false, "whole files only": true} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Models[tiny].NoRange = noRange
			cuts := 0
			s.Break(func(w http.ResponseWriter, r *http.Request) bool {
				// More often than attempts, but each time something arrives.
				if strings.HasSuffix(r.URL.Path, "model.safetensors") && "http://"+r.Host == s.CDN && cuts < fetch.Attempts+2 && !noRange {
					cuts++
					start := 0
					fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start)
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(weights)-1, len(weights)))
					if start > 0 {
						w.WriteHeader(http.StatusPartialContent)
					}
					hubtest.Cut(w, weights[start:], 50000)
				}
				if noRange && "http://"+r.Host == s.CDN && cuts < 2 {
					cuts++
					hubtest.Cut(w, weights, 300000)
				}
				return false
			})
			dir := pull(t, tiny, "")
			if got, _ := os.ReadFile(filepath.Join(dir, "model.safetensors")); !bytes.Equal(got, weights) {
				t.Error("the weights are not right")
			}
			if cuts < 2 {
				t.Errorf("%d connections were cut", cuts)
			}
			ranges := 0
			for _, r := range s.Requests() {
				if r.Range != "" {
					ranges++
				}
			}
			if ranges == 0 {
				t.Error("no request went on where the last one stopped")
			}
		})
	}
}

func TestPullGoesOnWhereAnotherProgramStopped(t *testing.T) {
	for name, c := range map[string]struct {
		part  []byte
		wants string
	}{
		"a part":    {weights[:700001], "bytes=700001-"},
		"all":       {weights, ""},
		"not it":    {bytes.Repeat([]byte("x"), 5000), "bytes=5000-"},
		"too much":  {append(bytes.Clone(weights), 'x'), ""},
		"all wrong": {bytes.Repeat([]byte("x"), len(weights)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			blob := filepath.Join(cached(), "blobs", hubtest.Etag("model.safetensors", weights))
			os.MkdirAll(filepath.Dir(blob), 0o755)
			if err := os.WriteFile(blob+".incomplete", c.part, 0o644); err != nil {
				t.Fatal(err)
			}
			dir := pull(t, tiny, "")
			if got, _ := os.ReadFile(filepath.Join(dir, "model.safetensors")); !bytes.Equal(got, weights) {
				t.Error("the weights are not right")
			}
			first := ""
			for _, r := range s.Requests() {
				if r.Server == "cdn" && first == "" {
					first = r.Range
				}
			}
			if first != c.wants {
				t.Errorf("the first range was %q, expected %q", first, c.wants)
			}
		})
	}
}

func TestPullWrongChecksum(t *testing.T) {
	for _, file := range []string{"model.safetensors", "config.json"} {
		s := start(t)
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead || !strings.HasSuffix(r.URL.Path, file) ||
				strings.HasPrefix(r.URL.Path, "/some-lab/tiny/resolve") && file == "model.safetensors" {
				return false
			}
			w.Write(bytes.Repeat([]byte("x"), len(s.Models[tiny].Files[file])))
			return true
		})
		refuses(t, tiny, "", file, "its checksum is", "expected "+hubtest.Etag(file, s.Models[tiny].Files[file]))
		if _, err := os.Stat(filepath.Join(cached(), "blobs", hubtest.Etag(file, s.Models[tiny].Files[file]))); err == nil {
			t.Error("the blob is there")
		}
		s.Break(nil)
		pull(t, tiny, "")
	}
}

func TestPullPassingFaults(t *testing.T) {
	s := start(t)
	failures := map[string]int{}
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		key := r.Host + r.Method + r.URL.Path
		if failures[key]++; failures[key] < 3 {
			w.Header().Set("Retry-After", "0")
			hubtest.Refuse(w, []int{429, 503}[failures[key]-1], "")
			return true
		}
		return false
	})
	pull(t, tiny, "")

	s = start(t)
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		hubtest.Refuse(w, http.StatusBadGateway, "")
		return true
	})
	refuses(t, tiny, "", "HTTP 502 Bad Gateway", "after 6 attempts")
	if n := len(s.Requests()); n != fetch.Attempts {
		t.Errorf("%d requests", n)
	}
}

func TestPullStalls(t *testing.T) {
	s := start(t)
	fetch.Stall = 50 * time.Millisecond
	var once sync.Once
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		hung := false
		if "http://"+r.Host == s.CDN {
			once.Do(func() {
				hung = true
				w.Header().Set("Content-Length", fmt.Sprint(len(weights)))
				w.Write(weights[:1000])
				http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})
		}
		return hung
	})
	pull(t, tiny, "")
}

func TestPullRefused(t *testing.T) {
	s := start(t)
	refuses(t, "some-lab/nothing", "", "has no model some-lab/nothing", "HF_TOKEN")
	refuses(t, tiny, "v9", tiny+" has no revision v9")
	s.Models[tiny].Gated = true
	refuses(t, tiny, "", "gated", s.URL+"/"+tiny, "HF_TOKEN")
	t.Setenv("HF_TOKEN", "hf_wrong_and_secret")
	s.Token = "hf_right_and_secret"
	if err := refuses(t, tiny, "", "rejected the token in HF_TOKEN"); strings.Contains(err.Error(), "secret") {
		t.Errorf("%v tells the token", err)
	}
	for code, says := range map[string]string{"403 GatedRepo": "has no access", "403 ": "may not read", "403 DisabledRepo": "disabled",
		"404 ": "has no model some-lab/tiny, or the model has no revision", "418 ": "HTTP 418"} {
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			status := 0
			fmt.Sscan(code, &status)
			hubtest.Refuse(w, status, code[4:])
			return true
		})
		if err := refuses(t, tiny, "", says); strings.Contains(err.Error(), "secret") {
			t.Errorf("%v tells the token", err)
		}
	}
	for _, bad := range []string{"a/b/c", "..", "a--b/c", "a b", "a/../b", "x/..", "", "a?b/c", strings.Repeat("a", 300)} {
		if _, _, err := Pull(t.Context(), bad, "", nil); err == nil {
			t.Errorf("the name %q was taken", bad)
		}
	}
}

func TestTokenStaysWithTheHub(t *testing.T) {
	for _, from := range []string{"HF_TOKEN", "HF_TOKEN_PATH", "login"} {
		s := start(t)
		s.Token = "hf_right_and_secret"
		s.Models[tiny].Gated = true
		path := filepath.Join(os.Getenv("HF_HOME"), "token")
		switch from {
		case "HF_TOKEN":
			t.Setenv("HF_TOKEN", s.Token)
		case "HF_TOKEN_PATH":
			path = filepath.Join(t.TempDir(), "mine")
			t.Setenv("HF_TOKEN_PATH", path)
			fallthrough
		default:
			if err := os.WriteFile(path, []byte(s.Token+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pull(t, tiny, "")
		requests := s.Requests()
		for _, r := range requests {
			if (r.Server == "cdn") != (r.Authorization == "") {
				t.Errorf("%s: %s %s %s was sent the authorization %q", from, r.Server, r.Method, r.Path, r.Authorization)
			}
		}
		if count(requests, "cdn", "GET") == 0 {
			t.Error("nothing was asked of the other server")
		}
	}
	start(t)
	t.Setenv("HF_TOKEN", "hf_secret\nhost: x")
	if _, _, err := Pull(t.Context(), tiny, "", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a broken token: %v", err)
	}
}

func TestErrorsHideSignedAddresses(t *testing.T) {
	s := start(t)
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if "http://"+r.Host == s.CDN {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	if err := refuses(t, tiny, "", "connection"); strings.Contains(err.Error(), "secret") {
		t.Errorf("%v tells a signed address", err)
	}
	// The listing must come from the hub itself.
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, s.CDN+"/listing?signature=secret", http.StatusFound)
		return true
	})
	if err := refuses(t, tiny, "", "redirects to "+s.CDN); strings.Contains(err.Error(), "secret") {
		t.Errorf("%v tells a signed address", err)
	}
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
		return true
	})
	refuses(t, tiny, "", "in a loop")
}

func TestInterruptedPullIsKept(t *testing.T) {
	s := start(t)
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if "http://"+r.Host != s.CDN {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(weights)))
		w.Write(weights[:400000])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	})
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := Pull(ctx, tiny, "", func(file string, done, total int64) {
		if done > 300000 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if _, _, err := Find(tiny, ""); err == nil {
		t.Fatal("the model is taken for whole")
	}
	s.Requests()
	s.Break(nil)
	pull(t, tiny, "")
	for _, r := range s.Requests() {
		if r.Server == "cdn" && r.Range == "" {
			t.Errorf("%v began from the start", r)
		}
	}
}

func TestPullersDoNotDisturbEachOther(t *testing.T) {
	s := start(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, _, err := Pull(context.Background(), tiny, "", nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := count(s.Requests(), "cdn", "GET"); n != 1 {
		t.Errorf("the weights were fetched %d times", n)
	}
}

func TestWithoutLinks(t *testing.T) {
	s := start(t)
	symlink = func(string, string) error {
		return &fs.PathError{Op: "symlink", Err: errors.New("a privilege is not held")}
	}
	t.Cleanup(func() { symlink = os.Symlink })
	dir := pull(t, tiny, "")
	info, err := os.Lstat(filepath.Join(dir, "model.safetensors"))
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(weights)) {
		t.Errorf("%v %v", info, err)
	}
	s.Requests()
	pull(t, tiny, "")
	if r := s.Requests(); len(r) != 1 {
		t.Errorf("pulling again sent %v", r)
	}
}

func TestOffline(t *testing.T) {
	s := start(t)
	t.Setenv("HF_HUB_OFFLINE", "1")
	err := refuses(t, tiny, "", "HF_HUB_OFFLINE", "config.json", "tokenizer.json or vocab.txt", "model.safetensors", "modules.json", cached())
	if !errors.As(err, new(*MissingError)) {
		t.Errorf("%T", err)
	}
	if r := s.Requests(); r != nil {
		t.Errorf("sent %v", r)
	}
	t.Setenv("HF_HUB_OFFLINE", "0")
	pull(t, tiny, "")
	s.Requests()
	t.Setenv("HF_HUB_OFFLINE", "on")
	pull(t, tiny, "")
	if r := s.Requests(); r != nil {
		t.Errorf("sent %v", r)
	}

	s = start(t)
	s.Close()
	err = refuses(t, tiny, "", s.URL+" cannot be reached", "config.json", cached())
	if !errors.As(err, new(*MissingError)) {
		t.Errorf("%T", err)
	}
}
