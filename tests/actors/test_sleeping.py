"""Actors wait for messages; only the calls listed here sleep for a time."""

from __future__ import annotations

import ast
from pathlib import Path

ACTORS = Path(__file__).parents[2] / "actors"
# By module: why it sleeps. The timekeeper and the poller wait with a deadline for what wakes them.
SLEEPS = {
    "audit_sealer": "a pause between batches",
    "billing_reconciler": "a pause between requests to the provider",
    "customer_sweeper": "a pause between batches",
    "dispatching": "how long an attempt has taken, and a pause before an outcome is recorded again",
    "event_sequencer": "a pause while another process hands on events",
    "housekeeper": "a pause between batches",
    "invitation_sweeper": "a pause between batches",
    "periods": "a pause between batches",
    "poller": "the time between polls of a process that cannot listen",
}
# Where a wait for something ends at a deadline.
DEADLINES = {
    "audit_tails": "requests that wait for entries",
    "dispatching": "how long a record of what was sent may take",
    "event_sequencer": "requests that wait for events",
    "key_refresher": "requests that wait for keys",
    "mail_couriers": "an attempt to send",
    "poller": "hearing, leaving, and polling alone until it listens again",
    "precedence": "a turn behind requests",
    "supervision": "back-off after a crash, and the end of draining",
    "timekeeper": "the end of the next period",
}


def callers(*functions: str) -> set[str]:
    """Return the modules of actors that call one of these functions of Trio."""
    return {
        path.stem
        for path in ACTORS.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"trio.{function}" for function in functions}
    }


def test_nothing_sleeps_but_what_pauses_within_its_work() -> None:
    assert callers("sleep", "sleep_until", "sleep_forever") == SLEEPS.keys()


def test_nothing_waits_for_a_time_but_with_a_reason() -> None:
    assert callers("move_on_after", "move_on_at", "fail_after", "fail_at") == DEADLINES.keys()
