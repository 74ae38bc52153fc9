package journal

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A full disk: Put says so, what it confirmed stays, and with room again the
// journal goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	path := filepath.Join(dir, "answers.db")
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	confirmed, failed := map[string]bool{}, 0
	fill := func(from int) {
		var group sync.WaitGroup
		for w := range 8 {
			group.Go(func() {
				for i := from + w; i < from+1000; i += 8 {
					r := record(i)
					r.Answer.Raw = []byte(strings.Repeat("x", 5000))
					err := j.Put(r)
					mu.Lock()
					if err == nil {
						confirmed[r.Answer.Text] = true
					} else {
						failed++
					}
					mu.Unlock()
					if err != nil {
						if !strings.Contains(err.Error(), path+": the disk is full: free some space and run the same command again") {
							t.Errorf("%v", err)
						}
						return
					}
				}
			})
		}
		group.Wait()
	}
	fill(0)
	if failed == 0 || len(confirmed) == 0 {
		t.Fatalf("%d confirmed, %d failed: the disk was not full", len(confirmed), failed)
	}
	check := func() {
		t.Helper()
		have := map[string]bool{}
		for _, text := range texts(t, j) {
			have[text] = true
		}
		for text := range confirmed {
			if !have[text] {
				t.Errorf("%q was confirmed and is not there", text)
			}
		}
	}
	check()
	if err := j.Close(); err != nil && !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("Close: %v", err)
	}
	if j, err := Open(path); err == nil { // to open it may need no room
		j.Close()
	} else if !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("Open while the disk is full: %v", err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=32m"); err != nil {
		t.Fatal(err)
	}
	if j, err = Open(path); err != nil {
		t.Fatal(err)
	}
	check()
	failed = 0
	fill(1000)
	if failed > 0 || len(confirmed) < 1000 {
		t.Errorf("with room again: %d confirmed, %d failed", len(confirmed), failed)
	}
	check()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*-wal")); len(left) > 0 {
		info, _ := os.Stat(left[0])
		t.Errorf("%s of %d bytes is left", left[0], info.Size())
	}
}

func init() {
	asNobody = func(t *testing.T) {
		if os.Geteuid() != 0 {
			return
		}
		runtime.LockOSThread() // the kernel keeps it by thread
		if err := syscall.Setfsuid(65534); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { syscall.Setfsuid(0); runtime.UnlockOSThread() })
	}
}
