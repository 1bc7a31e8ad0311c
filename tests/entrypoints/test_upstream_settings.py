"""The settings of the three external providers."""

from __future__ import annotations

import pytest

from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sign_in.upstream.flows import ProviderClient
from entrypoints.settings import SettingInvalid, load
from entrypoints.upstream_settings import external_providers

CREDENTIALS = {"GATEHOUSE_CODEHOST_CLIENT_ID": "an-id", "GATEHOUSE_CODEHOST_CLIENT_SECRET": "a-long-secret"}


def test_a_provider_with_credentials_is_offered() -> None:
    providers = external_providers(load(CREDENTIALS))

    assert providers[Provider.CODEHOST].client == ProviderClient(
        client_id="an-id", client_secret=Secret("a-long-secret")
    )
    assert providers[Provider.WEBSUITE].client is None


def test_a_provider_is_reached_where_the_settings_say() -> None:
    url = "https://git.example.com/token"

    assert external_providers(load({"GATEHOUSE_CODEHOST_TOKEN_URL": url}))[Provider.CODEHOST].token_url == url


@pytest.mark.parametrize("name", list(CREDENTIALS))
def test_a_client_id_without_its_secret_stops_the_start(name: str) -> None:
    with pytest.raises(SettingInvalid, match="GATEHOUSE_CODEHOST_CLIENT_ID and GATEHOUSE_CODEHOST_CLIENT_SECRET"):
        load({name: CREDENTIALS[name]})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CLIENT_ID", "with a blank"),
        ("CLIENT_ID", "x" * 256),
        ("CLIENT_SECRET", "short"),
        ("AUTHORIZE_URL", "git.example.com"),
        ("TOKEN_URL", "ftp://git.example.com"),
        ("USERINFO_URL", "https://git.example.com?a=b"),
    ],
)
@pytest.mark.parametrize("provider", ["CODEHOST", "WEBSUITE", "OFFICESUITE"])
def test_a_wrong_value_stops_the_start(provider: str, name: str, text: str) -> None:
    with pytest.raises(SettingInvalid, match=f"GATEHOUSE_{provider}_{name} takes"):
        load({f"GATEHOUSE_{provider}_{name}": text})
