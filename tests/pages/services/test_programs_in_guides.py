"""The guides of the manual contain the programs that the page of a service shows, with examples as its values."""

from __future__ import annotations

import re

import pytest

from entrypoints.pages.services.snippets import example
from tests.documents import ROOT

# By the guide, and the file that it says to write.
PROGRAMS = {
    ("express", "app.mjs"): "express.mjs.txt",
    ("fastapi", "app.py"): "fastapi.py.txt",
    ("flask", "app.py"): "flask.py.txt",
    ("django", "app.py"): "django.py.txt",
    ("single-page", "app.mjs"): "single_page.mjs.txt",
    ("nextjs", "gatehouse.js"): "nextjs.js.txt",
}
GUIDES = ROOT / "ops" / "docs" / "guides"
# Its reader opens no console: the kit makes everything.
WITHOUT_CONSOLE = {"testing"}


@pytest.mark.parametrize(("guide", "file"), PROGRAMS)
def test_a_guide_has_the_program_of_the_page(guide: str, file: str) -> None:
    text = (GUIDES / f"{guide}.md").read_text("utf-8")

    [program] = re.findall(rf"`{re.escape(file)}`:\n\n```\w+\n(.*?)\n```\n", text, re.DOTALL)

    assert program == example(PROGRAMS[guide, file])


@pytest.mark.parametrize("guide", sorted(path.stem for path in GUIDES.glob("*.md") if path.stem not in WITHOUT_CONSOLE))
def test_a_guide_names_approval_and_the_three_services_before_its_reader_meets_them(guide: str) -> None:
    text = (GUIDES / f"{guide}.md").read_text("utf-8")

    before, _, _ = text.partition("```")
    begins = [before.find(words) for words in ("GATEHOUSE_AUTO_APPROVE=on", "three services", "make a service")]
    assert begins[0] > 0
    assert begins[1] > 0
    assert begins[2] < 0 or max(begins[:2]) < begins[2]
    assert "(../getting-started.md#an-organization-of-your-own)" in before
