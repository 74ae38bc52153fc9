package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"crosstalk/guard"
	"crosstalk/internal/table"
	"crosstalk/recorded"

	"golang.org/x/text/language"
)

// What is in a file.
const (
	logs      = iota // answers, in any of the forms that `crosstalk score` reads
	records          // answers in our own form
	document         // Markdown or plain text
	page             // HTML
	subtitles        // SubRip, WebVTT
	catalogue        // messages of a program
)

// kinds are by the ending of files besides .json and .txt, which may be several.
var kinds = map[string]int{
	".jsonl": logs, ".ndjson": logs, ".csv": logs, ".tsv": logs, ".xlsx": logs, ".parquet": logs, ".eval": logs,
	".md": document, ".markdown": document, ".mdx": document,
	".html": page, ".htm": page, ".xhtml": page, ".srt": subtitles,
	".vtt": subtitles, ".po": catalogue, ".yaml": catalogue, ".yml": catalogue, ".xlf": catalogue, ".xliff": catalogue,
}

type file struct {
	path     string
	kind     int
	language string // that the path names; empty: none
}

// find returns the files at the paths. In a folder these are prose and catalogues, or else answers in JSON Lines.
func (o Options) find(paths []string) (files []file, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: no such file; without a name, standard input is read", path)
		case err != nil:
			return nil, err
		case !info.IsDir():
			files = append(files, o.kindOf(path, info))
			continue
		}
		below, err := o.walk(path)
		if err == nil && len(below) == 0 {
			var found []string
			found, err = recorded.Files([]string{path})
			for _, path := range found {
				below = append(below, file{path: path, kind: logs})
			}
			if err != nil {
				err = fmt.Errorf("%s: has no prose, catalogues or JSON Lines of answers", path)
			}
		}
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return files, nil
}

// kindOf tells what is in a file that the user names.
func (o Options) kindOf(path string, info fs.FileInfo) file {
	f := file{path: path, language: o.languageOf(path, o.Language != "")}
	format := table.Format(path)
	kind, known := kinds[format]
	switch {
	case known:
		f.kind = kind
	case format == ".json" && isCatalogue(path):
		f.kind = catalogue
	case format == ".json", format == ".txt" && recorded.IsChat(path):
		f.kind = logs
	case format == ".txt", info.Mode().IsRegular() && o.Language != "" && o.Language != guard.User:
		f.kind = document
	default:
		f.kind = records
	}
	return f
}

// walk returns the prose and the catalogues in a folder and below, in the order of their names. Hidden and installed
// folders are left out, and so are JSON and YAML in no language.
func (o Options) walk(folder string) (files []file, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != folder && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor") {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || strings.HasPrefix(name, "."):
			return nil
		}
		format := table.Format(path)
		if strings.HasSuffix(path, ".gz") || kinds[format] == logs && format != ".json" && format != ".txt" {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		f := o.kindOf(path, info)
		data := slices.Contains([]string{".json", ".yaml", ".yml"}, format)
		if f.kind >= document && !(data && f.language == "") {
			files = append(files, f)
		}
		return nil
	})
	return files, err
}

var (
	// folderTag matches a folder that is a language, with a region, script or encoding: de, pt_BR, sr@latin, ja.UTF-8.
	folderTag = regexp.MustCompile(`^([a-z]{2}|fil|ast|ckb)(?:[-_]([A-Za-z]{2}|[A-Za-z]{4}|[0-9]{3}))?` +
		`(?:\.(?i:utf-?8))?(@latin|@cyrillic)?$`)
	// nameTag matches a tag at the end of a file's name without its ending, after a point, dash or underscore.
	nameTag = regexp.MustCompile(`^(.*?)(?:^|([-._]))((?:[a-z]{2}|fil|ast|ckb)` +
		`(?:[-_](?:[A-Za-z]{2}|[A-Z][a-z]{3}|[0-9]{3}))?(?:@latin)?)$`)
)

// languageOf returns the language that a path names: in the file's name, or else its nearest folder. If another is
// given for files that name none, folders outside of the current one do not count: /srv/it may be no Italian.
func (o Options) languageOf(path string, given bool) string {
	if wd, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
		if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
			path = rel
		}
	}
	folder, name := filepath.Split(filepath.ToSlash(path))
	stem, format := strings.TrimSuffix(name, filepath.Ext(name)), table.Format(name)
	if m := nameTag.FindStringSubmatch(stem); m != nil {
		sure := m[1] == "" || m[2] == "." || m[1] == strings.ToUpper(m[1]) || m[3] != strings.ToLower(m[3]) ||
			kinds[format] == catalogue || format == ".json" // "sign-in.md" is in no language
		if tag := o.tag(m[3]); tag != "" && sure {
			return tag
		}
	}
	if given && filepath.IsAbs(path) {
		return ""
	}
	folders := strings.Split(folder, "/")
	for _, name := range slices.Backward(folders) {
		if folderTag.MatchString(name) {
			if tag := o.tag(name); tag != "" {
				return tag
			}
		}
	}
	return ""
}

// tag returns the BCP 47 tag of a language as programs write it, empty if it cannot be judged: pt_BR.UTF-8, sr@latin.
func (o Options) tag(name string) string {
	name, script, _ := strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ".")
	tag := strings.ReplaceAll(name, "_", "-")
	tag += map[string]string{"latin": "-Latn", "cyrillic": "-Cyrl"}[script]
	if _, err := o.Checker.Check("", tag); tag == "" || err != nil {
		return ""
	}
	return language.Make(tag).String()
}

// languageFor returns a file's language: from its path, from what it states, or the given one.
func (o Options) languageFor(f file, stated string) string {
	given := o.Language
	if given == guard.User {
		given = ""
	}
	return cmp.Or(f.language, o.tag(stated), given)
}
