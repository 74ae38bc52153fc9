package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"crosstalk/internal/testing/testserver"
)

// A disk that is full in the middle of a run: a clear error, and with room
// again the run goes on, with no more lost than was in flight.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	s := newServer(t, testserver.Options{Latency: 5 * time.Millisecond})
	suite, out := writeSuite(t, 40), filepath.Join(dir, "run")
	args := runLeakage(s, suite, out, "--concurrency", "8")
	p := start(t, nil, args...).expect(2, out+"/answers.db: the disk is full: free some space and run the same command again", "requests are answered and saved in")
	if n := strings.Count(p.stderr.String(), "the disk is full"); n > 2 {
		t.Errorf("said %d times:\n%s", n, p.stderr.String())
	}
	first := s.Stats().Answered
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	start(t, nil, args...).expect(0)
	if total := s.Stats().Answered; first < 20 || first > 390 || total < 400 || total > 408 {
		t.Errorf("%d answers before, %d in all to 400 asks at 8 at a time", first, total)
	}
}

// A directory that cannot be written to, or made.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{})
	suite := writeSuite(t, 2)
	start(t, nil, runLeakage(s, suite, "/proc/crosstalk/run")...).expect(2, "cannot create the run directory: mkdir /proc/crosstalk")
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	out := filepath.Join(dir, "run")
	start(t, nil, runLeakage(s, suite, out)...).expect(0)
	asked := s.Stats().Attempts
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	start(t, nil, runLeakage(s, suite, out)...).expect(2, out, "cannot be written: check the directory's permissions or use another --out")
	start(t, nil, runLeakage(s, suite, filepath.Join(dir, "new"))...).expect(2, "cannot create the run directory: mkdir "+dir+"/new: read-only file system")
	// What is there can still be reported.
	start(t, nil, "report", out).expect(0)
	if s.Stats().Attempts != asked {
		t.Error("the model was asked")
	}
}
