"""Deliveries verify with the library of Standard Webhooks."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.peers import peer
from tests.receiver import Receiver
from tests.world.hooks import Hooks

NO_SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()


@pytest.mark.long
async def test_the_library_accepts_deliveries_with_both_secrets_during_a_rotation(
    hooks: Hooks, receiver: Receiver, tmp_path: Path
) -> None:
    hooks.team.world.clock.now = datetime.now(UTC)
    webhook_id = await hooks.create(receiver.url)
    old = hooks.secrets[webhook_id]
    new = (await hooks.request("POST", f"/{webhook_id}/rotate-secret")).json["secret"]
    await hooks.test(webhook_id)
    await hooks.send()
    [received] = receiver.received
    delivery = tmp_path / "delivery.json"
    delivery.write_text(json.dumps({"headers": received.headers, "body": received.body.decode()}))
    library = peer("standardwebhooks")

    done = library.run("python", str(library.files / "verify.py"), str(delivery), old, new, NO_SECRET, folder=tmp_path)

    assert (done.stderr, done.stdout.splitlines()) == ("", ["valid", "valid", "No matching signature found"])
