"""The names of providers by which identities are linked."""

from __future__ import annotations

import pytest

from core.accounts.providers import Provider
from core.sign_in.upstream.providers import linked_of


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("codehost", Provider.CODEHOST),
        ("websuite", Provider.WEBSUITE),
        ("officesuite", Provider.OFFICESUITE),
        ("upstream", Provider.UPSTREAM),
        ("password", None),
        ("", None),
    ],
)
def test_external_providers_and_connections_link_identities(name: str, provider: Provider | None) -> None:
    assert linked_of(name) is provider
