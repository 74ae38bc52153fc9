package journal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// kill -9 at any moment: what Put confirmed is there.
func TestKill(t *testing.T) {
	if path := os.Getenv("CROSSTALK_TEST_JOURNAL"); path != "" {
		writeForEver(path)
		return
	}
	path := newPath(t)
	confirmed := map[string]bool{}
	for round := range 6 {
		child := exec.Command(os.Args[0], "-test.run=^TestKill$")
		child.Env = append(os.Environ(), "CROSSTALK_TEST_JOURNAL="+path, fmt.Sprint("CROSSTALK_TEST_ROUND=", round))
		var out bytes.Buffer
		pipe, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 4096)
		for lines := 0; lines < 20+31*round; { // after so many confirmations
			n, err := pipe.Read(buffer)
			out.Write(buffer[:n])
			lines += bytes.Count(buffer[:n], []byte("\n"))
			if err != nil {
				t.Fatalf("the child ended by itself: %v\n%s", err, out.Bytes())
			}
		}
		child.Process.Kill()
		out.ReadFrom(pipe)
		child.Wait()
		whole := out.String()[:strings.LastIndexByte(out.String(), '\n')+1]
		for line := range strings.Lines(whole) {
			confirmed[strings.TrimSpace(line)] = true
		}
	}
	have := map[string]bool{}
	for _, text := range texts(t, open(t, path)) {
		have[text] = true
	}
	for text := range confirmed {
		if !have[text] {
			t.Errorf("%q was confirmed and is not there", text)
		}
	}
	t.Logf("%d answers confirmed, %d there", len(confirmed), len(have))
}

func writeForEver(path string) {
	j, err := Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var round int
	fmt.Sscan(os.Getenv("CROSSTALK_TEST_ROUND"), &round)
	for w := range 8 {
		go func() {
			for i := w; ; i += 8 {
				r := record(round*1e6 + i)
				if err := j.Put(r); err != nil {
					os.Exit(1)
				}
				fmt.Println(r.Answer.Text)
			}
		}()
	}
	select {}
}
