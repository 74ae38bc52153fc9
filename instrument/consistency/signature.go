package consistency

import (
	"cmp"
	"strings"

	"crosstalk"
	"crosstalk/measure/translation"

	"golang.org/x/text/language"
)

func (r Rules) signature(figure string, labels map[string]string, suiteOf func(map[string]string) string) string {
	suite := "-"
	if suiteOf != nil {
		suite = suiteOf(labels)
	}
	parts := []string{figure, "suite:" + clean(suite)} // it may be a file's name
	reading := []string{"read:" + r.Reader, "invalid:" + r.invalid(), "review:" + cmp.Or(r.Review, "none")}
	if len(r.Classes[labels["task"]]) == 0 {
		reading = []string{"free:" + cmp.Or(clean(r.Free), "-")}
	}
	quality := "bleu:" + flat(bleuFor(labels["pair"]).Signature(1))
	switch figure {
	case Rewriting:
		parts = append(parts, "lid:"+cmp.Or(r.Languages, "none"))
	case BLEU, ItemBLEU:
		parts = append(parts, quality)
	case ROUGE1, ROUGE2, ROUGEL:
		parts = append(parts, "rouge:"+flat(r.rouge(Sense(labels["pair"]).Target()).Signature()))
	case Quality:
		parts = append(parts, "scorer:"+clean(r.Quality))
	case ConsistencyBLEU50, BLEUConsistency, BLEUAccuracy:
		parts = append(append(parts, reading...), quality)
	default:
		parts = append(parts, reading...)
	}
	return strings.Join(append(parts, "rewrites:"+cmp.Or(r.Rewrites, "-"), "v"+crosstalk.Version), "|")
}

func clean(s string) string {
	return strings.NewReplacer("|", "_", "\n", "_", "\r", "_").Replace(s)
}

// flat is a signature within a signature.
func flat(signature string) string { return strings.ReplaceAll(signature, "|", ",") }

// invalid says what becomes of answers without a label.
func (p Protocol) invalid() string {
	if p.InvalidIsClass {
		return "class"
	}
	return "apart"
}

// bleuFor is BLEU as it is computed for texts of a sense.
func bleuFor(sense string) translation.BLEU {
	return translation.BLEU{Tokenize: translation.TokenizerFor(Sense(sense).Target())}
}

// rouge is the protocol's ROUGE for texts in a language.
func (p Protocol) rouge(lang string) translation.ROUGE {
	base, _ := language.Make(lang).Base()
	switch {
	case p.ROUGE == ROUGEUnicode:
		return translation.ROUGEUnicode
	case base.String() == "zh":
		return translation.ROUGEChinese
	}
	return translation.ROUGEASCII
}
