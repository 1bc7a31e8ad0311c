"""Which addresses share a limit (decisions 1.9 and 3.14)."""

from __future__ import annotations

import pytest

from core.networks import limited_network, throttled_network


@pytest.mark.parametrize(
    ("address", "limited", "throttled"),
    [
        ("192.0.2.77", "192.0.2.77", "192.0.2.0/24"),
        ("2001:db8::1:2", "2001:db8::/64", "2001:db8::/64"),
        (None, "unknown", "unknown"),
    ],
)
def test_an_address_belongs_to_a_network(address: str | None, limited: str, throttled: str) -> None:
    assert (limited_network(address), throttled_network(address)) == (limited, throttled)
