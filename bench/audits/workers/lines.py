"""The audit's protocol for commands: a value as JSON on each line in, the report as it would be sent on each line out.

A line {"value": ..., "n": ...} stands for n lines with that value: one process then serves a whole audit.
"""

import json
import sys


def serve(randomisers):
    """Randomise every line with the randomiser that the command line names; nothing else is written."""
    randomise = randomisers[sys.argv[1]]()
    out = sys.stdout
    for line in sys.stdin:
        value, n = json.loads(line), 1
        if isinstance(value, dict):
            value, n = value["value"], value["n"]
        for _ in range(n):
            out.write(json.dumps(randomise(value), default=plain))
            out.write("\n")
        out.flush()


def plain(value):
    """NumPy's numbers and arrays as lists, in the order in which they are sent; bytes as hexadecimal text."""
    return value.hex() if isinstance(value, bytes) else value.tolist()
