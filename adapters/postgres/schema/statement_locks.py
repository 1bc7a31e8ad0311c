"""The locks of a statement in a migration, and its effect on the rows, as far as its text shows them.

It knows the kinds of statements that migrations use, so that `gatehouse migrate --plan` neither executes them nor needs
the right to. A test executes every migration and compares the locks with the ones that PostgreSQL took. A table without
a name in the text, such as the one of a dropped index, is looked up in the catalogue (`Held.index`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, IntEnum
from typing import Final

from core.lazy_dataclasses import dataclass


class Lock(IntEnum):
    """The locks of a table by PostgreSQL's names, each stronger than those above it."""

    ACCESS_SHARE = 1
    ROW_SHARE = 2
    ROW_EXCLUSIVE = 3
    SHARE_UPDATE_EXCLUSIVE = 4
    SHARE = 5
    SHARE_ROW_EXCLUSIVE = 6
    EXCLUSIVE = 7
    ACCESS_EXCLUSIVE = 8

    @property
    def title(self) -> str:
        """The name in SQL."""
        return self.name.replace("_", " ")

    @property
    def blocks(self) -> str:
        """What other sessions cannot do meanwhile."""
        if self is Lock.ACCESS_EXCLUSIVE:
            return "reads and writes"
        return "writes" if self >= Lock.SHARE else "nothing"


class Work(Enum):
    """What a statement does to the rows of a table; the slowest comes last."""

    NONE = "nothing"
    READ = "reads"
    INDEX = "indexes"
    CHANGE = "changes"
    REWRITE = "rewrites"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lock that a statement takes, and its work; `index` names what has the table, where the text names no table."""

    table: str
    lock: Lock
    work: Work = Work.NONE
    index: str = ""


class NotUnderstood(Exception):
    """The text is no statement that this module knows."""


_NAME: Final = r"(?:only\s+)?(?:if\s+exists\s+)?(?P<table>[a-z_][a-z0-9_]*)"
_NO_LOCK: Final = re.compile(
    r"(create\s+(or\s+replace\s+)?(function|procedure|view)|create\s+sequence"
    r"|comment\s+on\s+(function|procedure|view)|select|drop\s+(function|procedure)|create\s+temporary\s+table|revoke)\b"
)
# Their bodies change the table that the argument names (0059).
_MADE_LOG: Final = re.compile(r"\bselect\s+(bound_log|begin_log_months)\s*\('(?P<table>[a-z_]+)'\)", re.IGNORECASE)
_DATA: Final = re.compile(r"(insert|update|delete|with|select|call|create\s+temporary\s+table|do)\b")
# Its body changes the rows of the table in batches (0062, 0087, 0124).
_FILLED: Final = re.compile(r"\bcall\s+fill_(?:organizations_of_|addresses_of_)?(?P<table>[a-z_]+)\(\)")
_FUNCTION: Final = re.compile(r"create\s+(or\s+replace\s+)?(function|procedure)\b")
_TABLE: Final = re.compile(r"create\s+table\b")
_ALTERED: Final = re.compile(rf"\balter\s+table\s+{_NAME}\s+(?P<actions>[^;]*)")
_VOLATILE: Final = re.compile(
    r"\b(nextval|gen_random_uuid|random|clock_timestamp|timeofday)\s*\(|generated\s+(always|by)"
)
_REFERRED: Final = re.compile(r"\breferences\s+(?P<table>[a-z_][a-z0-9_]*)")
_LOCKED: Final = re.compile(rf"\block\s+table\s+{_NAME}\s+in\s+(?P<mode>[a-z ]+?)\s+mode")
_INDEXED: Final = re.compile(
    rf"\bcreate\s+(?:unique\s+)?index\s+(?P<concurrently>concurrently\s+)?(?:if\s+not\s+exists\s+)?\w+\s+on\s+{_NAME}"
)
_INDEX_DROPPED: Final = re.compile(
    r"\bdrop\s+index\s+(?P<concurrently>concurrently\s+)?(?:if\s+exists\s+)?(?P<index>\w+)"
)
_SIMPLE: Final = (
    (re.compile(rf"\bdrop\s+(?:table|view)\s+{_NAME}"), Lock.ACCESS_EXCLUSIVE),
    (re.compile(rf"\btruncate\s+(?:table\s+)?{_NAME}"), Lock.ACCESS_EXCLUSIVE),
    (re.compile(rf"\bdrop\s+trigger\s+(?:if\s+exists\s+)?\w+\s+on\s+{_NAME}"), Lock.ACCESS_EXCLUSIVE),
    (re.compile(rf"\bcreate\s+trigger\s.*?\son\s+{_NAME}", re.DOTALL), Lock.SHARE_ROW_EXCLUSIVE),
    (re.compile(rf"\bvacuum\s+(?:\([a-z, ]+\)\s+)?{_NAME}"), Lock.SHARE_UPDATE_EXCLUSIVE),
    (re.compile(rf"\bcomment\s+on\s+(?:table|column)\s+{_NAME}"), Lock.SHARE_UPDATE_EXCLUSIVE),
)
_WRITTEN: Final = re.compile(
    rf"\b(?:insert\s+into|delete\s+from|update(?!\s+(?:set|of|on|or|cascade|skip)\b))\s+{_NAME}"
)
_READ: Final = re.compile(rf"\b(?:from|join|using)\s+{_NAME}")
_ANALYZED: Final = re.compile(r"analyze\s+(?P<tables>[a-z_0-9,\s]+)")
_COMMENT: Final = re.compile(r"--[^\n]*")
_TEXT: Final = re.compile(r"'[^']*'")


def locks(statement: str) -> list[Held]:
    """Return the strongest lock and the slowest work for each table; raise `NotUnderstood`."""
    sql = _TEXT.sub("''", _COMMENT.sub("", statement)).lower()
    found = [Held(table=made["table"], lock=Lock.ACCESS_EXCLUSIVE) for made in _MADE_LOG.finditer(statement)]
    found += _found(sql)
    if not found and not _NO_LOCK.match(sql) and not sql.startswith(("create table", "do")):
        raise NotUnderstood(statement)
    return strongest(found)


def strongest(found: list[Held]) -> list[Held]:
    """Merge what was found about one table, in the order in which the tables were found."""
    merged: dict[tuple[str, str], Held] = {}
    for held in found:
        known = merged.get((held.table, held.index), held)
        works = list(Work)
        merged[held.table, held.index] = Held(
            table=held.table,
            index=held.index,
            lock=max(known.lock, held.lock),
            work=max(known.work, held.work, key=works.index),
        )
    return list(merged.values())


def _found(sql: str) -> Iterator[Held]:
    # The body of a function is not executed now.
    if _FUNCTION.match(sql):
        return
    for pattern, lock in _SIMPLE:
        for match in pattern.finditer(sql):
            yield Held(table=match["table"], lock=lock)
    for match in _ALTERED.finditer(sql):
        for action in _actions(match["actions"]):
            yield from _altered(match["table"], action.strip())
    yield from _of_indexes(sql)
    for match in _LOCKED.finditer(sql):
        yield Held(table=match["table"], lock=Lock[match["mode"].upper().replace(" ", "_")])
    yield from _of_analyzed(sql)
    if _TABLE.match(sql):
        for match in _REFERRED.finditer(sql):
            yield Held(table=match["table"], lock=Lock.SHARE_ROW_EXCLUSIVE)
    if _DATA.match(sql):
        yield from _data(sql)


def _of_analyzed(sql: str) -> Iterator[Held]:
    if analyzed := _ANALYZED.match(sql):
        for table in analyzed["tables"].split(","):
            yield Held(table=table.strip(), lock=Lock.SHARE_UPDATE_EXCLUSIVE, work=Work.READ)


def _of_indexes(sql: str) -> Iterator[Held]:
    for match in _INDEXED.finditer(sql):
        lock = Lock.SHARE_UPDATE_EXCLUSIVE if match["concurrently"] else Lock.SHARE
        yield Held(table=match["table"], lock=lock, work=Work.INDEX)
    for match in _INDEX_DROPPED.finditer(sql):
        lock = Lock.SHARE_UPDATE_EXCLUSIVE if match["concurrently"] else Lock.ACCESS_EXCLUSIVE
        yield Held(table="", lock=lock, index=match["index"])


def _data(sql: str) -> Iterator[Held]:
    for match in (*_WRITTEN.finditer(sql), *_FILLED.finditer(sql)):
        yield Held(table=match["table"], lock=Lock.ROW_EXCLUSIVE, work=Work.CHANGE)
    for match in _READ.finditer(sql):
        yield Held(table=match["table"], lock=Lock.ACCESS_SHARE, work=Work.READ)


def _actions(text: str) -> Iterator[str]:
    """Divide the actions of ALTER TABLE at the commas between them."""
    depth = start = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _altered(table: str, action: str) -> Iterator[Held]:
    """Yield what one action of ALTER TABLE locks, and whether it goes through the rows."""
    if re.match(r"validate\s+constraint\b", action):
        yield Held(table=table, lock=Lock.SHARE_UPDATE_EXCLUSIVE, work=Work.READ)
        return
    if re.match(r"(set|reset)\s*\(|alter\s+(column\s+)?\w+\s+set\s+statistics\b", action):
        yield Held(table=table, lock=Lock.SHARE_UPDATE_EXCLUSIVE)
        return
    referred = _REFERRED.search(action)
    is_column = re.match(r"add\s+(column\s+)?(?!constraint\b|foreign\b|check\b|unique\b|primary\b|exclude\b)", action)
    is_trusted = re.search(r"\bnot\s+valid\b", action) is not None
    if referred:
        yield Held(table=referred["table"], lock=Lock.SHARE_ROW_EXCLUSIVE)
    if referred and not is_column:
        work = Work.NONE if is_trusted else Work.READ
        yield Held(table=table, lock=Lock.SHARE_ROW_EXCLUSIVE, work=work)
        yield Held(table=referred["table"], lock=Lock.SHARE_ROW_EXCLUSIVE, work=work)
        return
    yield Held(table=table, lock=Lock.ACCESS_EXCLUSIVE, work=_work_of(action, is_trusted=is_trusted))


def _work_of(action: str, *, is_trusted: bool) -> Work:
    """Return what an action under ACCESS EXCLUSIVE does to the rows."""
    if re.match(r"add\b", action):
        if re.search(r"\b(unique|primary\s+key|exclude)\b", action) and "using index" not in action:
            return Work.INDEX
        if _VOLATILE.search(action):
            return Work.REWRITE
        return Work.READ if "check" in action and not is_trusted else Work.NONE
    if re.match(r"alter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b", action):
        return Work.REWRITE
    if re.match(r"alter\s+(column\s+)?\w+\s+set\s+not\s+null\b", action):
        return Work.READ
    return Work.NONE
