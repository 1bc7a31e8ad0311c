"""Every statement that deletes by a time is sent by a method that asks whether it may (`core/deletions.py`).

A statement counts when it deletes and compares something with a given value as older, or when it locks what is older,
so that further statements delete it. Statements that do either for another reason are listed here, with the reason.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final

from core.deletions import AgedRows
from tests.adapters.statements.texts import Sent, modules, read

OLDER: Final = re.compile(r"<=?\s*(?:%|\(|least\b|coalesce\b|first_id_at\b|end_id_until\b)")
DELETES: Final = re.compile(r"\bDELETE\s+FROM\b|\bdrop_log_month\b")
LOCKS: Final = re.compile(r"\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b")
CHANGES: Final = re.compile(r"\b(?:UPDATE\s+\w+\s+(?:\w+\s+)?SET|INSERT\s+INTO)\b")

NOT_BY_AGE: Final = {
    "organizations.organizations.OrganizationParts.delete_of_logs": "by ids: all rows of an organization that is gone",
    "organizations.settings.branding.PostgresBrandingVersions.remove_through": "by the numbers of versions",
    "platform.health_figures.COUNT": "what is counted, whatever its time is",
    "webhooks.deliveries.PostgresWebhookDeliveries.save": "by their number, in the order of their ids",
    "audit.chain.UNSEALED": "entries that are sealed",
    "mail.mail._FIRST": "mails that are sent",
    "sessions.customer_endings.FIRST": "changes whose sessions are looked at",
    "sign_in.upstream.flows.PostgresUpstreamSignIns.lock_code": "a code of which few wrong ones were entered",
    "webhooks.sequencing.DUE": "events that get their positions",
}
# Parts of `PostgresHousekeeping.delete`, which asks for all of them; nothing else may use these classes.
PARTS: Final = {
    "platform.ended_invitations": "EndedInvitations",
    "platform.lifetimes": "EndedLogOwners",
    "platform.retention": "OldLogRows",
    "platform.unproved_accounts": "UnprovedAccounts",
}
HOUSEKEEPING: Final = "platform.housekeeping"
# Chosen neither by a lock nor by what is older: the organizations whose directory has nothing newer.
CHOSEN_OTHERWISE: Final = {AgedRows.LEFT_DIRECTORIES: "scim.directory_groups.LEFT"}


@cache
def _sources() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_bytes()) for name, path in modules()}


@cache
def _texts() -> list[Sent]:
    return read()[0]


def _by_age() -> list[Sent]:
    """Return the statements that count."""
    return [
        sent
        for sent in _texts()
        if "drop_log_month" in sent.text
        or (
            OLDER.search(sent.text)
            and (DELETES.search(sent.text) or (LOCKS.search(sent.text) and not CHANGES.search(sent.text)))
        )
    ]


def _module_of(sent: Sent) -> str:
    return max((name for name in _sources() if sent.source.startswith(f"{name}.")), key=len)


def _asks(node: ast.AST) -> Iterator[str]:
    """Yield the rows of which a method asks whether they may be deleted."""
    for call in ast.walk(node):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "may_delete"
            and isinstance(call.args[0], ast.Attribute)
        ):
            yield call.args[0].attr


def _asked_of(sent: Sent) -> list[str]:
    """Return of what the method asks that sends a statement."""
    methods = [
        node
        for node in ast.walk(_sources()[_module_of(sent)])
        if isinstance(node, ast.FunctionDef) and node.lineno <= sent.line <= (node.end_lineno or node.lineno)
    ]
    return list(_asks(methods[-1]))


def test_every_deletion_by_age_asks_whether_the_time_is_settled() -> None:
    found = [sent for sent in _by_age() if sent.source not in NOT_BY_AGE and _module_of(sent) not in PARTS]

    silent = sorted({sent.source for sent in found if not _asked_of(sent)})

    assert silent == []
    assert len(found) > len(AgedRows)


def test_what_is_listed_for_another_reason_is_still_there() -> None:
    assert set(NOT_BY_AGE) - {sent.source for sent in _by_age()} == set()


def test_the_parts_of_housekeeping_are_used_by_it_alone() -> None:
    users = {
        (part, name)
        for name, tree in _sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        for part in PARTS.values()
        if alias.name == part
    }

    assert users == {(part, HOUSEKEEPING) for part in PARTS.values()}
    assert {_module_of(sent) for sent in _by_age()} >= set(PARTS)


def test_each_entry_of_the_list_is_asked_for_in_one_place() -> None:
    asked = Counter(rows for tree in _sources().values() for rows in _asks(tree))

    assert asked == Counter(rows.name for rows in AgedRows)


def test_what_is_chosen_in_another_way_is_asked_for_where_it_is_chosen() -> None:
    for rows, source in CHOSEN_OTHERWISE.items():
        [sent] = [sent for sent in _texts() if sent.source == source]

        assert _asked_of(sent) == [rows.name]
