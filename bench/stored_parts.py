"""What was measured, part by part: each with the machine, the day and the load of its own run, in a file of its own.

A part that is measured again replaces the stored one whole, so figures of two runs never stand in one section.
"""

import json

FORMAT = 1


def read(path):
    """{part: {"about": ..., "records": [...]}}; nothing where nothing was stored yet."""
    if not path.is_file():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    if stored.get("format") != FORMAT:
        raise SystemExit(
            f"{path.name} has format {stored.get('format')}, not {FORMAT}: remove it and measure all parts"
        )
    return stored["parts"]


def merge(stored, measured):
    return stored | measured


def without_messages(record):
    """Messages may hold paths of this machine, and nobody reads them later."""
    return record | {"error": "failed"} if "error" in record else record


def text_of(parts):
    """JSON with one record a line, in order of names, so that two runs can be compared line by line."""
    sections = []
    for name, part in sorted(parts.items()):
        lines = ",\n".join(json.dumps(without_messages(record)) for record in part["records"])
        sections.append(f'{json.dumps(name)}: {{"about": {json.dumps(part["about"])}, "records": [\n{lines}\n]}}')
    body = ",\n".join(sections)
    return f'{{"format": {FORMAT}, "parts": {{\n{body}\n}}}}\n'


def write(path, parts):
    """Whole or not at all: an interrupted run leaves the last file."""
    draft = path.with_suffix(".draft")
    draft.write_text(text_of(parts), encoding="utf-8")
    draft.replace(path)
