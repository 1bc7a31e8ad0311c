"""Concurrent requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import trio

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
