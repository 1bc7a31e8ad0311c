"""The search of the manual: its sections, by the words of their headings, fields and texts, and by synonyms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.pages.manual.contents import ManualPage, pages
from entrypoints.pages.manual.markdown import Section, first_paragraph, plain_text
from entrypoints.pages.manual.ranking import Ranking

FOUND_MAX: Final = 20
# Of one page, because several of its sections have the same words.
_OF_PAGE_MAX: Final = 2
_EXCERPT_CHARACTERS_MAX: Final = 180
_HEADING, _TITLE, _FIELDS, _TEXT = 6.0, 4.0, 2.0, 1.0
# What is for auditors and for emergencies stands behind what tells how to do something.
_BEHIND: Final = {"ops/docs/security/": 0.4, "ops/docs/retention": 0.4, "ops/runbooks/": 0.7}
_CODE: Final = re.compile(r"`([^`]+)`")
# What people type, and what the manual calls it. One that is found under its own name needs no line.
_SAME: Final[Sequence[Sequence[str]]] = (
    ("create", "add", "make", "new", "register"),
    ("delete", "remove"),
    ("login", "signin", "sign in"),
    ("logout", "signout", "sign out"),
    ("signup", "registration"),
    ("github", "codehost"),
    ("google", "websuite"),
    ("microsoft", "officesuite"),
    ("social", "codehost websuite"),
    ("mfa", "2fa", "totp", "second factor"),
    ("webauthn", "passkey"),
    ("idp", "identity provider", "connection"),
    ("okta", "entra", "azure", "identity provider"),
    ("sso", "single sign", "identity provider"),
    ("m2m", "client credentials", "workloads"),
    ("oidc", "openid"),
    ("jwt", "access token"),
    ("rbac", "roles"),
    ("permission", "capability"),
    ("tenant", "organization", "customer"),
    ("member", "people"),
    ("app", "application", "service"),
    ("spa", "single-page"),
    ("vue", "angular", "svelte", "single-page"),
    ("hook", "webhook"),
    ("hmac", "signature"),
    ("verify", "check", "signature"),
    ("k8s", "helm", "kubernetes"),
    ("docker", "image", "container"),
    ("smtp", "mail server"),
    ("email", "mail"),
    ("gdpr", "dsgvo", "privacy"),
    ("erase", "anonymize"),
    ("migrate", "import", "upgrade"),
    ("keycloak", "auth0", "importing accounts"),
    ("ldap", "directory", "scim"),
    ("provisioning", "scim"),
    ("splunk", "datadog", "elastic", "siem"),
    ("prometheus", "grafana", "metrics", "monitoring"),
    ("logo", "branding"),
    ("stripe", "payment provider"),
    ("price", "plan"),
    ("env", "environment", "settings"),
    ("variable", "settings"),
    ("redirect", "callback"),
    ("throttle", "rate limit"),
    ("impersonate", "act as"),
    ("rotate", "change key", "new secret"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSection:
    """A section that was found, and what it begins with."""

    page: ManualPage
    heading: str
    address: str
    excerpt: str


def found_in_manual(text: str) -> Sequence[FoundSection]:
    """Return the sections that a text finds, the best first."""
    sections, ranking = _index()
    found: list[FoundSection] = []
    of_page = Counter[str]()
    for number in ranking.ranked(text):
        page, section = sections[number]
        of_page[page.slug] += 1
        if of_page[page.slug] <= _OF_PAGE_MAX:
            found.append(_found(page, section))
        if len(found) == FOUND_MAX:
            break
    return found


@cache
def _index() -> tuple[Sequence[tuple[ManualPage, Section]], Ranking]:
    sections = [(page, section) for page in pages().values() for section in page.sections]
    return sections, Ranking((_parts(page, section) for page, section in sections), _synonyms())


def _parts(page: ManualPage, section: Section) -> Sequence[tuple[float, str]]:
    text = "\n".join(section.lines)
    factor = next((factor for folder, factor in _BEHIND.items() if page.file.startswith(folder)), 1.0)
    return (
        (factor * _HEADING, plain_text(section.heading.text)),
        (factor * _TITLE, f"{page.title} {page.slug}"),
        (factor * _FIELDS, " ".join(_CODE.findall(text))),
        (factor * _TEXT, text),
    )


def _synonyms() -> Mapping[str, Sequence[str]]:
    """Return the other names of each word that has some."""
    found: dict[str, list[str]] = {}
    for names in _SAME:
        for name in names:
            found.setdefault(name, []).extend(other for other in names if other != name)
    return found


def _found(page: ManualPage, section: Section) -> FoundSection:
    is_first = section.heading.level == 1
    return FoundSection(
        page=page,
        heading="" if is_first else plain_text(section.heading.text),
        address=page.path if is_first else f"{page.path}#{section.heading.anchor}",
        excerpt=_excerpt(page, section),
    )


def _excerpt(page: ManualPage, section: Section) -> str:
    text = " ".join(first_paragraph(section, page.resolve).striptags().split())
    if len(text) <= _EXCERPT_CHARACTERS_MAX:
        return text
    return text[:_EXCERPT_CHARACTERS_MAX].rpartition(" ")[0] + " …"
