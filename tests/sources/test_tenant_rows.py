"""Every loop over rows whose number a tenant chooses stands in `tenant_rows.toml`, with its bound."""

from __future__ import annotations

import ast
import importlib
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

import pytest

from tests.adapters.statements.texts import modules, read
from tests.sources.reading import ROOT
from tests.sources.row_ports import fetches, functions, implementations, names_in, ports
from tests.sources.walks import Core

TABLE: Final = ROOT / "tests" / "sources" / "tenant_rows.toml"
WORDS: Final = frozenset({"batch", "given", "installation", "LIMIT", "one", "page", "person", "unbounded"})
# What a statement has that reads no more rows than its caller says.
LIMITS: Final = {"LIMIT": ("LIMIT",), "given": ("ANY (", "unnest(", "IN (")}
# It may only shrink.
UNBOUNDED_MAX: Final = 18


@cache
def table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text())


@cache
def bounds() -> Mapping[str, str]:
    """Return the bound of each fetch."""
    return {name: entry["bound"] for entry in table()["fetches"] for name in entry["of"]}


@cache
def walks() -> Mapping[str, list[str]]:
    """Return which rows each function of the core walks over."""
    return walks_of({_module(path): path.read_text() for path in sorted((ROOT / "core").rglob("*.py"))})


def walks_of(sources: Mapping[str, str]) -> dict[str, list[str]]:
    found = Core(sources, ports()).walks()
    return {name.removeprefix("core."): sorted(rows) for name, rows in found.items()}


def _module(path: Any) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def differences(listed: Mapping[str, Iterable[str]], found: Mapping[str, Iterable[str]]) -> list[str]:
    """Return what is found and not listed, and what is listed and has gone."""
    pairs, known = ({(one, row) for one, rows in each.items() for row in rows} for each in (found, listed))
    return [
        *(
            f"core.{one} walks over {row}: add it to {TABLE.name}, with the bound of {row}"
            for one, row in sorted(pairs - known)
        ),
        *(f"core.{one} does not walk over {row} any more: take it out" for one, row in sorted(known - pairs)),
    ]


def test_every_function_that_fetches_rows_has_a_bound() -> None:
    names = [name for entry in table()["fetches"] for name in entry["of"]]

    assert sorted(fetches() - set(names)) == [], f"add them to {TABLE.name} with what bounds their rows"
    assert sorted(set(names) - fetches()) == [], "they fetch no rows any more: take them out"
    assert len(names) == len(set(names)), "a function is listed twice"


def test_every_walk_over_rows_is_listed() -> None:
    assert differences(table()["walks"], walks()) == []


def test_every_bound_is_a_number_or_a_word_with_its_reason() -> None:
    for entry in [*table()["fetches"], *({"bound": bound} for bound in table()["one_row"].values())]:
        bound = entry["bound"]
        if bound in WORDS:
            assert bound == "LIMIT" or len(entry["why"]) > 20, f"{bound} needs a reason"
        else:
            module, _, name = bound.rpartition(".")
            number = getattr(importlib.import_module(module), name)
            assert isinstance(number, int), bound
            assert number > 0, bound


def test_what_is_unbounded_only_shrinks() -> None:
    assert sum(bound == "unbounded" for bound in bounds().values()) <= UNBOUNDED_MAX


def test_a_statement_with_a_limit_has_it() -> None:
    texts = _texts_by_function()
    limited = [(name, LIMITS[bound]) for name, bound in bounds().items() if bound in LIMITS]

    lacking = [name for name, signs in limited if not any(sign in text for text in texts[name] for sign in signs)]

    assert lacking == []


def _texts_by_function() -> Mapping[str, set[str]]:
    """Return the texts that each function of the adapters sends."""
    sent, found = read()[0], dict[str, set[str]]()
    for module, path in modules():
        own = [one for one in sent if one.source.startswith(f"{module}.")]
        for name, node in functions(ast.parse(path.read_bytes())):
            lines, mentioned = range(node.lineno, (node.end_lineno or node.lineno) + 1), names_in(node)
            # A constant that several functions send is read at the first one.
            found[f"{module}.{name}"] = {
                one.text for one in own if one.line in lines or one.source.rpartition(".")[2] in mentioned
            }
    return found


def test_the_rows_of_every_walk_come_from_fetches_with_a_bound() -> None:
    fetching = implementations()
    for function, methods in table()["walks"].items():
        for method in methods:
            assert fetching.get(method) or method in table()["one_row"], (
                f"{function}: who fetches the rows of {method}?"
            )
            assert fetching.get(method, frozenset()) <= bounds().keys(), method


OF_CORE: Final = """
from core.accounts import helping
from core.parts import in_parts

def added(uow, user_id):
    for one in uow.members.of_account(user_id):
        uow.record(one)

def named(uow, user_id):
    memberships = uow.members.of_account(user_id)
    {body}

def handed(uow, rows):
    {body}

def handing(uow, user_id):
    handed(uow, rows=uow.members.of_account(user_id))
"""
"""A module with a loop, and a place for another one."""


@pytest.mark.parametrize(
    "body",
    [
        "return [one.role for one in memberships]",
        "return {one.role for one in memberships if one.role}",
        "return any(one.role for one in memberships[:10])",
        "return sorted(memberships, key=id)",
        "return list(map(str, memberships))",
        "for place, one in enumerate(reversed(memberships)): uow.record(place, one)",
        "for part in in_parts(memberships): uow.record(part)",
        "roles = {}\n    for one in memberships: roles.setdefault(one.role, []).append(one)",
        "while batch := memberships: memberships = batch[1:]",
    ],
)
def test_a_loop_that_is_added_is_named(body: str) -> None:
    walked = walks_of({"core.accounts.added": OF_CORE.replace("{body}", body)})

    assert walked.pop("accounts.added.added") == ["Members.of_account"]
    assert walked == {"accounts.added.named": ["Members.of_account"]}
    assert differences({}, walked) == [
        "core.accounts.added.named walks over Members.of_account: add it to tenant_rows.toml, with the bound of"
        " Members.of_account"
    ]
    assert differences(walked, {}) == [
        "core.accounts.added.named does not walk over Members.of_account any more: take it out"
    ]


def test_rows_are_followed_into_functions_and_out_of_them() -> None:
    helping = """
def of_account(uow, user_id):
    deferred = uow.members.defer_organizations_of(user_id)
    return [one for one in deferred()] or ()
"""
    walked = walks_of(
        {
            "core.accounts.helping": helping,
            "core.accounts.added": OF_CORE.replace("{body}", "for one in rows: uow.record(one)").replace(
                "handed(uow, rows=uow.members",
                "handed(uow, rows=helping.of_account(uow, user_id)); uow.record(uow.members",
            ),
        }
    )

    assert walked["accounts.helping.of_account"] == ["Members.defer_organizations_of"]
    assert walked["accounts.added.handed"] == ["Members.defer_organizations_of"]


@pytest.mark.parametrize(
    "body",
    [
        "return len(memberships)",
        "return memberships[0].role",
        "return next(iter(memberships), None)",
        "return [letter for letter in memberships[0].role]",
        "return [one for one in user_id]",
    ],
)
def test_what_walks_over_no_rows_is_not_named(body: str) -> None:
    assert walks_of({"core.accounts.added": OF_CORE.replace("{body}", body)}).keys() == {"accounts.added.added"}


def test_a_fetch_that_is_added_is_named() -> None:
    source = """
class PostgresMembers(Aggregate):
    def of_account(self, user_id):
        return self._all(Membership, OF_ACCOUNT, (user_id,))

    def find(self, user_id):
        return self._one(Membership, FIND, (user_id,))
"""
    assert fetches({"organizations.members": source}) == {"organizations.members.PostgresMembers.of_account"}
