"""A new admin in a real browser without scripts: a webhook whose receiver refuses, found, mended and sent again."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import pytest
import trio

from adapters.gateways.attempts import HttpWebhookSender
from adapters.gateways.outbound import outbound_client
from adapters.postgres.driver.connection import RawConnection
from core.attempts import Attempt
from core.organizations.organizations import ADMIN, OWNER
from core.secrets import Secret
from core.sessions.signing_keys import KeyPair
from core.webhooks import deliveries
from core.webhooks.deliveries import DueDelivery, LeasedWebhook
from core.webhooks.webhooks import SigningSecrets
from entrypoints.pages.webhooks.webhooks import RECEIVER
from entrypoints.settings import Settings
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

WRONG: Final = "whsec_" + "A" * 43 + "="


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an organization that has an admin."""
    organization_id = builder.organization()
    builder.member(organization_id, builder.user("ann@example.com"), OWNER)
    builder.member(organization_id, builder.user(EMAIL), ADMIN)
    with running_site(database_url, key_pairs) as site:
        yield site


@contextmanager
def receiving(monkeypatch: pytest.MonkeyPatch, secret: str, port: int = 0) -> Generator[int]:
    """Run the receiver of the page with a secret; yield its port."""
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    names: dict[str, type[http.server.BaseHTTPRequestHandler]] = {}
    exec(RECEIVER.rpartition("http.server.HTTPServer")[0], names)  # noqa: S102 - the code of the page
    with http.server.HTTPServer(("127.0.0.1", port), names["Receiver"]) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def send_due(transact: Callable[..., Any], connection: RawConnection, secret: str) -> None:
    """Send what is due, as the dispatcher does; the server alone can read the stored secret."""
    [(hook_id, organization_id, url, delivery_id, payload, attempts)] = connection.execute(
        """
        SELECT w.id, w.organization_id, w.url, d.id, delivery_payload(e, d.event_type), d.attempt_count
        FROM   webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id JOIN events e ON e.id = d.event_id
        WHERE  d.next_retry_at IS NOT NULL
        """
    ).fetchall()
    at = datetime.now(UTC)
    due = DueDelivery(id=delivery_id, payload=payload, attempt_count=attempts, queued_at=at)
    secrets = SigningSecrets(current=Secret(secret))
    webhook = LeasedWebhook(
        id=hook_id, organization_id=organization_id, url=url, secrets=secrets, leased_until=at, deliveries=[due]
    )

    async def send() -> Attempt:
        async with outbound_client(Settings(dev=True).outbound_allowed) as client:
            sender = HttpWebhookSender(client, version="test")
            return await sender.send(organization_id, url, due, secrets.at(at), at=at)

    transact(deliveries.record, webhook, due, trio.run(send))


def test_a_failed_delivery_is_found_from_the_overview_and_sent_again(
    site: Site,
    watch: Callable[..., Watched],
    transact: Callable[..., Any],
    raw_connection: RawConnection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = watch(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/organizations/acme")
    sign_in(page)

    with receiving(monkeypatch, WRONG) as port:
        page.get_by_role("link", name="Webhooks").last.press("Enter")
        page.get_by_role("link", name="Create a webhook").press("Enter")
        page.get_by_label("Name", exact=True).fill("crm")
        page.get_by_label("Address").fill(f"http://127.0.0.1:{port}/")
        page.get_by_label("user.joined").press("Space")
        page.get_by_role("button", name="Create the webhook").press("Enter")
        secret = page.get_by_label("Secret", exact=True).input_value()
        page.get_by_role("link", name="Send a test").press("Enter")
        page.get_by_role("button", name="Send a test").press("Enter")
        # It is the last attempt: the retries of two hours have passed.
        raw_connection.execute("UPDATE webhook_deliveries SET attempt_count = 5")
        send_due(transact, raw_connection, secret)
    page.goto(f"{site.url}/app/organizations/acme")
    page.get_by_role("link", name="See them, and send them again").press("Enter")
    lines = page.locator("th code").evaluate(
        "one => { one.textContent = 'customer.user_added'; return one.getClientRects().length; }"
    )
    page.get_by_role("table", name="Deliveries").get_by_role("link").press("Enter")
    refused = page.get_by_role("main").inner_text()
    with receiving(monkeypatch, secret, port):
        page.get_by_role("button", name="Send it again").press("Enter")
        send_due(transact, raw_connection, secret)
    page.get_by_role("link", name="Load this page again").press("Enter")
    arrived = page.get_by_role("main").inner_text()

    # The longer names of events are not broken on a phone.
    assert lines == 1
    assert "The receiver answered 401." in refused
    assert "204" in arrived
    assert "Attempt 2" in arrived
    assert watched.problems == []
