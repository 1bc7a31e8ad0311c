"""The language of a mail: chosen when the mail is queued, so that each attempt to send it has the same text.

A mail that the person behind a request has asked for has the language of that person's page. Every other mail is for
the owner of an account, who may not be the person behind the request: a warning about a stranger must not be in the
stranger's language. It has the language of the account.
"""

from __future__ import annotations

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageChoice:
    """How to choose the language of a mail: the first known one of these four, else English.

    They are the tag `known`, the language of the account with the address `account_email`, the tag `otherwise`, and the
    language of the owner of the mail's organization.
    """

    known: str | None
    account_email: str
    otherwise: str | None


def choose(
    of_request: str | None, to: str, *, is_asked_for: bool, account_language: str | None = None
) -> LanguageChoice:
    """Return how to choose the language of a mail to an address; `of_request` is the language of the request's page.

    `account_language` is the language of the reader's account, where the account has another address.
    """
    asked = of_request if is_asked_for else None
    return LanguageChoice(known=asked or account_language, account_email=to, otherwise=of_request)
