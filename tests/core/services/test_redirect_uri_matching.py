"""Redirect URIs are compared character by character; for an installed application, a port of loopback may differ."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.services.redirect_uris import matches


@given(registered=st.text(), given_uri=st.text())
@example(registered="https://app.example", given_uri="https://app.example.evil.example")
def test_without_loopback_only_the_same_text_matches(registered: str, given_uri: str) -> None:
    assert matches(registered, given_uri, any_loopback_port=False) is (registered == given_uri)


@pytest.mark.parametrize("port", ["", ":1", ":51234"])
@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "shop.localhost", "127.1.2.3"])
def test_any_port_of_loopback_matches(host: str, port: str) -> None:
    assert matches(f"http://{host}:8080/cb?x=1", f"http://{host}{port}/cb?x=1", any_loopback_port=True)


@pytest.mark.parametrize(
    "given_uri",
    [
        "http://127.0.0.1:1/other",
        "http://127.0.0.1:1/cb#x",
        "http://127.0.0.1:1/cb?x=2",
        "http://127.0.0.1:x/cb",
        "http://127.0.0.1:1@evil.example/cb",
        "http://user@127.0.0.1:1/cb",
        "http://127.0.0.2:1/cb",
        "http://127.0.0.1.evil.example:1/cb",
        "http://evil.example:1/cb",
        "http://127.0.0.1:1\\@evil.example/cb",
        "https://127.0.0.1:1/cb",
        "//127.0.0.1:1/cb",
    ],
)
def test_nothing_else_of_the_address_may_differ(given_uri: str) -> None:
    assert not matches("http://127.0.0.1:8080/cb", given_uri, any_loopback_port=True)


def test_an_address_that_is_not_loopback_keeps_its_port() -> None:
    assert not matches("https://app.example.com/cb", "https://app.example.com:8443/cb", any_loopback_port=True)
