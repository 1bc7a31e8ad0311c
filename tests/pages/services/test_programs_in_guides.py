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


@pytest.mark.parametrize(("guide", "file"), PROGRAMS)
def test_a_guide_has_the_program_of_the_page(guide: str, file: str) -> None:
    text = (ROOT / "ops" / "docs" / "guides" / f"{guide}.md").read_text("utf-8")

    [program] = re.findall(rf"`{re.escape(file)}`:\n\n```\w+\n(.*?)\n```\n", text, re.DOTALL)

    assert program == example(PROGRAMS[guide, file])
