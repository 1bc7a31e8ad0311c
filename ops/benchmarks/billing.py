"""The receiver of billing events: how many distinct ones it applies in a second, each durable before its answer.

The events belong to many subscriptions of many organizations: a beginning, then renewals, paid invoices, failed
payments and changes of the plan. Each is another event, signed, and answered when its transaction is committed.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
import trio

from adapters.postgres.embedded.server import EmbeddedPostgres
from core.billing import signatures
from core.secrets import Secret
from ops.benchmarks import servers
from ops.benchmarks.comparing import Spread
from ops.benchmarks.load import receive_answer
from ops.benchmarks.processes import cpu_seconds
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import HOST, RunningServer
from ops.benchmarks.standing import StandingFigure

ORGANIZATIONS: Final = 100
SUBSCRIPTIONS: Final = 300
EVENTS_EACH: Final = 10
ROUNDS: Final = 3
CONNECTIONS: Final = 16
EVENTS_PER_SECOND_MIN: Final = 300.0
SECRET: Final = Secret("whsec_of_the_benchmark")
SETTINGS: Final = {
    # Nothing is sent there: no events of one second, and no period that has ended.
    "GATEHOUSE_BILLING_URL": "http://127.0.0.1:9",
    "GATEHOUSE_BILLING_SECRET_KEY": "sk_test_of_the_benchmark",
    "GATEHOUSE_BILLING_WEBHOOK_SECRET": SECRET.reveal(),
}
SEED: Final = """
    WITH numbers AS MATERIALIZED (
        SELECT n, gen_random_uuid() AS organization_id, gen_random_uuid() AS service_id, gen_random_uuid() AS user_id,
               gen_random_uuid() AS plan_id, now() AS at
        FROM   generate_series(0, %(organizations)s - 1) AS n),
    o AS (
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT organization_id, 'billed-' || n, 'Billed', 'active', (SELECT id FROM tiers WHERE name = 'free'), at, at
        FROM   numbers),
    u AS (
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT user_id, 'billed-' || n || '@example.com', at, at FROM numbers),
    s AS (
        INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
        SELECT service_id, organization_id, 'shop', 'Shop', 'web', service_id, at, at FROM numbers),
    p AS (
        INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, billing_price_id, created_at,
                           updated_at)
        SELECT plan_id, organization_id, service_id, 'Pro', 100, 'usd', 'price_' || n, at, at FROM numbers),
    c AS (
        INSERT INTO billing_customers (id, mode, organization_id, created_at, updated_at)
        SELECT 'cus_' || n, 'test', organization_id, at, at FROM numbers)
    SELECT n, organization_id, service_id, user_id, plan_id FROM numbers ORDER BY n
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """What a subscription was bought for."""

    number: int
    metadata: dict[str, str]


def billing(say: Say) -> list[StandingFigure]:
    """Send distinct events over several connections, several times."""
    rates: list[float] = []
    costs: list[float] = []
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with (
            servers.service(data, SETTINGS) as service,
            EmbeddedPostgres(data) as url,
            psycopg.connect(url, autocommit=True) as connection,
        ):
            purchases = _seed(connection)
            for number in range(1, ROUNDS + 1):
                bodies = _events(purchases, number)
                used = cpu_seconds(service.roots)
                seconds = trio.run(_send_all, service, bodies)
                used = cpu_seconds(service.roots) - used
                _require_stored(connection, number * len(bodies))
                rates.append(len(bodies) / seconds)
                costs.append(1000 * used / len(bodies))
                say(f"billing: {rates[-1]:.0f} events a second, {costs[-1]:.2f} ms of processor time each")
    return [
        StandingFigure(
            name=f"billing events over {CONNECTIONS} connections",
            unit="1/s",
            values=Spread.of(rates),
            minimum=EVENTS_PER_SECOND_MIN,
        ),
        StandingFigure(name="billing event: processor time", unit="ms", values=Spread.of(costs)),
    ]


def _seed(connection: psycopg.Connection[Any]) -> list[Purchase]:
    rows = connection.execute(SEED, {"organizations": ORGANIZATIONS}).fetchall()
    return [
        Purchase(
            number=number,
            metadata={
                "org_id": str(organization_id),
                "service_id": str(service_id),
                "user_id": str(user_id),
                "plan_id": str(plan_id),
            },
        )
        for number, organization_id, service_id, user_id, plan_id in rows
    ]


def _events(purchases: list[Purchase], round_number: int) -> list[bytes]:
    """Return the events of a round; events of the same subscription are far from each other."""
    now = int(time.time())
    return [
        json.dumps(_event(purchases[subscription % len(purchases)], subscription, step, round_number, now)).encode()
        for step in range(EVENTS_EACH)
        for subscription in range(SUBSCRIPTIONS)
    ]


def _event(purchase: Purchase, subscription: int, step: int, round_number: int, now: int) -> dict[str, Any]:
    subscription_id, customer = f"sub_{round_number}_{subscription}", f"cus_{purchase.number}"
    is_invoice = step % 3 == 1
    end = now + (step + 1) * 2_592_000
    invoice = {
        "id": f"in_{round_number}_{subscription}_{step}",
        "customer": customer,
        "lines": {"data": [{"period": {"end": end}}]},
        "parent": {"subscription_details": {"subscription": subscription_id, "metadata": purchase.metadata}},
    }
    whole = {
        "id": subscription_id,
        "customer": customer,
        "status": "past_due" if step % 3 == 0 and step else "active",
        "metadata": purchase.metadata,
        "items": {"data": [{"price": {"id": f"price_{purchase.number}"}, "current_period_end": end}]},
    }
    last = step == EVENTS_EACH - 1
    kind = "deleted" if last else "updated" if step else "created"
    return {
        "id": f"evt_{round_number}_{subscription}_{step}",
        "type": "invoice.paid" if is_invoice else f"customer.subscription.{kind}",
        "created": now + step,
        "data": {"object": invoice if is_invoice else whole},
    }


async def _send_all(service: RunningServer, bodies: list[bytes]) -> float:
    """Send every event once; return how many seconds that took."""
    at = datetime.now(UTC)
    waiting = iter([_request(service.port, body, signatures.header_of(body, SECRET, at=at)) for body in bodies])
    began_at = trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(CONNECTIONS):
            nursery.start_soon(_send_from, waiting, service.port)
    return trio.current_time() - began_at


async def _send_from(waiting: Any, port: int) -> None:
    stream = await trio.open_tcp_stream(HOST, port)
    async with stream:
        for request in waiting:
            await stream.send_all(request)
            head, body = await receive_answer(stream)
            if head.status != 200:
                raise servers.CannotMeasure(f"An event was answered {head.status}: {body.decode(errors='replace')}")


def _request(port: int, body: bytes, signature: str) -> bytes:
    lines = [
        "POST /webhooks/billing HTTP/1.1",
        f"Host: {HOST}:{port}",
        "Content-Type: application/json",
        f"Billing-Signature: {signature}",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _require_stored(connection: psycopg.Connection[Any], events: int) -> None:
    stored = connection.execute("SELECT count(*) FROM billing_events").fetchone()
    if stored != (events,):
        raise servers.CannotMeasure(f"{events} events were answered, and {stored} are stored.")
