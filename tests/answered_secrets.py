"""Finds pages that answer a form with a secret, which a reload would send again.

The client of all HTTP tests calls it with every response, so that a test which sends such a form fails.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from werkzeug.exceptions import HTTPException

from entrypoints.web.serving.application import Application
from tests.secret_watch import WATCH

if TYPE_CHECKING:
    from tests.application import Answer

# A backup code, or what is so long that it is on no page by chance; a text of other characters is no secret of ours.
_RANDOM: Final = re.compile(r"[0-9A-Z]{4}-[0-9A-Z]{4}|[A-Za-z0-9_+/=-]{11,}")
# Values that a form carries on, which its page has already had.
_CARRIED: Final = re.compile(r'<input type="hidden"[^>]*>|href="[^"]*"|action="[^"]*"')
# The value of a record to publish in the DNS, which its page shows at any time.
_PUBLISHED: Final = re.compile(r"gatehouse-[a-z-]+=[A-Za-z0-9_-]+")
# A code that its user types on another device to sign in there, shown by the button of a mailed link.
ALLOWED: Final = frozenset({"/auth/magic-link"})


def assert_answers_no_secret(application: Application, method: str, path: str, answer: Answer) -> None:
    """Fail when the answer to a form of a page has a secret to read in it."""
    if method != "POST" or not answer.headers.get("Content-Type", "").startswith("text/html"):
        return
    try:
        route, _ = application.paths.find(method, unquote(path.partition("?")[0]))
    except HTTPException:
        return
    if not route.is_page or route.path in ALLOWED:
        return
    found = secrets_to_read(answer.content.decode(errors="replace"))
    assert not found, (
        f"{route.name} answers a secret ({found[0][:4]}…): lead to a page that shows it once, by `leading_to`"
    )


def secrets_to_read(html: str) -> list[str]:
    """Return the secrets of the test that a person can read on a page, also in groups of characters."""
    text = _PUBLISHED.sub("", unescape(_CARRIED.sub("", html)))
    forms = (text, "".join(text.split()))
    return [
        secret
        for secret in WATCH.secrets
        if any(secret in form for form in forms) and _RANDOM.fullmatch(secret) is not None
    ]
