"""Writes vectors.jsonl: what sacreBLEU gives for synthetic segments.

    python3 vectors.py > vectors.jsonl

Needs sacreBLEU 2.
"""
import itertools
import json
import platform
import random

import sacrebleu

TEXTS = [
    "", " ", "a", "The cat sat on the mat.", "the cat sat on the mat .", "The  cat\tsat\u00a0on\u3000the mat!",
    "It cost 1,000.50 dollars, or 3.5-4% more (than in 2005).", "in 2005.", "In 2005, 2006,and 2007", "a..b,,c a..5 1..2 .5 5. ,5 5,",
    "x-y 1-2 a-1 1-a -1 1- --", "&quot;A&amp;B&quot; &lt;tag&gt; &amp;lt; &amp;quot; &apos;", "soft-\nware\nline<skipped>end",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "it's (hi) \"quoted\" [x] {y} e.g. U.S.A.", "für Äpfel, “Öl” – ‘ß’… 5€ №7 ½ ²",
    "他在1993年与A级凯恩县美洲狮队比赛。", "GDP为3.5%，增长——“很快”（2005年）。", "𠀀𠀁 ⼀⺀ ☀✂ ㈱㌀ ﷼ ﹏ Ａ１ ｱ 한국어 かな カナ",
    "→ ∑ ⅓ 、。〇 ⿰ ‰ †", "٣٫٤ ١٬٠٠٠ و«نص»، ?؟", "हिन्दी में लिखा है।", "ภาษาไทย", "ΟΔΥΣΣΕΥΣ İstanbul DŽ ΑΣ. Σ",
    "\u200b zero\u200bwidth \ufeff", "\x1ca\x1fb\x85c", "..", ",", "3.14", "1,2,3", "-5", "5-", "«»¿¡§¶·", "$5+3=8<9^2|`~", "🙂🙂 🙂.",
    "a a a a a a", "a a a b a a", "b", "no match at all here", "A A A A A A",
]


def tokens(tok):
    t = sacrebleu.BLEU(tokenize=tok).tokenizer
    return [t(x.rstrip()).split() for x in TEXTS]


def main():
    rng = random.Random(7)
    words = "the a cat dog sat on mat . , 3.5 house-boat Über (old) \u4f60\u597d \u3002 it's".split()

    def segment(n):
        return " ".join(rng.choice(words) for _ in range(n))

    corpora = []
    for k in range(6):
        n = rng.randint(1, 5)
        refs = [[segment(rng.randint(1, 14)) for _ in range(n)] for _ in range(1 + k % 3)]
        hyps = []
        for i in range(n):
            w = refs[rng.randrange(len(refs))][i].split()
            for j in range(len(w)):
                if rng.random() < 0.25:
                    w[j] = rng.choice(words)
            hyps.append(" ".join(w[: rng.randint(0, len(w))] + w[rng.randint(0, len(w)):]))
        corpora.append((hyps, refs))
    corpora[4][1][0][0] = ""  # an absent reference
    for a, b in itertools.combinations([3, 4, 6, 8, 17, 23, 35, 36], 2):
        corpora.append(([TEXTS[a]], [[TEXTS[b]]]))
    corpora.append((["a b c", "x y z"], [["a", "x y y"]]))
    corpora.append(([""], [["a b c d e"]]))
    corpora.append((["a"], [[" "]]))
    corpora.append(([" "], [["\t"]]))

    print(json.dumps({
        "made_by": "python3 vectors.py > vectors.jsonl",
        "sacrebleu": sacrebleu.__version__, "python": platform.python_version()}))
    for tok in ("13a", "zh", "char"):
        for text, words_ in zip(TEXTS, tokens(tok)):
            print(json.dumps({"tokenize": tok, "text": text, "words": words_}))
    for i, (hyps, refs) in enumerate(corpora):
        print(json.dumps({"hyps": hyps, "refs": refs}))
        for tok, eff in itertools.product(("13a", "zh", "char"), (False, True)):
            if i >= 6 and tok != "13a":
                continue
            m = sacrebleu.BLEU(tokenize=tok, effective_order=eff)
            s = m.corpus_score(hyps, refs)
            print(json.dumps({"bleu": s.score, "bp": s.bp, "text": s.format(),
                              "signature": m.get_signature().format()}))


main()
