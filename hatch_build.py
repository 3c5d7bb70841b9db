"""The build compiles message catalogues, locale/*/LC_MESSAGES/murmure.po to .mo, for wheels and editable installs.

A wheel also gets the modules of the browser's client (clients/js), which a collector serves; an editable install finds
them in the checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileCatalogues(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for source in sorted(Path(self.root, "src/murmure/show/locale").glob("*/LC_MESSAGES/*.po")):
            with source.open("rb") as file:
                catalogue = read_po(file, abort_invalid=True)
            with source.with_suffix(".mo").open("wb") as file:
                write_mo(file, catalogue)
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"][str(Path(self.root, "clients/js"))] = "murmure/clients/js"
