"""Addresses under custom domains."""

import pytest

from core.hosts import under


@pytest.mark.parametrize(
    ("host_name", "url", "expected"),
    [
        (None, "https://id.example.com/auth", "https://id.example.com/auth"),
        ("id.acme.example", "https://id.example.com/auth?a=b", "https://id.acme.example/auth?a=b"),
        ("id.acme.example", "http://localhost:8000", "http://id.acme.example:8000"),
    ],
)
def test_an_address_is_moved_to_the_custom_host_with_its_port(host_name: str | None, url: str, expected: str) -> None:
    assert under(host_name, url) == expected
