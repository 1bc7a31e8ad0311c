"""The languages in which pages are offered, by their tags (BCP 47), and which of them a request is answered in.

They are English, and those with a file of translations. A person's choice in this browser counts first, then what a
service has asked for its pages (`ui_locales`), then the language of the account that is signed in, then what the
browser prefers (ops/decisions/0023).
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from quart.wrappers import Request
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from entrypoints.web.input.cookies import cookie_of

TRANSLATIONS: Final = Path(__file__).parents[2] / "pages" / "translations"
SOURCE: Final = "en"
TAGS: Final = (SOURCE, *sorted(file.stem for file in TRANSLATIONS.glob("*.po")))

# What a person has chosen in this browser: the tag alone, so that it says nothing about the person.
LANGUAGE_COOKIE: Final = "gatehouse_language"
LANGUAGE_COOKIE_LIFETIME: Final = timedelta(days=365)
# More than any browser sends; what follows is not read.
ACCEPT_CHARACTERS_MAX: Final = 200
# What a service asks for beyond these is not read.
LOCALES_MAX: Final = 20
# Of a longer tag the rest is not read (RFC 5646, 4.4.1).
TAG_CHARACTERS_MAX: Final = 35
_REMEMBERED_MAX: Final = 256
_BY_LOWER_CASE: Final = {tag.lower(): tag for tag in TAGS}


def preferred(request: "Request", asked_for: str | None, of_account: str | None) -> str | None:
    """Return the tag of the language for the person behind a request; None when none is known that is offered."""
    for tag in (cookie_of(request, LANGUAGE_COOKIE), asked_for, of_account):
        if tag is not None and tag in TAGS:
            return tag
    accepted = request.headers.get("Accept-Language")
    return _accepted(accepted[:ACCEPT_CHARACTERS_MAX]) if accepted else None


def asked_for(locales: str | None) -> str | None:
    """Return the tag for the value of a parameter `ui_locales`; None without one, or when none of them is offered."""
    return offered((locales or "").split()[:LOCALES_MAX])


def offered(tags: "Sequence[str]") -> str | None:
    """Return the tag of the first language that is offered; None when none of them is (RFC 4647, 3.4)."""
    return next((found for tag in tags if (found := _looked_up(tag)) is not None), None)


@lru_cache(maxsize=_REMEMBERED_MAX)
def _accepted(accepted: str) -> str | None:
    """Look up each range in the order of preference, then without its subtags (RFC 4647, 3.4)."""
    ranges: Any = parse_accept_header(accepted, LanguageAccept)
    return offered([tag for tag, quality in ranges if quality > 0])


def _looked_up(tag: str) -> str | None:
    """Return the tag itself if it is offered, else what is left of it without its last subtags."""
    rest = tag[:TAG_CHARACTERS_MAX].lower()
    while rest and rest not in _BY_LOWER_CASE:
        rest = rest.rpartition("-")[0]
    return _BY_LOWER_CASE.get(rest)
