"""The key of a SAML connection: when it is made, how it is replaced, and what our metadata say of it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from lxml import etree

from core.key_certificates import MadeCertificate
from core.secrets import Secret
from core.sign_in.upstream.connections import connection_keys
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.service_provider import NAMESPACES
from tests.shown_text import shows
from tests.world.team import Team
from tests.world.world import assert_refused

UNKNOWN = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"
OIDC = {
    "type": "oidc",
    "name": "Acme",
    "issuer": "https://idp.acme.example",
    "client_id": "gatehouse",
    "client_secret": "the-secret-of-acme",
}


@pytest.fixture
async def connection_id(team: Team) -> str:
    """The id of a connection by SAML, which has no metadata yet."""
    answer = await team.request("owner", "POST", "/upstream-providers", body={"type": "saml", "name": "Acme"})
    assert answer.status == 200, answer.text
    return answer.json["id"]


async def metadata(team: Team, connection_id: str) -> Answer:
    return await team.world.client.get(f"/auth/upstream/{connection_id}/metadata")


async def rotate(team: Team, connection_id: str, *, by: str = "owner") -> Answer:
    return await team.request(by, "POST", f"/upstream-providers/{connection_id}/rotate-key-pair")


def certificates_for(use: str, document: Answer) -> list[str]:
    root: Any = etree.fromstring(document.content)
    path = f"//md:SPSSODescriptor/md:KeyDescriptor[@use='{use}']//ds:X509Certificate/text()"
    return [str(one) for one in root.xpath(path, namespaces=NAMESPACES)]


def body_of(pem: str) -> str:
    return "".join(pem.splitlines()[1:-1])


async def test_a_connection_gets_its_key_when_its_metadata_are_first_read(team: Team, connection_id: str) -> None:
    answers = await at_once(*[partial(metadata, team, connection_id)] * 2)

    [certificate] = certificates_for("signing", answers[0])
    for answer in (*answers, await metadata(team, connection_id)):
        assert certificates_for("signing", answer) == certificates_for("encryption", answer) == [certificate]
        assert 'AuthnRequestsSigned="false"' in answer.text
    [(sealed,)] = team.world.rows("SELECT private_key_sealed FROM connection_keys")
    assert b"PRIVATE KEY" not in sealed


async def test_the_previous_certificate_is_published_for_seven_days(
    team: Team, connection_id: str, clock: SettableClock
) -> None:
    [first] = certificates_for("signing", await metadata(team, connection_id))

    answer = await rotate(team, connection_id)

    assert answer.status == 200, answer.text
    assert answer.json.keys() == {"public_key", "valid_from", "valid_until", "is_active", "created_at"}
    second = body_of(answer.json["public_key"])
    after = await metadata(team, connection_id)
    assert certificates_for("signing", after) == [second, first]
    assert certificates_for("encryption", after) == [second]
    clock.now += timedelta(days=7)
    assert certificates_for("signing", await metadata(team, connection_id)) == [second]


async def test_both_keys_open_what_is_encrypted_and_the_active_one_signs(
    team: Team, connection_id: str, clock: SettableClock
) -> None:
    await rotate(team, connection_id)
    await rotate(team, connection_id)
    [(key_id, organization_id)] = team.world.rows("SELECT connection_id, organization_id FROM connection_keys LIMIT 1")

    transact = team.world.installation.database.transact

    active = await transact(connection_keys.active, organization_id, key_id)
    usable = await transact(connection_keys.usable, organization_id, key_id)
    assert active is not None
    assert usable[0] == active
    assert len(usable) == 2
    assert all(key.private_pem.reveal().startswith("-----BEGIN PRIVATE KEY") for key in usable)
    other = team.world.organization("globex")
    assert await transact(connection_keys.active, other, key_id) is None
    assert not await transact(connection_keys.usable, other, key_id)
    clock.now += timedelta(days=7)
    assert await transact(connection_keys.usable, organization_id, key_id) == [active]


async def test_a_first_key_replaces_none_and_is_for_no_connection_that_is_gone(
    team: Team, connection_id: str, clock: SettableClock
) -> None:
    await metadata(team, connection_id)
    transact = team.world.installation.database.transact
    made = MadeCertificate(certificate_pem="another", private_pem=Secret("another"))

    for named in (connection_id, UNKNOWN):
        place = (team.organization_id, UUID(named))
        await transact(connection_keys.add_first, *place, made, valid_from=clock.now)

    assert team.world.value("SELECT count(*) FROM connection_keys WHERE public_key <> 'another'") == 1


async def test_a_change_is_recorded_without_the_key(team: Team, connection_id: str) -> None:
    await rotate(team, connection_id)

    [(details,)] = team.world.audit_entries("upstream_connection.updated", "details")
    assert details["cause"] == "key_rotated"
    assert details["provider_id"] == connection_id
    assert not shows(str(details).replace("key_rotated", ""), "KEY")


async def test_who_may_not_change_connections_changes_no_key(team: Team, connection_id: str) -> None:
    assert_refused(await rotate(team, connection_id, by="member"), 403, "FORBIDDEN")
    assert_refused(await rotate(team, UNKNOWN), 404, "NOT_FOUND")
    other = team.world.team("globex")
    other.add("rival", "owner")
    assert_refused(await rotate(other, connection_id, by="rival"), 404, "NOT_FOUND")
    assert team.world.value("SELECT count(*) FROM connection_keys") == 0


async def test_a_connection_by_openid_connect_has_none(team: Team) -> None:
    made = await team.request("owner", "POST", "/upstream-providers", body=OIDC)

    assert_refused(await rotate(team, made.json["id"]), 400, "BAD_REQUEST")
    assert (await metadata(team, made.json["id"])).status == 404


async def test_a_key_ends_with_its_connection(team: Team, connection_id: str) -> None:
    await rotate(team, connection_id)

    assert (await team.request("owner", "DELETE", f"/upstream-providers/{connection_id}")).status == 204
    assert team.world.value("SELECT count(*) FROM connection_keys") == 0
    assert (await metadata(team, connection_id)).status == 404
