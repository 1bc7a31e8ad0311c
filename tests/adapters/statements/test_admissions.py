"""What vendors have for their customers is left out by everything that reads by a person, a domain or a slug.

An internal organization has its memberships, mail domains and connections like any other one, so what names the
organization needs nothing more. What does not name it, by the rule of `judging.py`, has one of the parts of
`adapters/postgres/admissions.py` for each table, or stands here with the reason why an admission counts there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from adapters.postgres.admissions import IS_MEMBERSHIP, IS_SHOWN
from tests.adapters.statements.judging import unbound_tables
from tests.adapters.statements.tenants import schema
from tests.adapters.statements.texts import Sent, read

# Conditions that leave out what vendors have for their customers, by the table that is read without its organization.
# A statement that names a customer record instead reads what it admits.
LEAVES_OUT: Final = {
    "memberships": (IS_MEMBERSHIP, "made_for = c.id", "c.id = x.made_for", "c.id = cm.made_for"),
    "domain_routes": (IS_MEMBERSHIP,),
    "organizations": (IS_SHOWN,),
}
_BY_SLUG: Final = re.compile(r"\bslug = (?:%|coalesce\(\(SELECT slug FROM kept)")
_HANGS: Final = "what a vendor gave hangs on the address, and moves and ends with it like a membership"
_ROLE: Final = "an internal organization has no owner and no other manager"
COUNTS: Final[Mapping[str, Mapping[str, str]]] = {
    "memberships": {
        "accounts.account_splits._ALL_KNOWN_IDS": _HANGS,
        "accounts.account_splits._ALL_MEMBERSHIPS": _HANGS,
        "organizations.departures.PostgresDepartures.unconfirm": _HANGS,
        "organizations.members.PostgresMembers.all_organizations_of": _HANGS,
        "organizations.members.PostgresMembers.of_account": "its use cases ask for the role, or end what hangs on it",
        "organizations.members.PostgresMembers.unconfirmed_organizations_of": _HANGS,
        "organizations.takeovers.PostgresTakeovers.confirmed_roles": "an undo leaves what was there before",
        "organizations.departures._LINKS_SINCE": "the membership of the organization of a link",
        "organizations.departures._UNCONFIRMED_LINKS": "the membership of the organization of a link",
        "organizations.group_rules.PostgresGroupRules.ruled_by_connections": "a role by a rule, which none of them has",
        "organizations.keys.CALLERS": _ROLE,
        "platform.doctor.CANDIDATES": "of makers, who act for an organization that people see",
        "platform.organization_records.PostgresOrganizationRecords.page": _ROLE,
        "platform.organization_records._WAITING": _ROLE,
        "platform.organizations.PAGE": _ROLE,
        "platform.unproved_accounts.DELETE": "an account to which a vendor has given something is kept",
        "platform.unproved_accounts._KEEP": "an account to which a vendor has given something is kept",
        "privacy.anonymization.PostgresAnonymization.replace_addresses": "nothing of the person stays anywhere",
        "privacy.export.PostgresPrivacyExport.organizations_owned_by": _ROLE,
        "saml.certificates.CLAIM_ENDING": _ROLE,
        "sign_in.places.PostgresSignInPlaces.defer_of_client": "the membership of the organization of a service",
        "sign_in.upstream.connections.connection_keys.CLAIM_ENDING": _ROLE,
        "sign_in.upstream.connections.connections.CLAIM_ENDING": _ROLE,
    },
    "domain_routes": {
        "organizations.domain_proofs.DomainClaims._claim_checks": "each claim is checked, whoever has it",
        "organizations.domain_proofs.DomainClaims._save_proof": "says which claims are exclusive",
        "sign_in.upstream.domains.domain_routes.PostgresDomainRoutes.proved_for_customers": "finds those of vendors",
    },
    "organizations": {
        "privacy.anonymization.PostgresAnonymization._replace_names": "nothing of the person stays anywhere",
        "privacy.anonymization.PostgresAnonymization.replace_addresses": "nothing of the person stays anywhere",
        "sign_in.own_account._SUPPORT": "names the place of a session, which is never internal",
        "organizations.deletion.LOCK_NEXT": "those that their owners have deleted",
    },
}
BY_SLUG: Final[Mapping[str, str]] = {
    "customers.customers.PostgresServiceCustomers.offer": "the text is one that a slug may be, which theirs is not",
    "customers.customers.PostgresServiceCustomers.taken": "the organization of a customer is never internal",
    "customers.found_customers.NAMED": "the organization of a customer is never internal",
    "organizations.deletion._LOCK_RESTORABLE": "those that the owner has deleted",
    "customers.claiming._SETTLE": "the slug of the organization of a customer, which is never internal",
    "organizations.organizations.PostgresOrganizations.add": "the slug of a new one",
    "platform.explained_customers.FIND": "the organization of a customer is never internal",
    "saml.configurations.PROVIDER_BY_SLUGS": "of a service, which an internal organization has not",
    "sign_in.upstream.domains.domain_routes._MADE": "the vendor of the service",
    "sign_in.upstream.domains.domain_routes.PostgresDomainRoutes.is_of_customer": "a customer is not one",
}


@cache
def _texts() -> list[Sent]:
    return read()[0]


def _reading(table: str) -> Iterator[Sent]:
    """Yield the statements that read a table without naming the organization of its rows."""
    of_installation = schema()
    for sent in _texts():
        unbound = unbound_tables(sent.text, of_installation) if table in sent.text else frozenset[str]()
        # Organizations are read beside what they have, and listed alone.
        if table in unbound and (table != "organizations" or unbound == {table}):
            yield sent


def _missing(table: str) -> set[str]:
    return {sent.source for sent in _reading(table) if not any(part in sent.text for part in LEAVES_OUT[table])}


def test_a_statement_that_reads_without_the_organization_leaves_out_what_vendors_have_for_customers() -> None:
    for table, reasons in COUNTS.items():
        assert _missing(table) == set(reasons), table


def test_an_organization_is_found_by_its_slug_only_if_people_see_it() -> None:
    by_slug = {
        sent.source
        for sent in _texts()
        if "organizations" in sent.text and _BY_SLUG.search(sent.text) and IS_SHOWN not in sent.text
    }

    assert by_slug == set(BY_SLUG)
