"""Cookies of receivers: what one sets goes nowhere, neither to other organizations nor back to itself."""

from __future__ import annotations

import trio

from tests.receiver import Receiver
from tests.world.hooks import Hooks
from tests.world.world import World

COOKIES = 24
# Together more than what servers take as the headers of a request.
COOKIE_CHARACTERS = 3000


async def test_cookies_of_one_organization_s_receiver_are_not_sent_with_deliveries_of_another_to_the_same_host(
    hooks: Hooks, receiver: Receiver, world: World
) -> None:
    other = world.team("globex")
    other.add("owner-of-globex", "owner")

    async def answer_with_cookies(stream: trio.abc.Stream) -> None:
        cookies = b"".join(
            b"Set-Cookie: c%d=%s; Path=/; Max-Age=3600\r\n" % (number, b"x" * COOKIE_CHARACTERS)
            for number in range(COOKIES)
        )
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + cookies + b"\r\n")

    receiver.answering = answer_with_cookies
    await hooks.create(receiver.url, "user.invited")
    body = {"name": "hook", "url": receiver.url.replace("/hook", "/theirs"), "events": ["user.invited"]}
    created = await other.request("owner-of-globex", "POST", "/webhooks", body=body)
    hooks.publish("a", "b")
    hooks.publish("theirs", organization_id=other.organization_id)

    assert await hooks.send() == 3

    assert sorted(one.target for one in receiver.received) == ["/hook", "/hook", "/theirs"]
    assert [one.headers.get("cookie") for one in receiver.received] == [None, None, None]
    listed = await other.request("owner-of-globex", "GET", f"/webhooks/{created.json['id']}/deliveries")
    assert [shown["delivered"] for shown in listed.json["deliveries"]] == [True]
