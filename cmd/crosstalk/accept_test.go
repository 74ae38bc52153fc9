package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crosstalk/internal/testing/testserver"
)

// An acceptance in batches looks after each, and sends no more of them than it needs: the
// same verdict as without.
func TestAcceptInBatches(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Batches: testserver.Batches{Delay: 10 * time.Millisecond}})
	suite := writeSuite(t, 40) // 360 items
	args := func(out string, more ...string) []string {
		return append([]string{"accept", "--model", "compatible:m", "--require", "leak_rate<=80%", "--format", "json",
			"--out", filepath.Join(t.TempDir(), out), "--", "--suite", suite, "--base-url", s.URL + "/v1",
			"--key-var", "CROSSTALK_API_KEY"}, more...)
	}
	plain := start(t, nil, args("plain")...)
	<-plain.ended
	batched := start(t, nil, args("batched", "--batch")...)
	<-batched.ended
	if a, b := plain.stdout.String(), batched.stdout.String(); a != b || !strings.Contains(a, `"outcome": "`) {
		t.Errorf("%s%s\nin batches: %s%s", a, plain.stderr.String(), b, batched.stderr.String())
	}
	if n := s.Stats().Batches; n < 1 || n > 9 {
		t.Errorf("%d batches; expected some of ten", n)
	}
}

// After kills, an acceptance comes to the same verdict.
func TestAcceptKilled(t *testing.T) {
	t.Parallel()
	answered := func(r testserver.Request) testserver.Reply {
		time.Sleep(time.Millisecond)
		return testserver.Reply{Text: "bread and butter"}
	}
	s := newServer(t, testserver.Options{Record: true, Answer: answered})
	suite := writeSuite(t, 40)
	dir := t.TempDir()
	args := func(out string) []string {
		return []string{"accept", "--model", "compatible:m", "--require", "leak_rate<=70%", "--format", "json", "--out", out,
			"--", "--suite", suite, "--base-url", s.URL + "/v1", "--concurrency", "4"}
	}
	whole := start(t, nil, args(filepath.Join(dir, "whole"))...)
	<-whole.ended
	out := filepath.Join(dir, "killed")
	for n := range 20 {
		p := start(t, nil, args(out)...)
		file := filepath.Join(out, "accept.json")
		until(t, "the settings", func() bool { _, err := os.Stat(file); return err == nil })
		time.Sleep(time.Duration(15*(n%8+1)) * time.Millisecond)
		p.cmd.Process.Kill()
		<-p.ended
	}
	p := start(t, nil, args(out)...)
	<-p.ended
	if p.stdout.String() != whole.stdout.String() || p.stdout.Len() == 0 {
		t.Errorf("%s%s\nwithout kills: %s%s", &p.stdout, p.stderr.String(), &whole.stdout, whole.stderr.String())
	}
	if fmt.Sprint(p.cmd.ProcessState) != fmt.Sprint(whole.cmd.ProcessState) {
		t.Errorf("%v, without kills %v", p.cmd.ProcessState, whole.cmd.ProcessState)
	}
}
