package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"crosstalk/tools/internal/bench"
)

// The Dockerfile, as far as that can be checked without a builder: each file that it copies is there, its version of Go
// is that of go.mod, and its commands make a static program. Where there is a builder, it builds.
func TestDockerfile(t *testing.T) {
	tree, err := bench.Tree()
	if err != nil {
		t.Fatal(err)
	}
	text := string(read(t, filepath.Join(tree, "Dockerfile")))
	text = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	out := filepath.Join(t.TempDir(), "out")
	var stage string
	var later []string // what is copied from the first stage
	for line := range strings.Lines(text) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch instruction {
		case "FROM":
			stage = rest
			version := regexp.MustCompile(`golang:([0-9.]+) AS build$`).FindStringSubmatch(rest)
			if version != nil && !strings.Contains(string(read(t, filepath.Join(tree, "go.mod"))), "\ngo "+version[1]+".") {
				t.Errorf("%s: go.mod wants another version", line)
			}
		case "COPY":
			sources := words[:len(words)-1]
			if sources[0] == "--from=build" {
				later = append(later, sources[1:]...)
				break
			}
			for _, source := range sources {
				if _, err := os.Stat(filepath.Join(tree, source)); err != nil || ignored(t, tree, source) {
					t.Errorf("COPY %s: not there, or in .dockerignore: %v", source, err)
				}
			}
		case "RUN":
			if strings.HasPrefix(rest, "go mod download") || testing.Short() {
				break
			}
			c := exec.Command("sh", "-ec", strings.ReplaceAll(rest, "/out/", out+"/"))
			c.Dir, c.Env = tree, append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+runtime.GOARCH, "REVISION=a test")
			if said, err := c.CombinedOutput(); err != nil {
				t.Fatalf("RUN %s: %v\n%s", rest, err, said)
			}
		case "ENTRYPOINT":
			if !strings.Contains(text, strings.Trim(rest, `[]"`)) || !strings.HasSuffix(stage, ":nonroot") {
				t.Errorf("%s in %s", line, stage)
			}
		case "", "WORKDIR", "ARG", "ENV":
		default:
			t.Errorf("an unknown instruction: %s", line)
		}
	}
	if testing.Short() {
		t.Skip("builds nothing")
	}
	if len(later) != 2 {
		t.Errorf("copied from the first stage: %q", later)
	}
	for _, source := range later {
		read(t, strings.Replace(source, "/out/", out+"/", 1))
	}
	host := platform{os: "linux", arch: runtime.GOARCH}
	checkProgram(t, host, read(t, filepath.Join(out, "crosstalk")), string(read(t, filepath.Join(out, "THIRD-PARTY-NOTICES.txt"))))
	if runtime.GOOS == "linux" {
		if said, err := exec.Command(filepath.Join(out, "crosstalk"), "--version").Output(); err != nil || !strings.HasSuffix(string(said), "(a test)\n") {
			t.Errorf("--version: %q, %v", said, err)
		}
	}

	for _, builder := range []string{"docker", "podman"} {
		if exec.Command(builder, "info").Run() != nil {
			continue
		}
		c := exec.Command(builder, "build", "--quiet", "--tag", "crosstalk-test", ".")
		c.Dir = tree
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s build: %v\n%s", builder, err, said)
		}
		if said, err := exec.Command(builder, "run", "--rm", "crosstalk-test", "--version").Output(); err != nil || !strings.HasPrefix(string(said), "crosstalk ") {
			t.Errorf("%s run: %q, %v", builder, said, err)
		}
		return
	}
	t.Log("no docker or podman runs here: the image was not built")
}

// ignored reports whether .dockerignore names a file or the folder that it is in.
func ignored(t *testing.T, tree, name string) bool {
	t.Helper()
	for line := range strings.Lines(string(read(t, filepath.Join(tree, ".dockerignore")))) {
		if line = strings.TrimSpace(line); name == line || strings.HasPrefix(name, line+"/") {
			return true
		}
	}
	return false
}
