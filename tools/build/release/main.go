// Release makes the files of a release: an archive and a Python wheel for each of six platforms, a Homebrew formula,
// and SHA256SUMS. It publishes nothing.
//
//	go -C tools run ./build/release -url https://github.com/OWNER/crosstalk/releases/download/v0.1.0
//
// The version is crosstalk.Version; the commit and its day are stamped into the program. The tree must be committed.
// The same commit and the same version of Go give the same bytes on every machine.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"crosstalk/tools/internal/bench"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	f := flag.NewFlagSet("release", flag.ExitOnError)
	url := f.String("url", "",
		"where the archives will be: an `address` without the file's name, for the Homebrew formula")
	out := f.String("out", "../dist", "the `folder` to make; must not exist")
	only := f.String("platforms", strings.Join(names(platforms), ","), "platforms, separated by commas")
	notices := f.String("notices", "", "write only the third-party notices of one platform, to this `file`")
	f.Parse(args)
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	chosen, err := parsePlatforms(*only)
	if err != nil {
		return err
	}
	tree, err := bench.Tree()
	if err != nil {
		return err
	}
	if *notices != "" {
		if len(chosen) != 1 {
			return errors.New("-notices needs -platforms with one platform, such as -platforms linux/amd64")
		}
		text, err := thirdParty(tree, chosen[0])
		if err != nil {
			return err
		}
		return os.WriteFile(*notices, text, 0o666)
	}
	if *url == "" {
		return errors.New("-url is missing; expected where the archives will be, such as " +
			"-url https://github.com/OWNER/crosstalk/releases/download/v0.1.0")
	}
	r, err := committed(tree)
	if err != nil {
		return err
	}
	r.url = strings.TrimSuffix(*url, "/")
	made, err := r.make(*out, chosen)
	for _, name := range made {
		fmt.Fprintln(stdout, filepath.Join(*out, name))
	}
	return err
}
