package main

import (
	"fmt"
	"io"
	"strings"

	"crosstalk/instrument/confusion"
	"crosstalk/internal/config"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/fasttext"
	"crosstalk/measure/wordlist"

	"github.com/spf13/cobra"
)

// confusionScoring are the flags that say how answers become figures.
type confusionScoring struct {
	protocols []string
	threshold float64
	minWords  int
	latin     string
	kana      bool
	lid       string
	words     string
	by        []string
}

func (s *confusionScoring) flags(c *cobra.Command) {
	var names, latins []string
	for _, p := range confusion.Protocols {
		names = append(names, p.Name)
	}
	for _, l := range confusion.Latins {
		latins = append(latins, string(l))
	}
	f := c.Flags()
	f.StringSliceVar(&s.protocols, "protocol", names[:1], "measuring rules, several side by side: "+strings.Join(names, ", "))
	config.Choices(f, "protocol", names...)
	f.StringVar(&s.lid, "lid", "", "a fastText model that identifies languages: a file, or lid.176 or lid.176.ftz once pulled (default: a small embedded one)")
	f.StringVar(&s.words, "words", "", "a list of English words, one a line (default: an embedded one)")
	f.Float64Var(&s.threshold, "threshold", 0, "a line needs a higher probability, instead of the protocol's rule")
	f.IntVar(&s.minWords, "min-words", 0, "lines of fewer words are not checked, instead of the protocol's rule")
	f.StringVar(&s.latin, "latin", "", "letters of other scripts in Latin-script languages, instead of the protocol's rule: "+strings.Join(latins, ", "))
	config.Choices(f, "latin", latins...)
	f.BoolVar(&s.kana, "kana", false, "let kana decide between Japanese and Chinese, which small identifiers confuse")
	f.StringSliceVar(&s.by, "by", confusion.By, "group figures by columns of the suite or the recorded data")
}

// rules resolves the protocols and the options that override them.
func (s *confusionScoring) rules(c *cobra.Command) (list []confusion.Protocol, err error) {
	if s.by, err = cleanColumns(s.by); err != nil {
		return nil, err
	}
	return protocolsNamed(s.protocols, func(name string) (confusion.Protocol, error) { return s.rulesOf(c, name) })
}

func (s *confusionScoring) rulesOf(c *cobra.Command, name string) (confusion.Protocol, error) {
	p, err := confusion.ProtocolNamed(name)
	if err != nil {
		return p, err
	}
	if c.Flags().Changed("threshold") {
		if !(s.threshold >= 0 && s.threshold < 1) {
			return p, fmt.Errorf("--threshold is %g; expected a probability from 0 to below 1", s.threshold)
		}
		p.Threshold = s.threshold
	}
	if c.Flags().Changed("min-words") {
		if s.minWords < 1 {
			return p, fmt.Errorf("--min-words is %d; expected 1 or more", s.minWords)
		}
		p.MinWords = s.minWords
	}
	if s.latin != "" {
		if p.Latin, err = confusion.ParseLatin(s.latin); err != nil {
			return p, fmt.Errorf("--latin: %w", err)
		}
	}
	p.Kana = s.kana
	return p, nil
}

// instruments opens an instrument for each protocol, and their identifier.
func (s *confusionScoring) instruments(c *cobra.Command) (list []confusion.Instrument, lid *fasttext.Model, err error) {
	protocols, err := s.rules(c)
	if err != nil {
		return nil, nil, err
	}
	if lid, err = openIdentifier(s.lid); err != nil {
		return nil, nil, err
	}
	words, err := openWords(s.words)
	for _, p := range protocols {
		list = append(list, confusion.Instrument{Protocol: p, Identifier: lid, Words: words})
	}
	return list, lid, err
}

// sayIdentifier tells that the identifier is not that of published figures.
func (s *confusionScoring) sayIdentifier(w io.Writer, lid *fasttext.Model) {
	if s.lid == "" {
		fmt.Fprintf(w, "Languages are those that the small embedded model (%s) sees; published figures are made with lid.176 (--lid lid.176).\n", lid.Name())
	}
}

// openIdentifier opens the fastText model that --lid names, or the embedded one.
func openIdentifier(name string) (*fasttext.Model, error) {
	if name == "" {
		return embedded.Identifier(), nil
	}
	file, err := identifierFile(name)
	if err != nil {
		return nil, err
	}
	return fasttext.Load(file)
}

// openWords opens the English words in a file, or the embedded ones.
func openWords(file string) (*wordlist.List, error) {
	if file == "" {
		return wordlist.English(), nil
	}
	return wordlist.Load(file)
}
