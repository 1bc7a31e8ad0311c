"""The kinds of steps: what each draws, and its stories. Importing the modules of the steps registers them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tests.tenants.neighbourhood import Neighbourhood


class Story(StrEnum):
    """What a history is mostly about; a kind of step belongs to one or more."""

    GIVING = "giving"
    SUSPENDING = "suspending"
    LEAVING = "leaving"
    REGISTERING = "registering"
    CONNECTING = "connecting"
    HIJACKING = "hijacking"
    GROUPING = "grouping"
    SERVING = "serving"
    SELLING = "selling"
    DELETING = "deleting"
    SWITCHING = "switching off"
    MACHINES = "machines"
    ADMITTING = "admitting"
    READING = "reading"
    MAKING = "making"


@dataclass(frozen=True)
class Kind:
    """A kind of step. Its parameters are drawn by their names (`histories.py`)."""

    name: str
    take: Callable[..., Awaitable[None]]
    stories: tuple[Story, ...]

    @property
    def parameters(self) -> list[str]:
        """The names of what is drawn."""
        return list(inspect.signature(self.take).parameters)[1:]


@dataclass(frozen=True)
class Step:
    """A step with what was drawn for it."""

    kind: Kind
    drawn: dict[str, Any]

    async def take(self, hood: Neighbourhood) -> None:
        """Take the step; raise `Violation` when it shows one."""
        drawn = dict(self.drawn)
        for name in ("address", "own"):
            if name in drawn:
                drawn[name] = hood.addresses[drawn[name]]
        await self.kind.take(hood, **drawn)

    def __str__(self) -> str:
        return f"{self.kind.name}({', '.join(f'{name}={value!r}' for name, value in self.drawn.items())})"


KINDS: list[Kind] = []


def step_of(text: str) -> Step:
    """Return the step that a text shows, as `str` of it does; raise `KeyError` for one whose kind is unknown."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    kind = {kind.name: kind for kind in KINDS}[call.func.id]
    return Step(kind, {str(one.arg): ast.literal_eval(one.value) for one in call.keywords})


def step(*stories: Story) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., Awaitable[None]]]:
    """Register a kind of step that is a part of these stories."""

    def register(take: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        KINDS.append(Kind(take.__name__, take, stories))
        return take

    return register
