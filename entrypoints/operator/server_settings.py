"""Which settings of PostgreSQL slow Gatehouse down, cost data or write it into a log, and the SQL that changes them.

Gatehouse works with all of them, so they are advice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.shared.platform.checks import Finding

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
_SUBJECT: Final = "database settings"
_FOR_ROLE: Final = "ALTER ROLE {role} SET {name} = '{value}'"
# Takes a superuser, and effect after `SELECT pg_reload_conf()`.
_FOR_SERVER: Final = "ALTER SYSTEM SET {name} = '{value}'"
_RELOADED: Final = "; SELECT pg_reload_conf()"
_RESTARTED: Final = ", and restart PostgreSQL"
# What PostgreSQL has by itself, in its units.
_SHARED_BUFFERS_PAGES_MIN: Final = 16_384
_WORK_MEM_KB_MIN: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """A setting of PostgreSQL that can do harm, its harmless value, and the effect of any other."""

    hurts: Callable[[str], bool]
    wanted: str
    why: str
    sql: str = _FOR_ROLE
    afterwards: str = ""


def _is_off(value: str) -> bool:
    return value == "off"


def _is_limited(value: str) -> bool:
    return value != "0"


_CRASH: Final = "a crash of its machine can corrupt the database"
_NO_STATISTICS: Final = "tables are never cleaned up, and statements are planned with old statistics, or none"
_SETTINGS: Final[Mapping[str, _Setting]] = {
    "jit": _Setting(
        hurts=lambda value: value == "on",
        wanted="off",
        why="PostgreSQL may spend a second of processor time on compiling a statement that runs for milliseconds",
    ),
    "autovacuum": _Setting(hurts=_is_off, wanted="on", why=_NO_STATISTICS, sql=_FOR_SERVER, afterwards=_RELOADED),
    "track_counts": _Setting(hurts=_is_off, wanted="on", why=_NO_STATISTICS, sql=_FOR_SERVER, afterwards=_RELOADED),
    "default_transaction_isolation": _Setting(
        hurts=lambda value: value != "read committed",
        wanted="read committed",
        why="requests at the same time fail with 40001, and are repeated or answered with 503",
    ),
    "plan_cache_mode": _Setting(
        hurts=lambda value: value != "auto",
        wanted="auto",
        why="statements are planned in the wrong way: each time, or without their values",
    ),
    "shared_buffers": _Setting(
        hurts=lambda value: int(value) < _SHARED_BUFFERS_PAGES_MIN,
        wanted="128MB",
        why="less than 128 MB is cached, so that more is read from disk; a quarter of the memory is usual",
        sql=_FOR_SERVER,
        afterwards=_RESTARTED,
    ),
    "work_mem": _Setting(
        hurts=lambda value: int(value) < _WORK_MEM_KB_MIN,
        wanted="4MB",
        why="less than 4 MB for each sort, so that lists are sorted on disk",
    ),
    "fsync": _Setting(hurts=_is_off, wanted="on", why=_CRASH, sql=_FOR_SERVER, afterwards=_RELOADED),
    "full_page_writes": _Setting(hurts=_is_off, wanted="on", why=_CRASH, sql=_FOR_SERVER, afterwards=_RELOADED),
    "synchronous_commit": _Setting(
        hurts=_is_off, wanted="on", why="a crash of its machine loses changes that were answered with success"
    ),
    "transaction_timeout": _Setting(
        hurts=_is_limited, wanted="0", why="it ends migrations and backups that take longer"
    ),
    "idle_session_timeout": _Setting(
        hurts=_is_limited,
        wanted="0",
        why="it ends the session that waits for notifications, so that events and mails are late",
    ),
}
_UNLOGGED: Final = _Setting(
    hurts=_is_limited,
    wanted="0",
    why="the log of PostgreSQL has the values of statements: addresses, names and hashes of secrets",
    sql=_FOR_SERVER,
    afterwards=_RELOADED,
)
_SWITCH: Final = _Setting(
    hurts=_is_off, wanted="on", why="the planner has to do without a way to read, and takes slower ones"
)


def findings(settings: Mapping[str, str], *, role: str) -> Iterator[Finding]:
    """Yield a finding for each setting that hurts, or one that says that none does."""
    hurting = {name: setting for name, setting in _judged(settings) if setting.hurts(settings[name])}
    for name, setting in hurting.items():
        sql = setting.sql.format(role=_quoted(role), name=name, value=setting.wanted) + setting.afterwards
        behind_pooler = " Behind a pooler, RECONNECT in its console afterwards." if setting.sql == _FOR_ROLE else ""
        what = f"{name} is {settings[name]}: {setting.why}"
        yield Finding(_SUBJECT, True, what, f"Run in PostgreSQL: {sql}.{behind_pooler}")
    if not hurting:
        yield Finding(_SUBJECT, True, "none of those that are looked at slows Gatehouse down or endangers its data")


def _judged(settings: Mapping[str, str]) -> Iterator[tuple[str, _Setting]]:
    """Yield the settings that this server has, each with what is expected of it."""
    yield from ((name, setting) for name, setting in _SETTINGS.items() if name in settings)
    yield from ((name, _SWITCH) for name in sorted(settings) if name.startswith("enable_"))
    if settings["log_statement"] in {"mod", "all"} or any(
        settings[name] != "-1" for name in ("log_min_duration_statement", "log_min_duration_sample")
    ):
        yield "log_parameter_max_length", _UNLOGGED
    yield "log_parameter_max_length_on_error", _UNLOGGED


def _quoted(role: str) -> str:
    """Return a name as SQL takes it."""
    return role if _PLAIN.fullmatch(role) else '"' + role.replace('"', '""') + '"'
