"""A worker process that stays alive for one audit: some peers take seconds to start, and an audit asks many times."""

import json
import subprocess


class LiveWorker:
    """A batched randomiser: asks the process for n reports about a value, and gives them as they were sent."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, value, n):
        self.process.stdin.write(json.dumps({"value": value, "n": n}) + "\n")
        self.process.stdin.flush()
        reports = [self.process.stdout.readline() for _ in range(n)]
        if not reports[-1].endswith("\n"):
            raise RuntimeError(f"the worker ended with status {self.process.wait()}")
        return [json.loads(report) for report in reports]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
