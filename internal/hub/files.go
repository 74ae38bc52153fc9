package hub

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The files that determine which other files are needed, and how they are read.
const (
	modulesFile     = "modules.json"
	tokenizerConfig = "tokenizer_config.json"
	weightsFile     = "model.safetensors"
)

// source is the source of a model's files: a repository, from which read fetches a file, or a folder.
type source struct {
	has  func(file string) bool
	read func(file string) ([]byte, error)
}

func folderSource(dir string) source {
	at := func(file string) string { return filepath.Join(dir, filepath.FromSlash(file)) }
	return source{
		has:  func(file string) bool { return isFile(at(file)) },
		read: func(file string) ([]byte, error) { return readFile(at(file)) },
	}
}

type plan struct {
	root    string   // of the encoder, "" or ending in a slash
	files   []string // present files, the weights last
	missing []string // missing files; alternatives are one entry
}

func (s source) plan() (plan, error) {
	var p plan
	if err := s.modules(&p); err != nil {
		return p, err
	}
	p.need(s, p.root+"config.json")
	p.need(s, p.root+"tokenizer.json", p.root+"vocab.txt")
	for _, file := range []string{tokenizerConfig, "special_tokens_map.json", "sentence_bert_config.json",
		"sentence_roberta_config.json", "sentence_distilbert_config.json", "sentence_camembert_config.json",
		"sentence_xlm-roberta_config.json"} {
		if s.has(p.root + file) {
			p.files = append(p.files, p.root+file)
		}
	}
	p.need(s, p.root+weightsFile)
	slices.Sort(p.missing)
	p.missing = slices.Compact(p.missing)
	return p, nil
}

func (p *plan) need(s source, alternatives ...string) {
	if i := slices.IndexFunc(alternatives, s.has); i >= 0 {
		p.files = append(p.files, alternatives[i])
		return
	}
	p.missing = append(p.missing, strings.Join(alternatives, " or "))
}

func (s source) modules(p *plan) error {
	if !s.has(modulesFile) {
		return nil
	}
	p.files = append(p.files, modulesFile)
	b, err := s.read(modulesFile)
	if err != nil {
		return err
	}
	var modules []struct{ Path, Type string }
	if err := json.Unmarshal(b, &modules); err != nil {
		return fmt.Errorf("%s: %w", modulesFile, err)
	}
	for _, m := range modules {
		if m.Path == "" {
			continue
		}
		if !isLocal(m.Path) {
			return fmt.Errorf("%s: path %q leads out of the model's folder", modulesFile, m.Path)
		}
		config := path.Join(m.Path, "config.json")
		switch {
		case strings.HasSuffix(m.Type, ".Transformer"):
			p.root = m.Path + "/"
		case strings.HasSuffix(m.Type, ".Pooling"):
			p.need(s, config)
		case s.has(config):
			p.files = append(p.files, config)
		}
	}
	if file := "config_sentence_transformers.json"; s.has(file) {
		p.files = append(p.files, file)
	}
	return nil
}
