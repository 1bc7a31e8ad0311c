"""Device codes in PostgreSQL: an answer that came first stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from core.openid import device
from core.openid.clients import PresentedClient
from core.openid.device import COMMAND_LINE_CLIENT, UserCodeExpired


def test_a_device_that_was_denied_gets_no_session(transact: Callable[..., Any]) -> None:
    client = PresentedClient(client_id=COMMAND_LINE_CLIENT)
    code = transact(
        device.begin, client, organization_slug=None, service_slug=None, scope=None, resource=None
    ).user_code
    transact(device.deny, code)

    with pytest.raises(UserCodeExpired):
        transact(device.give, code, uuid4())
