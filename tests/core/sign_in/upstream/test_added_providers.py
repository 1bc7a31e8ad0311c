"""The names of providers by which identities are linked, and which identities sign in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.accounts.sign_in_methods import Provider
from core.sign_in.upstream.configuring import SignInSetup
from core.sign_in.upstream.connections.oauth_credentials import StoredCredentials
from core.sign_in.upstream.providers import ADDED_SCOPES, ExternalProvider, linked_of, signs_in

ACME = ExternalProvider(
    provider=Provider("acme"), title="Acme", scopes=ADDED_SCOPES, issuer="https://id.acme.example", trusts_email=True
)
CODEHOST = ExternalProvider(provider=Provider.CODEHOST, title="codehost", scopes=("user:email",))
EXTERNAL = {one.provider: one for one in (ACME, CODEHOST)}


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("codehost", Provider.CODEHOST),
        ("websuite", Provider.WEBSUITE),
        ("officesuite", Provider.OFFICESUITE),
        ("upstream", Provider.UPSTREAM),
        ("password", None),
        ("magic_link", None),
        ("", None),
        ("a", None),
        ("Acme", None),
    ],
)
def test_external_providers_and_connections_link_identities(name: str, provider: Provider | None) -> None:
    assert linked_of(name) is provider


def test_a_provider_that_was_added_or_removed_again_links_identities_too() -> None:
    assert linked_of("acme") == Provider("acme") == "acme"
    assert Provider("acme").value == "acme"
    assert Provider("acme") not in set(Provider)


@pytest.mark.parametrize("name", [None, 4711, "two words", "x" * 31])
def test_what_is_no_name_is_no_provider(name: object) -> None:
    with pytest.raises(ValueError, match="is not a valid Provider"):
        Provider(name)


@pytest.mark.parametrize(
    ("provider", "subject", "can_sign_in"),
    [
        (Provider.UPSTREAM, "employee-1", True),
        (Provider.CODEHOST, "4711", True),
        (Provider("acme"), "https://id.acme.example#4711", True),
        # Another provider had the name before.
        (Provider("acme"), "https://id.former.example#4711", False),
        (Provider("acme"), "https://id.acme.example.attacker.example#4711", False),
        # It was removed.
        (Provider("removed"), "https://id.acme.example#4711", False),
    ],
)
def test_an_identity_signs_in_while_its_very_provider_is_there(
    provider: Provider, subject: str, *, can_sign_in: bool
) -> None:
    assert signs_in(EXTERNAL, provider, subject) is can_sign_in


def test_own_credentials_are_for_the_provider_with_the_issuer_for_which_they_were_given() -> None:
    setup = SignInSetup(
        connections=(),
        domains=(),
        credentials=[
            StoredCredentials(provider=ACME.provider, client_id="at-acme", issuer=ACME.issuer),
            StoredCredentials(provider=CODEHOST.provider, client_id="at-codehost"),
        ],
    )

    assert setup.client_id_at(ACME) == "at-acme"
    assert setup.client_id_at(CODEHOST) == "at-codehost"
    assert setup.client_id_at(replace(ACME, issuer="https://id.another.example")) is None
