"""The receiver that the pages offer verifies real deliveries, and refuses everything else."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from entrypoints.pages.webhooks.webhooks import RECEIVER
from tests.world.hooks import Hooks

LINES_MAX = 15


@contextmanager
def running(secret: str, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """Run the receiver as the page has it, on a free port; yield its URL."""
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    *lines, last = RECEIVER.splitlines()
    assert last.endswith("Receiver).serve_forever()")
    names: dict[str, type[http.server.BaseHTTPRequestHandler]] = {}
    exec("\n".join(lines), names)  # noqa: S102 - the code of the page
    with http.server.HTTPServer(("127.0.0.1", 0), names["Receiver"]) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook"
        finally:
            server.shutdown()
            thread.join()


async def answered(hooks: Hooks, webhook_id: str) -> int | None:
    """Send a test; return the status that the receiver answered."""
    await hooks.test(webhook_id)
    await hooks.send()
    return (await hooks.deliveries(webhook_id))[0]["response_status_code"]


async def test_it_takes_deliveries_also_during_a_rotation_and_no_others(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hooks.team.world.clock.now = datetime.now(UTC)
    webhook_id = await hooks.create("https://hooks.example.com/")
    other = await hooks.create("https://hooks.example.com/", name="other")
    with running(hooks.secrets[webhook_id], monkeypatch) as url:
        for one in (webhook_id, other):
            await hooks.change(one, url=url)

        own, foreign = await answered(hooks, webhook_id), await answered(hooks, other)
        printed = capfd.readouterr().out
        await hooks.request("POST", f"/{webhook_id}/rotate-secret")
        rotated = await answered(hooks, webhook_id)

    assert (own, foreign, rotated) == (204, 401, 204)
    assert "webhook.test" in printed


def test_it_is_short() -> None:
    assert len(RECEIVER.splitlines()) <= LINES_MAX
