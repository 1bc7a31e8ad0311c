"""Which addresses share a limit."""

from __future__ import annotations

import pytest

from core.networks import limited_network, shown_network, throttled_network


@pytest.mark.parametrize(
    ("address", "limited", "throttled", "shown"),
    [
        ("192.0.2.77", "192.0.2.77", "192.0.2.0/24", "192.0.2.0/24"),
        ("2001:db8:0:1::1:2", "2001:db8:0:1::/64", "2001:db8:0:1::/64", "2001:db8::/48"),
        (None, "unknown", "unknown", "unknown"),
    ],
)
def test_an_address_belongs_to_a_network(address: str | None, limited: str, throttled: str, shown: str) -> None:
    found = limited_network(address), throttled_network(address), shown_network(address)

    assert found == (limited, throttled, shown)
