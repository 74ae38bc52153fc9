// Package translation scores translations and paraphrases against references: BLEU (Papineni et al. 2002) with the
// tokenizers, smoothing and figures of sacreBLEU (Post 2018), and ROUGE-1, -2 and -L (Lin 2004).
//
// Each metric is a struct of options whose zero value is the usual setting:
//
//	score, err := translation.BLEU{}.Corpus(hyps, refs)
//	score, err := translation.BLEU{Tokenize: translation.TokenizeZh}.Sentence(hyp, ref)
//	score := translation.ROUGEUnicode.Score(hyp, ref)
//
// BLEU of a corpus is a function of counts summed over its segments. Stats gives the counts of one segment, Add sums
// them and Score turns them into the figure, so a corpus can be streamed, split over machines or resampled without its
// texts.
//
// BLEU ranges from 0 to 100, ROUGE from 0 to 1. A score without segments is NaN. Text is UTF-8; an invalid byte counts
// as U+FFFD or as itself, never as an error. All methods may be called concurrently.
package translation
