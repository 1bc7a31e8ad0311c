"""Every page as the people of a hostile world see it: through its handler, in every language, with every value escaped.

The crawl (`crawl/`) follows the links of pages, fills in their forms, and takes the ways that no link leads to.

A new template is reached by this crawl: through the real handlers it is shown in every language, and
`test_every_page_in_a_browser.py` judges it by axe-core on a phone and on a wide screen.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import pytest
from markupsafe import escape

from core.events.actions import AuditAction, PlatformAction
from core.events.events import EventType
from core.platform_brand import NAME_DEFAULT
from core.sign_in.reasons import SignInReason
from entrypoints.pages.frame.assets import asset_address
from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.pages.frame.rendering import TEMPLATES, render
from tests.pages.crawl.crawled import PLATFORM
from tests.pages.crawl.recording import Recorder, Shown, members_in, page_routes, telling, texts_of
from tests.pages.read_texts import texts_read_badly

# The reference and the manual have tests of their own, and are in English.
IN_ENGLISH: Final = ("manual/", "reference/")
# They describe the settings of the product, which have its name.
FOR_OPERATORS: Final = {"platform/system.html", "platform/system_settings.html"}
# Parts of pages: for the scripts of these, or put into another one.
PARTS: Final = {
    "audit/browser_feed.html",
    "console/found_options.html",
    "organizations/settings/branding_preview_notes.html",
    "services/first_sign_ins.html",
}
# Members of enumerations that no page gets, although it gets others of theirs; with the reason.
UNSEEN: Final = {
    "AccountLimit": {"NOT_CONFIRMED"},  # whose address is not confirmed comes by a vendor's connection, which says more
    "AuthMethod": {"PASSWORD"},  # a page gets a connection, or nothing
    "LinkOrigin": {"KEY"},  # a link by a key takes the backend of a service
    "ListedMailState": {"SENT"},  # mails that were sent are not counted
    "MailState": {"DISCARDED"},  # such a mail is in no list
    "AttentionKind": {"SIEM_LAGGING", "SIEM_OFF", "WEBHOOK_RETRYING"},  # the one receiver fails, and the webhook loses
    "Provider": {"PASSWORD", "PASSKEY", "MAGIC_LINK", "SAML"},  # they have no account elsewhere to link
    "RequiredStanding": {"MEMBER"},  # every member has it, so no page says that it is missing
    "Rule": {"SEAT"},  # no end user comes to the organization whose seats are used
    "SamlBinding": {"REDIRECT"},  # such a message goes by a redirect, and not by a page
    "SiemProvider": {"DATADOG", "ELASTIC"},  # an organization has one receiver of its log
    "SiemStatus": {"DISABLED"},
    # Each takes another connection, or a trial by the holder of a setup link.
    "TrialVerdict": {
        "ACCEPTED",
        "FOREIGN_DOMAIN",
        "NO_ADDRESS",
        "NOT_AN_ADDRESS",
        "NOT_ADMITTED",
        "ORGANIZATION_FULL",
        "TO_LINK",
        "USER",
    },
    "TlsMode": {"TLS"},  # likewise one mail server
}
# Pages at addresses that another system makes, which answer here with a redirect or a refusal at most, and pages that
# take a token. The tests of their walks open them.
NOT_OPENED: Final = re.compile(
    r"GET /(?:docs/.*|auth/(?:codehost|websuite|officesuite|upstream|userinfo|authorize/continue).*|saml/.*/slo)"
    r"|GET /(?:\.well-known/change-password|app/(?:platform/audit/feed|account/confirm-address.*|register/sign-in))"
    r"|GET /app/(?:sign-in/(?:password|passkey|link|code)|second-factor/confirm)"
    r"|GET /downloads/.*|GET .*(?:\.csv|\.jsonl|\.json|\.pem|llms\.txt)"
)


def test_every_template_is_a_part_of_a_page_that_was_seen(crawled: Recorder) -> None:
    templates = {name for name in TEMPLATES.list_templates(extensions=["html"]) if not name.startswith(IN_ENGLISH)}

    # Where one is missing, lead the crawl there: by a row of the hostile world, or by a way (`crawl/ways.py`).
    assert templates - crawled.used == set()


def test_every_page_was_opened_and_none_failed(crawled: Recorder) -> None:
    routes = {route.name for _, route in page_routes() if route.method == "GET"} - crawled.reached

    assert [name for name in sorted(routes) if not NOT_OPENED.fullmatch(name)] == []
    assert crawled.failures == []


def test_every_state_that_a_page_knows_was_seen(crawled: Recorder) -> None:
    seen = members_in(value for page in crawled.shown for value in page.values.values())

    unseen = {kind.__name__: {member.name for member in kind} - names for kind, names in seen.items()}

    assert {name: members for name, members in unseen.items() if members} == UNSEEN


@pytest.mark.parametrize(
    ("field", "template", "every"),
    [
        ("action", "audit/audit_log.html", AuditAction),
        ("action", "platform/audit_log.html", PlatformAction),
        ("event_type", "webhooks/deliveries.html", EventType),
        ("reason", "audit/sign_in_log_platform.html", SignInReason),
        ("reason", "sign_in/sign_ins.html", SignInReason),
    ],
)
def test_every_kind_that_a_row_names_by_a_text_was_seen(
    crawled: Recorder, field: str, template: str, every: type[StrEnum]
) -> None:
    pages = [page for page in crawled.shown if page.template == template]

    seen = texts_of(field, (value for page in pages for value in page.values.values()))

    assert {one.value for one in every} - seen == set()


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_page_is_in_every_language_and_escapes_every_value(crawled: Recorder, tag: str) -> None:
    found: dict[str, list[str]] = {}
    for page in telling(crawled.shown):
        html = page.html if tag == "en" else render(page.template, LANGUAGES[tag], **page.values)
        found[page.name] = [
            *([] if f'<html lang="{tag}"' in html or not html.startswith("<!doctype") else ["another language"]),
            *re.findall(r".{40}<(?:b|script)>.{40}", html, re.DOTALL),
            *texts_read_badly(html),
            *([NAME_DEFAULT] if NAME_DEFAULT in html and page.template not in FOR_OPERATORS else []),
        ]

    assert {name: problems for name, problems in found.items() if problems} == {}


def test_every_page_of_the_console_loads_its_keys(crawled: Recorder) -> None:
    of_console = [page for page in crawled.shown if '<dialog class="keys"' in page.html]

    assert {"audit/audit_log.html", "platform/audit_log.html"} <= {page.template for page in of_console}
    assert [page.name for page in of_console if f'<script src="{asset_address("keys.js")}"' not in page.html] == []


def test_no_page_names_the_product_when_the_platform_has_another_name(crawled: Recorder) -> None:
    found = {page.template for page in crawled.shown if NAME_DEFAULT in page.html} - FOR_OPERATORS

    assert found == set()
    assert [page.name for page in crawled.shown if not is_titled(page)] == []


def is_titled(page: Shown) -> bool:
    """Return whether a page has the name of the platform in its title, or is only a part of a page."""
    return f"{escape(PLATFORM.name)}</title>" in page.html or page.template in PARTS


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>No sign-in yet.Sign-ins have failed.</p>", ["No sign-in yet.Sign-ins have failed."]),
        ("<p><a>Hide</a>the rest</p>", ["Hide|the rest"]),
        ("<p>Read <code>name</code>first</p>", ["Read x|first"]),
        ('<p><a aria-label="Refused: 3">3</a></p>', ["a label beside its text: Refused: 3"]),
        ("<ul><li>One.</li><li>Two.</li></ul><p>Three: <b>four</b>, (<i>five</i>)</p>", []),
        ('<p>ann@a.example<span class="beneath">Ann</span> <svg aria-hidden="true"></svg>v1.2</p>', []),
    ],
)
def test_texts_that_run_together_or_are_read_twice_are_found(html: str, found: list[str]) -> None:
    assert texts_read_badly(html) == found
