"""The audit's protocol for commands: a value as JSON on each line in, the report as it would be sent on each line out."""

import json
import sys


def serve(randomisers):
    """Randomise every line with the randomiser that the command line names; nothing else is written."""
    randomise = randomisers[sys.argv[1]]()
    out = sys.stdout
    seen = {}  # text to value: lines repeat
    for line in sys.stdin:
        if line not in seen:
            seen[line] = json.loads(line)
        out.write(json.dumps(randomise(seen[line]), default=plain))
        out.write("\n")
        out.flush()


def plain(value):
    """NumPy's numbers and arrays as lists, in the order in which they are sent; bytes as hexadecimal text."""
    return value.hex() if isinstance(value, bytes) else value.tolist()
