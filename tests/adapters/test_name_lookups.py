"""Look-ups of names for organizations: shared among them, limited in time, and asked of a real name server."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from uuid import UUID

import pytest
import trio
from trio.testing import MockClock

from adapters import dns_questions
from adapters.gateways import name_lookups
from adapters.gateways.name_lookups import (
    LOOKUP_SECONDS_MAX,
    LOOKUPS_OF_A_DOMAIN_MAX,
    LOOKUPS_OF_AN_ORGANIZATION_MAX,
    NameLookups,
    NameUnknown,
)
from adapters.resolver import DnsResolver, HostsFile
from core.outbound import Address
from tests.adapters.webhooks.sending import attempt
from tests.name_server import NameServer
from tests.waiting import eventually

ORGANIZATION, OTHER = UUID(int=1), UUID(int=2)
SHORT_SECONDS = 1.0


@contextmanager
def short_wait() -> Generator[None]:
    """Give up look-ups after a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_lookups, "LOOKUP_SECONDS_MAX", SHORT_SECONDS)
        yield


@pytest.fixture
def lookups(names: NameServer) -> NameLookups:
    """Look-ups that ask the name server."""
    return NameLookups(DnsResolver((names.host, names.port)))


def addresses(*texts: str) -> Sequence[Address]:
    return [ip_address(text) for text in texts]


async def fail(lookups: NameLookups, host: str, organization_id: UUID | None = ORGANIZATION) -> None:
    """Look a name up that is not answered."""
    with pytest.raises(NameUnknown, match=f"The name servers of {host} did not answer in time."):
        await lookups.addresses_of(host, organization_id)


async def asked(names: NameServer, count: int) -> None:
    """Wait until so many names were asked for."""

    async def are_asked() -> bool:
        return len(set(names.asked)) >= count

    await eventually(are_asked)


class TestShares:
    """Names that are not answered take places of their organization alone."""

    async def test_an_organization_whose_names_are_silent_delays_no_other_organization(
        self, names: NameServer, lookups: NameLookups
    ) -> None:
        silent = [f"hooks.customer{number}.example" for number in range(48)]
        names.silent.update(silent)
        names.lead("hooks.acme.example", ["192.0.2.1"])
        async with trio.open_nursery() as nursery:
            for host in silent:
                nursery.start_soon(fail, lookups, host)
            await asked(names, LOOKUPS_OF_AN_ORGANIZATION_MAX)

            assert await lookups.addresses_of("hooks.acme.example", OTHER) == addresses("192.0.2.1")
            nursery.cancel_scope.cancel()

        assert len(set(names.asked)) == LOOKUPS_OF_AN_ORGANIZATION_MAX + 1

    @pytest.mark.parametrize(
        ("silent", "other", "is_shared"),
        [
            ("evil.example", "hooks.evil.example", True),
            ("evil.example", "hooks.acme.example", False),
            ("evil.co.uk", "hooks.acme.co.uk", False),
            ("evil.co.uk", "b.evil.co.uk.", True),
            ("evil.de", "EVIL.de", True),
        ],
    )
    async def test_names_of_one_domain_share_its_places(
        self, names: NameServer, lookups: NameLookups, silent: str, other: str, *, is_shared: bool
    ) -> None:
        hosts = [f"a{number}.{silent}" for number in range(LOOKUPS_OF_A_DOMAIN_MAX)]
        names.silent.update(hosts)
        names.lead(other.lower().removesuffix("."), ["192.0.2.1"])
        async with trio.open_nursery() as nursery:
            for host in hosts:
                nursery.start_soon(fail, lookups, host)
            await asked(names, len(hosts))
            await lookups.addresses_of(other, OTHER)
            names.asked.clear()

            nursery.start_soon(partial(lookups.addresses_of, other, ORGANIZATION))
            if is_shared:
                await trio.testing.wait_all_tasks_blocked(0.05)
                assert other.lower().removesuffix(".") not in names.asked
            else:
                await lookups.addresses_of(other, ORGANIZATION)
            nursery.cancel_scope.cancel()

    async def test_the_operator_s_names_have_no_share(self, names: NameServer, lookups: NameLookups) -> None:
        hosts = [f"a{number}.provider.example" for number in range(3 * LOOKUPS_OF_AN_ORGANIZATION_MAX)]
        names.silent.update(hosts)

        async with trio.open_nursery() as nursery:
            for host in hosts:
                nursery.start_soon(fail, lookups, host, None)
            await asked(names, len(hosts))
            nursery.cancel_scope.cancel()

    async def test_places_are_given_back(self, names: NameServer, lookups: NameLookups) -> None:
        names.silent.add("silent.example")
        names.lead("hooks.silent.example", ["192.0.2.1"])
        with short_wait():
            async with trio.open_nursery() as nursery:
                for _ in range(2 * LOOKUPS_OF_A_DOMAIN_MAX):
                    nursery.start_soon(fail, lookups, "silent.example")

        assert await lookups.addresses_of("hooks.silent.example", ORGANIZATION) == addresses("192.0.2.1")


class TestAnswers:
    """What is asked, and what follows from the answers."""

    async def test_addresses_of_both_families_come_in_turn_and_not_without_end(
        self, names: NameServer, lookups: NameLookups
    ) -> None:
        names.lead("two.example", ["192.0.2.1", "192.0.2.2", "2001:db8::1"])
        names.lead("many.example", [f"192.0.2.{number}" for number in range(200)])

        found = await lookups.addresses_of("two.example", ORGANIZATION)

        assert set(found) == set(addresses("192.0.2.1", "2001:db8::1", "192.0.2.2"))
        assert [one.version for one in found] == [4, 6, 4]
        assert len(await lookups.addresses_of("many.example", ORGANIZATION)) == dns_questions.ADDRESSES_MAX

    async def test_an_alias_is_followed(self, names: NameServer, lookups: NameLookups) -> None:
        names.aliases["hooks.acme.example"] = "edge.example.net"
        names.lead("edge.example.net", ["192.0.2.1"])

        assert await lookups.addresses_of("hooks.acme.example", ORGANIZATION) == addresses("192.0.2.1")

    async def test_a_family_without_an_answer_is_not_awaited_for_long(
        self, names: NameServer, lookups: NameLookups
    ) -> None:
        names.lead("half.example", ["192.0.2.1"])
        names.silent_about_ipv6.add("half.example")

        assert await lookups.addresses_of("half.example", ORGANIZATION) == addresses("192.0.2.1")

    @pytest.mark.parametrize("host", ["nowhere.example", "größe.example", "x" * 300, "a..b", r"a\.b", "a" * 64 + ".b"])
    async def test_a_name_that_has_no_address_or_is_none_does_not_resolve(
        self, names: NameServer, lookups: NameLookups, host: str
    ) -> None:
        with pytest.raises(NameUnknown, match="does not resolve"):
            await lookups.addresses_of(host, ORGANIZATION)

    async def test_a_failing_name_server_has_not_answered(self, names: NameServer, lookups: NameLookups) -> None:
        names.failing.add("failing.example")

        await fail(lookups, "failing.example")

    @pytest.mark.parametrize("host", ["192.0.2.7", "2001:db8::7", "3221225991"])
    async def test_an_address_is_not_looked_up(self, names: NameServer, lookups: NameLookups, host: str) -> None:
        [found] = await lookups.addresses_of(host, ORGANIZATION)

        assert str(found) in {"192.0.2.7", "2001:db8::7"}
        assert names.asked == []

    async def test_a_delivery_to_a_name_that_is_not_answered_says_so(self, names: NameServer) -> None:
        names.silent.add("hooks.evil.example")

        with short_wait():
            found = await attempt("http://hooks.evil.example/", names=names)

        assert found.error == "The name servers of hooks.evil.example did not answer in time."


class TestHostsFile:
    """The hosts file comes first, as for every other program of the machine."""

    async def test_a_name_of_the_hosts_file_is_not_asked_for(self, names: NameServer, tmp_path: Path) -> None:
        path = tmp_path / "hosts"
        path.write_text("192.0.2.9 Receiver receiver.internal # in the next rack\n2001:db8::9 receiver\nnonsense x\n\n")
        names.lead("receiver", ["192.0.2.1"])
        lookups = NameLookups(DnsResolver((names.host, names.port), hosts=HostsFile(path)))

        assert await lookups.addresses_of("receiver", ORGANIZATION) == addresses("192.0.2.9", "2001:db8::9")
        assert await lookups.addresses_of("RECEIVER.internal.", ORGANIZATION) == addresses("192.0.2.9")
        assert names.asked == []

        path.write_text("192.0.2.10 receiver.internal\n")
        assert await lookups.addresses_of("receiver.internal", ORGANIZATION) == addresses("192.0.2.10")
        assert await lookups.addresses_of("receiver", ORGANIZATION) == addresses("192.0.2.1")

        path.unlink()
        with pytest.raises(NameUnknown, match="does not resolve"):
            await lookups.addresses_of("receiver.internal", ORGANIZATION)

    async def test_localhost_is_this_machine_without_an_entry(self, names: NameServer, tmp_path: Path) -> None:
        lookups = NameLookups(DnsResolver((names.host, names.port), hosts=HostsFile(tmp_path / "none")))

        for host in ("localhost", "app.localhost", "LOCALHOST."):
            assert await lookups.addresses_of(host, ORGANIZATION) == addresses("127.0.0.1", "::1")
        assert names.asked == []


async def test_a_look_up_is_given_up_in_time(
    names: NameServer, lookups: NameLookups, autojump_clock: MockClock
) -> None:
    names.silent.add("silent.example")
    began_at = trio.current_time()

    with short_wait():
        await fail(lookups, "silent.example")

    assert LOOKUP_SECONDS_MAX > dns_questions.ADDRESS_SECONDS_MAX > SHORT_SECONDS
    assert trio.current_time() - began_at >= SHORT_SECONDS
