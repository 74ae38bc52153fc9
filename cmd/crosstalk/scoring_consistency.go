package main

import (
	"fmt"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/free"
	"crosstalk/instrument/consistency/review"

	"github.com/spf13/cobra"
)

// consistencyScoring are the flags that say how answers become figures.
type consistencyScoring struct {
	protocols []string
	rouge     string
	free      string
	quality   string
	lid       string
	overrides string
	by        []string
}

func (s *consistencyScoring) flags(c *cobra.Command) {
	var names []string
	for _, p := range consistency.Protocols {
		names = append(names, p.Name)
	}
	f := c.Flags()
	f.StringSliceVar(&s.protocols, "protocol", names[:1], "measuring rules, several side by side: "+strings.Join(names, ", "))
	f.StringVar(&s.rouge, "rouge", "", "the words that ROUGE sees, instead of the protocol's rule: unicode, papers")
	f.StringVar(&s.free, "free", "text", "how free answers are compared: text, number, model (asks it), or a similarity and the least score of answers that mean the same, as in gloss>=0.7")
	f.StringVar(&s.quality, "quality", "", "a further scorer of rewritten texts beside BLEU and ROUGE, as in exec:./comet.py")
	f.StringVar(&s.lid, "lid", "", "a fastText model that identifies the languages of rewritten texts, such as lid.176.ftz (default: a small embedded one)")
	f.StringVar(&s.overrides, "overrides", "", "a file of answers that people have read (crosstalk review answers); figures are given with and without them")
	f.StringSliceVar(&s.by, "by", nil, "group figures by columns of the suite or the recorded data; class adds the shares of classes and the transitions between them")
}

// rules resolves the protocols and the options that override them.
func (s *consistencyScoring) rules() (list []consistency.Protocol, err error) {
	if s.by, err = cleanColumns(s.by); err != nil {
		return nil, err
	}
	return protocolsNamed(s.protocols, s.rulesOf)
}

func (s *consistencyScoring) rulesOf(name string) (consistency.Protocol, error) {
	p, err := consistency.ProtocolNamed(name)
	switch rouge := consistency.ROUGE(s.rouge); rouge {
	case "":
	case consistency.ROUGEUnicode, consistency.ROUGEPapers:
		p.ROUGE = rouge
	default:
		return p, fmt.Errorf("--rouge is %q; expected %s or %s", s.rouge, consistency.ROUGEUnicode, consistency.ROUGEPapers)
	}
	return p, err
}

// scorers are what answers are scored with.
type scorers struct {
	consistency.Instrument // but for its protocol and condition
	free, quality          opened
	threshold              float64
}

// open opens all that scoring needs but what must wait for the surroundings.
func (s *consistencyScoring) open(tasks []crosstalk.Task) (*scorers, error) {
	o := &scorers{}
	o.Tasks = tasks
	lid, err := openIdentifier(s.lid)
	if err != nil {
		return nil, err
	}
	o.Languages = lid
	if s.overrides != "" {
		if o.Overrides, err = review.ReadOverrides(s.overrides, tasks); err != nil {
			return nil, err
		}
	}
	several := func() (string, error) {
		return "", fmt.Errorf("texts are in several languages: name a model, as in bertscore:bert-base-multilingual-cased")
	}
	if s.quality != "" {
		if o.quality, err = openSimilarity(s.quality, several); err != nil {
			return nil, fmt.Errorf("--quality: %w", err)
		}
	}
	switch s.free {
	case "text":
		o.Free = free.Text{}
	case "number":
		o.Free = free.Number{}
	case "model":
		o.Free = free.Asked{}
	default:
		name, least, ok := strings.Cut(s.free, ">=")
		o.threshold, err = strconv.ParseFloat(strings.TrimSpace(least), 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("--free is %q; expected text, number, model, or a similarity with its threshold, as in gloss>=0.7", s.free)
		}
		if o.free, err = openSimilarity(strings.TrimSpace(name), several); err != nil {
			return nil, fmt.Errorf("--free: %w", err)
		}
	}
	return o, nil
}

// in places what had to wait.
func (o *scorers) in(r surroundings) {
	if o.quality != nil {
		o.Quality = o.quality(r)
	}
	if o.free != nil {
		o.Free = free.Similar{Similarity: o.free(r), Threshold: o.threshold}
	}
}
