"""The bench of full databases: its limits, and one complete run on a small database."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ops.benchmarks import __main__ as command
from ops.benchmarks import report
from ops.benchmarks.console_questions import console_questions
from ops.benchmarks.governance import measure, plan_of, prepare
from ops.benchmarks.page_questions import page_questions
from ops.benchmarks.questions import Question, questions
from ops.benchmarks.single_caller import (
    P99_MS_MAX,
    PAGE_BYTES_MAX,
    PAGE_P50_MS_MAX,
    SCANS_OF_THE_REFRESHER,
    WARM_UP_REQUESTS,
    QueryFigures,
    read_whole,
)

FIGURES = QueryFigures(
    name="members", p50_ms=1.0, p99_ms=2.0, cpu_ms=1.0, bytes_max=100, read_whole=[], others_share=0.25
)
# Ten organizations with a thousand members and twenty thousand audit entries.
SMALL = 0.001
# Together with the warm-up there is one for every path of a caller.
REQUESTS = 100


def test_a_query_is_over_its_limit_when_it_is_slow_or_scans_a_big_table() -> None:
    slow = replace(FIGURES, p99_ms=P99_MS_MAX + 1)
    scanning = replace(FIGURES, read_whole=["audit_entries"])
    page = replace(FIGURES, p99_ms=P99_MS_MAX, is_page=True)
    slow_page, large_page = replace(page, p50_ms=PAGE_P50_MS_MAX + 1), replace(page, bytes_max=PAGE_BYTES_MAX + 1)

    assert [each.is_over for each in (FIGURES, slow, scanning)] == [False, True, True]
    assert [each.is_over for each in (page, slow_page, large_page)] == [False, True, True]
    _, _, *lines = report.queries_table([FIGURES, slow, scanning]).splitlines()
    assert [report.OVER in line for line in lines] == [False, True, True]
    assert "audit_entries" in lines[2]


def test_the_scans_of_the_actor_are_not_attributed_to_the_query() -> None:
    before = {"users": 7, "audit_entries": 3}

    def found(users: int, audit_entries: int, seconds: float) -> list[str]:
        return read_whole(before, {"users": 7 + users, "audit_entries": 3 + audit_entries}, seconds)

    assert found(SCANS_OF_THE_REFRESHER, 0, 5.0) == []
    assert found(SCANS_OF_THE_REFRESHER + 1, 0, 5.0) == ["users"]
    assert found(2 * SCANS_OF_THE_REFRESHER, 20, 35.0) == ["audit_entries"]


@pytest.mark.parametrize("text", ["0", "-1", "1.5"])
def test_a_share_is_more_than_0_and_at_most_1(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="more than 0"):
        command._share(text)


def test_no_two_queries_have_the_same_name() -> None:
    plan = plan_of(SMALL)
    names = [question.name for question in [*questions(plan), *page_questions(plan), *console_questions(plan)]]

    assert len(names) == len(set(names))


@pytest.mark.long
def test_everything_is_seeded_swept_and_queried(tmp_path: Path) -> None:
    plan = plan_of(SMALL)
    chosen = [
        *one_of_each_caller(questions(plan)),
        *one_of_each_caller(page_questions(plan)),
        *one_of_each_caller(console_questions(plan)),
    ]
    reports: list[str] = []

    prepare(tmp_path / "data", plan, reports.append)
    governed = measure(tmp_path / "data", plan, reports.append, chosen=chosen, requests=REQUESTS)

    assert max(len(question.paths) for question in chosen) <= WARM_UP_REQUESTS + REQUESTS
    assert [each.name for each in governed.queries] == [question.name for question in chosen]
    assert all(0 < each.p50_ms <= each.p99_ms for each in governed.queries)
    figures = {figure.name: figure for figure in governed.figures}
    assert not figures["invitations expired"].is_over
    assert figures["sweeper: longest transaction"].values.median > 0


def one_of_each_caller(queries: Sequence[Question]) -> list[Question]:
    """Merge the queries of each caller, because PostgreSQL takes a second to report the counts of each."""
    paths: dict[tuple[str, bool], list[str]] = {}
    for question in queries:
        paths.setdefault((question.caller, question.is_page), []).extend(question.paths)
    return [
        Question(name=caller, caller=caller, paths=of_caller, is_page=is_page)
        for (caller, is_page), of_caller in paths.items()
    ]
