package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk/internal/fetch"
	"crosstalk/internal/testing/hubtest"
)

// same compares the whole text of an error, in which the server, the cache and the commit have short names.
func same(t *testing.T, s *hubtest.Server, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, expected %q", want)
		return
	}
	got := strings.NewReplacer(s.URL, "HUB", s.CDN, "CDN", cached(), "CACHE",
		s.Models[tiny].Commit(), "COMMIT").Replace(err.Error())
	if got != want {
		t.Errorf("error %q, expected %q", got, want)
	}
}

func pullError(t *testing.T, name, revision string) error {
	t.Helper()
	_, _, err := Pull(t.Context(), name, revision, nil)
	return err
}

// tree lists a folder: folders with their permissions, files with their size, links with their target.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			all = append(all, fmt.Sprintf("%s %v", name, info.Mode()))
		case info.Mode().IsRegular():
			all = append(all, fmt.Sprintf("%s %d", name, info.Size()))
		default:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			all = append(all, name+" -> "+to)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPullLeavesThisTree(t *testing.T) {
	s := start(t)
	pull(t, tiny, "")
	var want []string
	mode := func() fs.FileMode { // of folders under this umask
		dir := filepath.Join(t.TempDir(), "x")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}()
	commit := s.Models[tiny].Commit()
	for _, dir := range []string{"", ".locks", ".locks/models--some-lab--tiny", "models--some-lab--tiny",
		"models--some-lab--tiny/.no_exist", "models--some-lab--tiny/.no_exist/" + commit, "models--some-lab--tiny/blobs",
		"models--some-lab--tiny/refs", "models--some-lab--tiny/snapshots", "models--some-lab--tiny/snapshots/" + commit} {
		want = append(want, fmt.Sprintf("%s %v", filepath.Join(".", dir), mode))
	}
	for _, file := range []string{"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"} {
		content := s.Models[tiny].Files[file]
		hash := hubtest.Etag(file, content)
		want = append(want, ".locks/models--some-lab--tiny/"+hash+".lock 0",
			fmt.Sprintf("models--some-lab--tiny/blobs/%s %d", hash, len(content)),
			"models--some-lab--tiny/snapshots/"+commit+"/"+file+" -> ../../blobs/"+hash)
	}
	want = append(want, "models--some-lab--tiny/.no_exist/"+commit+"/modules.json 0", "models--some-lab--tiny/refs/main 40")
	got := tree(t, filepath.Join(os.Getenv("HF_HOME"), "hub"))
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the cache contains\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A file in the place of a folder of the cache, or a folder in the place of a file.
func TestPullIntoBrokenCache(t *testing.T) {
	for _, name := range []string{"../.locks", "blobs", "snapshots", "refs", ".no_exist"} {
		start(t)
		write(t, cached(), map[string]string{name: ""})
		path := filepath.Join(cached(), name)
		err := pullError(t, tiny, "")
		if err == nil || !strings.Contains(err.Error(), "not a directory") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s is a file: error %v", name, err)
		}
	}
	start(t)
	if err := os.MkdirAll(filepath.Join(cached(), "refs", "main"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := pullError(t, tiny, ""); err == nil || !strings.Contains(err.Error(), filepath.Join("refs", "main")) {
		t.Errorf("refs/main is a folder: error %v", err)
	}
}

func TestLink(t *testing.T) {
	start(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"blobs/1": "one"})
	blob, path := filepath.Join(dir, "blobs", "1"), filepath.Join(dir, "a", "b", "c")
	t.Cleanup(func() { symlink = os.Symlink })

	// Another program was faster.
	symlink = func(string, string) error { return &fs.PathError{Op: "symlink", Err: fs.ErrExist} }
	if err := link(blob, path); err != nil || isFile(path) {
		t.Errorf("a link that exists: error %v", err)
	}
	symlink = func(string, string) error { return &fs.PathError{Op: "symlink", Err: errors.ErrUnsupported} }
	if err := link(filepath.Join(dir, "blobs", "2"), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing blob: error %v", err)
	}
	if err := link(filepath.Join(dir, "blobs"), path); err == nil || isFile(path) {
		t.Errorf("a folder as blob: error %v", err)
	}
	if err := link(blob, path); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); string(b) != "one" {
		t.Errorf("%q %v", b, err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no list of open files on this system")
	}
	for _, f := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, dir) {
			t.Errorf("%s was left open", to)
		}
	}
}

func TestBrokenRef(t *testing.T) {
	s := start(t)
	ref := filepath.Join(cached(), "refs", "main")
	write(t, cached(), map[string]string{"refs/main": "main"})
	_, _, err := Find(tiny, "")
	same(t, s, err, "CACHE/refs/main: expected a commit; delete the file")
	for i, says := range []string{"CACHE/refs/main: expected a commit; delete the file",
		"read CACHE/refs/main: 33554433 bytes, expected at most 33554432"} {
		if err := os.Truncate(ref, maxJSON+int64(i)); err != nil {
			t.Fatal(err)
		}
		_, _, err = Find(tiny, "")
		same(t, s, err, says)
	}
	t.Setenv("HF_HUB_OFFLINE", "1")
	same(t, s, pullError(t, tiny, ""), "read CACHE/refs/main: 33554433 bytes, expected at most 33554432; HF_HUB_OFFLINE disables downloads")
	t.Setenv("HF_HUB_OFFLINE", "")
	pull(t, tiny, "") // mends it
	if _, commit, err := Find(tiny, ""); commit != s.Models[tiny].Commit() || err != nil {
		t.Errorf("%s %v", commit, err)
	}
	// White space around a commit is no fault.
	write(t, cached(), map[string]string{"refs/v1": "\n" + s.Models[tiny].Commit() + " \n"})
	if _, commit, err := Find(tiny, "v1"); commit != s.Models[tiny].Commit() || err != nil {
		t.Errorf("%s %v", commit, err)
	}
}

func TestCacheWithoutHome(t *testing.T) {
	s := start(t)
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, map[string]string{"token": "hf_of_this_folder", "mine": " hf_mine\n"})
	for _, v := range []string{"HOME", "USERPROFILE", "HF_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(v, "")
	}
	const says = "~/.cache/huggingface: $HOME is not defined; set HF_HOME"
	_, _, err := Find(tiny, "")
	same(t, s, err, says)
	_, _, err = Find("~/folder", "")
	same(t, s, err, "~/folder: $HOME is not defined; set HF_HOME")
	same(t, s, pullError(t, tiny, ""), says)
	if token, from := token(); token != "" || from != "" {
		t.Errorf("token %q from %q", token, from)
	}
	t.Setenv("HF_TOKEN_PATH", "mine") // needs no home
	if token, from := token(); token != "hf_mine" || from != filepath.Join(dir, "mine") {
		t.Errorf("token %q from %q", token, from)
	}
	t.Setenv("HF_TOKEN_PATH", "~/mine")
	if token, from := token(); token != "" || from != "" {
		t.Errorf("token %q from %q", token, from)
	}
}

func TestEnvironment(t *testing.T) {
	start(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Chdir(home)
	for path, want := range map[string]string{"~": home, "~/a": filepath.Join(home, "a"), "~a": filepath.Join(home, "~a"),
		"a": filepath.Join(home, "a"), "/a": "/a"} {
		if got, err := expand(path); got != want || err != nil {
			t.Errorf("expand(%q) = %q, %v, expected %q", path, got, err, want)
		}
	}
	for name, want := range map[string]bool{"/a": true, ".": true, "./a": true, "~a": true, `a\b`: true, "a/b/c": true,
		"a/b": false, "a": false, "a.b/c~": false} {
		if IsPath(name) != want {
			t.Errorf("IsPath(%q) = %v", name, !want)
		}
	}
	for name, ok := range map[string]bool{strings.Repeat("a", 99) + "/" + strings.Repeat("b", 100): true,
		strings.Repeat("a", 100) + "/" + strings.Repeat("b", 100): false, "a--b": false, "a..b": false, "a-b/c.d_": true,
		"-a": false, "_a/_b": true} {
		err := checkName(name)
		want := fmt.Sprintf("%q is not a model name; expected OWNER/NAME, such as sentence-transformers/all-MiniLM-L6-v2, "+
			"or the path of a folder, such as ./folder", name)
		if ok != (err == nil) || err != nil && err.Error() != want {
			t.Errorf("checkName(%q): %v", name, err)
		}
	}
	write(t, os.Getenv("HF_HOME"), map[string]string{"token": " hf_login\n"})
	login := filepath.Join(os.Getenv("HF_HOME"), "token")
	for _, c := range [][4]string{ // HF_TOKEN, HUGGING_FACE_HUB_TOKEN, token, from
		{" hf_a ", "hf_b", "hf_a", "HF_TOKEN"},
		{" ", "hf_b\n", "hf_b", "HUGGING_FACE_HUB_TOKEN"},
		{"", "", "hf_login", login},
	} {
		t.Setenv("HF_TOKEN", c[0])
		t.Setenv("HUGGING_FACE_HUB_TOKEN", c[1])
		if token, from := token(); token != c[2] || from != c[3] {
			t.Errorf("%q: token %q from %q", c, token, from)
		}
	}
	if err := os.Truncate(login, maxJSON+1); err != nil {
		t.Fatal(err)
	}
	if token, from := token(); token != "" || from != "" {
		t.Errorf("a token of %d bytes from %q", len(token), from)
	}
	for _, v := range []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} {
		for value, want := range map[string]bool{"1": true, "on": true, "Yes": true, "TRUE": true, "0": false, "": false,
			"off": false, "2": false} {
			t.Setenv(v, value)
			if offline() != want {
				t.Errorf("%s=%s: offline is %v", v, value, !want)
			}
		}
		t.Setenv(v, "")
	}
	t.Setenv("HUGGINGFACE_HUB_CACHE", "/old")
	if root, err := cacheRoot(); root != "/old" || err != nil {
		t.Errorf("cache %s %v", root, err)
	}
	t.Setenv("HF_HUB_CACHE", "/new")
	if root, err := cacheRoot(); root != "/new" || err != nil {
		t.Errorf("cache %s %v", root, err)
	}
}

func TestNewClient(t *testing.T) {
	s := start(t)
	for endpoint, want := range map[string]string{"": "https://huggingface.co", " http://a.b/c// ": "http://a.b/c",
		"https://x:secret@a?secret#secret": "https://a", "ftp://a": "", "http://": "", "a.b": "", "http://a\x7f": "",
		"http:/a": ""} {
		t.Setenv("HF_ENDPOINT", endpoint)
		c, err := newClient()
		switch {
		case want == "":
			same(t, s, err, "HF_ENDPOINT is not a URL; expected one like https://huggingface.co")
		case err != nil || c.address() != want || c.header != nil:
			t.Errorf("%q: %v %v", endpoint, c, err)
		case c.api.Timeout != 2*fetch.Stall || c.files.Timeout != 0:
			t.Errorf("the listing times out after %v, a file after %v", c.api.Timeout, c.files.Timeout)
		}
	}
	t.Setenv("HF_ENDPOINT", "a.b")
	same(t, s, pullError(t, tiny, ""), "HF_ENDPOINT is not a URL; expected one like https://huggingface.co")
	t.Setenv("HF_ENDPOINT", "")
	for token, ok := range map[string]bool{"!~": true, "a b": false, "a\x7f": false, "é": false, "a\tb": false} {
		t.Setenv("HF_TOKEN", token)
		c, err := newClient()
		if ok {
			if err != nil || c.header.Get("Authorization") != "Bearer "+token {
				t.Errorf("%q: %v", token, err)
			}
			continue
		}
		same(t, s, err, "HF_TOKEN contains a space, a line break or another character that is invalid in a token: set it again")
	}
}

// The full text of every error of the hub.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status        int
		code          string
		without, with string // a token
		sends         int    // requests
	}{
		{403, "GatedRepo", "some-lab/tiny is gated: request access at HUB/some-lab/tiny, create a token at HUB/settings/tokens and set HF_TOKEN to it",
			"some-lab/tiny is gated, and the account of the token in HF_TOKEN has no access: request it at HUB/some-lab/tiny", 1},
		{403, "DisabledRepo", "some-lab/tiny was disabled at HUB", "some-lab/tiny was disabled at HUB", 1},
		{404, "RevisionNotFound", "some-lab/tiny has no revision v1: see HUB/some-lab/tiny/commits/main",
			"some-lab/tiny has no revision v1: see HUB/some-lab/tiny/commits/main", 1},
		{401, "RepoNotFound", "HUB has no model some-lab/tiny, or it is private: check the name, or set HF_TOKEN",
			"HUB has no model some-lab/tiny, or the account of the token in HF_TOKEN may not see it: check the name", 1},
		{404, "RepoNotFound", "HUB has no model some-lab/tiny, or it is private: check the name, or set HF_TOKEN",
			"HUB has no model some-lab/tiny, or the account of the token in HF_TOKEN may not see it: check the name", 1},
		{401, "", "HUB has no model some-lab/tiny, or it is private: check the name, or set HF_TOKEN",
			"HUB rejected the token in HF_TOKEN: set HF_TOKEN to a valid one, or unset it", 1},
		{403, "", "HUB does not allow reading some-lab/tiny: set HF_TOKEN (HTTP 403)",
			"the token in HF_TOKEN may not read some-lab/tiny at HUB (HTTP 403)", 1},
		{404, "", "HUB has no model some-lab/tiny, or the model has no revision v1 (HTTP 404)",
			"HUB has no model some-lab/tiny, or the model has no revision v1 (HTTP 404)", 1},
		{418, "", "HUB refused the request for some-lab/tiny (HTTP 418 I'm a teapot)",
			"HUB refused the request for some-lab/tiny (HTTP 418 I'm a teapot)", 1},
		{304, "", "HUB refused the request for some-lab/tiny (HTTP 304 Not Modified)",
			"HUB refused the request for some-lab/tiny (HTTP 304 Not Modified)", 1},
		{503, "", "HUB failed (HTTP 503 Service Unavailable), after 6 attempts",
			"HUB failed (HTTP 503 Service Unavailable), after 6 attempts", 6},
	} {
		s := start(t)
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			hubtest.Refuse(w, c.status, c.code)
			return true
		})
		for token, want := range map[string]string{"": c.without, "hf_secret": c.with} {
			t.Setenv("HF_TOKEN", token)
			same(t, s, pullError(t, tiny, "v1"), want)
			if n := len(s.Requests()); n != c.sends {
				t.Errorf("%d %s: %d requests, expected %d", c.status, c.code, n, c.sends)
			}
		}
	}
	// Of a file.
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		for _, file := range []string{"modules.json", "vocab.txt"} {
			s := start(t)
			s.Models[tiny].Files["modules.json"] = []byte("[]")
			delete(s.Models[tiny].Files, "tokenizer.json")
			s.Break(func(w http.ResponseWriter, r *http.Request) bool {
				wrong := r.Method == method && strings.HasSuffix(r.URL.Path, "/"+file)
				if wrong {
					hubtest.Refuse(w, http.StatusNotFound, "EntryNotFound")
				}
				return wrong
			})
			same(t, s, pullError(t, tiny, ""), "some-lab/tiny has no file "+file+" at revision COMMIT")
		}
	}
	// Of the server of large files: a signed address may have expired.
	for _, failures := range []int{2, 100} {
		s := start(t)
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			wrong := "http://"+r.Host == s.CDN && failures > 0
			if wrong {
				failures--
				hubtest.Refuse(w, http.StatusForbidden, "GatedRepo")
			}
			return wrong
		})
		if failures == 2 {
			pull(t, tiny, "")
			continue
		}
		same(t, s, pullError(t, tiny, ""), "the server that has model.safetensors failed (HTTP 403 Forbidden), after 6 attempts")
	}
}

func TestListings(t *testing.T) {
	model := tinyModel()
	var l struct {
		Sha      string              `json:"sha"`
		Siblings []map[string]string `json:"siblings"`
	}
	l.Sha = model.Commit()
	for name := range model.Files {
		l.Siblings = append(l.Siblings, map[string]string{"rfilename": name})
	}
	whole, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	padded := func(n int) string { return strings.Repeat(" ", n-len(whole)) + string(whole) }
	const invalid = "HUB sent an invalid listing of some-lab/tiny: is HF_ENDPOINT right? "
	for _, c := range []struct {
		name, body string
		cut        bool
		want       string
		sends      int
	}{
		{"the longest", padded(maxJSON), false, "", 0},
		{"too long", padded(maxJSON + 1), false, "some-lab/tiny: the listing is longer than 33554432 bytes", 1},
		{"a page", "<html>", false, invalid + "(invalid character '<' looking for beginning of value)", 1},
		{"nothing", "", false, invalid + "(unexpected end of JSON input)", 1},
		{"without a commit", `{"siblings": []}`, false, "HUB names no commit for some-lab/tiny at revision main", 1},
		{"with a branch", `{"sha": "main"}`, false, "HUB names no commit for some-lab/tiny at revision main", 1},
		{"broken off", string(whole), true, "the connection to HUB failed (unexpected EOF), after 6 attempts", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			s.Break(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, "/api/") {
					return false
				}
				if c.cut {
					hubtest.Cut(w, []byte(c.body), 10)
				}
				fmt.Fprint(w, c.body)
				return true
			})
			err := pullError(t, tiny, "")
			if c.want == "" && err == nil {
				return
			}
			same(t, s, err, c.want)
			if n := len(s.Requests()); n != c.sends {
				t.Errorf("%d requests, expected %d", n, c.sends)
			}
		})
	}
}

// The headers that tell a file's checksum and size.
func TestFileHeaders(t *testing.T) {
	hash := hubtest.Etag("config.json", tinyModel().Files["config.json"])
	const other = "0123456789012345678901234567890123456789"
	for _, c := range []struct {
		name    string
		status  int
		headers string
		ok      bool
	}{
		{"as the hub sends them", 200, "Etag: \"" + hash + "\"; Content-Length: 22", true},
		{"a weak checksum", 200, "Etag: W/\"" + hash + "\"; Content-Length: 22", true},
		{"the linked file's", 200, "Etag: \"" + other + "\"; X-Linked-Etag: \"" + hash + "\"; X-Linked-Size: 22; Content-Length: 7", true},
		{"no checksum", 200, "Content-Length: 22", false},
		{"a short checksum", 200, "Etag: \"" + hash[1:] + "\"; Content-Length: 22", false},
		{"no size", 200, "Etag: \"" + hash + "\"; X-Linked-Size: many", false},
		{"a negative size", 200, "Etag: \"" + hash + "\"; X-Linked-Size: -22", false},
		{"the size of another response", 302, "X-Linked-Etag: \"" + hash + "\"; Content-Length: 22; Location: http://127.0.0.1:9/", false},
		{"a redirect without the file's checksum", 302, "Etag: \"" + hash + "\"; Content-Length: 22; Location: http://127.0.0.1:9/", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			s.Break(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodHead || !strings.HasSuffix(r.URL.Path, "/config.json") {
					return false
				}
				for _, h := range strings.Split(c.headers, "; ") {
					key, value, _ := strings.Cut(h, ": ")
					w.Header().Set(key, value)
				}
				w.WriteHeader(c.status)
				return true
			})
			want := "HUB did not send the checksum and size of config.json of some-lab/tiny"
			if !strings.Contains(c.headers, "X-Linked-Etag") && c.status == 302 {
				want = "HUB redirects to http://127.0.0.1:9: set HF_ENDPOINT to that if it is right"
			}
			if err := pullError(t, tiny, ""); !c.ok {
				same(t, s, err, want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	// An empty file has a size, too.
	s := start(t)
	s.Models[tiny].Files["config.json"] = nil
	pull(t, tiny, "")
}

func TestRedirects(t *testing.T) {
	// hops sends a request n times to another address of the hub before it is answered; the last says how.
	hops := func(w http.ResponseWriter, r *http.Request, n int, header http.Header) bool {
		done := 0
		fmt.Sscan(r.URL.Query().Get("hop"), &done)
		if done == n {
			return false
		}
		for k, v := range header {
			w.Header()[k] = v
		}
		http.Redirect(w, r, fmt.Sprintf("%s?hop=%d", r.URL.Path, done+1), http.StatusFound)
		return true
	}
	t.Run("of the listing", func(t *testing.T) {
		for n, want := range map[int]string{9: "", 10: "HUB redirects in a loop"} {
			s := start(t)
			s.Break(func(w http.ResponseWriter, r *http.Request) bool {
				return strings.HasPrefix(r.URL.Path, "/api/") && hops(w, r, n, nil)
			})
			if err := pullError(t, tiny, ""); want != "" || err != nil {
				same(t, s, err, want)
			}
		}
	})
	t.Run("of a listing to another server", func(t *testing.T) {
		s := start(t)
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("X-Linked-Etag", "x") // means something for files only
			http.Redirect(w, r, s.CDN, http.StatusFound)
			return true
		})
		same(t, s, pullError(t, tiny, ""), "HUB redirects to CDN: set HF_ENDPOINT to that if it is right")
	})
	t.Run("of a file", func(t *testing.T) {
		for n, want := range map[int]string{10: "", 11: "the connection to HUB failed (too many redirects), after 6 attempts"} {
			s := start(t)
			s.Token = "hf_right"
			s.Models[tiny].Gated = true
			t.Setenv("HF_TOKEN", s.Token)
			s.Break(func(w http.ResponseWriter, r *http.Request) bool {
				return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/config.json") && hops(w, r, n, nil)
			})
			if err := pullError(t, tiny, ""); want != "" || err != nil {
				same(t, s, err, want)
			}
			for _, r := range s.Requests() { // within the hub, each has the token
				if r.Server == "hub" && r.Authorization != "Bearer hf_right" {
					t.Errorf("%v", r)
				}
			}
		}
	})
	t.Run("of a file to another server and back", func(t *testing.T) {
		s := start(t)
		t.Setenv("HF_TOKEN", "hf_secret")
		s.Token = "hf_secret"
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.Method == http.MethodHead || !strings.HasSuffix(r.URL.Path, "config.json") || r.URL.Query().Has("back"):
				return false
			case "http://"+r.Host == s.CDN:
				http.Redirect(w, r, s.URL+r.URL.Path+"?back", http.StatusFound)
			default:
				http.Redirect(w, r, s.CDN+r.URL.Path, http.StatusFound)
			}
			return true
		})
		pull(t, tiny, "")
		sent := map[string]int{}
		for _, r := range s.Requests() {
			if r.Method == http.MethodGet && strings.HasSuffix(r.Path, "/config.json") {
				sent[r.Server+" "+r.Authorization]++
			}
		}
		if len(sent) != 3 || sent["hub Bearer hf_secret"] == 0 || sent["cdn "] == 0 || sent["hub "] == 0 {
			t.Errorf("sent %v; expected no token after the other server", sent)
		}
	})
	t.Run("the first checksum counts", func(t *testing.T) {
		s := start(t)
		content := s.Models[tiny].Files["config.json"]
		first := http.Header{"X-Linked-Etag": {hubtest.Etag("config.json", content)}, "X-Linked-Size": {fmt.Sprint(len(content))}}
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodHead || !strings.HasSuffix(r.URL.Path, "/config.json") {
				return false
			}
			if hops(w, r, 1, first) {
				return true
			}
			w.Header().Set("X-Linked-Etag", strings.Repeat("0", 40))
			w.Header().Set("X-Linked-Size", "5")
			return true
		})
		pull(t, tiny, "")
	})
}

// Which of the folders under a model's two names is meant. Most models have only one.
func TestFoldersOfTwoNames(t *testing.T) {
	const full, short = "models--distilbert--distilbert-base-uncased", "models--distilbert-base-uncased"
	start(t)
	asPythonDoes(t, "models--tiny", plain)
	if dir, _, err := Find(tiny, ""); err == nil {
		t.Errorf("%s was found in %s", tiny, dir)
	}
	some := map[string]string{"config.json": "{}"}
	more := map[string]string{"config.json": "{}", "vocab.txt": "[PAD]"}
	for _, c := range []struct {
		full, short map[string]string
		want        string
	}{{some, more, short}, {more, some, full}, {some, some, full}, {nil, nil, full}} {
		s := start(t)
		for folder, files := range map[string]map[string]string{full: c.full, short: c.short} {
			if files != nil {
				asPythonDoes(t, folder, files)
			}
		}
		_, _, err := Find("distilbert-base-uncased", "")
		var m *MissingError
		if !errors.As(err, &m) || filepath.Base(m.Folder) != c.want || m.Name != "distilbert/distilbert-base-uncased" {
			t.Errorf("error %v, expected one about %s", err, c.want)
		}
		s.Models["distilbert/distilbert-base-uncased"] = tinyModel()
		if dir := pull(t, "distilbert-base-uncased", ""); !strings.Contains(dir, string(filepath.Separator)+full) {
			t.Errorf("pulled into %s", dir)
		}
	}
}

func TestMissingErrorText(t *testing.T) {
	s := start(t)
	const missing = "some-lab/tiny (revision main) is not whole in the cache, CACHE.\nMissing:\n  config.json\n  model.safetensors\n" +
		"  tokenizer.json or vocab.txt\n  tokenizer_config.json"
	const advice = "\nCopy that cache folder from a machine that has it, or put the files into any folder and give its path " +
		"(./folder) as the model"
	_, _, err := Find(tiny, "")
	same(t, s, err, missing+advice)
	_, _, err = Find(tiny, "", "modules.json", "config.json", "modules.json")
	same(t, s, err, missing+"\n  modules.json"+advice)
	t.Setenv("HF_HUB_OFFLINE", "1")
	err = pullError(t, tiny, "")
	same(t, s, err, "HF_HUB_OFFLINE disables downloads.\n"+missing+"\n  modules.json"+advice)
	t.Setenv("HF_HUB_OFFLINE", "")

	dir := t.TempDir()
	write(t, dir, map[string]string{"config.json": "{}", "modules.json": `[{"path": "a", "type": "x.Transformer"},
		{"path": "b", "type": "x.Pooling"}, {"path": "b", "type": "y.Pooling"}, {"path": "c", "type": "Dense"}]`,
		"c/config.json": "{}"})
	_, _, err = Find(dir, "")
	same(t, s, err, "the folder "+dir+" lacks\n  a/config.json\n  a/model.safetensors\n  a/tokenizer.json or a/vocab.txt\n  b/config.json")
	_, _, err = Find(dir, "main")
	same(t, s, err, dir+" is a folder, which has no revision main")
	_, _, err = Find(filepath.Join(dir, "config.json"), "")
	same(t, s, err, dir+"/config.json: expected a folder")
	_, _, err = Find(filepath.Join(dir, "x"), "")
	same(t, s, err, "stat "+dir+"/x: no such file or directory")
	asPythonDoes(t, "models--some-lab--tiny", map[string]string{"modules.json": "{}"})
	_, _, err = Find(tiny, "")
	same(t, s, err, "modules.json: json: cannot unmarshal object into Go value of type []struct { Path string; Type string }")
	write(t, dir, map[string]string{"modules.json": "["})
	_, _, err = Find(dir, "")
	same(t, s, err, "modules.json: unexpected end of JSON input")
	write(t, dir, map[string]string{"modules.json": `[{"path": "../a"}]`})
	_, _, err = Find(dir, "")
	same(t, s, err, `modules.json: path "../a" leads out of the model's folder`)
	same(t, s, pullError(t, "./a", ""), "./a is a folder; expected the name of a model on the hub, such as "+
		"sentence-transformers/all-MiniLM-L6-v2")
}

func TestUnusable(t *testing.T) {
	s := start(t)
	m := tinyModel()
	for _, file := range []string{"model.safetensors", "pytorch_model.bin", "onnx/model.onnx", "tokenizer.json", "vocab.txt"} {
		delete(m.Files, file)
	}
	s.Models[tiny] = m
	same(t, s, pullError(t, tiny, ""), "some-lab/tiny has no model.safetensors and no tokenizer.json or vocab.txt at commit COMMIT")
	for _, file := range []string{"onnx/model.onnx", "model.ckpt.index", "flax_model.msgpack", "tf_model.h5"} { // the later wins
		m.Files[file] = nil
		same(t, s, pullError(t, tiny, ""), "some-lab/tiny has no model.safetensors and no tokenizer.json or vocab.txt at commit "+
			"COMMIT; weights must be safetensors, and it has "+file+": name a revision that has them, or convert the model and name "+
			"its folder (docs/similarity.md)")
	}
}

// Without the hub, what the cache has is named.
func TestPullWithoutHub(t *testing.T) {
	s := start(t)
	fetch.FirstWait = time.Microsecond
	pull(t, tiny, "")
	s.Close()
	err := pullError(t, tiny, "")
	if err == nil || !errors.As(err, new(fetch.Unreachable)) {
		t.Fatalf("error %v", err)
	}
	const before, after = "HUB cannot be reached (", "), after 3 attempts; the cache has commit COMMIT, which can be used"
	text := strings.NewReplacer(s.URL, "HUB", s.Models[tiny].Commit(), "COMMIT").Replace(err.Error())
	if !strings.HasPrefix(text, before) || !strings.HasSuffix(text, after) {
		t.Errorf("error %q", text)
	}
	pull(t, tiny, s.Models[tiny].Commit()) // needs no hub
	if err := pullError(t, tiny, strings.Repeat("a", 40)); !errors.As(err, new(*MissingError)) {
		t.Errorf("another commit: error %v", err)
	}
	// Only network errors are about the cache.
	s = start(t)
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		hubtest.Refuse(w, http.StatusForbidden, "")
		return true
	})
	if err := pullError(t, tiny, ""); err == nil || errors.As(err, new(*MissingError)) {
		t.Errorf("error %v", err)
	}
}
