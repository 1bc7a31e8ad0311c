"""What a browser takes along to a provider."""

from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sign_in.identities import PLATFORM
from core.sign_in.upstream.flows import AtDomain, Departure, ReturnAddress, UpstreamSignIn
from tests.shown_text import shows

DEPARTURE = Departure(
    sign_in=UpstreamSignIn(
        id=UUID(int=1),
        provider=Provider.CODEHOST,
        context=PLATFORM,
        client_id="client",
        user_id=None,
        way=ReturnAddress(),
        expires_at=datetime(2026, 2, 3, tzinfo=UTC),
    ),
    state=Secret("the state"),
    verifier=Secret("the verifier"),
    nonce=Secret("1nonce"),
)


@pytest.mark.parametrize("authorize_url", ["https://idp.example/authorize", "https://idp.example/authorize?tenant=a"])
def test_the_address_has_the_state_the_nonce_and_the_challenge_but_no_verifier(authorize_url: str) -> None:
    address = DEPARTURE.address(
        authorize_url, redirect_uri="https://id.example/back", scopes=["openid", "email"], extra={"access_type": "x"}
    )

    sent = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert address.startswith(authorize_url)
    assert (
        sent.items()
        >= {
            "response_type": "code",
            "client_id": "client",
            "redirect_uri": "https://id.example/back",
            "scope": "openid email",
            "state": "the state",
            "nonce": "1nonce",
            "code_challenge_method": "S256",
            "access_type": "x",
        }.items()
    )
    assert not shows(address, "verifier")


def test_without_extra_parameters_the_address_has_ours_alone() -> None:
    address = DEPARTURE.address("https://idp.example/authorize", redirect_uri="https://id.example/back", scopes=[])

    assert len(parse_qs(urlsplit(address).query, keep_blank_values=True)) == 8


def test_the_id_of_a_request_begins_with_no_digit() -> None:
    assert DEPARTURE.request_id == "_1nonce"


@pytest.mark.parametrize(("browser_hash", "is_away"), [(b"of the domain", True), (None, False)])
def test_a_browser_is_away_from_a_domain_while_the_domain_s_own_cookie_waits(
    browser_hash: bytes | None, *, is_away: bool
) -> None:
    at_domain = AtDomain(domain_id=UUID(int=2), name="id.acme.example", browser_hash=browser_hash)

    assert not DEPARTURE.sign_in.is_away
    assert replace(DEPARTURE.sign_in, domain=at_domain).is_away is is_away
