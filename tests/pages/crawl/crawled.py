"""The pages of the hostile world as its people see them: the world is made once in a process, and crawled once."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from core.organizations.settings.pictures import Picture, PictureType
from core.platform_brand import PlatformBrand
from core.secrets import Secret
from core.sessions.signing_keys import KeyPair
from entrypoints import equipment
from entrypoints.settings import Settings
from entrypoints.upstream_settings import external_providers
from tests.application import RING, ReportedActors, connected_installation, serving
from tests.browser import tools_at
from tests.clock import SettableClock
from tests.ids import follow, now
from tests.mailboxes import RecordedMailboxes
from tests.pages.crawl import ways
from tests.pages.crawl.ground import Ground
from tests.pages.crawl.hostile import HostileWorld, insert_hostile_world
from tests.pages.crawl.organizations import EMPTY, FULL
from tests.pages.crawl.recording import Recorder, RecordingClient
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.spider import Spider
from tests.pictures import drawn_png
from tests.postgres import Databases
from tests.waiting import WAIT_SECONDS_MAX
from tests.world.visitor import Visitor
from tests.world.world import World

URL: Final = "http://localhost:8000"
SETTINGS: Final = Settings(
    dev=True, rate_limits=False, websuite_client_id="id", websuite_client_secret=Secret("secret of websuite")
)
# It is not named after the product, which no page may then name.
PLATFORM: Final = PlatformBrand(
    name="Zebra & Co", color="#c00000", logo=Picture(type=PictureType.PNG, content=drawn_png(40, 30))
)


class NoRecords:
    """The port `Resolver` for tests: no name has a record."""

    async def txt_records(self, name: str) -> Sequence[str]:
        """Return none."""
        return []


@pytest.fixture(scope="session")
def crawled(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Recorder:
    """Every page that the people of the hostile world have seen."""
    with databases.migrated() as url, _clock() as clock, databases.connection(url) as connection:
        database = PostgresDatabase(
            pool=databases.pool(url),
            tools=tools_at(URL, clock, name=PLATFORM.name),
            mailboxes=RecordedMailboxes(),
            wait_seconds_max=WAIT_SECONDS_MAX,
        )

        async def crawl() -> Recorder:
            installation = replace(
                await connected_installation(database, clock, SETTINGS, ReportedActors(), key_pairs, ring=RING),
                platform=PLATFORM,
                mail_renderer=equipment.mail_renderer(SETTINGS, PLATFORM),
                resolver=NoRecords(),
                external_providers=external_providers(SETTINGS),
            )
            recorder = Recorder()
            client = RecordingClient(serving(installation).application, recorder)
            world = World(connection=connection, clock=clock, client=client, installation=installation)
            rows = Rows(connection, clock, database.tools.vault)
            await look_around(await insert_hostile_world(world, rows), recorder)
            return recorder

        return trio.run(crawl)


@contextmanager
def _clock() -> Generator[SettableClock]:
    clock = SettableClock()
    follow(clock)
    try:
        yield clock
    finally:
        follow(now)


async def look_around(hostile: HostileWorld, recorder: Recorder) -> None:
    """Open every page of the world: first behind links, then behind other ways, at last behind forms."""
    starts = (
        (Spider("the owner", hostile.owner.visitor, recorder, times_max=3), "/app/account", _console(FULL)),
        (Spider("a newcomer", hostile.newcomer.visitor, recorder), "/app/account", _console(EMPTY)),
        (Spider("a platform owner", hostile.root.visitor, recorder), "/app/platform", *_of_full(hostile)),
        (Spider("a member", hostile.member.visitor, recorder, times_max=1), _console(FULL)),
        (Spider("a stranger", Visitor(hostile.world.client), recorder), "/app/register", "/app/account"),
    )
    ground = Ground(hostile, recorder)
    with recorder.recording():
        for spider, *addresses in starts:
            await spider.crawl(*addresses)
        await ways.take(ground)
        for spider in (*(spider for spider, *_ in starts), *ground.pressed_last):
            await spider.press()


def _of_full(hostile: HostileWorld) -> tuple[str, str]:
    """Return the pages of the full organization and of its owner, who may be late in the lists of the platform."""
    return f"/app/platform/organizations/{hostile.full.id}", f"/app/platform/users/{hostile.owner.id}"


def _console(slug: str) -> str:
    return f"/app/organizations/{slug}"
