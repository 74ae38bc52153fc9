package hub

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"crosstalk/internal/lazyregexp"
)

const sentenceTransformers = "sentence-transformers"

// owners are the owners of models that originally had none.
var owners = map[string][]string{
	"google-bert": {
		"bert-base-cased", "bert-base-uncased", "bert-large-cased", "bert-large-uncased", "bert-base-chinese",
		"bert-base-german-cased", "bert-base-multilingual-cased", "bert-base-multilingual-uncased",
		"bert-base-cased-finetuned-mrpc", "bert-large-cased-whole-word-masking", "bert-large-uncased-whole-word-masking",
		"bert-large-cased-whole-word-masking-finetuned-squad", "bert-large-uncased-whole-word-masking-finetuned-squad",
	},
	"distilbert": {
		"distilbert-base-cased", "distilbert-base-uncased", "distilbert-base-german-cased", "distilbert-base-multilingual-cased",
		"distilbert-base-cased-distilled-squad", "distilbert-base-uncased-distilled-squad",
		"distilbert-base-uncased-finetuned-sst-2-english", "distilroberta-base",
	},
	"FacebookAI": {
		"roberta-base", "roberta-large", "roberta-large-mnli", "xlm-roberta-base", "xlm-roberta-large",
		"xlm-roberta-large-finetuned-conll02-dutch", "xlm-roberta-large-finetuned-conll02-spanish",
		"xlm-roberta-large-finetuned-conll03-english", "xlm-roberta-large-finetuned-conll03-german",
	},
	"openai-community": {"roberta-base-openai-detector", "roberta-large-openai-detector"},
}

var ownerOf = map[string]string{}

func init() {
	for owner, names := range owners {
		for _, name := range names {
			ownerOf[name] = owner
		}
	}
}

// Canonical returns the full name of a model named without its owner:
// distilbert/distilbert-base-uncased for distilbert-base-uncased. Other names
// without an owner are of sentence-transformers, as in that library. Full names
// and paths are unchanged.
func Canonical(name string) string {
	if IsPath(name) || strings.Contains(name, "/") {
		return name
	}
	if owner, ok := ownerOf[name]; ok {
		return owner + "/" + name
	}
	return sentenceTransformers + "/" + name
}

// IsPath reports whether a name is the path of a folder instead of a model: it is
// absolute, begins with . or ~, or has more parts than a name.
func IsPath(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
		strings.Contains(name, `\`) || strings.Count(name, "/") > 1
}

var (
	namePattern   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)?$`)
	commitPattern = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

func checkName(name string) error {
	if !namePattern().MatchString(name) || strings.Contains(name, "--") || strings.Contains(name, "..") || len(name) > 200 {
		return fmt.Errorf("%q is not a model name; expected OWNER/NAME, such as %s/all-MiniLM-L6-v2, or the path of a folder, such as ./folder", name, sentenceTransformers)
	}
	return nil
}

// checkRevision makes sure that a revision can be part of a path.
func checkRevision(revision string) (string, error) {
	if revision == "" {
		return "main", nil
	}
	if !isLocal(revision) {
		return "", fmt.Errorf("%q is not a revision; expected a branch, a tag or a commit", revision)
	}
	return revision, nil
}

// isLocal reports whether a path with slashes stays in its folder on every
// system.
func isLocal(path string) bool {
	return fs.ValidPath(path) && path != "." && !strings.ContainsAny(path, "\\:\x00") && filepath.IsLocal(filepath.FromSlash(path))
}
