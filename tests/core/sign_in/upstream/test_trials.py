"""What is kept of the answer to a trial sign-in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from core.secrets import Secret
from core.sign_in.upstream import trials
from core.sign_in.upstream.flows import SignInOver


def test_claims_are_cut_and_made_printable() -> None:
    nested: Any = []
    for _ in range(200_000):
        nested = [nested]

    kept = trials.answer_of(claims=[("deep", nested), ("long", "x" * 501), ("odd", "a\x00\ud800b"), ("n" * 101, 1)])

    assert kept.claims == (
        ("deep", "…"),
        ("long", "x" * 500 + "…"),
        ("odd", "a\ufffd\ufffdb"),
        ("n" * 100 + "…", "1"),
    )
    assert len(trials.answer_of(claims=[("a", "b")] * 99).claims) == trials.CLAIMS_MAX


def test_of_two_answers_to_one_trial_the_second_is_refused() -> None:
    uow: Any = SimpleNamespace(
        randomness=SimpleNamespace(token=lambda: Secret("token")),
        trial_sign_ins=SimpleNamespace(keep_answer=lambda *_, **__: False),
    )

    with pytest.raises(SignInOver):
        trials.keep_answer(uow, uuid4(), "trial~used", trials.TrialAnswer())
