package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestHeldOut(t *testing.T) {
	texts := map[string]string{"Das Dokument mit einem Kennwort öffnen": "office", "Nur zum Prüfen behaltener Satz": "gnome"}
	s := &sampler{rng: rand.New(rand.NewPCG(1, 1)), english: [][]string{{"a", "b", "c"}}}
	for _, line := range s.lines("de", shuffled(texts)) {
		if strings.Contains(strings.ToLower(line), "behaltener") {
			t.Errorf("a held-out sentence is trained on: %s", line)
		}
	}
}

func TestLines(t *testing.T) {
	make := func() []string {
		s := &sampler{rng: rand.New(rand.NewPCG(1, 1)), english: [][]string{strings.Fields("a phrase of English words")}}
		var all []sentence
		for _, origin := range []string{"help", "office"} {
			for i := range 5 {
				all = append(all, sentence{text: strings.Repeat("каждый охотник, желает знать ", i+1), origin: origin})
			}
		}
		return s.lines("ru", all)
	}
	lines := make()
	if !slices.Equal(lines, make()) {
		t.Error("not the same lines each time")
	}
	if len(lines) != repeats*10 {
		t.Errorf("%d lines, expected %d", len(lines), repeats*10)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "__label__ru ") || strings.Count(line, "\n") != 1 {
			t.Errorf("line %q", line)
		}
	}
}
