"""The table of made things names every table with a maker, every operation that lasts, and every made credential."""

from __future__ import annotations

import re
from pathlib import Path

from core.accounts import email_change_undo, locks
from core.endings import ENDED_BY, Cause, Issued
from core.made_things import ACTS_OF_CREDENTIALS, MadeKind, MakerEvent, Outcome
from core.organizations.access import Operation
from core.organizations.departures import MadeCredentialKind

SCHEMA = Path(__file__).resolve().parents[2] / "ops/schema.sql"
# Columns that name the maker of a row, or the person who allowed it.
MAKERS = re.compile(r"^    (\w*(?:made|created|invited|granted|set|added)_by|maker_id) uuid", re.MULTILINE)
TABLES = re.compile(r"^CREATE TABLE (\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)


def test_every_table_with_a_maker_is_of_a_kind() -> None:
    stored = {
        (table, column)
        for table, columns in TABLES.findall(SCHEMA.read_text("utf-8"))
        for column in MAKERS.findall(columns)
    }
    named = [(table, column) for kind in MadeKind for table, column in kind.makers.items()]

    assert sorted(named) == sorted(stored), "say in core/made_things.py what becomes of it with its maker"


def test_every_operation_that_lasts_is_of_one_kind() -> None:
    lasting = [one for one in Operation if one.may_outlast_impersonation]
    named = [operation for kind in MadeKind for operation in kind.operations]

    assert sorted(named, key=str) == sorted(lasting, key=str), "say in core/made_things.py what an undo does with it"


def test_every_made_credential_is_a_kind_whose_acts_are_named() -> None:
    credentials = {MadeKind[one.name] for one in MadeCredentialKind}
    credentials |= {MadeKind.ORGANIZATION_KEY, MadeKind.SETUP_LINK}

    assert set(ACTS_OF_CREDENTIALS) == credentials


def test_everything_is_taken_back_by_an_undo_or_listed() -> None:
    taken_back = {
        kind for kind in MadeKind if kind.becomes(MakerEvent.UNDO) in {Outcome.ENDS, Outcome.OFF, Outcome.FALLS_BACK}
    }

    assert {kind for kind in MadeKind if kind.becomes(MakerEvent.UNDO) is not Outcome.LISTED} == taken_back
    by_undo = set(vars(email_change_undo)["_TAKES_BACK"])
    assert by_undo | email_change_undo.TAKEN_BACK_ELSEWHERE == taken_back
    assert by_undo.isdisjoint(email_change_undo.TAKEN_BACK_ELSEWHERE)


def test_what_a_lock_ends_has_what_ends_it() -> None:
    ended = {kind for kind in MadeKind if kind.becomes(MakerEvent.LOCK) is Outcome.ENDS}

    assert set(vars(locks)["_ENDS"]) | locks.ENDED_WITH_SESSIONS == ended
    assert {MadeKind.INVITATION, MadeKind.SETUP_LINK, MadeKind.ORGANIZATION_KEY} < ended


def test_what_ends_what_is_taken_from_the_table() -> None:
    assert {Issued.SENT_INVITATION, Issued.SETUP_LINK, Issued.ORGANIZATION_KEY} <= ENDED_BY[Cause.LOCK]
    assert not {Issued.API_KEY, Issued.SCIM_TOKEN, Issued.WORKLOAD} & ENDED_BY[Cause.LOCK]
