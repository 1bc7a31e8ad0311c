"""The plan `oidcc-config-certification-test-plan`: what discovery says (OpenID Connect Discovery, 3 and 4)."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from tests.world.authorization import ISSUER
from tests.world.conformance import ConformanceClient, modules_of

PLAN = ("oidcc-discovery-endpoint-verification",)

BOOLEANS = (
    "claims_parameter_supported",
    "request_parameter_supported",
    "request_uri_parameter_supported",
    "authorization_response_iss_parameter_supported",
    "frontchannel_logout_supported",
    "frontchannel_logout_session_supported",
    "backchannel_logout_supported",
    "backchannel_logout_session_supported",
)
# Language tags in their canonical case (RFC 5646, 2.1.1).
TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")


def test_every_module_of_the_plan_has_its_test() -> None:
    assert modules_of(globals()) == list(PLAN)


async def test_discovery_has_what_clients_read(suite: ConformanceClient, subtests: pytest.Subtests) -> None:
    """oidcc-discovery-endpoint-verification: the required members, their types, and where they lead."""
    document = await suite.document()

    assert document["issuer"] == ISSUER
    for required in (
        *("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "response_types_supported"),
        *("subject_types_supported", "id_token_signing_alg_values_supported", "scopes_supported", "claims_supported"),
    ):
        with subtests.test(required=required):
            assert document[required]
    for name, value in document.items():
        with subtests.test(name=name):
            if name.endswith(("_endpoint", "_uri", "_documentation")):
                assert value.startswith(f"{document['issuer']}/")
                assert not urlsplit(value).fragment
            elif name in BOOLEANS:
                assert isinstance(value, bool)
            elif name != "issuer":
                assert value
                assert all(isinstance(one, str) and one for one in value)
                assert len(set(value)) == len(value)


async def test_the_values_are_those_of_the_specifications(suite: ConformanceClient) -> None:
    document = await suite.document()

    assert document["response_types_supported"] == ["code"]
    assert document["response_modes_supported"] == ["query", "form_post"]
    assert set(document["subject_types_supported"]) <= {"public", "pairwise"}
    assert "RS256" in document["id_token_signing_alg_values_supported"]
    assert {"authorization_code", "refresh_token"} <= set(document["grant_types_supported"])
    assert "openid" in document["scopes_supported"]
    assert all(re.fullmatch(r"[\x21\x23-\x5b\x5d-\x7e]+", scope) for scope in document["scopes_supported"])
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["prompt_values_supported"] == ["none", "login", "consent", "select_account", "create"]
    assert document["claims_parameter_supported"] is True
    assert all(TAG.fullmatch(tag) for tag in document["ui_locales_supported"])
    assert {"en", "de"} <= set(document["ui_locales_supported"])


async def test_the_keys_are_public_signing_keys_with_distinct_ids(suite: ConformanceClient) -> None:
    document = await suite.document()
    keys = (await suite.world.client.get(document["jwks_uri"].removeprefix(ISSUER))).json["keys"]

    assert keys
    assert len({key["kid"] for key in keys}) == len(keys)
    for key in keys:
        assert (key["use"], key.keys() & {"d", "p", "q", "dp", "dq", "qi", "k", "oth"}) == ("sig", set())


async def test_what_is_refused_is_named_as_the_specification_names_it(suite: ConformanceClient) -> None:
    for parameters, error in (
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"prompt": "dance"}, "invalid_request"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"claims": "{"}, "invalid_request"),
    ):
        assert (await suite.refused(**parameters))["error"] == error
