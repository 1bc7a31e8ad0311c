"""The settings of the payment provider."""

from __future__ import annotations

import pytest

from entrypoints.settings import SettingInvalid, load
from tests.shown_text import shows

KEY = {"GATEHOUSE_BILLING_SECRET_KEY": "sk_live_12345678"}
SECRET = {"GATEHOUSE_BILLING_WEBHOOK_SECRET": "whsec_12345678"}


def test_there_is_a_sandbox_without_a_key_in_development_mode_or_where_it_is_turned_on() -> None:
    development, turned_on = {"GATEHOUSE_DEV": "on"}, {"GATEHOUSE_BILLING_SANDBOX": "on"}

    for environment, is_open in (
        ({}, False),
        ({"GATEHOUSE_BILLING_SANDBOX": "off"}, False),
        (development, True),
        (turned_on, True),
        (KEY | SECRET, False),
        (KEY | SECRET | development | turned_on, False),
    ):
        assert load(environment).has_billing_sandbox is is_open, environment


@pytest.mark.parametrize("environment", [KEY, SECRET])
def test_the_key_and_the_webhook_secret_go_together(environment: dict[str, str]) -> None:
    with pytest.raises(SettingInvalid, match="BILLING_SECRET_KEY and GATEHOUSE_BILLING_WEBHOOK_SECRET go together"):
        load(environment)


@pytest.mark.parametrize("value", ["short", "sk live 12345678", "sk_live_\u00e912345", "s" * 501])
def test_a_key_that_is_none_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(SettingInvalid) as refused:
        load(SECRET | {"GATEHOUSE_BILLING_SECRET_KEY": value})

    assert not shows(str(refused.value), value)


@pytest.mark.parametrize("url", ["http://api.example.com", "http://10.0.0.1:8420"])
def test_the_key_is_never_sent_in_the_clear(url: str) -> None:
    with pytest.raises(SettingInvalid, match="takes an https address"):
        load({"GATEHOUSE_BILLING_URL": url})


@pytest.mark.parametrize(
    "environment",
    [
        {"GATEHOUSE_BILLING_URL": "https://api.example.com"},
        {"GATEHOUSE_BILLING_URL": "http://localhost:8420"},
        {"GATEHOUSE_BILLING_URL": "http://127.0.0.1:8420"},
        {"GATEHOUSE_BILLING_URL": "http://[::1]:8420"},
        {"GATEHOUSE_BILLING_URL": "http://stripe-fake:8420", "GATEHOUSE_DEV": "on"},
    ],
)
def test_another_address_of_the_api_is_accepted(environment: dict[str, str]) -> None:
    assert load(environment).billing_url == environment["GATEHOUSE_BILLING_URL"]
