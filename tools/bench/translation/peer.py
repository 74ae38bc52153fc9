"""sacreBLEU's side of the benchmark.

Reads one JSON object a line, {"hyps": [...], "refs": [...], "tokenize": "13a"},
then the words "corpus" or "sentence", and answers each word with the seconds
of processor time that scoring took and the score (the mean score, for sentences).
"""
import json
import sys
import time

import sacrebleu

BLEU = sacrebleu.BLEU
print(json.dumps(sacrebleu.__version__), flush=True)
for line in sys.stdin:
    line = line.strip()
    if line.startswith("{"):
        data = json.loads(line)
        continue
    # A new object each time: sacreBLEU caches tokenized lines by object.
    bleu = BLEU(tokenize=data["tokenize"], effective_order=line == "sentence")
    start = time.process_time()
    if line == "corpus":
        score = bleu.corpus_score(data["hyps"], [data["refs"]]).score
    else:
        scores = [bleu.sentence_score(h, [r]).score for h, r in zip(data["hyps"], data["refs"])]
        score = sum(scores) / len(scores)
    print(json.dumps({"seconds": time.process_time() - start, "score": score}), flush=True)
