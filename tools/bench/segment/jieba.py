"""The peer of tools/bench/segment: jieba of Debian's python3-jieba.

Reads one JSON list of lines, answers with the seconds it took to load, then
with the seconds of one pass over the lines for every further line of input.
"""
import json
import sys
import time

start = time.perf_counter()
import jieba

jieba.setLogLevel(60)
jieba.dt.tmp_dir = sys.argv[1]
jieba.initialize()
loaded = time.perf_counter() - start
lines = json.loads(sys.stdin.readline())
print(json.dumps({"load": loaded, "version": jieba.__version__}), flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    words = sum(len(jieba.lcut(line)) for line in lines)
    print(json.dumps({"seconds": time.perf_counter() - start, "words": words}), flush=True)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({"peak": int(status["VmHWM"].split()[0])}), flush=True)
