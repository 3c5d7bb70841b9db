"""Keeps the message catalogues in step with the sources: python -m tests.show.catalogues update|compile|check."""

from __future__ import annotations

import re
import string
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from tests.show.sentences import SOURCES, Key, sentences

LOCALE = SOURCES / "show" / "locale"
NARROW, WIDE = "\u202f", "\u00a0"
HEADER = "# French sentences of Murmure. The English sentence is the key; script/messages keeps this file in step.\n#"


def paths() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/murmure.po"))


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3], abort_invalid=True)


def update(path: Path, more: dict[str, str] | None = None) -> list[Key]:
    """Rewrites a catalogue with exactly the sentences of the sources; returns those without a translation.

    more: translations by English sentence (the two halves of a plural apart), which win over those that the file has.
    """
    old = read(path) if path.exists() else Catalog(locale=path.parts[-3])
    known = {message.id: message.string for message in old if message.id}
    given = {english: typography(text) for english, text in (more or {}).items()}
    new = Catalog(locale=path.parts[-3], project="Murmure", header_comment=HEADER, charset="utf-8", fuzzy=False)
    missing: list[Key] = []
    for key, places in sorted(sentences().items(), key=lambda item: (item[1][0].split(":")[0], str(item[0]))):
        if isinstance(key, str):
            text: str | tuple[str, ...] = given.get(key) or known.get(key, "")
        else:
            halves = tuple(given.get(half, "") for half in key)
            text = halves if all(halves) else tuple(known.get(key, ("", "")))
        if not all([text] if isinstance(text, str) else text):
            missing.append(key)
        files = dict.fromkeys(place.split(":")[0] for place in places)  # without lines, which change with every edit
        new.add(key, text, locations=[(file, None) for file in list(files)[:3]])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, new, width=120, omit_header=False, include_lineno=False, ignore_obsolete=True)
    written = path.read_text(encoding="utf-8")
    dates = r'"(POT-Creation-Date|PO-Revision-Date|Generated-By):.*\n'  # they would change with every run
    path.write_text(re.sub(dates, "", written), encoding="utf-8")
    return missing


def typography(text: str) -> str:
    """French spaces: narrow before ; ! ? and inside quotation marks, wide before a colon."""
    text = re.sub(r"(?<=[^\s=!<>]) ([;!?])(?=\s|$|[.)\u00bb])", rf"{NARROW}\1", text)
    text = re.sub(r"(?<=\S) :(?=\s|$|\{|\\n)", f"{WIDE}:", text)
    return re.sub(r"«\s*", f"«{NARROW}", re.sub(r"\s*»", f"{NARROW}»", text))


def compile_all() -> None:
    for path in paths():
        with path.with_suffix(".mo").open("wb") as file:
            write_mo(file, read(path))


def problems(path: Path) -> list[str]:
    """What keeps a catalogue from being complete and right."""
    wanted, catalogue, out = sentences(), read(path), []
    known = {message.id: message for message in catalogue if message.id}
    out += [f"no sentence of the sources any more: {key!r}" for key in known if key not in wanted]
    for key, places in wanted.items():
        message = known.get(key)
        texts = [] if message is None else [message.string] if isinstance(message.string, str) else list(message.string)
        if not texts or not all(texts) or (message is not None and message.fuzzy):
            out.append(f"no translation ({places[0]}): {key!r}")
            continue
        originals = [key] if isinstance(key, str) else list(key)
        for original, text in zip(originals, texts, strict=True):
            if placeholders(text) != placeholders(original):
                out.append(f"other placeholders than {original!r}: {text!r}")
            if typography(text) != text:
                out.append(f"ordinary spaces before a mark: {text!r}")
    return out


def placeholders(template: str) -> set[tuple[str, str | None]] | None:
    """Names with their conversions; None: not a template."""
    try:
        return {(name, how) for _, name, _, how in string.Formatter().parse(template) if name is not None}
    except ValueError:
        return None


def main(command: str) -> int:
    if command == "compile":
        compile_all()
        return 0
    if command == "update":
        for path in paths():
            missing = update(path)
            print(f"{path.relative_to(SOURCES)}: {len(missing)} sentences without a translation")
            print("\n".join(f"  {key!r}" for key in missing[:50]))
        compile_all()
    found = [problem for path in paths() for problem in problems(path)]
    print("\n".join(found[:100]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
