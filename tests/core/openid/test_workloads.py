"""How tokens of other issuers are judged by the rules of a service or of a key."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.openid import workloads
from core.openid.refusals import ClientInvalid, TargetInvalid
from core.openid.workloads import SOURCES_TRIED_MAX, Candidates, HeldKey, keys_of
from core.services.workload_rules import RefusalReason, RefusedAssertion, Workload
from core.services.workloads import WorkloadHolder

NOW = datetime(2026, 2, 3, tzinfo=UTC)
AT = int(NOW.timestamp())
ISSUER = "https://id.example.com"
ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
JOB = Workload(
    id=ID,
    name="Job",
    issuer="https://issuer.example",
    jwks_uri=None,
    jwks=None,
    audience=None,
    match={"sub": "job-1"},
    created_at=NOW,
)
CLAIMS: dict[str, Any] = {"iss": JOB.issuer, "sub": "job-1", "aud": ISSUER, "exp": AT + 60}
KEY = HeldKey(id=ID, organization_id=ID, organization_slug="acme", organization_status="active", expires_at=None)


def found(*rules: Workload) -> Candidates:
    """Return rules of a key."""
    return Candidates(holder=WorkloadHolder(organization_id=ID, key_id=ID), key=KEY, workloads=rules)


def refusal_of(claims: dict[str, Any], rule: Workload = JOB) -> RefusedAssertion | None:
    """Return why a token is refused; None when it fits."""
    judged = workloads.judge(found(rule), keys_of(rule), claims, issuer=ISSUER, at=NOW)
    return None if isinstance(judged, Workload) else judged[0][1]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"aud": [ISSUER]},
        {"aud": ["https://other.example", ISSUER]},
        {"exp": AT - 29},
        {"exp": AT + 86_400},
        {"nbf": AT + 30, "iat": AT},
    ],
)
def test_a_token_for_us_and_of_now_with_the_claims_of_the_rule_fits(changes: dict[str, Any]) -> None:
    assert refusal_of(CLAIMS | changes) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "https://other.example"}, RefusalReason.AUDIENCE),
        ({"aud": None}, RefusalReason.AUDIENCE),
        ({"exp": None}, RefusalReason.LIFETIME),
        ({"exp": True}, RefusalReason.LIFETIME),
        ({"exp": AT + 86_401}, RefusalReason.LIFETIME),
        ({"exp": AT - 30}, RefusalReason.EXPIRED),
        ({"nbf": AT + 31}, RefusalReason.NOT_YET_VALID),
        ({"iat": "now"}, RefusalReason.NOT_YET_VALID),
        ({"sub": "job-2"}, RefusalReason.CLAIMS),
        ({"sub": ["job-1"]}, RefusalReason.CLAIMS),
    ],
)
def test_another_one_is_refused_with_the_reason(changes: dict[str, Any], reason: RefusalReason) -> None:
    refused = refusal_of(CLAIMS | changes)

    assert refused is not None
    assert refused.reason is reason


def test_the_claims_of_the_rule_are_shown_as_they_can_be_stored() -> None:
    nested = {"kubernetes.io": {"serviceaccount": {"uid": "14ee"}}, "a/b": "named as it is"}
    names = ("sub", "kubernetes.io/serviceaccount/uid", "kubernetes.io/pod", "kubernetes.io", "sub/x", "a/b", "n", "l")
    rule = replace(JOB, match=dict.fromkeys(names, "x"), audience="sts")

    refused = refusal_of(CLAIMS | nested | {"aud": "sts", "sub": "\ud800\x00" + "x" * 300, "n": 7, "l": ["a", 1]}, rule)

    assert refused is not None
    assert refused.claims == {
        "sub": "?\ufffd" + "x" * 198,
        "kubernetes.io/serviceaccount/uid": "14ee",
        "kubernetes.io/pod": None,
        "kubernetes.io": "{…}",
        "sub/x": None,
        "a/b": "named as it is",
        "n": "7 (no text)",
        "l": '["a", "…"]',
    }


def test_a_token_is_judged_by_the_rules_with_the_keys_that_have_signed_it() -> None:
    others = [replace(JOB, jwks_uri=f"https://keys.example/{number}", match={"sub": "x"}) for number in range(5)]
    fitting = replace(JOB, jwks={"keys": []})
    candidates = found(*others, fitting, replace(JOB, match={"sub": "x"}))

    sources = candidates.sources(CLAIMS, ISSUER)

    # The keys of the fitting rule come first, at most so many are tried, and keys that two rules share are tried once.
    assert sources[0] == keys_of(fitting)
    assert len(sources) == SOURCES_TRIED_MAX
    assert found(JOB, JOB).sources(CLAIMS, ISSUER) == [keys_of(JOB)]
    assert workloads.judge(candidates, keys_of(fitting), CLAIMS, issuer=ISSUER, at=NOW) == fitting
    refused = workloads.judge(candidates, keys_of(others[0]), CLAIMS, issuer=ISSUER, at=NOW)
    assert not isinstance(refused, Workload)
    assert [workload for workload, _ in refused] == [others[0]]


def test_a_refusal_is_stored_once_in_some_seconds_and_without_claims_when_nothing_was_verified() -> None:
    [(_, refusal)] = workloads.unverified(found(JOB), RefusalReason.SIGNATURE, at=NOW)
    lately = replace(JOB, last_refused=replace(refusal, at=NOW - timedelta(seconds=9)))
    earlier = replace(JOB, last_refused=replace(refusal, at=NOW - timedelta(seconds=10)))

    assert refusal.claims == {}
    assert workloads.due([(one, refusal) for one in (JOB, lately, earlier)]) == [(ID, refusal)] * 2


def test_a_token_of_anybody_does_not_hide_why_one_of_the_issuer_was_refused() -> None:
    [(_, by_anybody)] = workloads.unverified(found(JOB), RefusalReason.SIGNATURE, at=NOW)
    by_issuer = RefusedAssertion(at=NOW - timedelta(minutes=9), reason=RefusalReason.CLAIMS, claims={"sub": "x"})
    shown = replace(JOB, last_refused=by_issuer)
    old = replace(JOB, last_refused=replace(by_issuer, at=NOW - timedelta(minutes=10)))

    assert workloads.due([(shown, by_anybody), (old, by_anybody)]) == [(ID, by_anybody)]
    assert workloads.due([(shown, replace(by_issuer, at=NOW))]) == [(ID, replace(by_issuer, at=NOW))]


def test_a_use_is_stored_once_in_a_minute() -> None:
    proof: Any = object()

    assert workloads.needs_transaction(JOB, None, at=NOW)
    assert workloads.needs_transaction(replace(JOB, last_used_at=NOW - timedelta(minutes=1)), None, at=NOW)
    assert not workloads.needs_transaction(replace(JOB, last_used_at=NOW), None, at=NOW)
    assert workloads.needs_transaction(replace(JOB, last_used_at=NOW), proof, at=NOW)


def test_a_token_for_a_key_names_key_and_workload_and_no_other_resource() -> None:
    proof: Any = SimpleNamespace(key_thumbprint="thumb")

    token = workloads.token(found(JOB), JOB, scope=None, resource=None, proof=proof)

    assert (token.audience, token.expires_at) == (None, None)
    assert token.claims == {
        "sub": f"key:{ID}",
        "client_id": f"key:{ID}",
        "org": "acme",
        "organization_id": str(ID),
        "workload": str(ID),
        "cnf": {"jkt": "thumb"},
    }
    with pytest.raises(TargetInvalid):
        workloads.token(found(JOB), JOB, scope=None, resource="https://api.example.com", proof=None)


def test_a_workload_that_was_deleted_while_its_keys_were_fetched_gets_nothing() -> None:
    uow: Any = SimpleNamespace(workloads=SimpleNamespace(of_holder=lambda _holder: []))

    with pytest.raises(ClientInvalid):
        workloads.issue(uow, found(JOB), JOB, scope=None, resource=None, proof=None)
