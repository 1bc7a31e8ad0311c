"""The texts of a page that are there to be copied."""

from __future__ import annotations

import html
import re

from tests.application import Answer


def copied(page: Answer, name: str) -> str:
    """Return the value of that name, from a field or from a piece of code."""
    place = rf'id="copy-{re.escape(name)}"[^>]*>(?:<code>(.*?)</code>|([^<]*)</textarea>)'
    found = re.search(place, page.text, re.DOTALL)
    assert found is not None, name
    return html.unescape(found[2] or re.sub(r"<[^>]+>", "", found[1] or ""))
