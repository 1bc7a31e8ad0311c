"""Texts with values: finished English, which remembers how it was composed, so that a page says it in another language.

A refusal's message and the problem of a field are such texts where they name a limit, a word or a time:

    BadRequest.of_field("name", Wording("A name has at most %(maximum)s characters.", maximum=NAME_CHARACTERS_MAX))

Programs read the English text. Pages translate the template and write its values as the language does
(`entrypoints/pages/frame/languages.py`). A text without values is an ordinary one, which is translated as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self


class Wording(str):
    """A text in English with its template, in which a value is written as `%(name)s`, and the values.

    A value may be a wording itself, a member of an enumeration that a page knows by name, a number, or a date.
    """

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """Return the finished text."""
        text = super().__new__(cls, template % values)
        text.template = template
        text.values = values
        return text

    @staticmethod
    def of(error: BaseException) -> str:
        """Return the text of an error as it was raised: `str` would make an ordinary text of a wording."""
        return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


class Grouped(int):
    """A number whose thousands are set apart in a text: 10,000 in English."""

    def __str__(self) -> str:
        """Return the number as English writes it."""
        return f"{int(self):,}"
