package tokenizer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const smallVocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nab\n##c\nd\n"

func TestLoadVocab(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "no tokenizer.json and no vocab.txt") {
		t.Error(err)
	}
	write("vocab.txt", "a\nb\n")
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), `vocab.txt: the vocabulary has no token "[UNK]"`) {
		t.Error(err)
	}
	write("vocab.txt", strings.ReplaceAll(smallVocab, "\n", "\r\n"))
	write("tokenizer_config.json", `{"do_lower_case":false,"model_max_length":1000000000000000019884624838656,"cls_token":{"content":"[CLS]"}}`)
	tok, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tok.Encode("abc AB d[SEP]", 0)); got != "[2 5 6 1 7 3 3]" || tok.MaxLength() != 0 || !tok.Special(3) || tok.Special(4) {
		t.Errorf("%s, at most %d", got, tok.MaxLength())
	}
	write("tokenizer_config.json", `{"model_max_length":77}`)
	if tok, err = Load(dir); err != nil || tok.MaxLength() != 77 || fmt.Sprint(tok.Encode("AB", 0)) != "[2 5 3]" {
		t.Error(tok, err)
	}
	write("tokenizer_config.json", `{`)
	if _, err = Load(dir); err == nil || !strings.Contains(err.Error(), "tokenizer_config.json") {
		t.Error(err)
	}
}

// What tokenizer_config.json says explicitly wins over tokenizer.json.
func TestOverride(t *testing.T) {
	file := `{"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"lowercase":true},
		"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"u","vocab":{"u":0,"a":1,"A":2}}}`
	no := false
	for want, c := range map[string]config{"[1]": {}, "[2]": {Lower: &no}} {
		tok, err := parse([]byte(file), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(tok.Encode("A", 0)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	word := `"model":{"type":"WordPiece","unk_token":"u","vocab":{"u":0}}`
	for file, want := range map[string]string{
		`{`:  "unexpected end",
		`{}`: "model: missing",
		`{"model":{"type":"WordLevel","vocab":{}}}`:                                                            `model "WordLevel" is not supported`,
		`{"model":{"type":"WordPiece","vocab":{}}}`:                                                            "without unk_token",
		`{"model":{"type":"WordPiece","unk_token":"u","vocab":{}}}`:                                            `unk_token "u" is not in the vocabulary`,
		`{"model":{"type":"WordPiece","unk_token":"u","vocab":{"u":-1}}}`:                                      "id -1",
		`{"model":{"type":"Unigram","vocab":[["a",0]]}}`:                                                       "without unk_id",
		`{"model":{"type":"Unigram","unk_id":7,"vocab":[["a",0]]}}`:                                            "unk_id 7 of a vocabulary of 1",
		`{"model":{"type":"Unigram","unk_id":0,"vocab":[["a"]]}}`:                                              "1 parts",
		`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a"]}}`:                                              `merge "a"`,
		`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`:                                            "not of tokens",
		`{"model":{"type":"Unigram","unk_id":0,"vocab":[["a",0]],"byte_fallback":true}}`:                       "Unigram with byte_fallback",
		`{"model":{"type":"BPE","vocab":{"a":0},"unk_token":"a"}}`:                                             "BPE with unk_token",
		`{"model":{"type":"BPE","vocab":{"a":0},"byte_fallback":true}}`:                                        "byte_fallback",
		`{"normalizer":{"type":"Nmt"},` + word + `}`:                                                           `normalizer "Nmt" is not supported`,
		`{"normalizer":{"type":"Replace","pattern":{"Regex":"("}},` + word + `}`:                               "Replace",
		`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAA="},` + word + `}`:                     "has 2 bytes",
		`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"/////w=="},` + word + `}`:                 "a trie of 4294967295 bytes in 0",
		`{"pre_tokenizer":{"type":"Digits"},` + word + `}`:                                                     `pre_tokenizer "Digits" is not supported`,
		`{"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},` + word + `}`:       `prepend_scheme "first"`,
		`{"pre_tokenizer":{"type":"Metaspace"},` + word + `}`:                                                  "expected one character",
		`{"post_processor":{"type":"Pair"},` + word + `}`:                                                      `post_processor "Pair" is not supported`,
		`{"post_processor":{"type":"BertProcessing"},` + word + `}`:                                            "names no cls",
		`{"post_processor":{"type":"BertProcessing","cls":["a",-1],"sep":["b",1]},` + word + `}`:               "token id -1",
		`{"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}]},` + word + `}`: `"x" has no ids`,
		`{"added_tokens":[{"id":-3,"content":"x"}],` + word + `}`:                                              "id -3",
	} {
		if _, err := parse([]byte(file), config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", file, err, want)
		}
	}
}

// FuzzParse reads hostile tokenizer files and, where they are taken, hostile
// text with them.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"unigram", "unigram_words", "bpe", "mixed"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "ba <mask> e\u0301\xff zz#tag")
		f.Add(b[:len(b)/2], "")
	}
	f.Add([]byte(`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAP////8="},"model":{"type":"Unigram","unk_id":0,"vocab":[["",0],["a",1e308],["aa",1e308]]}}`), "aaa")
	f.Add([]byte(`{"added_tokens":[{"id":2147483647,"content":"x","lstrip":true,"rstrip":true,"single_word":true}],"model":{"type":"WordPiece","unk_token":"","vocab":{"":0}}}`), "x x")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		tok, err := parse(file, config{})
		if err != nil {
			return
		}
		frame := len(tok.before) + len(tok.after)
		for _, most := range []int{0, frame, frame + 3} {
			if ids := tok.Encode(text, most); most > 0 && len(ids) > most {
				t.Errorf("%d ids, at most %d", len(ids), most)
			}
		}
	})
}

func FuzzVocab(f *testing.F) {
	f.Add(smallVocab, "abc d \u0130\u03a3[CLS]\u4e00")
	f.Fuzz(func(t *testing.T, vocab, text string) {
		tok, err := newBERT(vocab, config{})
		if err != nil {
			return
		}
		full := tok.Encode(text, 0)
		if cut := tok.Encode(text, 4); len(full) > 4 && !slices.Equal(cut[:3], full[:3]) || len(cut) > 4 {
			t.Errorf("%v cut to %v", full, cut)
		}
	})
}
