package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"crosstalk/tools/internal/builder"
)

// characters are the rules of char.def and unk.def for words that the lexicon lacks.
type characters struct {
	names      []string // of the categories
	rules      [][3]int // by name's place: invoke, group, length
	unknown    [][]word // by name's place
	categories []category
	of         [0x10000]int // place in categories
}

// A category is a name with all that a character belongs to, as bits by place of the name.
type category struct{ name, goesWith int }

func readCharacters(dir string) (*characters, error) {
	c := new(characters)
	if err := eachLine(filepath.Join(dir, "char.def"), c.parse); err != nil {
		return nil, err
	}
	c.unknown = make([][]word, len(c.names))
	return c, eachLine(filepath.Join(dir, "unk.def"), func(line string) error {
		fields, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil {
			return err
		}
		name, err := c.place(fields[0])
		if err != nil {
			return err
		}
		w, err := parseWord(fields[1:])
		c.unknown[name] = append(c.unknown[name], w)
		return err
	})
}

// parse reads a line of char.def: a name with its rules, or characters with their names, the first of which has the
// rules that apply. Later lines overrule earlier ones.
func (c *characters) parse(line string) error {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	if !strings.HasPrefix(fields[0], "0x") {
		return c.parseRules(fields)
	}
	if len(fields) < 2 {
		return fmt.Errorf("%q, want characters and their categories", line)
	}
	first, last, ok := strings.Cut(fields[0], "..")
	if !ok {
		last = first
	}
	low, err := strconv.ParseUint(first, 0, 16)
	if err != nil {
		return fmt.Errorf("character %q, want 0x0000 to 0xFFFF", first)
	}
	high, err := strconv.ParseUint(last, 0, 16)
	if err != nil {
		return fmt.Errorf("character %q, want 0x0000 to 0xFFFF", last)
	}
	cat := category{}
	for i, field := range fields[1:] {
		name, err := c.place(field)
		if err != nil {
			return err
		}
		if i == 0 {
			cat.name = name
		}
		cat.goesWith |= 1 << name
	}
	place := len(c.categories)
	for i, other := range c.categories {
		if other == cat {
			place = i
		}
	}
	if place == len(c.categories) {
		c.categories = append(c.categories, cat)
	}
	for r := low; r <= high; r++ {
		c.of[r] = place
	}
	return nil
}

func (c *characters) parseRules(fields []string) error {
	if len(fields) != 4 {
		return fmt.Errorf("%q, want a category and three numbers", fields)
	}
	var rules [3]int
	for i := range rules {
		var err error
		if rules[i], err = strconv.Atoi(fields[1+i]); err != nil || rules[i] < 0 {
			return fmt.Errorf("%q, want a category and three numbers", fields)
		}
	}
	if len(c.names) == 0 && fields[0] != "DEFAULT" {
		return fmt.Errorf("category %s, want DEFAULT first", fields[0])
	}
	if len(c.names) == 0 { // every character is of it unless said otherwise
		c.categories = []category{{0, 1}}
	}
	c.names = append(c.names, fields[0])
	c.rules = append(c.rules, rules)
	return nil
}

func (c *characters) place(name string) (int, error) {
	for i, n := range c.names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown category %q", name)
}

func (c *characters) write(w *builder.Stream, k *kinds) {
	w.Uint(len(c.categories))
	for _, cat := range c.categories {
		w.Uint(cat.goesWith)
		for _, rule := range c.rules[cat.name] {
			w.Uint(rule)
		}
		w.Uint(len(c.unknown[cat.name]))
		for _, word := range c.unknown[cat.name] {
			w.Uint(k.of(word))
			w.Int(word.cost)
		}
	}
	var ranges [][2]int // length, category
	for _, cat := range c.of {
		if n := len(ranges); n > 0 && ranges[n-1][1] == cat {
			ranges[n-1][0]++
		} else {
			ranges = append(ranges, [2]int{1, cat})
		}
	}
	w.Uint(len(ranges))
	for _, r := range ranges {
		w.Uint(r[0])
		w.Uint(r[1])
	}
}
