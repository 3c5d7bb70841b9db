"""Errors of a study.toml: each begins with the file, and the query or model in it."""

from __future__ import annotations

import difflib

from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.schema import Schema
from murmure.show.phrase import Reworded


def refuse(where: str, what: str, hint: str | None = None) -> InvalidParameter:
    return InvalidParameter("{where}: {what}", hint=hint, where=where, what=what)


def error_of_file(where: str, error: MurmureError, otherwise: str | None = None) -> MurmureError:
    """The error of a constructor, as an error of the file; its class stays."""
    changes = ((r"\b(?:PairwiseMasks|Study)(?:\.|\s?: )(?=[\w{])", ""),)  # a file has no classes
    message: Phrase = Reworded(error.message, changes)
    kind = type(error) if type(error).__init__ is MurmureError.__init__ else InvalidParameter
    if not message.startswith((f"{where}:", f"{where},")):
        message = Phrase("{where}: {message}", where=where, message=message)
    return kind("{message}", hint=error.hint or otherwise, message=message)


def check_column(where: str, name: str, schema: Schema) -> None:
    if name not in schema.private:
        near = difflib.get_close_matches(name, schema.private, 1)
        hint = (
            Phrase("did you mean {near!r}?", near=near[0])
            if near
            else Phrase("there is {private}", private=shorten(list(schema.private), 120))
        )
        raise refuse(where, Phrase("there is no private column {name!r} in the schema.", name=name), hint)
