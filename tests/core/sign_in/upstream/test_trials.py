"""The states of trial sign-ins, and what is kept of the answers to them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sign_in.identities import AssertedGroups, ProvenIdentity
from core.sign_in.upstream.flows import SignInOver
from core.sign_in.upstream.saml import EMAIL_ADDRESS, SamlAssertion
from core.sign_in.upstream.trials import trials
from core.sign_in.upstream.trials.trials import TrialGroups, TrialSignIn

ASSERTION = SamlAssertion(
    issuer="https://idp.example",
    name_id="ada@acme.example",
    name_id_format=EMAIL_ADDRESS,
    confirmations=[],
    audiences=[],
    not_before=None,
    not_on_or_after=None,
    session_ends_at=None,
    attributes={"groups": ["staff", "admins"], "none": []},
)


def test_the_state_of_a_trial_is_told_from_that_of_a_sign_in() -> None:
    assert trials.is_trial("trial~a1B2c3")
    assert not trials.is_trial("a1B2c3")
    assert not trials.is_trial("a~trial~b")
    assert not trials.is_trial("")


@pytest.mark.parametrize(
    ("session_id", "visit_hash", "is_by_link"), [(UUID(int=1), None, False), (None, b"visit", True)]
)
def test_a_trial_without_a_session_was_begun_by_a_setup_link(
    session_id: UUID | None, visit_hash: bytes | None, is_by_link: bool
) -> None:
    nothing: Any = None
    trial = TrialSignIn(
        id=nothing,
        organization_id=nothing,
        organization_slug="acme",
        connection_id=nothing,
        user_id=None,
        session_id=session_id,
        visit_hash=visit_hash,
        client_id=None,
        tested_as=b"",
        expires_at=nothing,
    )

    assert trial.is_by_link is is_by_link


def test_of_a_token_all_is_shown_but_what_only_protects_it() -> None:
    claims = {"sub": "employee-1", "nonce": "n", "at_hash": "a", "c_hash": "c", "s_hash": "s", "groups": ["staff"]}

    assert trials.claims_of_token(claims) == [("sub", "employee-1"), ("groups", ["staff"])]
    assert trials.claims_of_token(None) == []


def test_of_an_assertion_the_name_and_the_attributes_are_shown() -> None:
    attributes = [("groups", "staff, admins"), ("none", "")]
    name = ("NameID", "ada@acme.example")

    assert trials.claims_of_assertion(ASSERTION) == [name, ("NameID Format", EMAIL_ADDRESS), *attributes]
    unnamed = replace(ASSERTION, name_id_format=None)
    assert trials.claims_of_assertion(unnamed) == [name, ("NameID Format", ""), *attributes]
    assert trials.claims_of_assertion(None) == []


@pytest.mark.parametrize(
    ("asserted", "kept"),
    [
        (None, TrialGroups.NOT_SENT),
        (AssertedGroups(values=None), TrialGroups.TOO_MANY),
        (AssertedGroups(values=[]), TrialGroups.SENT),
    ],
    ids=str,
)
def test_it_is_kept_whether_groups_were_sent(asserted: AssertedGroups | None, kept: TrialGroups) -> None:
    proven = ProvenIdentity(provider=Provider.UPSTREAM, subject="employee-1", groups=asserted)

    assert trials.answer_of(claims=(), proven=proven).groups is kept


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
