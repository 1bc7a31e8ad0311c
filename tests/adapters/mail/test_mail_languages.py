"""Mails in the language of their reader: the catalogue has every text; values are written as the language does."""

from __future__ import annotations

import gettext
import re

import pytest
import structlog
from jinja2 import nodes

from adapters.gateways import failures
from adapters.gateways.mail_renderer import LIFETIMES, JinjaMailRenderer, MailTexts
from core.mail.mail import MailMessage, MailTemplate, RenderedMail
from core.organizations.departures import SEPARATOR, MadeCredential, MadeCredentialKind
from entrypoints.pages.frame.languages import LANGUAGES, Language
from tests.adapters.mail.texts import template_names, tree

BASE_URL = "https://id.example.com"
GERMAN = LANGUAGES["de"]
# What a reader does not see: styles, and tags but for the attributes that are read aloud.
UNSEEN = re.compile(r"<style>.*?</style>|<(?![^>]*(?:alt|title|aria-label)=\"[^\"0])[^>]*>", re.DOTALL)
WORD = re.compile(r"[^\W\d_]{2,}")
VALUES = {
    "place": "Acme",
    "token": "secret",
    "proof": "proof",
    "inviter": "bob@example.org",
    "role": "admin",
    "at": "2026-02-03 04:05 UTC",
    "ip_address": "192.0.2.1",
    "device": "Safari on iOS",
    "first_proof": "",
}


# A language that is written from right to left; its texts do not matter here.
HEBREW = Language("he", gettext.NullTranslations())


def rendered(template: MailTemplate, language: str | None, **values: str) -> RenderedMail:
    renderer = JinjaMailRenderer(base_url=BASE_URL, languages={**LANGUAGES, "he": HEBREW})
    message = MailMessage(to="ada@example.org", template=template, values=VALUES | values, language=language)
    return renderer.render(message)


def literal(name: str) -> str:
    """Return the literal parts of a template in their order, with a digit in the place of every value."""
    parts = [part for output in tree(name).find_all(nodes.Output) for part in output.nodes]
    text = "".join(part.data if isinstance(part, nodes.TemplateData) else "0" for part in parts)
    return UNSEEN.sub("", text)


def test_every_word_of_a_template_is_in_the_catalogue() -> None:
    found = {name: WORD.findall(literal(name)) for name in template_names()}

    assert {name: words for name, words in found.items() if words} == {}


def test_a_mail_in_a_language_says_so_and_has_its_texts() -> None:
    mail = rendered(MailTemplate.MAGIC_LINK, "de")

    assert (mail.subject, mail.language) == ("Anmeldung bei „Acme“", "de")
    assert '<html lang="de" dir="ltr">' in mail.html
    assert "Der Link ist 15 Minuten gültig" in mail.text
    assert "Der Link ist 15 Minuten gültig" in mail.html


@pytest.mark.parametrize("language", [None, "en", "tlh", ""])
def test_a_mail_without_a_language_that_is_offered_is_in_english(language: str | None) -> None:
    mail = rendered(MailTemplate.MAGIC_LINK, language)

    assert (mail.subject, mail.language) == ("Sign in to “Acme”", "en")
    assert '<html lang="en" dir="ltr">' in mail.html


@pytest.mark.parametrize("translation", ["%(wo)s", "100 % richtig", "%s", "%(where)d"])
def test_a_translation_with_a_mistake_leaves_its_text_in_english(translation: str) -> None:
    class Mistaken(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return translation

    texts = MailTexts(Language("fr", Mistaken()))

    with structlog.testing.capture_logs() as lines:
        shown = texts.gettext("Sign in to %(where)s", where="Acme")

    assert shown == "Sign in to Acme"
    assert [line["event"] for line in lines] == ["mail.translation_unusable"]


def test_what_lists_of_mails_show_below_the_subject_is_the_first_sentence() -> None:
    mail = rendered(MailTemplate.PASSWORD_CHANGED, "de")

    [preview] = re.findall(r'<div style="display: none;[^>]*>(.*?)</div>', mail.html)
    assert preview == "Das Passwort Ihres Kontos bei Gatehouse wurde geändert."


def test_a_language_may_be_written_from_right_to_left() -> None:
    mail = rendered(MailTemplate.NEW_SIGN_IN, "he")

    assert '<html lang="he" dir="rtl">' in mail.html
    assert "text-align: right" in mail.html
    assert "text-align: left" not in mail.html


def test_times_and_days_are_written_as_the_language_does() -> None:
    german, english = MailTexts(GERMAN), MailTexts(LANGUAGES["en"])

    assert german.moment("2026-02-03 04:05 UTC") == "3. Februar 2026, 04:05 Uhr (UTC)"
    assert german.moment("2026-02-03") == "3. Februar 2026"
    assert english.moment("2026-02-03 04:05 UTC") == "3 February 2026, 04:05 UTC"
    assert english.moment("2026-02-03") == "3 February 2026"
    assert german.moment("soon") == "soon"


def test_durations_have_the_plural_of_the_language() -> None:
    german = MailTexts(GERMAN)

    assert {german.duration(lifetime) for lifetime in LIFETIMES.values()} == {
        "1 Stunde",
        "15 Minuten",
        "24 Stunden",
        "30 Tage",
        "7 Tage",
    }


def test_names_that_people_gave_are_not_translated() -> None:
    german = MailTexts(GERMAN)

    assert german.device_name("Safari on iOS") == "Safari unter iOS"
    assert german.device_name("Unknown device") == "Unbekanntes Gerät"
    assert german.device_name("Time") == "Time"
    assert (german.role_name("owner"), german.role_name("Time")) == ("Eigentümer", "Time")
    assert (german.named("place", "a service"), german.named("place", "Time")) == ("ein Dienst", "Time")
    assert german.named("account", "a service") == "a service"


def test_credentials_that_members_left_are_listed_in_the_language() -> None:
    made = [
        str(MadeCredential(kind=kind, label="x1", maker_email="ada@example.org"))
        for kind in (MadeCredentialKind.API_KEY, MadeCredentialKind.CONNECTION)
    ]

    assert MailTexts(GERMAN).credentials_left(SEPARATOR.join([*made, "and 2 more", "?"])) == [
        "API-Schlüssel x1, angelegt von ada@example.org",
        "Verbindung x1, angelegt von ada@example.org",
        "und 2 weitere",
        "?",
    ]


@pytest.mark.parametrize(
    ("reason", "german"),
    [
        ("The mail server did not answer in time.", "Der Mailserver hat nicht rechtzeitig geantwortet."),
        ("The mail server answered 550 5.7.1 Go %(away)s", "Der Mailserver hat geantwortet: 550 5.7.1 Go %(away)s"),
        ("The mail server refused the login (535).", "Der Mailserver hat die Anmeldung abgelehnt (535)."),
        ("Something else.", "Something else."),
    ],
)
def test_why_a_mail_server_takes_no_mail_is_said_in_the_language(reason: str, german: str) -> None:
    assert MailTexts(GERMAN).reason(reason) == german


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, ""), TimeoutError(), OSError(113, ""), OSError("")])
def test_every_reason_of_a_connection_is_translated(error: OSError) -> None:
    reason = failures.reason_of(error, failures.MAIL_SERVER)

    translated = MailTexts(GERMAN).reason(reason)

    assert translated.startswith("Der Mailserver ist nicht erreichbar: ")
