package datasets

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A disk that is full in the middle of a download: a clear error, no other
// address is tried, and with room again the download goes on.
func TestFullDisk(t *testing.T) {
	s := serve(t)
	s.files["/a"], s.files["/b"] = content, content
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	t.Setenv("CROSSTALK_CACHE", dir)
	from := some(s.URL+"/a", s.URL+"/b")
	_, err := from.Pull(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "no space left on device; run the same command again to resume the download of data.bin") || len(s.asked) != 1 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Pull(t.Context(), nil); err != nil ||
		!slices.ContainsFunc(s.asked, func(r string) bool { return strings.HasPrefix(r, "/a bytes=") }) {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}
