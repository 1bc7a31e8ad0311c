"""The page of the system."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from core.secrets import Secret
from entrypoints.settings import Settings
from ports.actors import MESSAGE_SECONDS_MAX, ActorReport, BackgroundTaskState
from tests.application import ReportedActors
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.world.visitor import Visitor
from tests.world.world import World

SYSTEM = "/app/platform/system"
# It could stand in every secret; the parts of an address are told apart by these characters.
HIDDEN = "hidden0secret"
ODD = {
    "database_url": f"postgresql://id:{HIDDEN}@db.example.com/id?password={HIDDEN}&sslpassword={HIDDEN}",
    "database_listen_url": f"postgresql://id:{HIDDEN}@{HIDDEN}@db/id",
    "database_read_urls": (
        f"postgresql://id:{HIDDEN}@one.example.com/id postgresql://id:{HIDDEN}@two.example.com/id?password={HIDDEN}"
    ),
    "smtp_url": f"smtp://mailer:{HIDDEN}@mail.example.com:587?from=<script>@example.com",
}


def with_secrets() -> Settings:
    """Return settings in which every secret is set, and the other texts are odd."""
    secrets: dict[str, Any] = {
        one.name: Secret(ODD.get(one.name, HIDDEN)) for one in fields(Settings) if "Secret" in str(one.type)
    }
    return Settings(**secrets, name="<b>Acme</b>", data_dir=Path("/nowhere/at all"), geoip_db=Path("/<img src=x>"))


@pytest.fixture
def settings() -> Settings:
    """Settings with secrets, with which the application runs."""
    return replace(with_secrets(), base_url="http://localhost:8000")


async def test_no_secret_is_on_the_page_and_odd_values_do_no_harm(platform_owner: Visitor) -> None:
    for tab in ("", "/queues", "/process", "/keys"):
        assert HIDDEN not in (await platform_owner.open(SYSTEM + tab)).text
    page = await platform_owner.open(f"{SYSTEM}/settings")

    assert page.status == 200
    assert HIDDEN not in page.text
    assert "GATEHOUSE_DATABASE_URL" in page.text
    assert "postgresql://id:***@db.example.com/id" in page.text
    assert "postgresql://id:***@one.example.com/id postgresql://id:***@two.example.com/id" in page.text
    assert "<img src=x>" not in page.text
    assert "<script>@" not in page.text
    assert "<b>Acme</b>" not in page.text


async def test_the_process_its_checks_and_its_actors_are_shown(
    platform_owner: Visitor, actors: ReportedActors, clock: SettableClock
) -> None:
    actors.told = [
        ActorReport(name="mail_courier", state=BackgroundTaskState.BACKING_OFF, since=clock(), crashes=3),
        ActorReport(
            name="audit_sealer",
            state=BackgroundTaskState.RUNNING,
            since=clock(),
            crashes=0,
            messages=2,
            oldest_seconds=MESSAGE_SECONDS_MAX + 1,
        ),
    ]

    tabs = {tab: (await platform_owner.open(SYSTEM + tab)).text for tab in ("", "/process", "/keys", "/settings")}

    for expected in (
        "the only one, process id",
        "Without a second factor: 1.",
        "up to date at 0",
        ">gatehouse doctor<",
    ):
        assert expected in tabs[""], expected
    assert "<code>mail_courier</code>" in tabs["/process"]
    assert "crashed, and is started again" in tabs["/process"]
    assert shows(tabs["/process"], "runs, and takes no messages")
    assert shows(tabs["/process"], "the oldest for 5 min")
    assert "<dt>Processes that serve on it</dt><dd>1</dd>" in tabs["/process"]
    # The keys of the tests: one of each kind signs.
    assert (tabs["/keys"].count(">signs<"), tabs["/keys"].count(">signs next<")) == (2, 2)
    assert not shows(tabs["/keys"], "PRIVATE")
    for tab, text in tabs.items():
        assert f'href="{SYSTEM}{tab}" aria-current="page"' in text, tab
        assert len(text) < 40 * 1024, tab


async def test_what_waits_is_counted(platform_owner: Visitor, world: World) -> None:
    world.connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        SELECT gen_random_uuid(), 'user.created', '00000000-0000-0000-0000-000000000000', '{}', now()
        FROM   generate_series(1, 3)
        """
    )

    text = (await platform_owner.open(f"{SYSTEM}/queues")).text

    assert "<dt>Events that wait to be handed on</dt><dd>3</dd>" in text


async def test_the_pages_are_for_owners(support: Visitor) -> None:
    for tab in ("", "/queues", "/process", "/keys", "/settings"):
        assert (await support.open(SYSTEM + tab)).status == 403, tab
