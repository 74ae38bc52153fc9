#!/usr/bin/env python3
"""Score pairs with COMET for crosstalk:  --similarity 'exec:python3 comet.py Unbabel/wmt22-comet-da'

or translations:  --quality 'exec:python3 comet.py Unbabel/wmt22-comet-da'

Needs: pip install unbabel-comet. Reads {"id","a","b"} and writes {"id","score"}, one JSON object a line.
COMET compares a translation with a source and a reference. Of a translation a is the one to judge, b the reference, and a
further "source" the source; else a stands for source and reference, b for the translation.
"""
import json
import os
import sys

from comet import download_model, load_from_checkpoint

BATCH = 64


def rows():
    """Yield lists of rows: what has arrived by now, up to BATCH. Waiting for a
    full batch would wait for rows that never come."""
    descriptor, rest = sys.stdin.fileno(), b""
    while chunk := os.read(descriptor, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        batch = [json.loads(line) for line in lines]
        for start in range(0, len(batch), BATCH):
            yield batch[start : start + BATCH]


def main():
    model = load_from_checkpoint(download_model(sys.argv[1] if len(sys.argv) > 1 else "Unbabel/wmt22-comet-da"))
    for batch in rows():
        data = [
            {"src": r["source"], "mt": r["a"], "ref": r["b"]} if "source" in r else {"src": r["a"], "mt": r["b"], "ref": r["a"]}
            for r in batch
        ]
        scores = model.predict(data, batch_size=BATCH, gpus=0, progress_bar=False).scores
        for row, score in zip(batch, scores):
            print(json.dumps({"id": row["id"], "score": float(score)}), flush=True)


if __name__ == "__main__":
    main()
