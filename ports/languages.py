"""The languages in which people read pages and mails: the texts of both are in one catalogue for each language."""

from datetime import date
from gettext import NullTranslations
from typing import Protocol


class TextLanguage(Protocol):
    """A language with the translations of the texts, which are written in English where they are used."""

    @property
    def tag(self) -> str:
        """The tag of the language (BCP 47)."""
        ...

    @property
    def direction(self) -> str:
        """The direction of its script, as HTML names it: `ltr` or `rtl`."""
        ...

    @property
    def translations(self) -> NullTranslations:
        """The translations of the texts; a text without one stays English."""
        ...

    def known(self, english: str) -> str:
        """Return the translation of a finished text; English when there is none."""
        ...

    def recognized(self, stored: str) -> str:
        """Return the translation of a sentence of which only the finished English was stored, else the sentence."""
        ...

    def day(self, time: date) -> str:
        """Return a date as the language writes it."""
        ...
