"""The receiver of the manual verifies real deliveries."""

from __future__ import annotations

import runpy
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import HTTPServer
from pathlib import Path

import pytest

from tests.documents import MANUAL, block
from tests.world.hooks import Hooks


@contextmanager
def running(secret: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """Run the receiver as the manual has it; yield its URL."""
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    script = folder / "receiver.py"
    script.write_text(block(MANUAL / "webhooks.md", "python"))
    names = runpy.run_path(str(script), run_name="receiver")
    with HTTPServer(("127.0.0.1", 0), names["Receiver"]) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def created(hooks: Hooks) -> Hooks:
    """The webhooks, at the present time, because the receiver refuses old deliveries."""
    hooks.team.world.clock.now = datetime.now(UTC)
    return hooks


async def answered(hooks: Hooks, webhook_id: str, url: str) -> int:
    """Send a test to the receiver; return the status that it answered."""
    await hooks.change(webhook_id, url=url)
    await hooks.test(webhook_id)
    await hooks.send()
    return (await hooks.deliveries(webhook_id))[0]["response_status_code"]


async def test_it_accepts_deliveries_also_during_a_rotation(
    created: Hooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    webhook_id = await created.create("https://hooks.example.com/")
    old = created.secrets[webhook_id]
    with running(old, tmp_path, monkeypatch) as url:
        assert await answered(created, webhook_id, url) == 204
        new = (await created.request("POST", f"/{webhook_id}/rotate-secret")).json["secret"]
        assert await answered(created, webhook_id, url) == 204
    with running(new, tmp_path, monkeypatch) as url:
        assert await answered(created, webhook_id, url) == 204

    assert capfd.readouterr().out.count("webhook.test") == 3


async def test_it_refuses_a_delivery_with_another_secret_and_an_old_one(
    created: Hooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook_id = await created.create("https://hooks.example.com/")
    with running("whsec_" + "A" * 44, tmp_path, monkeypatch) as url:
        assert await answered(created, webhook_id, url) == 401
    created.team.world.clock.now -= timedelta(minutes=6)
    created.team.tokens.clear()
    with running(created.secrets[webhook_id], tmp_path, monkeypatch) as url:
        assert await answered(created, webhook_id, url) == 401
