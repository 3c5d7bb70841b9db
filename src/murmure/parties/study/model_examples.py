"""An example of every model in a study.toml, over one table of hospitals, as the entries of models have them.

`murmure study models cox` prints one, and the reference page has them all. A test runs all of them over a network,
with the columns of tests/parties/study/hospitals.py.
"""

from __future__ import annotations

from murmure.catalogue import model_functions

EXAMPLES: dict[str, tuple[str, ...]] = {name: function.study for name, function in model_functions().items()}


def examples_of(name: str) -> tuple[str, ...]:
    """The [[models]] tables of this function, as a person writes them."""
    return tuple(f'[[models]]\nmodel = "{name}"\n{text}\n' for text in EXAMPLES[name])
