//go:build unix

package ollama

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The Go module lacks the C++ headers of its vendor folders, since module files leave such folders out. Two of them are
// Debian packages; the third is for audio only, and this takes its place.
const miniaudio = `#pragma once
typedef unsigned long long ma_uint64;
typedef int ma_result, ma_format;
struct ma_decoder {};
struct ma_decoder_config {};
enum { MA_SUCCESS = 0, MA_ERROR = -1, ma_format_f32 = 5 };
static inline ma_decoder_config ma_decoder_config_init(ma_format, unsigned, unsigned) { return {}; }
static inline ma_result ma_decoder_init_memory(const void *, unsigned long, const ma_decoder_config *, ma_decoder *) {
    return MA_ERROR;
}
static inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_read_pcm_frames(ma_decoder *, void *, ma_uint64, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_uninit(ma_decoder *) { return MA_SUCCESS; }
`

// version is that of Ollama's module.
const version = "v0.17.4"

// build returns the path of Ollama's program, which it builds once for each version: about ten minutes on two cores. An
// error means that it cannot be built here.
func build() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "crosstalk-tools", "ollama-"+version)
	program := filepath.Join(dir, "ollama")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	headers := filepath.Join(dir, "headers")
	if err := os.MkdirAll(filepath.Join(headers, "miniaudio"), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(headers, "miniaudio", "miniaudio.h"), []byte(miniaudio), 0o644); err != nil {
		return "", err
	}
	if _, err := exec.LookPath("g++"); err != nil {
		return "", fmt.Errorf("there is no C++ compiler: %w", err)
	}
	paths := headers
	for _, p := range []struct{ name, header string }{
		{"nlohmann-json3-dev", "nlohmann/json_fwd.hpp"},
		{"libstb-dev", "stb/stb_image.h"},
	} {
		if _, err := os.Stat(filepath.Join("/usr/include", p.header)); err == nil {
			continue
		}
		if err := unpack(dir, p.name); err != nil {
			return "", fmt.Errorf("the header %s is missing (Debian: apt install %s): %w", p.header, p.name, err)
		}
		paths = headers + ":" + filepath.Join(dir, "usr", "include")
	}
	fmt.Fprintf(os.Stderr, "building Ollama %s; this takes some ten minutes\n", version)
	c := exec.Command("nice", "go", "install", "github.com/ollama/ollama@"+version)
	c.Dir = dir // outside the module of the tools
	c.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=1", "CGO_CFLAGS=-O2", "CGO_CXXFLAGS=-O2", "CPATH="+paths)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install github.com/ollama/ollama@%s: %w\n%s", version, err, last(string(out), 10))
	}
	return program, nil
}

// unpack puts the files of a Debian package into dir, without installing it.
func unpack(dir, name string) error {
	for _, command := range []string{"apt-get download " + name, "dpkg -x " + name + "_*.deb ."} {
		c := exec.Command("sh", "-c", command)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// last returns the last n lines.
func last(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
