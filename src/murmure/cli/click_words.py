"""What click says on our command line, listed so that the message catalogues have it: click looks it up by gettext."""

from __future__ import annotations

from murmure.show.phrase import Phrase, Plural

x = "x"
CLICK_WORDS = (
    Phrase("Usage:"),
    Phrase("Options"),
    Phrase("Commands"),
    Phrase("required"),
    Phrase("default: {default}", default=x),
    Phrase("env var: {var}", var=x),
    Phrase("Error: {message}", message=x),
    Phrase("Error: invalid input"),
    Phrase("Invalid value: {message}", message=x),
    Phrase("Invalid value for {param_hint}: {message}", param_hint=x, message=x),
    Phrase("Missing argument"),
    Phrase("Missing option"),
    Phrase("Missing command."),
    Phrase("Choose from:\n\t{choices}", choices=x),
    Plural("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})", n=1, args=x),
    Plural("{value!r} is not {choice}.", "{value!r} is not one of {choices}.", n=1, value=x, choice=x, choices=x),
    Phrase("{value!r} is not a valid {number_type}.", value=x, number_type=x),
    Phrase("{value} is not in the range {range}.", value=x, range=x),
    Phrase("Option {name!r} does not take a value.", name=x),
    Plural(
        "Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments.", n=1, name=x, nargs=1
    ),
    Phrase("file"),
    Phrase("directory"),
    Phrase("path"),
    Phrase("{name} {filename!r} does not exist.", name=x, filename=x),
    Phrase("{name} {filename!r} is a file.", name=x, filename=x),
    Phrase("{name} {filename!r} is a directory.", name=x, filename=x),
    Phrase("{name} {filename!r} is not readable.", name=x, filename=x),
)
