"""Every mail as a mail program shows it: accessible, no wider than a phone, in light and in dark, in every language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.mail.mail import MailMessage, MailTemplate
from entrypoints.pages.frame.languages import LANGUAGES
from tests import axe
from tests.adapters.mail.test_renderer import names_in
from tests.application import mail_renderer
from tests.browser import Watched

PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "color_scheme": "light"}
WIDE: dict[str, Any] = {"viewport": {"width": 700, "height": 900}, "color_scheme": "dark"}
LONG = "2001:db8:85a3:8d3:1319:8a2e:370:7348-3f0e9d1c1c7e4a539d5b6d6a1c7f2b11"
VALUES = {"at": "2026-02-03 04:05 UTC", "until": "2026-02-17 04:05 UTC", "role": "admin"}


def page_of(template: MailTemplate, language: str) -> str:
    """Return the HTML part of a mail with long values."""
    values = dict.fromkeys(names_in(template), LONG)
    values |= {name: value for name, value in VALUES.items() if name in values}
    message = MailMessage(to="ada@example.org", template=template, values=values, language=language)
    return mail_renderer("https://id.example.com").render(message).html


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone, light", "wide, dark"])
def test_every_mail_is_accessible_and_fits(
    watch: Callable[..., Watched], options: dict[str, Any], language: str
) -> None:
    watched = watch(**options)
    width = options["viewport"]["width"]

    found: dict[str, list[str]] = {}
    for template in MailTemplate:
        watched.page.set_content(page_of(template, language))
        found[template] = axe.violations(watched.page)
        if watched.page.evaluate("document.documentElement.scrollWidth") > width:
            found[template].append("wider than the screen")

    assert {template: violations for template, violations in found.items() if violations} == {}
    assert watched.problems == []
    assert watched.requests == []
