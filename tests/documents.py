"""The documents of the repository, and what tests read in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
README: Final = ROOT / "README.md"
CONTRIBUTING: Final = ROOT / "CONTRIBUTING.md"
CHANGELOG: Final = ROOT / "CHANGELOG.md"
MANUAL: Final = ROOT / "ops" / "docs"
SECURITY: Final = ROOT / "SECURITY.md"
PAGES: Final = sorted([*MANUAL.glob("*.md"), *MANUAL.glob("security/*.md")])
RUNBOOKS: Final = sorted((ROOT / "ops" / "runbooks").glob("*.md"))
DECISIONS: Final = sorted((ROOT / "ops" / "decisions").glob("*.md"))
DOCUMENTS: Final = (README, CONTRIBUTING, CHANGELOG, SECURITY, *PAGES, *RUNBOOKS, *DECISIONS)
_FENCED: Final = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def block(document: Path, language: str, section: str | None = None) -> str:
    """Return the one code block in that language, of a document or of a section of it."""
    text = document.read_text()
    if section is not None:
        [text] = re.findall(rf"^## {section}$(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return found


def prose(document: Path) -> str:
    """Return a document without its code blocks."""
    return _FENCED.sub("", document.read_text())


def links(document: Path) -> list[str]:
    """Return the targets of a document's links to other files and to its own sections."""
    return re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(document))


def anchors(document: Path) -> list[str]:
    """Return the anchors of a document's headings, as GitHub derives them."""
    headings = re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE)
    return [anchor(heading) for heading in headings]


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub derives it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
