"""What a request costs whose headers are as large as they may be, in their worst shapes, from any sender.

Some patterns of libraries take quadratic time: a cookie or a list of media types of 16 KiB took two seconds. So no
library looks through a long header with a pattern. New routes are covered automatically.
"""

from __future__ import annotations

from random import Random
from typing import Final

import pytest
import werkzeug.http

from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.exchanges import ACCEPT_CHARACTERS_MAX
from tests.warming import warm_up
from tests.web.serving.test_authorization import ROUTES
from tests.web.serving.test_worst_bodies import GATE_ONE_IN, Senders, Watch
from tests.world.world import World

LENGTH: Final = 15_000
# Below the paths of pages, of programs, and of SCIM.
UNKNOWN_PATHS: Final = ("/nothing", "/app/nothing", "/api/nothing", "/scim/v2/nothing")
COOKIE: Final = "a=" + "\t" * LENGTH + '"'
ACCEPT: Final = 'text/html, a/b; a="' + "\t" * LENGTH + '"'
# The test's own client looks for the end of a line in each header that it sends.
_LINEAR: Final = "re werkzeug.datastructures.headers._newline_re"


@pytest.fixture
async def senders(world: World) -> Senders:
    """Who sends the headers."""
    warm_up()
    return Senders(world)


async def searched(senders: Senders, monkeypatch: pytest.MonkeyPatch, *, one_in: int) -> list[str]:
    """Return for which requests a library looks through a long header; of those with a credential, one in so many."""
    found: list[str] = []
    asked = [(path, path, {"none": dict[str, str]()}) for path in UNKNOWN_PATHS]
    for route in ROUTES:
        is_in = route.who.kind is CredentialKind.NONE or not Random(route.name).randrange(one_in)
        if route.method == "GET" and is_in:
            asked.append((route.name, senders.path(route), senders.credentials(route)))
    with monkeypatch.context() as patched:
        watch = Watch(patched, packages=("werkzeug.", "quart."))
        for name, path, credentials in asked:
            for kind, headers in credentials.items():
                worst = headers | {"Cookie": f"{headers.get('Cookie', 'b=c')}; {COOKIE}", "Accept": ACCEPT}
                with watch.watching() as work:
                    await senders.world.client.get(path, headers=worst)
                by = {what for what, long in work.lengths.items() if long > ACCEPT_CHARACTERS_MAX} - {_LINEAR, "sorted"}
                if by:
                    found.append(f"{name}, {kind} credential: {by}")
    return found


async def test_no_library_looks_through_a_long_header(senders: Senders, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await searched(senders, monkeypatch, one_in=GATE_ONE_IN) == []


@pytest.mark.long
async def test_no_library_looks_through_a_long_header_of_any_route(
    senders: Senders, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await searched(senders, monkeypatch, one_in=1) == []


def test_the_patterns_of_libraries_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        watch = Watch(patched, packages=("werkzeug.",))
        with watch.watching() as work:
            werkzeug.http.parse_cookie("a=b; " * LENGTH)
            werkzeug.http.parse_options_header("a/b;c=d" * LENGTH)

    assert {what.rpartition(".")[2] for what in work.lengths} >= {"_cookie_re", "_parameter_key_re"}
