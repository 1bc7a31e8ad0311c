"""What a user reads of a device that waits for an answer."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from core.openid.device import WaitingDevice
from core.services.own_claims import ServiceScope
from tests.caller_values import START

COMMAND_LINE = WaitingDevice(
    client=None, organization_name=None, ip_address=None, user_agent=None, created_at=START, scopes=["read"]
)


def test_it_is_told_what_the_scopes_of_the_service_mean() -> None:
    service = SimpleNamespace(scopes=[ServiceScope(name="read", description="Read your orders")])
    client: Any = SimpleNamespace(service=service)

    assert list(replace(COMMAND_LINE, client=client, scopes=["openid", "read"]).sentences) == ["Read your orders"]
    assert list(COMMAND_LINE.sentences) == []
