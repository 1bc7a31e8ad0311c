"""Large bodies are read from verified senders only, few are decoded at once, and wrong credentials are counted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import trio

from core.errors import ServiceUnavailable
from core.limits import BODY_BYTES_MAX, LARGE_BODY_BYTES_MAX, SAML_BODY_BYTES_MAX
from core.rate_limits import RateLimit
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.large_bodies import DECODED_AT_ONCE_MAX, WAIT_SECONDS_MAX, LargeBodies
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import FORM, Route, Routes
from tests.application import Answer, serving_with_rate_limits
from tests.concurrency import held_by_another
from tests.web.probe import PEER, ask, http_scope, serving
from tests.web.serving.test_authorization import ROUTES
from tests.web.serving.test_worst_bodies import Senders
from tests.world.callers import Caller
from tests.world.directory import TOKEN
from tests.world.world import World

LARGE = [route for route in ROUTES if route.body_bytes_max > BODY_BYTES_MAX]
VERIFIED = [route for route in LARGE if route.verify_sender is not None]
PART = 2**14
A_FORM = {"Content-Type": FORM}


class Text(msgspec.Struct):
    """A body with a text."""

    text: str = ""


@pytest.fixture
async def senders(world: World) -> Senders:
    """The callers of every kind of route."""
    made = Senders(world)
    await made.open_form()
    return made


def test_there_are_such_routes_and_only_two_kinds_verify_by_the_content() -> None:
    assert len(VERIFIED) > 15
    others = [route for route in LARGE if route.verify_sender is None]
    of_saml = [route for route in others if RateLimit.SAML in route.limits]
    assert {route.body_bytes_max for route in of_saml} == {SAML_BODY_BYTES_MAX}
    assert [route.path for route in others if route not in of_saml] == ["/webhooks/billing"]


def test_a_large_body_of_strangers_cannot_be_declared() -> None:
    routes = Routes("large", "Routes of this test.")

    async def take(call: Call, body: Text) -> Text:
        """Take a body."""
        return body

    with pytest.raises(TypeError, match="reads a large body of callers whom nothing verifies"):
        routes.post("/large", body_bytes_max=LARGE_BODY_BYTES_MAX)(public(take))


async def bytes_taken(
    application: Application, senders: Senders, route: Route, headers: dict[str, str]
) -> tuple[int, int]:
    """Return the status of the answer to a body in parts, without its length, and how many bytes were taken of it."""
    taken, answers = 0, list[Any]()
    parts = route.body_bytes_max // PART

    async def receive() -> Any:
        nonlocal taken
        taken += PART
        return {"type": "http.request", "body": b" " * PART, "more_body": taken < parts * PART}

    async def send(message: Any) -> None:
        answers.append(message)

    sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    sent.append((b"content-type", route.media_type.encode()))
    scope: Any = http_scope(route.method, senders.path(route), headers=sent)
    await application(scope, receive, send)
    return answers[0]["status"], taken


@pytest.mark.parametrize("kind", ["none", "wrong", "right"])
async def test_a_body_is_read_up_to_the_size_of_others_before_its_sender_is_verified(
    senders: Senders, subtests: pytest.Subtests, kind: str
) -> None:
    application = senders.world.client.application
    for route in VERIFIED:
        with subtests.test(route=route.name):
            status, taken = await bytes_taken(application, senders, route, senders.credentials(route)[kind])

            is_setup = "/setup/" in route.path
            if kind == "right" and not is_setup:
                assert taken == route.body_bytes_max, status
            else:
                assert status in {303, 401, 403, 404, 429}
                assert taken <= BODY_BYTES_MAX + PART


@pytest.mark.parametrize("kind", ["none", "wrong"])
async def test_a_body_with_its_length_is_not_read_at_all(
    senders: Senders, subtests: pytest.Subtests, kind: str
) -> None:
    for route in VERIFIED:
        with subtests.test(route=route.name):
            length = {"Content-Length": str(route.body_bytes_max)}
            headers = senders.credentials(route)[kind] | length
            status, taken = await bytes_taken(senders.world.client.application, senders, route, headers)

            assert (status in {303, 401, 403, 404, 429}, taken) == (True, 0)


class Decoding:
    """Decoders that wait until they may end."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.may_end = trio.Event()

    def work(self) -> int:
        """Decode a body, on a thread."""
        trio.from_thread.run_sync(self._begin)
        trio.from_thread.run(self.may_end.wait)
        trio.from_thread.run_sync(self._end)
        return 1

    def _begin(self) -> None:
        self.running += 1
        self.most = max(self.most, self.running)

    def _end(self) -> None:
        self.running -= 1


async def begun_by(bodies: LargeBodies, decoding: Decoding, senders: list[str]) -> tuple[list[int], int]:
    """Begin to decode bodies of these senders; return what came of them, and how many were decoded at once."""
    done = list[int]()

    async def one(sender: str) -> None:
        done.append(await bodies.run(sender, decoding.work))

    async with trio.open_nursery() as nursery:
        for sender in senders:
            nursery.start_soon(one, sender)
        while decoding.running < min(DECODED_AT_ONCE_MAX, len(set(senders))):
            await trio.lowlevel.checkpoint()
        decoding.may_end.set()
    return done, decoding.most


async def test_four_bodies_are_decoded_at_once_and_one_of_each_sender() -> None:
    many = [f"sender {number}" for number in range(3 * DECODED_AT_ONCE_MAX)]

    assert await begun_by(LargeBodies(), Decoding(), many) == ([1] * len(many), DECODED_AT_ONCE_MAX)
    assert await begun_by(LargeBodies(), Decoding(), ["one"] * 5) == ([1] * 5, 1)


async def test_who_waits_for_too_long_is_asked_to_come_again(autojump_clock: Any) -> None:
    bodies, began, may_end = LargeBodies(places=1), trio.current_time(), trio.Event()

    async def hold(task_status: trio.TaskStatus[None]) -> None:
        async with bodies.place_of("slow"):
            task_status.started()
            await may_end.wait()

    async with trio.open_nursery() as nursery:
        await nursery.start(hold)
        for sender in ("slow", "other"):
            with pytest.raises(ServiceUnavailable):
                await bodies.run(sender, int)
        may_end.set()

    assert trio.current_time() - began == 2 * WAIT_SECONDS_MAX
    assert await bodies.run("slow", int) == 0
    assert bodies.senders_number == 0


async def test_an_unverified_sender_is_its_network_whatever_organization_the_path_names(autojump_clock: Any) -> None:
    routes = Routes("messages", "A route of this test.")

    @routes.post(
        "/saml/:org_slug/messages",
        body_bytes_max=SAML_BODY_BYTES_MAX,
        is_verified_by_content=True,
        limits=(RateLimit.SAML,),
    )
    @public
    async def take(call: Call, org_slug: str, body: Text) -> Text:
        """Take a message."""
        return Text(org_slug)

    application = serving(routes)
    data = b" " * BODY_BYTES_MAX + b"{}"

    async def send(peer: str) -> int:
        return (await ask(application, "POST", "/saml/acme/messages", data=data, peer=peer)).status

    async with held_by_another(application.large_bodies, "acme"):
        assert await send(PEER) == 200
    async with held_by_another(application.large_bodies, PEER):
        assert await send(PEER) == 503
        assert await send("203.0.113.8") == 200


async def test_all_credentials_of_an_organization_have_one_place(senders: Senders, autojump_clock: Any) -> None:
    application = senders.world.client.application
    paths = {"/scim/v2/Groups", "/api/organizations/:slug/branding"}
    paths.add("/api/organizations/:org_slug/services/:service_slug/saml/metadata")
    asked = [route for route in VERIFIED if route.path in paths]
    statuses = dict[str, int]()

    async with application.large_bodies.place_of(str(senders.callers.acme_id)):
        for route in asked:
            headers = senders.credentials(route)["right"] | {"Content-Type": route.media_type}
            answer = await senders.world.client.request(
                route.method, senders.path(route), data=b" " * BODY_BYTES_MAX + b"{}", headers=headers
            )
            statuses[route.path] = answer.status

    assert statuses == dict.fromkeys(paths, 503)


async def test_wrong_credentials_are_counted_by_network_and_right_ones_are_never_refused(
    senders: Senders,
) -> None:
    client = serving_with_rate_limits(senders.world.installation)
    expired = senders.callers.credentials(Caller.EXPIRED)

    async def ask(headers: dict[str, str], address: str = "203.0.113.5", path: str = "/scim/v2/Users") -> int:
        answer: Answer = await client.request("GET", path, headers=headers, address=address)
        return answer.status

    burst = RateLimit.REFUSED_CREDENTIAL.burst
    for _ in range(2):
        assert await ask(expired, path="/api/user") == 401
    statuses = [await ask({"Authorization": "Bearer nonsense"}) for _ in range(burst)]
    assert statuses == [401] * burst
    assert await ask({"Authorization": "Bearer nonsense"}) == 429
    assert await ask({"Authorization": "Bearer nonsense"}, path="/api/user") == 429
    assert await ask({"X-Api-Key": "sk_x"}, path="/api/service/users") == 429
    assert await ask(expired, path="/api/user") == 401
    assert await ask({}, path="/api/user") == 401
    assert await ask({"Authorization": f"Bearer {TOKEN}"}) == 200
    assert await ask(senders.callers.credentials(Caller.OWNER), path="/api/user") == 200
    assert await ask({"Authorization": "Bearer nonsense"}, address="203.0.113.6") == 401


async def test_wrong_tokens_in_forms_count_and_what_is_no_credential_does_not(senders: Senders) -> None:
    client = serving_with_rate_limits(senders.world.installation)
    burst = RateLimit.REFUSED_CREDENTIAL.burst
    by_a_proxy = {"Authorization": "Basic YTpi"}

    pages = [await client.get("/app/organizations", headers=by_a_proxy) for _ in range(burst + 1)]
    wrong = [await client.post("/auth/userinfo", data=b"access_token=x", headers=A_FORM) for _ in range(burst + 1)]

    assert {page.status for page in pages} == {303}
    assert [answer.status for answer in wrong] == [401] * burst + [429]
