"""Doing something with several rows of a list at once: the chosen rows, and the outcome for each."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Final, TypeVar

from core.errors import BadRequest, Refusal
from entrypoints.pages.frame.refusals import problem_of

Row = TypeVar("Row")
Result = TypeVar("Result")

# How many rows one form chooses; each is a transaction of its own.
CHOSEN_MAX: Final = 100


def each_once(rows: Iterable[Row], field: str, *, none: str, too_many: str) -> list[Row]:
    """Return the chosen rows of a field of a form, each once.

    Raise `BadRequest` with one of these messages for none and for more than `CHOSEN_MAX`.
    """
    chosen = list(dict.fromkeys(rows))
    if not chosen:
        raise BadRequest.of_field(field, none)
    if len(chosen) > CHOSEN_MAX:
        raise BadRequest.of_field(field, too_many)
    return chosen


async def attempted(change: Awaitable[Result]) -> tuple[Result | None, str]:
    """Change one of the chosen rows; return the result, None when it was refused, and what was refused, in English."""
    try:
        return await change, ""
    except Refusal as refusal:
        # Whatever it is: those before it are changed already, and their results must not be lost.
        return None, problem_of(refusal)
