"""Concurrent requests, and the places for which they wait."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import trio

from entrypoints.web.serving.admission.large_bodies import LargeBodies
from tests.application import Answer


async def at_once(*sends: Callable[[], Awaitable[Answer]]) -> list[Answer]:
    """Send all of these at once, and return the answers in the order in which they came."""
    answers: list[Answer] = []

    async def send_one(send: Callable[[], Awaitable[Answer]]) -> None:
        answers.append(await send())

    async with trio.open_nursery() as nursery:
        for send in sends:
            nursery.start_soon(send_one, send)
    return answers


def statuses_of(answers: Iterable[Answer]) -> list[int]:
    """Return the statuses of answers, the lowest first."""
    return sorted(answer.status for answer in answers)


@asynccontextmanager
async def held_by_another(bodies: LargeBodies, sender: str) -> AsyncGenerator[None]:
    """Let another task hold the place of a sender."""
    may_end = trio.Event()

    async def hold(task_status: trio.TaskStatus[None]) -> None:
        async with bodies.place_of(sender):
            task_status.started()
            await may_end.wait()

    async with trio.open_nursery() as nursery:
        await nursery.start(hold)
        yield
        may_end.set()
