"""A worker of a cluster is killed while organizations invite: what was confirmed is in every log, and goes out."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import psycopg
import pytest

from core.mail import mail
from tests.citus import Node
from tests.citus_databases import CitusDatabases
from tests.clock import SettableClock
from tests.entrypoints.hook import open_hook
from tests.mail_server import PostOffice
from tests.processes import Answer, Commands, Service, Services
from tests.waiting import wait_until
from tests.world.builder import PASSWORD, Builder
from tests.world.fixtures import builder

__all__ = ["builder"]

# It starts a cluster and a server, and waits for what takes its turn; CI runs it in its turn.
pytestmark = pytest.mark.long

# Enough that each worker has some of them.
ORGANIZATIONS: Final = 6
INVITED_MIN: Final = 5
# An organization may send a hundred mails in an hour.
INVITED_MAX: Final = 60
PAUSE_SECONDS_MAX: Final = 0.5
SECONDS_MAX: Final = 120.0
# What a courier leased by a commit without an answer goes out after the lease. What the worker had only prepared when
# it was killed is committed by Citus, which looks for such transactions once a minute.
AFTERWARDS_SECONDS_MAX: Final = SECONDS_MAX + mail.LEASE.total_seconds()
OWNER: Final = "owner@{}.example"


@pytest.fixture(scope="session")
def databases(citus_databases: CitusDatabases) -> CitusDatabases:
    """The maker of databases for this module: on a cluster."""
    return citus_databases


@pytest.fixture
def clock() -> SettableClock:
    """The time of the server, whose process has no other."""
    return SettableClock(datetime.now(UTC))


@pytest.fixture
def post_office() -> Iterator[PostOffice]:
    with PostOffice().open() as opened:
        yield opened


@dataclass
class Inviter(threading.Thread):
    """The owner of an organization, who invites one guest after the other until told to end."""

    service: Service
    slug: str
    token: str
    confirmed: list[str] = field(default_factory=list[str])
    statuses: Counter[int] = field(default_factory=Counter[int])
    is_ending: bool = False

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        """Invite."""
        number = 0
        while not self.is_ending and len(self.confirmed) < INVITED_MAX:
            number += 1
            guest = f"guest-{number}@{self.slug}.example"
            status = self.call("POST", "invitations", {"email": guest, "role": "member"}).status
            self.statuses[status] += 1
            if status == 200:
                self.confirmed.append(guest)
            time.sleep(random.uniform(0, PAUSE_SECONDS_MAX))

    def call(self, method: str, path: str, body: object = None) -> Answer:
        """Send a request of the owner to the organization."""
        return self.service.request(
            method,
            f"/api/organizations/{self.slug}/{path}",
            headers={"Authorization": f"Bearer {self.token}"},
            body=None if body is None else json.dumps(body).encode(),
        )

    def feed(self) -> list[str]:
        """Return the guest of each event of the feed."""
        found: list[str] = []
        cursor = ""
        while True:
            page = self.call("GET", f"events?types=user.invited{cursor}").json
            found += [event["data"]["invited_email"] for event in page["events"]]
            if not page["has_more"]:
                return found
            cursor = f"&after={page['next_cursor']}"


def test_a_worker_is_killed_while_organizations_invite_and_nothing_confirmed_is_lost(
    citus_databases: CitusDatabases,
    database_url: str,
    builder: Builder,
    services: Services,
    commands: Commands,
    post_office: PostOffice,
) -> None:
    slugs = [f"team-{number}" for number in range(ORGANIZATIONS)]
    places = {
        slug: node_of(database_url, citus_databases.cluster.workers, organization(builder, slug)) for slug in slugs
    }
    killed = places[slugs[0]]
    lost = {slug for slug, node in places.items() if node is killed}
    assert len(lost) < ORGANIZATIONS, "every organization lies on one worker"
    service = services.ready(
        DEV="on", OUTBOUND_ALLOW="127.0.0.0/8", SMTP_URL=f"smtp://127.0.0.1:{post_office.port}?from=id@example.com"
    )

    with open_hook() as (url, received), inviting(service, slugs, url) as inviters:
        all_confirm_more(inviters)
        killed.stop("immediate")
        try:
            all_confirm_more([one for one in inviters if one.slug not in lost])
            wait_until(lambda: all(one.statuses[503] for one in inviters if one.slug in lost), seconds_max=SECONDS_MAX)
        finally:
            killed.start()
        all_confirm_more(inviters)
        for one in inviters:
            one.is_ending = True
            one.join()
        confirmed = {guest for one in inviters for guest in one.confirmed}

        # Everything that was confirmed goes out, also what was due when the worker was killed.
        wait_until(lambda: confirmed <= recipients(post_office), seconds_max=AFTERWARDS_SECONDS_MAX)
        events = "SELECT id FROM events WHERE type = 'user.invited'"
        wait_until(lambda: ids(builder, events) <= set(received), seconds_max=AFTERWARDS_SECONDS_MAX)
        sealed = "SELECT count(*) FROM audit_entries WHERE position IS NULL"
        wait_until(lambda: builder.rows(sealed) == [(0,)], seconds_max=AFTERWARDS_SECONDS_MAX)

        assert {status for one in inviters for status in one.statuses} == {200, 503}
        assert not any(one.statuses[503] for one in inviters if one.slug not in lost)
        for one in inviters:
            guests = one.feed()
            assert set(one.confirmed) <= set(guests)
            assert len(set(guests)) == len(guests)
        twice = "SELECT organization_id, position FROM events GROUP BY organization_id, position HAVING count(*) > 1"
        assert builder.rows(twice) == []
        written = {
            details["invited_email"]
            for (details,) in builder.rows("SELECT details FROM audit_entries WHERE action = 'user.invited'")
        }
        assert confirmed <= written
    verified = commands.run("audit", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def organization(builder: Builder, slug: str) -> str:
    """Insert an organization with an owner and many seats; return its id."""
    organization_id = builder.organization(slug)
    builder.connection.execute("UPDATE organizations SET max_users = 1000 WHERE id = %s", (organization_id,))
    builder.member(organization_id, builder.user(OWNER.format(slug)), "owner")
    return str(organization_id)


def node_of(url: str, workers: Sequence[Node], organization_id: str) -> Node:
    """Return the worker that has the logs of an organization."""
    with psycopg.connect(url) as connection:
        [[host]] = connection.execute(
            """
            SELECT nodename FROM citus_shards
            WHERE  shardid = get_shard_id_for_distribution_column('audit_entries', %s::uuid)
            """,
            (organization_id,),
        ).fetchall()
    return next(worker for worker in workers if str(worker.folder) == host)


@contextmanager
def inviting(service: Service, slugs: Sequence[str], hook: str) -> Generator[list[Inviter]]:
    """Let the owners invite, and their webhooks get the events, for as long as the block runs."""
    inviters: list[Inviter] = []
    for slug in slugs:
        credentials = {"email": OWNER.format(slug), "password": PASSWORD}
        signed_in = service.request("POST", "/api/auth/login", body=json.dumps(credentials).encode())
        assert signed_in.status == 200, signed_in.content
        inviters.append(Inviter(service, slug, signed_in.json["access_token"]))
        made = inviters[-1].call("POST", "webhooks", {"name": "hook", "url": hook, "events": ["user.invited"]})
        assert made.status == 200, made.content
    for one in inviters:
        one.start()
    try:
        yield inviters
    finally:
        for one in inviters:
            one.is_ending = True
        for one in inviters:
            one.join()


def all_confirm_more(inviters: Sequence[Inviter]) -> None:
    """Return when each of them has some more invitations confirmed."""
    enough = {one.slug: len(one.confirmed) + INVITED_MIN for one in inviters}
    wait_until(
        lambda: all(len(one.confirmed) >= enough[one.slug] for one in inviters),
        seconds_max=SECONDS_MAX,
    )


def recipients(post_office: PostOffice) -> set[str]:
    """Return the addresses at which mails have arrived."""
    return {address for one in list(post_office.received) for address in one.recipients}


def ids(builder: Builder, statement: str) -> set[str]:
    """Return the ids that a statement finds."""
    return {str(id_) for (id_,) in builder.rows(statement)}
