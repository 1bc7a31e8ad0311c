"""The domain and the origin of passkeys."""

import pytest

from entrypoints.settings import SettingInvalid, Settings, load


@pytest.mark.parametrize(
    ("base_url", "domain", "origin"),
    [
        ("http://localhost:8000", "localhost", "http://localhost:8000"),
        ("https://id.example.com", "id.example.com", "https://id.example.com"),
        ("https://ID.Example.com:443/sso", "id.example.com", "https://id.example.com"),
        ("http://id.example.com:80", "id.example.com", "http://id.example.com"),
        ("https://id.example.com:80", "id.example.com", "https://id.example.com:80"),
        ("http://[::1]:8000", "::1", "http://[::1]:8000"),
    ],
)
def test_the_domain_and_the_origin_are_derived_from_the_base_url(base_url: str, domain: str, origin: str) -> None:
    settings = load({"GATEHOUSE_BASE_URL": base_url})

    assert (settings.relying_party_id, settings.origin) == (domain, origin)


@pytest.mark.parametrize("domain", ["example.com", "Example.Com", "id.example.com"])
def test_the_domain_may_be_a_parent_of_the_host(domain: str) -> None:
    settings = load({"GATEHOUSE_BASE_URL": "https://id.example.com", "GATEHOUSE_PASSKEY_RP_ID": domain})

    assert (settings.relying_party_id, settings.origin) == (domain.lower(), "https://id.example.com")


@pytest.mark.parametrize(
    "domain", ["example.org", "ample.com", "www.id.example.com", "https://example.com", "example.com:443", "."]
)
def test_an_unrelated_domain_stops_the_start(domain: str) -> None:
    with pytest.raises(SettingInvalid, match="GATEHOUSE_PASSKEY_RP_ID takes"):
        load({"GATEHOUSE_BASE_URL": "https://id.example.com", "GATEHOUSE_PASSKEY_RP_ID": domain})


def test_the_default_domain_is_that_of_the_default_base_url() -> None:
    assert Settings().relying_party_id == "localhost"
