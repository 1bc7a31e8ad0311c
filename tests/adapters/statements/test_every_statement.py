"""Every statement of the adapters names the organization of the tenants' rows that it reads or writes.

The rule is in `judging.py`. A statement that fails names its organization; one that rightly does not is added to
`exceptions.py` with its reason, and the numbers here say how many there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final

import pytest

from adapters.postgres.schema import distribution
from tests.adapters.statements.exceptions import BOUND_IF_GIVEN, NOT_OF_TENANTS, UNBOUND
from tests.adapters.statements.judging import unbound_tables
from tests.adapters.statements.tenants import Schema, schema
from tests.adapters.statements.texts import Sent, Unread, read
from tests.documents import MANUAL

# Lower them with each statement that is made to name its organization. They grow only with a decision.
STATEMENTS_LISTED: Final = 306
STATEMENTS_ON_LOGS: Final = 89
LOGS: Final = frozenset(distribution.LOGS)

# One condition on the organization among others: first, and further on.
_FIRST: Final = re.compile(r"(?<=WHERE )\s*(?:\w+\.)?organization_id = %(?:\(\w+\))?s\s+AND\s+")
_FURTHER: Final = re.compile(r"\s+AND\s+(?:\w+\.)?organization_id = %(?:\(\w+\))?s(?=\s|$|\))")
# They are bound in another way as well, such as by the rows that they join.
BOUND_TWICE: Final = frozenset(
    {
        "audit.analytics.BY_SERVICE",
        "audit.sign_in_counts.FIGURES_OF_ORGANIZATION",
        "billing.sandbox.PostgresSandbox.add_customer",
        "customers.people.FIND",
        "customers.people.PERSON",
        "customers.people.PostgresCustomerPeople.lock",
        "customers.people.PostgresCustomerPeople.set_roles",
        "invitations.invitations.PAGE_OF_ALL",
        "invitations.invitations.PAGE_OF_STATUS",
        "openid.token_grants.PostgresAuthorizationCodes.find_used",
        "openid.requests.PostgresAuthorizationRequests.open",
        "openid.requests.PostgresAuthorizationRequests.use",
        "organizations.deletion.PostgresDeletedOrganizations.begin",
        "organizations.departures._SESSIONS",
        "organizations.found_members.PostgresFoundMembers.page",
        "saml.requests.PostgresSamlRequests.find",
        "services.services.PostgresServices.remove",
        "sign_in.customer_choices.PostgresCustomerVisits.record",
    }
)


@pytest.fixture(scope="module")
def of_installation() -> Schema:
    return schema()


@cache
def _texts() -> tuple[list[Sent], list[Unread]]:
    return read()


@cache
def _unbound() -> list[tuple[Sent, frozenset[str]]]:
    tables = schema()
    judged = [(sent, unbound_tables(sent.text, tables)) for sent in _texts()[0]]
    return [(sent, unbound) for sent, unbound in judged if unbound]


def test_the_text_of_every_statement_is_read() -> None:
    sent, unread = _texts()

    assert unread == []
    assert len(sent) > 1_000


def test_every_statement_names_the_organization_of_tenants_rows_or_is_listed(of_installation: Schema) -> None:
    listed = {name: unbound for entries in UNBOUND.values() for name, unbound in entries.items()}
    found, wrong = Counter[str](), list[str]()
    for sent, tables in _unbound():
        if sent.source in BOUND_IF_GIVEN:
            left = unbound_tables(sent.text, of_installation, if_given=True)
        elif sent.source in listed:
            left = unbound_tables(sent.text, of_installation, excepted=listed[sent.source].tables)
        else:
            left = tables
        found[sent.source] += 1
        if left:
            wrong.append(f"{sent.source}, line {sent.line}: no organization for {', '.join(sorted(left))}")

    assert wrong == []
    expected = {**BOUND_IF_GIVEN} | {name: unbound.statements for name, unbound in listed.items()}
    assert dict(found) == expected, "the list names statements that are bound or gone, or other numbers of them"


def test_a_statement_that_loses_its_organization_is_named(of_installation: Schema) -> None:
    unbound = {(sent.source, sent.text) for sent, _ in _unbound()}
    named, not_named = set[str](), set[str]()
    for sent in _texts()[0]:
        if (sent.source, sent.text) not in unbound:
            for without in _without_organization(sent.text):
                (named if unbound_tables(without, of_installation) else not_named).add(sent.source)

    assert not_named == BOUND_TWICE
    assert len(named) > 200
    assert "invitations.invitations.PostgresInvitations.withdraw_of_role" in named


def _without_organization(text: str) -> Iterator[str]:
    """Yield a text without its only condition on the organization; in the two places where it may stand."""
    for condition, rest in ((_FIRST, ""), (_FURTHER, " ")):
        if len(condition.findall(text)) == 1:
            yield condition.sub(rest, text)


def test_the_list_of_exceptions_only_shrinks() -> None:
    assert len(_unbound()) == STATEMENTS_LISTED


def test_the_statements_on_logs_without_their_organization_only_shrink() -> None:
    assert sum(1 for _, tables in _unbound() if tables & LOGS) == STATEMENTS_ON_LOGS


def test_the_page_of_the_cluster_names_each_of_them_with_its_bound() -> None:
    page = (MANUAL / "cluster.md").read_text()
    table = page.partition("## What asks every worker\n")[2].partition("\n## ")[0]
    named = re.findall(r"`(\w+(?:\.\w+)+)`", table)

    assert sorted(named) == sorted({sent.source for sent, tables in _unbound() if tables & LOGS})


def test_no_statement_is_listed_twice() -> None:
    names = [name for entries in UNBOUND.values() for name in entries] + list(BOUND_IF_GIVEN)

    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_every_log_and_every_exception_is_a_table(of_installation: Schema) -> None:
    assert of_installation.tables.keys() >= LOGS | NOT_OF_TENANTS.keys()
