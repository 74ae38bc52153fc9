package guard

import (
	"crosstalk"
	"crosstalk/measure/prose"
)

// Judge implements crosstalk.Judge.
func (k Checker) Judge(text, tag string) (crosstalk.Judged, error) {
	j, err := k.Check(text, tag)
	of := crosstalk.Judged{Runs: j.Runs, Mix: j.Mix}
	for _, m := range j.Masked {
		of.Masked = append(of.Masked, crosstalk.Span{Start: m.Start, End: m.End, Reason: string(m.Kind)})
	}
	for _, s := range j.Spans {
		span := crosstalk.Span{Start: s.Start, End: s.End}
		if s.Excuse != "" {
			if s.Excuse != prose.Quote || s.Kind == Line { // other quotations are masked
				span.Reason = string(s.Excuse)
				of.Masked = append(of.Masked, span)
			}
			continue
		}
		span.Language, span.Probability, span.Reason = s.Language, float32(s.P), s.Kind
		if s.Kind == Word {
			of.Words = append(of.Words, span)
		} else {
			of.Wrong = append(of.Wrong, span)
		}
	}
	for _, p := range j.Parts {
		part := crosstalk.JudgedPart{Unclear: p.Verdict == CannotTell, Right: p.Verdict == Right, P: p.P}
		for _, l := range p.Lines {
			part.Lines = append(part.Lines, crosstalk.Span{Start: l.Start, End: l.End})
		}
		of.Parts = append(of.Parts, part)
	}
	return of, err
}
