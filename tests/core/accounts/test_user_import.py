"""Parsing the lines of an import file."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.domain_names import IdnaDomainNames
from core.accounts import user_import
from core.accounts.user_import import HashTooExpensive, ImportedPerson, LineRejected, Problem
from tests.shown_text import shows

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LINE = {
    "email": "ada@example.com",
    "hash": "known",
    "verified": True,
    "created_at": "2020-02-29T10:00:00+02:00",
}


def stored_form(given: object) -> str | None:
    if given == "expensive":
        raise HashTooExpensive
    return {"known": "stored"}.get(given) if isinstance(given, str) else None


def read(line: bytes) -> ImportedPerson:
    return user_import.read(line, stored_form, IdnaDomainNames().to_ascii, now=NOW)


def problem_of(line: bytes) -> Problem:
    with pytest.raises(LineRejected) as rejected:
        read(line)
    return rejected.value.problem


def test_a_line_with_all_fields_is_an_account() -> None:
    assert read(json.dumps(LINE).encode()) == ImportedPerson(
        email="ada@example.com",
        password_hash="stored",
        is_verified=True,
        created_at=datetime(2020, 2, 29, 8, tzinfo=UTC),
    )


def test_an_address_and_a_hash_are_sufficient() -> None:
    person = read(b'{"email": " ADA@Example.com ", "hash": null}')

    assert person == ImportedPerson(email="ada@example.com", password_hash=None, is_verified=False, created_at=NOW)


@pytest.mark.parametrize(
    ("fields", "is_blocked"), [({}, False), ({"blocked": False}, False), ({"blocked": True}, True)]
)
def test_who_was_blocked_stays_blocked(fields: dict[str, bool], is_blocked: bool) -> None:
    assert read(json.dumps(LINE | fields).encode()).is_blocked is is_blocked


@pytest.mark.parametrize("given", [None, "true", 1])
def test_a_line_that_does_not_say_clearly_who_is_blocked_is_left_out(given: object) -> None:
    assert problem_of(json.dumps(LINE | {"blocked": given}).encode()) is Problem.BAD_BLOCKED


def test_other_fields_and_a_byte_order_mark_are_ignored() -> None:
    assert read(b'\xef\xbb\xbf{"email": "ada@example.com", "hash": "known", "name": {"first": "Ada"}}\r\n')


@pytest.mark.parametrize(
    ("name", "kept"),
    [(" Ada ", "Ada"), (None, None), ("", None), (["Ada"], None), ("ada.example.com", None), ("\ud800", None)],
)
def test_a_name_that_is_not_accepted_is_left_out_and_not_the_account(name: object, kept: str | None) -> None:
    line = json.dumps({"email": "ada@example.com", "hash": None, "name": name}).encode()

    assert read(line).name == kept


def test_the_repr_of_an_account_hides_its_hash() -> None:
    assert not shows(repr(read(json.dumps(LINE).encode())), "stored")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"ada@example.com;hash", Problem.NOT_JSON),
        (b'{"email": "ada@example.com"', Problem.NOT_JSON),
        (b'["ada@example.com"]', Problem.NOT_JSON),
        (b'{"email": "\xff"}', Problem.NOT_JSON),
        (b'{"email": ' + b"[" * 10_000, Problem.NOT_JSON),
        (b'{"email": ' + b"1" * 10_000 + b"}", Problem.NOT_JSON),
        (b'{"hash": "known"}', Problem.NO_EMAIL),
        (b'{"email": null, "hash": "known"}', Problem.NO_EMAIL),
        (b'{"email": "", "hash": "known"}', Problem.NO_EMAIL),
        (b'{"email": 7, "hash": "known"}', Problem.INVALID_EMAIL),
        (b'{"email": "ada", "hash": "known"}', Problem.INVALID_EMAIL),
        (b'{"email": "ada\\u0000@example.com", "hash": "known"}', Problem.INVALID_EMAIL),
        (b'{"email": "ada\\ud800@example.com", "hash": "known"}', Problem.INVALID_EMAIL),
        (b'{"email": "ada@example.com", "password_hash": "known"}', Problem.NO_HASH),
        (b'{"email": "ada@example.com", "hash": "other"}', Problem.UNKNOWN_HASH),
        (b'{"email": "ada@example.com", "hash": 7}', Problem.UNKNOWN_HASH),
    ],
)
def test_a_line_without_a_usable_address_and_hash_is_rejected(line: bytes, problem: Problem) -> None:
    assert problem_of(line) is problem


@pytest.mark.parametrize("verified", [None, 1, "true"])
def test_verified_must_be_a_boolean(verified: object) -> None:
    assert problem_of(json.dumps(LINE | {"verified": verified}).encode()) is Problem.BAD_VERIFIED


@pytest.mark.parametrize(
    "created_at",
    [
        "yesterday",
        "",
        1_700_000_000,
        "2020-02-30T10:00:00Z",
        "2020-02-29T10:00:00",
        "1969-12-31T23:59:59Z",
        "0001-01-01T00:00:00+23:00",
        "9999-12-31T23:59:59-23:00",
        (NOW + timedelta(seconds=1)).isoformat(),
    ],
)
def test_a_creation_time_must_be_past_and_have_a_zone(created_at: object) -> None:
    assert problem_of(json.dumps(LINE | {"created_at": created_at}).encode()) is Problem.BAD_TIME


@given(st.one_of(st.binary(), st.recursive(st.none() | st.text(), lambda inner: st.dictionaries(st.text(), inner))))
def test_any_line_is_parsed_or_rejected(line: object) -> None:
    with suppress(LineRejected):
        read(line if isinstance(line, bytes) else json.dumps(line).encode())


def test_a_hash_that_is_too_expensive_is_left_out_with_what_to_do() -> None:
    problem = problem_of(b'{"email": "ada@example.com", "hash": "expensive"}')

    assert problem is Problem.EXPENSIVE_HASH
    assert "give null instead" in problem
