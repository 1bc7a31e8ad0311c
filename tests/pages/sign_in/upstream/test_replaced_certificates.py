"""A SAML identity provider replaces its certificate."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from trio.testing import MockClock

from actors.certificates import MetadataReader
from adapters.gateways.upstream_saml import REMEMBERED_SECONDS
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.mailboxes import RecordedMailboxes
from tests.service_provider import key_pair
from tests.upstream_provider import serving
from tests.world.openid_connection import CONNECTIONS
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor
from tests.world.world import World

NEXT, LAST = key_pair("next idp of acme"), key_pair("last idp of acme")
EVENT: Final = "connection.certificates_replaced"


@dataclass
class Publishing:
    """Acme, whose identity provider publishes its metadata at an address."""

    acme: SamlAcme
    address: str
    published: dict[str, str]

    def rotate(self, key: Any, *beside: Any) -> None:
        """Let the identity provider sign with another key, and publish its certificate, alone or beside others."""
        self.acme.idp = replace(self.acme.idp, key=key)
        self.published["metadata"] = self.acme.idp.metadata(*beside)

    async def read_again(self) -> None:
        """Let the hour pass in which metadata are read again."""
        installation = self.acme.world.installation
        await MetadataReader(
            identity_providers=installation.saml_connections,
            clock=installation.clock,
            database=installation.database,
            metrics=installation.metrics,
            mailboxes=RecordedMailboxes(),
        ).work()

    async def returns(self) -> bool:
        """Sign in in a new browser; return whether that succeeds."""
        self.acme.visitor.cookies.clear()
        await self.acme.sign_in()
        return self.acme.visitor.has_session

    async def test(self) -> dict[str, Any]:
        """Ask the provider what it says of itself."""
        return (await self.acme.owner.post(f"{CONNECTIONS}/{self.acme.connection_id}/test")).json

    @property
    def linked(self) -> int:
        """How many identities are linked."""
        return self.acme.world.value("SELECT count(*) FROM identities")

    async def told(self) -> list[str]:
        """Return who got a mail, since the last call, that certificates were replaced."""
        return [one.to for one in await self.acme.world.mails() if one.template == "connection_certificates_replaced"]


@pytest.fixture
async def publishing(world: World, visitor: Visitor, clock: SettableClock) -> AsyncGenerator[Publishing]:
    """Acme, with a person who has signed in by it, and with roles that it gives."""
    idp = IdentityProvider(now=clock)
    published = {"metadata": idp.metadata()}

    def answer(*_: object) -> tuple[int, str, bytes]:
        return 200, "application/xml", published["metadata"].encode()

    with serving(answer) as url:
        address = f"{url}/metadata"
        acme = await saml_acme(world, visitor, idp, metadata_xml=None, metadata_url=address, joins_as="member")
        made = Publishing(acme, address, published)
        assert await made.returns()
        yield made


async def insider(acme: SamlAcme) -> SignedInUser:
    """Return a member who may set connections, and nothing more."""
    acme.world.custom_role(acme.organization_id, "connecting", "integrations.manage")
    return await acme.world.signed_in_member(acme.organization_id, "connecting", email="eve@private.example")


async def test_what_the_address_publishes_is_taken_at_the_first_answer_that_it_signs(
    publishing: Publishing, mock_clock: MockClock
) -> None:
    publishing.rotate(NEXT)
    # What was read just now is not read again at once.
    mock_clock.jump(REMEMBERED_SECONDS)

    assert await publishing.returns()

    assert publishing.linked == 1
    assert await publishing.told() == ["owner@acme.example"]
    [details] = [details for _, _, details in publishing.acme.world.events(EVENT)]
    assert (details["certificates_added"], details["certificates_removed"]) == (1, 1)
    # It is known from now on.
    assert await publishing.returns()
    assert await publishing.told() == []


async def test_it_is_taken_within_the_hour_without_a_sign_in(publishing: Publishing) -> None:
    await publishing.read_again()
    assert await publishing.told() == []

    publishing.rotate(NEXT, LAST)
    await publishing.read_again()

    assert await publishing.told() == ["owner@acme.example"]
    stored = publishing.acme.world.value("SELECT cardinality(certificates) FROM upstream_connections")
    assert (stored, publishing.linked) == (2, 1)
    publishing.acme.world.connection.execute("DELETE FROM memberships WHERE role = 'owner'")
    publishing.rotate(LAST)
    await publishing.read_again()
    publishing.rotate(NEXT)
    await publishing.read_again()
    assert await publishing.told() == []
    assert await publishing.returns()


async def test_metadata_that_cannot_be_used_change_nothing(publishing: Publishing, clock: SettableClock) -> None:
    ended = publishing.acme.idp.metadata(valid_until=clock.now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    other = replace(publishing.acme.idp, key=NEXT)

    for metadata in (ended, "no metadata", other.metadata(entity_id="https://other.example"), other.metadata()):
        publishing.published["metadata"] = metadata
        if metadata == other.metadata():
            publishing.acme.world.connection.execute("UPDATE upstream_connections SET enabled = false")
        await publishing.read_again()

    assert await publishing.told() == []


async def test_saving_the_same_address_again_ends_no_link(publishing: Publishing) -> None:
    publishing.rotate(NEXT)

    saved = await publishing.acme.change(metadata_url=publishing.address)

    assert (saved.status, publishing.linked) == (200, 1)
    assert await publishing.told() == ["owner@acme.example"]


@pytest.mark.parametrize(
    "unsettled",
    [
        "UPDATE upstream_connections SET metadata_since = 'infinity'",
        "UPDATE upstream_connections SET metadata_since = NULL",
        "UPDATE upstream_connections SET takes_certificates = false",
    ],
)
async def test_what_nobody_vouches_for_is_not_taken_and_the_check_says_so(
    publishing: Publishing, unsettled: str
) -> None:
    acme = publishing.acme
    acme.world.connection.execute(unsettled.encode())
    publishing.rotate(NEXT)

    await publishing.read_again()
    tested = await publishing.test()

    assert tested["success"] is False
    assert "has replaced all its certificates" in tested["message"]
    assert not await publishing.returns()
    reasons = [reason for (reason,) in acme.world.rows("SELECT reason FROM login_events WHERE reason IS NOT NULL")]
    assert reasons == ["certificates_replaced"]
    assert (publishing.linked, await publishing.told()) == (1, [])
    assert "certificate that has ended" not in (await acme.owner.get("/api/organizations/acme/sign-ins")).text


async def test_who_asks_for_names_of_another_format_vouches_for_them_or_nobody_does(publishing: Publishing) -> None:
    acme = publishing.acme
    acme.world.connection.execute("UPDATE upstream_connections SET joins_as = NULL")

    def is_vouched_for() -> bool:
        return acme.world.value("SELECT is_vouched_for FROM upstream_connections")

    assert is_vouched_for()
    asked = await (await insider(acme)).patch(f"{CONNECTIONS}/{acme.connection_id}", {"name_id_format": "persistent"})

    assert asked.status == 200
    assert not is_vouched_for()
    # The owner does not look at the format.
    assert (await acme.change(metadata_url=publishing.address)).status == 200
    assert not is_vouched_for()
    assert (await acme.change(metadata_url=publishing.address, name_id_format="persistent")).status == 200
    assert is_vouched_for()


async def test_a_check_of_what_is_taken_succeeds_and_takes_it(publishing: Publishing) -> None:
    publishing.rotate(NEXT)

    assert (await publishing.test())["success"] is True

    assert await publishing.told() == ["owner@acme.example"]


async def test_an_answer_that_is_signed_by_the_one_before_is_refused_by_its_own_reason(publishing: Publishing) -> None:
    before = publishing.acme.idp
    publishing.rotate(NEXT)
    await publishing.read_again()
    publishing.acme.idp = before

    assert not await publishing.returns()


async def test_an_insider_becomes_nobody_by_the_certificates_of_an_address(publishing: Publishing) -> None:
    acme = publishing.acme
    eve = await insider(acme)

    async def change(editor: SignedInUser, **fields: Any) -> int:
        return (await editor.patch(f"{CONNECTIONS}/{acme.connection_id}", fields)).status

    # People are linked, so it takes the right to give every role.
    assert await change(eve, metadata_url=f"{publishing.address}?of=eve") == 403
    publishing.rotate(NEXT)
    await publishing.read_again()
    assert publishing.linked == 1
    # Without a linked person it does not, and what is published there later is not taken.
    acme.world.connection.execute("DELETE FROM identities")
    acme.world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE email = 'ada@acme.example'")
    assert await change(acme.owner, joins_as="") == 200
    assert await change(eve, metadata_url=f"{publishing.address}?of=eve") == 200
    publishing.acme.idp = replace(acme.idp, key=NEXT)
    assert await publishing.returns()
    publishing.rotate(LAST)
    await publishing.read_again()
    tested = await publishing.test()
    assert (tested["success"], publishing.linked) == (False, 1)
    # Until someone who may give every role says that the address is right.
    publishing.rotate(NEXT)
    assert await change(acme.owner, metadata_url=f"{publishing.address}?of=eve") == 200
    publishing.rotate(LAST)
    await publishing.read_again()
    assert ((await publishing.test())["success"], publishing.linked) == (True, 1)
