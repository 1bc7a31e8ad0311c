"""What the parameter `claims` asks for (OpenID Connect Core, 5.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.openid import requested_claims, scopes
from core.openid.refusals import RequestInvalid
from core.openid.requested_claims import NO_CLAIMS, NO_USER, RequestedClaims

ADA, GRACE = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22", "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd33"


def parsed(**members: Any) -> RequestedClaims:
    """Return what these members ask for."""
    return requested_claims.parse(json.dumps(members))


def test_claims_are_asked_for_at_two_places_and_unknown_ones_are_left_out() -> None:
    asked = parsed(
        userinfo={"email": None, "auth_time": {"essential": True}, "x": None},
        id_token={"email_verified": {"essential": True, "value": True}, "auth_time": None, "address": None},
        other={"email": None},
    )

    assert (asked.userinfo, asked.id_token) == (["email", "auth_time"], ["email_verified"])
    assert asked.kept() == {"userinfo": ["email", "auth_time"], "id_token": ["email_verified"]}
    assert RequestedClaims(**asked.stored()) == asked


@pytest.mark.parametrize(
    "text", [None, "{}", "null", '{"userinfo": null, "id_token": {}}', '{"id_token": {"x": null}}']
)
def test_nothing_may_be_asked_for(text: str | None) -> None:
    asked = requested_claims.parse(text)

    assert asked.kept() is None
    assert (asked.subjects, asked.essential_classes) == (None, None)
    assert NO_CLAIMS.kept() is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"email"',
        "7",
        "[" * 2000,
        '{"userinfo": []}',
        '{"id_token": "email"}',
        '{"id_token": {"sub": "me"}}',
        '{"id_token": {"acr": {"values": "x"}}}',
    ],
)
def test_what_is_no_object_of_its_form_is_refused(text: str) -> None:
    with pytest.raises(RequestInvalid):
        requested_claims.parse(text)


@pytest.mark.parametrize(
    ("members", "subjects"),
    [
        ({"id_token": {"sub": {"value": ADA}}}, [ADA]),
        ({"userinfo": {"sub": {"values": [GRACE, ADA]}}}, [ADA, GRACE]),
        ({"id_token": {"sub": {"value": ADA}}, "userinfo": {"sub": {"values": [ADA, GRACE]}}}, [ADA]),
        ({"id_token": {"sub": {"value": ADA}}, "userinfo": {"sub": {"value": GRACE}}}, [NO_USER]),
        ({"id_token": {"sub": {"value": "eve"}}}, [NO_USER]),
        ({"id_token": {"sub": {"value": ADA.upper()}}}, [NO_USER]),
        ({"id_token": {"sub": {"value": 7}}}, [NO_USER]),
        ({"id_token": {"sub": {"essential": True}}, "userinfo": {"sub": None}}, None),
    ],
)
def test_a_value_of_sub_names_the_users_who_may_be_signed_in(
    members: dict[str, Any], subjects: list[str] | None
) -> None:
    assert parsed(**members).subjects == subjects


@pytest.mark.parametrize(
    ("acr", "essential", "is_second_wanted"),
    [
        ({"essential": True, "value": scopes.TWO_FACTORS}, [scopes.TWO_FACTORS], True),
        ({"essential": True, "values": ["x", scopes.TWO_FACTORS]}, [scopes.TWO_FACTORS], True),
        ({"essential": True, "values": ["x"]}, [], False),
        ({"essential": True, "values": list(scopes.CONTEXT_CLASSES)}, list(scopes.CONTEXT_CLASSES), False),
        ({"values": [scopes.TWO_FACTORS]}, None, True),
        ({"essential": True}, None, False),
        ({"essential": "yes", "value": scopes.TWO_FACTORS}, None, True),
        (None, None, False),
    ],
)
def test_an_essential_class_has_to_be_met(acr: Any, essential: list[str] | None, *, is_second_wanted: bool) -> None:
    asked = parsed(id_token={"acr": acr})

    assert (asked.essential_classes, asked.wants_second_factor) == (essential, is_second_wanted)


def test_the_class_of_the_id_token_is_one_that_was_essential() -> None:
    two = ["pwd", "otp", "mfa"]

    assert requested_claims.context_class(two, None) == scopes.TWO_FACTORS
    assert requested_claims.context_class(two, {"acr": [scopes.ONE_FACTOR]}) == scopes.ONE_FACTOR
    assert requested_claims.context_class(two, {"acr": list(scopes.CONTEXT_CLASSES)}) == scopes.TWO_FACTORS
    assert requested_claims.context_class(["pwd"], {"acr": [scopes.ONE_FACTOR]}) == scopes.ONE_FACTOR
    assert requested_claims.of(None, "userinfo") == ()


def test_only_what_is_known_is_given() -> None:
    assert requested_claims.chosen({"email": "a", "sub": "b"}, ["email", "name"]) == {"email": "a"}
