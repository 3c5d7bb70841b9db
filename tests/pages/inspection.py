"""Everything that is asked of a page, on a desktop and on a telephone, in light and in dark colours."""

from __future__ import annotations

from tests.pages import languages
from tests.pages.browser import COLOUR_RULES, SCHEMES, SIZES, OpenPage, Scheme


class Inspection:
    """One page in all circumstances: each fault is told once, with the first circumstances in which it shows."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.faults: list[str] = []
        self._known: set[str] = set()
        self._styles: set[str] = set()

    def look(self, opened: OpenPage, language: str) -> None:
        for size in SIZES:
            for scheme in SCHEMES:
                opened.show(size, scheme)
                opened.save_picture(f"{self.name} {language} {size} {scheme}")
                found = self._axe(opened, scheme)
                if size == "telephone" and (pixels := opened.overflow()):
                    found.append(f"wider than the telephone by {pixels} pixels")
                self._tell(found, f"{language}, {size}, {scheme}: ")
        if (shown := languages.visible(opened)) != language:
            self._tell([f"the page is in {shown!r}, not in {language!r}"])
        self._tell(opened.complaints())
        self._tell([f"the id {name!r} occurs twice" for name in opened.repeated_ids()])

    def _axe(self, opened: OpenPage, scheme: Scheme) -> list[str]:
        """By all rules that may say something new: contrast takes most of axe's time, and is the same in French."""
        styles = opened.text_styles()
        new, self._styles = not styles <= self._styles, self._styles | styles
        if scheme == "light":
            return opened.serious(without=() if new else COLOUR_RULES)
        return opened.serious(only=COLOUR_RULES) if new else []

    def _tell(self, found: list[str], where: str = "") -> None:
        self.faults += [where + text for text in found if text not in self._known]
        self._known.update(found)

    def verdict(self) -> None:
        assert not self.faults, "\n".join(self.faults)
