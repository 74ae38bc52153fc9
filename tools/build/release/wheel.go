package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// licences is the SPDX expression for the program: words.bin has its own licence.
const licences = "Apache-2.0 AND CC-BY-SA-4.0"

const summary = "Measure what bleeds through in language models"

func (r release) wheelName(p platform) string {
	return fmt.Sprintf("crosstalk-%s-py3-none-%s.whl", r.version, p.tag)
}

// wheel is a Python wheel without Python: pip puts the program beside python. Its layout is that of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/ and, for licences, PEP 639.
func (r release) wheel(p platform, program, notices []byte) ([]byte, error) {
	licence, err := os.ReadFile(filepath.Join(r.tree, "LICENSE"))
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(r.tree, "README.md"))
	if err != nil {
		return nil, err
	}
	var tags strings.Builder
	for tag := range strings.SplitSeq(p.tag, ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	info := fmt.Sprintf("crosstalk-%s.dist-info/", r.version)
	files := []file{
		{fmt.Sprintf("crosstalk-%s.data/scripts/%s", r.version, p.program()), 0o755, program},
		{info + "METADATA", 0o644, fmt.Appendf(nil, `Metadata-Version: 2.4
Name: crosstalk
Version: %s
Summary: %s
License-Expression: %s
License-File: LICENSE
License-File: THIRD-PARTY-NOTICES.txt
Project-URL: Homepage, %s
Requires-Python: >=3.7
Description-Content-Type: text/markdown

%s`, r.version, summary, licences, r.homepage(), readme)},
		{info + "WHEEL", 0o644, fmt.Appendf(nil,
			"Wheel-Version: 1.0\nGenerator: crosstalk/tools/build/release\nRoot-Is-Purelib: false\n%s", &tags)},
		{info + "licenses/LICENSE", 0o644, licence},
		{info + "licenses/THIRD-PARTY-NOTICES.txt", 0o644, notices},
	}
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return zipped(append(files, file{info + "RECORD", 0o644, record.Bytes()}), r.when)
}
