"""From dataclass to JSON and back: the parts of plans, models of econometrics, designs, how people are treated.

    {"type": the persisted name of the class, each field: its value}

A thing has one JSON, and so one digest: a field that was added later is left out where it has its default, and refused
if it is written anyway. What is unknown, missing or too many is refused; the constructor then checks each value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, dataclass, fields
from fractions import Fraction
from typing import Any

from murmure.catalogue import load, persisted_name
from murmure.core.errors import Phrase, PlanRefused, shorten

# Metadata of a field that was added later: with its default left out, older documents keep their digests.
OMIT_IF_DEFAULT = {"unsaid": True}


def is_omitted(field: Field[Any], value: Any) -> bool:
    """Whether a field was added later and has its default: what is written then says nothing of it."""
    return "unsaid" in field.metadata and value == field.default


OTHER_RELEASE = Phrase(
    "it was written by another release of murmure: create it again with this one, or install that one"
)


@dataclass(frozen=True)
class Codec:
    """Writes and reads the dataclasses of one kind of document.

    what: the word for such a thing in messages. readers: of what a field may hold and writes itself, by its "type".
    nested: the types of what a field may hold and this codec writes. coins: the fields whose fractions are written as
    text, "1/3"; elsewhere they are objects. mappings: whether a field may hold a mapping, from columns to names.
    domain: the reader of a field of that name, which refuses what is not a domain.
    """

    what: str
    readers: Mapping[str, Callable[[Any], Any]]
    nested: Collection[str] = ()
    coins: Collection[str] = ()
    mappings: bool = False
    domain: Callable[[Any], Any] | None = None

    def to_dict(self, thing: Any, named: bool = True) -> dict[str, Any]:
        """The persisted name of the type, and every field, for JSON. named=False: without that name."""
        out = {"type": persisted_name(thing)} if named else {}
        for f in fields(thing):
            value = getattr(thing, f.name)
            if not is_omitted(f, value):
                out[f.name] = self.encode(f.name, value)
        return out

    def encode(self, name: str, value: Any) -> Any:
        """What stands in JSON for the value of the field of this name."""
        if value is None or isinstance(value, str | int | float | bool):
            return value
        if isinstance(value, tuple | list):
            return [self.encode(name, part) for part in value]
        if isinstance(value, Fraction):
            text = f"{value.numerator}/{value.denominator}"
            return text if name in self.coins else {"type": "Fraction", "value": text}
        kind = persisted_name(value)
        if kind in self.readers:
            return value.to_dict()
        if kind in self.nested:
            return self.to_dict(value)
        if self.mappings and isinstance(value, Mapping):
            return {key: self.encode(name, item) for key, item in value.items()}
        raise PlanRefused(
            "this {what} cannot be saved: it holds {kind}.",
            hint="your own functions run only locally; studies take models by name",
            what=self.what,
            kind=type(value).__name__,
        )

    def from_dict(self, raw: Any, known: Collection[str], ignored: tuple[str, ...] = ()) -> Any:
        """The thing that was written, if its type is one of these."""
        kind = raw.get("type") if isinstance(raw, Mapping) else raw
        if not isinstance(kind, str) or kind not in known or not isinstance(raw, Mapping):
            raise PlanRefused(
                "Plan refused: unknown {what} {kind}; this version knows {known}.",
                hint=OTHER_RELEASE,
                what=self.what,
                kind=shorten(kind),
                known=", ".join(sorted(known)),
            )
        return self.from_fields(load(kind), {n: v for n, v in raw.items() if n not in ("type", *ignored)}, kind)

    def from_fields(self, make: Any, written: Mapping[str, Any], kind: str) -> Any:
        """The thing whose fields were written, all of them and no other."""
        later = {f.name: f.default for f in fields(make) if "unsaid" in f.metadata and f.name in written}
        for name, default in later.items():
            if written[name] == default:
                raise PlanRefused(
                    "Plan refused: {kind}.{name} has its default value: leave it out.",
                    kind=kind,
                    name=name,
                )
        wanted = {f.name for f in fields(make) if "unsaid" not in f.metadata} | later.keys()
        if set(written) != wanted:
            raise PlanRefused(
                "Plan refused: {kind} is written with {wanted}, got {got}.",
                hint=OTHER_RELEASE,
                kind=kind,
                wanted=sorted(wanted),
                got=sorted(written),
            )
        return make(**{name: self.decode(name, value) for name, value in written.items()})

    def decode(self, name: str, value: Any) -> Any:
        """The value of the field of this name."""
        if isinstance(value, list):
            return tuple(self.decode(name, part) for part in value)
        if not isinstance(value, Mapping):
            return Fraction(value) if name in self.coins and isinstance(value, str) else value
        kind: Any = value.get("type")
        if kind in self.readers:
            return self.readers[kind](value)
        if kind in self.nested:
            return self.from_dict(value, self.nested)
        if name == "domain" and self.domain is not None:
            return self.domain(value)
        if self.mappings:
            return value
        if kind == "Fraction":
            return Fraction(value["value"])
        raise PlanRefused(
            "Plan refused: a {what} holds {kind}, which this version does not know.",
            hint=OTHER_RELEASE,
            what=self.what,
            kind=shorten(kind),
        )
