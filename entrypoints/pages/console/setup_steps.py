"""The numbered steps of setup: how far each is, and those at a provider, in the words of its console."""

from __future__ import annotations

from collections.abc import Sequence

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupStep:
    """A step of setup: what is missing or was done, and the one thing to do next, with its address.

    `names` are its objects, such as domains. `badge` is a pair of the kind of a badge and its text, where it says more
    than whether the step is done. A step without an address waits for earlier steps. An optional one is never suggested
    as the next. `choices` are pairs of a text and an address, where there is more than one way to begin, and `about`
    says what the step is good for.
    """

    title: str
    text: str
    is_done: bool
    action: str = ""
    address: str = ""
    names: tuple[str, ...] = ()
    badge: tuple[str, str] | None = None
    is_optional: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    about: str = ""


def current_of(steps: Sequence[SetupStep]) -> SetupStep | None:
    """Return the step to go on with: the first that is open and can be done; None when there is none."""
    return next((step for step in steps if not (step.is_done or step.is_optional) and step.address), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to do, in one paragraph; then the values to copy from this page, and the fields to fill in on it.

    Values and fields are named; the page has both. A step that stands alone, such as a test, has neither.
    """

    text: str
    copies: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


def step(text: str, *, copies: tuple[str, ...] = (), fields: tuple[str, ...] = ()) -> Step:
    """Return a step with an English text, which the page translates."""
    return Step(text=text, copies=copies, fields=fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderKind:
    """A kind of provider that a page offers, by the word in the address; `name` is the product's.

    `instead` is the kind of the same product by another protocol, and `arrives` says what comes here after the steps.
    `source` is the page of the product's documentation that the steps follow, and `read_in` the month in which it was
    read; both are empty where there is no such page.
    """

    word: str
    name: str
    steps: tuple[Step, ...]
    instead: str = ""
    arrives: str = ""
    source: str = ""
    read_in: str = ""


def kind_of(kinds: Sequence[ProviderKind], word: str) -> ProviderKind | None:
    """Return the kind of that word; None without one, where a page asks which it is."""
    return next((kind for kind in kinds if kind.word == word), None)
