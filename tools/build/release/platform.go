package main

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type platform struct {
	os, arch string
	tag      string // of wheels, see https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/;
	// empty: there is no wheel
}

// platforms are those of a release. The programs for Linux are static, so their wheels suit every C library and the
// oldest tags that pip accepts. macOS 12 is the oldest that Go 1.26 supports.
var platforms = []platform{
	{"linux", "amd64", "manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
	{"windows", "arm64", "win_arm64"},
	{"js", "wasm", ""}, // guard alone, for browsers and Node
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the name of the program.
func (p platform) program() string {
	switch p.os {
	case "windows":
		return "crosstalk.exe"
	case "js":
		return "crosstalk.wasm"
	}
	return "crosstalk"
}

// source is the package of the program.
func (p platform) source() string {
	if p.os == "js" {
		return "./guard/wasm"
	}
	return "./cmd/crosstalk"
}

func names(list []platform) (names []string) {
	for _, p := range list {
		names = append(names, p.String())
	}
	return names
}

func parsePlatforms(list string) (chosen []platform, err error) {
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown platform %q; choose from: %s", name, strings.Join(names(platforms), ", "))
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// environment is that of a go command for p. It leaves nothing that changes the program to the caller's settings.
func (p platform) environment() []string {
	return append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWORK=off")
}

// build builds the program for p. Nothing in it depends on where it is built.
func (r release) build(p platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, p.program())
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X 'main.revision="+r.revision+"'",
		"-o", program, p.source())
	c.Dir, c.Env = r.tree, p.environment()
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %v: %w\n%s", p, err, out)
	}
	data, err := os.ReadFile(program)
	if err == nil {
		err = p.check(data)
	}
	return data, err
}

// check looks at the header of a program: it must be one for p and, on Linux, static.
func (p platform) check(program []byte) error {
	machine := ""
	if bytes.HasPrefix(program, []byte("\x00asm")) {
		machine = "wasm"
	}
	switch r := bytes.NewReader(program); p.os {
	case "linux":
		f, err := elf.NewFile(r)
		if err != nil {
			return fmt.Errorf("the program for %v: %w", p, err)
		}
		if slices.ContainsFunc(f.Progs, func(part *elf.Prog) bool {
			return part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC
		}) {
			return fmt.Errorf("the program for %v is linked dynamically", p)
		}
		machine = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	case "darwin":
		f, err := macho.NewFile(r)
		if err != nil {
			return fmt.Errorf("the program for %v: %w", p, err)
		}
		machine = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	case "windows":
		f, err := pe.NewFile(r)
		if err != nil {
			return fmt.Errorf("the program for %v: %w", p, err)
		}
		machine = map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
	}
	if machine != p.arch {
		return fmt.Errorf("the program for %v is for %q", p, machine)
	}
	return nil
}
