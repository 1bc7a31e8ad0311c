"""Histories: drawn from a seed, run, and shrunk by leaving out steps as long as the same kind of violation is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from operator import attrgetter
from random import Random
from typing import Any, Final

from tests.name_server import NameServer
from tests.openid_provider import OpenIdProvider
from tests.secret_watch import WATCH
from tests.tenants import (
    admitting,
    asserting,
    attacking,
    blocking,
    claiming,
    connecting,
    deleting,
    giving,
    grouping,
    hijacking,
    inviting,
    keyrings,
    links,
    living,
    logs,
    machines,
    made_adoptions,
    made_claims,
    made_connections,
    made_directories,
    made_domains,
    made_saml,
    making,
    office_rows,
    pressing,
    proving,
    receiving,
    searching,
    selling,
    serving,
    standing,
    sweeping,
    switching,
    using,
    working,
)
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import A, B, Neighbourhood, settle
from tests.tenants.taking import KINDS, Step, Story
from tests.world.world import World

MODULES: Final = (
    *(
        admitting,
        asserting,
        attacking,
        blocking,
        claiming,
        connecting,
        deleting,
        giving,
        grouping,
        hijacking,
        inviting,
        living,
        proving,
    ),
    *(keyrings, logs, machines, pressing, receiving, searching, selling, serving, switching, using, working),
    *(made_adoptions, made_claims, made_connections, made_directories, made_domains, made_saml, making),
)
# How often a history stays with the address and the organization that it is about.
FOCUS: Final = 0.85
# How many of the kinds of a story are tried in one history, and how often a step is of one of them.
KINDS_DIVISOR: Final = 2
# What each story is always about, besides the kinds that are drawn for a history.
STAPLES: Final = {
    Story.GIVING: {"scim_creates", "key_subscribes", "key_renames", "signs_in", "moves"},
    Story.SUSPENDING: {"scim_creates", "scim_switches"},
    Story.LEAVING: {"scim_creates", "signs_in", "owner_removes"},
    Story.REGISTERING: {"attacker_registers", "registers", "proves"},
    Story.HIJACKING: {"is_hijacked", "hijacker_befriends", "hijacker_passes_on", "hijacker_makes", "hijacker_opens"},
    Story.GROUPING: {
        *("scim_creates", "owner_sets_rules", "owner_sets_connection"),
        *("provider_names_groups", "attacker_names_groups"),
    },
    Story.CONNECTING: {
        *("links_by_connection", "works_for_a", "employer_signs_in"),
        *("attacker_redirects_connection", "attacker_asserts"),
    },
    Story.SERVING: {
        *("joins_customers", "comes_by_password", "comes_in_browser", "comes_by_connection"),
        *("pauses", "assigns", "customer_takes_away"),
    },
    Story.DELETING: {"scim_creates", "works_at", "owner_deletes_and_restores"},
    Story.SWITCHING: {
        *("scim_creates", "signs_in", "gets_in", "links_by_connection", "provider_revokes", "revokes_without_right"),
        *("person_locks", "owner_locks", "operator_imports_blocked", "platform_opens_imported"),
    },
    Story.MACHINES: {
        *("owner_allows_machine", "machine_works", "strangers_claim_machine", "owner_ends_machine"),
        *("owner_makes_key", "key_makes_callers", "key_deletes_services", "owner_revokes_key"),
    },
    Story.SELLING: {
        *("joins_customers", "comes_by_password", "comes_by_saml", "vendor_gives_roles"),
        *("vendor_notes", "directories_describe"),
    },
    Story.ADMITTING: {
        *("scim_creates", "scim_switches", "owner_removes", "signs_in"),
        *("owner_sets_access", "owner_assigns", "comes_to_office"),
    },
    Story.READING: {
        *("joins_customers", "comes_by_password", "owner_removes", "moves"),
        *(
            "platform_acts",
            "owners_make_webhooks",
            "receivers_read",
            "owners_read_logs",
            "presses_late",
            "readers_search",
        ),
    },
    Story.MAKING: {
        *("vendor_connects", "comes_by_made_connection", "vendor_provisions", "admitted_come"),
        *("vendor_names_owner", "reads_claim_link", "vendor_sends_link", "owner_takes"),
    },
}
# These have tests of their own, and the others none of their steps.
ALONE: Final = (Story.SWITCHING, Story.MACHINES, Story.ADMITTING, Story.READING, Story.MAKING)
# Of these all steps are of the story: what others do to accounts is not in its model.
APART: Final = frozenset({Story.MAKING})
# The other stories, which seeds have by turns.
CYCLE: Final = tuple(story for story in Story if story not in ALONE)
WITHIN: Final = 0.9
# Of the addresses of a neighbourhood: those of Alice and Bob, then those of the attacker.
HONEST, OWN = (0, 1, 2, 3), (4, 5, 6)
SHRINKING_RUNS_MAX: Final = 150
BETWEEN_STEPS: Final = timedelta(seconds=1)


@dataclass(frozen=True)
class Found:
    """A violation, the seed of the history that found it, and the fewest steps that still do."""

    seed: int
    violation: Violation
    steps: list[Step]

    def __str__(self) -> str:
        lines = "\n".join(f"  {number}. {one}" for number, one in enumerate(self.steps, 1))
        return f"seed {self.seed}: {self.violation}\n{lines}"


@dataclass(frozen=True)
class Runner:
    """Runs histories in the world of a test, with two identity providers: that of work, and the attacker's.

    The name server has the records that people publish.
    """

    world: World
    work: OpenIdProvider
    evil: OpenIdProvider
    names: NameServer
    # What the histories so far led to: how sessions came about, what B gave, and which rules refused as was explained.
    happened: set[str] = field(default_factory=set[str])
    # How many steps of the last history were begun.
    begun: list[int] = field(default_factory=lambda: [0])

    async def violation_of(self, steps: list[Step]) -> Violation | None:
        """Run a history in a new neighbourhood; return the first violation, or None."""
        hood = await settle(self.world, self.work, self.evil, self.names)
        try:
            for number, one in enumerate(steps, 1):
                self.begun[:] = [number]
                await one.take(hood)
                await standing.recheck(hood)
                await office_rows.recheck(hood)
                links.judge(hood)
                receiving.notice(hood)
                # What came before another thing is older than it.
                self.world.clock.advance(BETWEEN_STEPS)
            await sweeping.sweep(hood)
            links.judge(hood)
        except Violation as violation:
            return violation
        finally:
            self._remember(hood)
            self._forget()
        return None

    def _remember(self, hood: Neighbourhood) -> None:
        slug = hood.organizations[B].slug
        self.happened.update(held.way for held in hood.model.sessions)
        self.happened.update(hood.explained)
        self.happened.update("membership" for of, _ in hood.model.gifts if of == slug)
        self.happened.update("subscription" for of, _ in hood.model.subscriptions if of == slug)

    def _forget(self) -> None:
        """Check the log of a history, and delete what makes later ones slower than the first."""
        assert WATCH.leaks() == []
        WATCH.begin()
        self.world.connection.execute("DELETE FROM mails")

    async def find(self, seed: int, length: int, story: Story | None = None) -> Found | None:
        """Run the history of a seed; return what it violates, shrunk, or None."""
        steps = draw(seed, length, story)
        violation = await self.violation_of(steps)
        if violation is None:
            return None
        return await self.shrunk(Found(seed, violation, steps[: self.begun[0]]))

    async def shrunk(self, found: Found) -> Found:
        """Leave out ever smaller runs of steps while the violation stays of the same kind."""
        found = await self._last_steps(found)
        size, runs = max(len(found.steps) // 2, 1), 0
        while size and runs < SHRINKING_RUNS_MAX:
            start = 0
            while start < len(found.steps) and runs < SHRINKING_RUNS_MAX:
                runs += 1
                shorter = await self._as_found(found, found.steps[:start] + found.steps[start + size :])
                if shorter is None:
                    start += size
                else:
                    found = shorter
            size //= 2
        return found

    async def _last_steps(self, found: Found) -> Found:
        """Return the last one, two, four … steps, whichever suffice: most violations come of few steps, at the end."""
        number = 1
        while number < len(found.steps):
            if (shorter := await self._as_found(found, found.steps[-number:])) is not None:
                return shorter
            number *= 2
        return found

    async def _as_found(self, found: Found, steps: list[Step]) -> Found | None:
        """Return what fewer steps find, or None unless it is of the same kind."""
        violation = await self.violation_of(steps)
        if violation is None or violation.kind != found.violation.kind:
            return None
        return Found(found.seed, violation, steps[: self.begun[0]])


def draw(seed: int, length: int, story: Story | None = None) -> list[Step]:
    """Draw the history of a seed: nearly all steps are of a few kinds of one story, and about one address.

    With few kinds each of them comes several times, so that more of what takes three or four certain steps is tried.
    """
    random = Random(seed)
    chosen = story if story is not None else CYCLE[seed % len(CYCLE)]
    # By their names, because the order of imports is another one in each test.
    is_apart = chosen in APART
    others = [kind for kind in KINDS if chosen in kind.stories or not (is_apart or set(kind.stories) <= set(ALONE))]
    kinds = sorted(others, key=attrgetter("name"))
    of_story = [kind for kind in kinds if chosen in kind.stories]
    within = random.sample(of_story, len(of_story) // KINDS_DIVISOR)
    within += [kind for kind in of_story if kind.name in STAPLES[chosen]]
    focus = _Focus(random.choice(HONEST), random.choice(OWN), random.choice((A, B)))
    steps = list[Step]()
    for _ in range(length):
        kind = random.choice(within if random.random() < WITHIN else kinds)
        steps.append(Step(kind, {name: focus.value(random, kind.name, name) for name in kind.parameters}))
    return steps


@dataclass(frozen=True)
class _Focus:
    honest: int
    own: int
    organization: str

    def value(self, random: Random, kind: str, name: str) -> Any:
        """Draw the value of a parameter."""
        match name:
            case "address":
                return self._address(random, is_rename=kind.endswith(("renames", "replaces")))
            case "own":
                return self.own if random.random() < FOCUS else random.choice(OWN)
            case "name":
                return random.choice((("alice", "alice", "bob", "bob")[self.honest], "eve"))
            case "of":
                return (
                    random.choice((A, A, B))
                    if kind.endswith(("renames", "replaces"))
                    else random.choice((A, B, self.organization))
                )
            case "at":
                return random.choice(("", A, B, self.organization, self.organization))
            case "pick":
                return random.choice((0, 0, 0, 1, 2))
            case _:
                return random.random() < 0.5

    def _address(self, random: Random, *, is_rename: bool) -> int:
        if random.random() < (0.8 if is_rename else 0.15):
            return self.own if random.random() < FOCUS else random.choice(OWN)
        return self.honest if random.random() < FOCUS else random.choice(HONEST)
