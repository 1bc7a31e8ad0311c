"""Texts of a page as they are read: those that run together, and those that are read twice.

Text runs together where two words, or the end of a sentence and the next one, have nothing between them and stand in
one block. A line break of a template is none where its line ends with a tag (`trim_blocks`).
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

# Elements inside of a line. The start and the end of every other one part what stands before and behind it.
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "code", "del", "em", "i", "ins", "kbd", "small", "span", "strong", "time"}
)
# Styled as blocks, or set apart by their style.
_APART: Final = frozenset({"badge", "beneath", "brand-logo", "button", "line", "mark", "provider-mark"})
# What is no sentence of ours; the place of each counts as a word.
_LEFT_OUT: Final = frozenset({"code", "pre", "script", "style", "svg", "textarea", "title"})
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "path", "source", "wbr"})
_SENTENCES: Final = re.compile(r"[a-zäöüß)\d][.!?:;,][A-ZÄÖÜ][a-zäöüß]")
_ENDS_WORD: Final = re.compile(r"[\w.,;:!?)]\Z")
_BEGINS_WORD: Final = re.compile(r"[\w(]")


class _Reader(HTMLParser):
    """Reads the elements of a page; `found` are the places where texts run together or are read twice."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._line = ""
        self._is_boundary = False
        # The elements that are open: each with whether it is inside of a line, and whether it is read.
        self._open: list[tuple[str, bool, bool]] = []
        # The links and buttons with a label that are open: their depth, their label and their text.
        self._labelled: list[tuple[int, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        is_inline = tag in _INLINE and not _APART & set((of.get("class") or "").split())
        self._cross(tag, is_inline=is_inline)
        if tag in _VOID:
            return
        self._open.append((tag, is_inline, tag not in _LEFT_OUT))
        if tag in ("a", "button") and of.get("aria-label"):
            self._labelled.append((len(self._open), of["aria-label"] or "", ""))

    def handle_endtag(self, tag: str) -> None:
        while any(name == tag for name, _, _ in self._open):
            if self._labelled and self._labelled[-1][0] == len(self._open):
                _, label, text = self._labelled.pop()
                if text.strip() and text.strip() in label:
                    self.found.append(f"a label beside its text: {label}")
            name, is_inline, _ = self._open.pop()
            self._cross(name, is_inline=is_inline)
            if name == tag:
                break

    def handle_data(self, data: str) -> None:
        if not all(is_read for _, _, is_read in self._open):
            data = "x" if data.strip() else ""
        if self._is_boundary and _ENDS_WORD.search(self._line) and _BEGINS_WORD.match(data):
            self.found.append(f"{self._line[-40:]}|{data[:40]}")
        self._is_boundary = False
        self._line += data
        self._labelled = [(depth, label, text + data) for depth, label, text in self._labelled]

    def end_line(self) -> None:
        """Judge the line that ends here."""
        self.found += [self._line[max(one.start() - 30, 0) : one.end() + 30] for one in _SENTENCES.finditer(self._line)]
        self._line, self._is_boundary = "", False

    def _cross(self, tag: str, *, is_inline: bool) -> None:
        if is_inline:
            # The words of a program have spans of their own.
            self._is_boundary = self._is_boundary or all(is_read for _, _, is_read in self._open)
        elif tag != "wbr":
            self.end_line()


def texts_read_badly(html: str) -> list[str]:
    """Return the places of a page where texts run together or are read twice."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_line()
    return reader.found
