"""Internationalized domain names by the package `idna`: IDNA 2008 without the mappings of UTS 46.

Python's own codec `idna` is IDNA 2003, which sends mail for `straße.de` to `strasse.de`; nothing here may use it.
"""

from __future__ import annotations

import idna


class IdnaDomainNames:
    """The port `DomainNames`."""

    def to_ascii(self, domain: str) -> str | None:
        """Return the ASCII form of a domain; None when it has none."""
        try:
            return ".".join(_ascii_label(label) for label in domain.split("."))
        except UnicodeError:
            return None


def _ascii_label(label: str) -> str:
    in_ascii = idna.alabel(idna.ulabel(label) if label.startswith("xn--") else label).decode("ascii")
    if label.isascii() and in_ascii != label:
        raise UnicodeError("the label does not stand for itself")
    return in_ascii
