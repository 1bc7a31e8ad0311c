"""The page of the manual on retention agrees with the settings and with what every table declares."""

from __future__ import annotations

import os
from dataclasses import fields
from datetime import timedelta

from core.platform.housekeeping import Leftover
from core.platform.lifetimes import LIFETIMES, Counted, Drained, Expiring, Few, Kept, Lifetime, Logged, OneRow, Owned
from core.platform.retention import FOR_EVER, Retention
from entrypoints.setting_kinds import show_days, variable_of
from entrypoints.settings import Settings
from tests.documents import MANUAL

PAGE = MANUAL / "retention.md"
BEGIN = "<!-- {}: begin; written by tests/test_retention_page.py, which fails when this table and the code differ -->"
END = "<!-- {}: end -->"
SETTING_OF = {
    field.metadata["retention"]: variable_of(field) for field in fields(Settings) if "retention" in field.metadata
}


def settings_table() -> str:
    lines = ["| Setting | Days | Takes | |", "|---|---|---|---|"]
    for field in fields(Settings):
        retention = field.metadata.get("retention")
        if retention is not None:
            lines.append(
                f"| `{variable_of(field)}` | {show_days(retention.default)} | {retention.days_min} to"
                f" {retention.days_max} | {field.metadata['sentence']} |"
            )
    return "\n".join(lines)


def tables_table() -> str:
    lines = ["| Table | A row is kept |", "|---|---|"]
    lines += [f"| `{table}` | {sentence_of(lifetime)} |" for table, lifetime in sorted(LIFETIMES.items())]
    return "\n".join(lines)


def sentence_of(lifetime: Lifetime) -> str:
    match lifetime:
        case Owned(owner, bound):
            return f"with its row of `{owner}`{f'; {bound}' if bound else ''}"
        case Expiring(leftover, exempt):
            return f"{time_of(leftover)}{f'; {exempt}' if exempt else ''}"
        case Logged(leftover):
            return f"{time_of(leftover)}, with all of its month"
        case Drained(until):
            return f"until {until}"
        case Counted(row_for_each):
            return f"for ever; a sum for each {row_for_each}"
        case Few(because):
            return f"for ever; {because}"
        case OneRow():
            return "for ever; it is the only one"
        case Kept(until):
            return until


def time_of(leftover: Leftover) -> str:
    if leftover.kept_for is FOR_EVER and leftover.retention is not None:
        return f"for ever, or as long as `{SETTING_OF[leftover.retention]}` says"
    if leftover.retention is not None:
        return f"{shown(leftover.kept_for)} after its end (`{SETTING_OF[leftover.retention]}`)"
    return f"{shown(leftover.kept_for)} after its end" if leftover.kept_for else "until its end"


def shown(duration: timedelta) -> str:
    for unit, length in (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1))):
        if duration >= length:
            number = duration // length
            return f"{number} {unit}{'s' if number > 1 else ''}"
    raise AssertionError(duration)


def test_the_tables_of_the_page_agree_with_the_code() -> None:
    text = PAGE.read_text()
    for name, table in (("retentions", settings_table()), ("tables", tables_table())):
        before, _, rest = text.partition(BEGIN.format(name))
        written, _, after = rest.partition(END.format(name))
        if os.environ.get("GATEHOUSE_TEST_RENEW"):
            text = f"{before}{BEGIN.format(name)}\n{table}\n{END.format(name)}{after}"
            PAGE.write_text(text)
        else:
            assert written.strip() == table, (
                "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/test_retention_page.py"
            )


def test_every_retention_has_one_setting_whose_default_is_within_its_bounds() -> None:
    assert set(SETTING_OF) == set(Retention)
    for retention in Retention:
        is_within = retention.days_min <= retention.default.days <= retention.days_max
        assert is_within or retention.default is FOR_EVER, retention


def test_what_the_operator_sets_is_what_housekeeping_keeps() -> None:
    settings = Settings(session_retention=timedelta(days=7), connection_problem_retention=timedelta(days=31))

    kept_for = settings.kept_for

    assert kept_for.keys() == {leftover for leftover in Leftover if leftover.retention is not None}
    assert kept_for[Leftover.SESSIONS] == timedelta(days=7)
    assert kept_for[Leftover.UPSTREAM_FAILURES] == kept_for[Leftover.TRIAL_SIGN_INS] == timedelta(days=31)
    assert kept_for[Leftover.INVITATIONS] == Leftover.INVITATIONS.kept_for
