package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A model is the conditional random field from which UniDic's costs of two words in a row were computed (Kudo et al.
// 2004): templates make features of what is known of the two words, features have weights, and the cost is minus their
// sum times a factor.
type model struct {
	factor    float64
	templates []template
	weights   map[string][]weight // by the first word's part of the feature
	from, to  map[int][]string    // what is known of a word, by its context ids: as the first of two, as the second
}

// A weight is that of a feature, whose second word's part is to.
type weight struct {
	to    string
	value float64
}

// A template makes a feature: the parts of the two words in a row.
type template struct{ from, to side }

// A side is a word's part of a template: literal text before each field, and a last one after them.
type side struct {
	text     []string
	field    []int
	optional []bool // there is no feature if the field is "*"
}

func (s side) render(fields []string) (part string, ok bool) {
	var b strings.Builder
	for i, text := range s.text {
		b.WriteString(text)
		if i == len(s.field) {
			break
		}
		value := "*"
		if s.field[i] < len(fields) {
			value = fields[s.field[i]]
		}
		if s.optional[i] && value == "*" {
			return "", false
		}
		b.WriteString(value)
	}
	return b.String(), true
}

func readModel(dir string) (*model, error) {
	m := &model{weights: map[string][]weight{}}
	var err error
	if m.from, err = readContexts(filepath.Join(dir, "right-id.def")); err != nil {
		return nil, err
	}
	if m.to, err = readContexts(filepath.Join(dir, "left-id.def")); err != nil {
		return nil, err
	}
	return m, errFirst(
		m.readFactor(filepath.Join(dir, "dicrc")),
		m.readTemplates(filepath.Join(dir, "feature.def")),
		m.readWeights(filepath.Join(dir, "model.def")))
}

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// eachLine calls f with each line of a file; its error gets the place.
func eachLine(path string, f func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := f(lines.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return lines.Err()
}

// readContexts returns the fields of each context id. Of those that share an id, since their costs are the same, the
// first are kept.
func readContexts(path string) (map[int][]string, error) {
	contexts := map[int][]string{}
	err := eachLine(path, func(line string) error {
		number, rest, _ := strings.Cut(line, " ")
		id, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("%q, want a context id and its fields", line)
		}
		if _, ok := contexts[id]; ok {
			return nil
		}
		contexts[id], err = csv.NewReader(strings.NewReader(rest)).Read()
		return err
	})
	return contexts, err
}

func (m *model) readFactor(path string) error {
	err := eachLine(path, func(line string) (err error) {
		if value, ok := strings.CutPrefix(line, "cost-factor = "); ok {
			m.factor, err = strconv.ParseFloat(value, 64)
		}
		return err
	})
	if err == nil && m.factor == 0 {
		err = fmt.Errorf("%s: no cost-factor", path)
	}
	return err
}

func (m *model) readTemplates(path string) error {
	return eachLine(path, func(line string) error {
		fields := strings.Fields(line) // what follows a space is not part of a template: I_I and F_F are constants
		if len(fields) < 2 || fields[0] != "BIGRAM" {
			return nil
		}
		text := fields[1]
		second := max(strings.Index(text, "/%R"), 0)
		from, err := parseSide(text[:second], "L")
		if err != nil {
			return err
		}
		to, err := parseSide(text[second:], "R")
		m.templates = append(m.templates, template{from, to})
		return err
	})
}

var fieldOf = regexp.MustCompile(`%([LR])(\??)\[(\d+)\]`)

func parseSide(text, word string) (side, error) {
	var s side
	last := 0
	for _, at := range fieldOf.FindAllStringSubmatchIndex(text, -1) {
		field, err := strconv.Atoi(text[at[6]:at[7]])
		if err != nil || text[at[2]:at[3]] != word {
			return s, fmt.Errorf("template part %q, want fields like %%%s[0]", text, word)
		}
		s.text = append(s.text, text[last:at[0]])
		s.field = append(s.field, field)
		s.optional = append(s.optional, at[4] < at[5])
		last = at[1]
	}
	s.text = append(s.text, text[last:])
	return s, nil
}

// readWeights keeps the weights under every division of a feature into two parts: a slash may be part of a word.
func (m *model) readWeights(path string) error {
	var named []string // of the templates, to leave out the features of single words
	for _, t := range m.templates {
		name, _, _ := strings.Cut(t.from.text[0]+t.to.text[0], ":")
		named = append(named, name)
	}
	return eachLine(path, func(line string) error {
		number, feature, ok := strings.Cut(line, "\t")
		name, _, _ := strings.Cut(feature, ":")
		if !ok || !slices.Contains(named, name) {
			return nil
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("weight %q, want a number", number)
		}
		feature = strings.Clone(feature)
		if feature == name {
			m.weights[""] = append(m.weights[""], weight{feature, value})
		}
		for i, r := range feature {
			if r == '/' {
				m.weights[feature[:i]] = append(m.weights[feature[:i]], weight{feature[i:], value})
			}
		}
		return nil
	})
}
