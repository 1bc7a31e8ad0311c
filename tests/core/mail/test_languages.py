"""The language of a mail: the request's where its reader has asked for the mail, else the account's."""

from __future__ import annotations

import pytest

from core.mail.languages import LanguageChoice, choose
from core.mail.mail import ASKED_FOR, BY_ORGANIZATION, MailTemplate

ADA = "ada@example.org"
# Mails that warn the owner of an account about what another person may have done.
WARNINGS = {
    MailTemplate.NEW_SIGN_IN,
    MailTemplate.PASSWORD_CHANGED,
    MailTemplate.PASSWORD_SET,
    MailTemplate.PASSKEY_ADDED,
    MailTemplate.PASSKEY_REMOVED,
    MailTemplate.MFA_ENABLED,
    MailTemplate.MFA_DISABLED,
    MailTemplate.EMAIL_CHANGE_REQUESTED,
    MailTemplate.EMAIL_CHANGED,
    MailTemplate.IDENTITY_LINKED,
    MailTemplate.ACCOUNT_CLOSED,
    MailTemplate.IMPERSONATION_STARTED,
    MailTemplate.CUSTOMER_IMPERSONATION_STARTED,
}


@pytest.mark.parametrize(
    ("of_request", "is_asked_for", "account_language", "known"),
    [
        ("de", True, None, "de"),
        ("de", True, "fr", "de"),
        (None, True, "fr", "fr"),
        (None, True, None, None),
        ("de", False, None, None),
        ("de", False, "fr", "fr"),
    ],
)
def test_what_was_asked_for_is_in_the_language_of_the_request(
    of_request: str | None, is_asked_for: bool, account_language: str | None, known: str | None
) -> None:
    choice = choose(of_request, ADA, is_asked_for=is_asked_for, account_language=account_language)

    assert choice == LanguageChoice(known=known, account_email=ADA, otherwise=of_request)


def test_no_warning_is_in_the_language_of_the_request_that_caused_it() -> None:
    assert set() == ASKED_FOR & WARNINGS


def test_no_mail_of_an_organization_has_the_language_of_its_own_request() -> None:
    assert set() == ASKED_FOR & BY_ORGANIZATION
