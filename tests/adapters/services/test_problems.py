"""The troubles of clients: which of many are kept, and that no request waits for the end of its service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.services.problems import PostgresClientProblems
from core.services.problems import KEPT_FOR, KEPT_OF_KIND, ClientProblem, ProblemDetails, ProblemKind
from tests.transactions import transaction_on
from tests.world.builder import Builder

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


class Troubles:
    """The troubles of one service."""

    def __init__(self, connection: Connection, organization_id: UUID, service_id: UUID) -> None:
        self.of = organization_id, service_id
        self.problems = PostgresClientProblems(transaction_on(connection, now=NOW))
        self.connection = connection

    def add(self, network: str, *, minute: int, kind: ProblemKind = ProblemKind.GRANT, sent: str = "") -> None:
        """Add one of a network, so many minutes from now."""
        problem = ClientProblem(
            at=NOW + timedelta(minutes=minute),
            kind=kind,
            details=ProblemDetails(sent=sent, registered=["a", "b"]),
            ip_address=network,
        )
        self.problems.add(*self.of, problem, network=network)
        self.connection.flush()

    def networks(self, minute: int = 0) -> list[str]:
        """Return the networks of those that are kept, the newest first."""
        since = NOW + timedelta(minutes=minute) - KEPT_FOR
        return [one.ip_address for one in self.problems.of_service(*self.of, since=since)]


@pytest.fixture
def troubles(connection: Connection, builder: Builder) -> Troubles:
    """A service without troubles."""
    organization_id = builder.organization()
    return Troubles(connection, organization_id, builder.service(organization_id).id)


def test_a_problem_is_read_as_it_was_added(troubles: Troubles) -> None:
    troubles.add("n", minute=0, kind=ProblemKind.SCOPE, sent="openid")

    [problem] = troubles.problems.of_service(*troubles.of, since=NOW - KEPT_FOR)
    assert problem == ClientProblem(
        at=NOW,
        kind=ProblemKind.SCOPE,
        details=ProblemDetails(sent="openid", registered=["a", "b"]),
        ip_address="n",
    )


def test_the_last_of_a_kind_are_kept(troubles: Troubles) -> None:
    for minute in range(KEPT_OF_KIND + 5):
        troubles.add("n", minute=minute)
    troubles.add("n", minute=0, kind=ProblemKind.PKCE)

    assert len(troubles.networks()) == KEPT_OF_KIND + 1
    ats = [one.at for one in troubles.problems.of_service(*troubles.of, since=NOW - KEPT_FOR)]
    assert ats[0] == NOW + timedelta(minutes=KEPT_OF_KIND + 4)


def test_a_network_takes_no_place_from_one_that_has_fewer(troubles: Troubles) -> None:
    troubles.add("own", minute=0)
    for minute in range(1, 100):
        troubles.add(f"stranger-{minute % (KEPT_OF_KIND - 1)}", minute=minute)

    assert "own" in troubles.networks()
    assert len(troubles.networks()) == KEPT_OF_KIND


@pytest.mark.parametrize(
    ("own", "stranger"), [("2001:db8:1::/48", "2001:db9:{}::/48"), ("198.51.100.0/24", "203.0.{}.0/24")]
)
def test_all_networks_of_a_party_take_no_place_from_another(troubles: Troubles, own: str, stranger: str) -> None:
    troubles.add(own, minute=0)
    troubles.add(own, minute=1)
    for minute in range(2, 100):
        troubles.add(stranger.format(minute), minute=minute)

    assert troubles.networks().count(own) == 2
    assert len(troubles.networks()) == KEPT_OF_KIND


def test_what_is_older_takes_no_place(troubles: Troubles) -> None:
    later = KEPT_FOR // timedelta(minutes=1)
    for number in range(KEPT_OF_KIND):
        troubles.add(f"old-{number}", minute=0)
    for minute in range(later, later + 3):
        troubles.add("new", minute=minute)

    assert troubles.networks(later) == ["new"] * 3


def test_a_kind_of_a_later_version_is_not_read(troubles: Troubles) -> None:
    troubles.add("n", minute=0)
    troubles.connection.execute("UPDATE client_problems SET kind = 'of_a_later_version'")

    assert troubles.networks() == []


def test_a_problem_is_forgotten_by_what_was_sent(troubles: Troubles) -> None:
    for minute, sent in enumerate(("a", "b", "a")):
        troubles.add(str(minute), minute=minute, sent=sent)

    troubles.problems.remove(*troubles.of, ProblemKind.GRANT, "a")

    assert troubles.networks() == ["1"]
