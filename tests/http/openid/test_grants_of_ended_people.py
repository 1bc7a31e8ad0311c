"""No grant gives tokens to a person who is locked, deactivated or suspended (CVE-2026-1609 of another product)."""

from __future__ import annotations

from typing import Any

import pytest

from core.openid import device as device_codes
from core.openid.device import GRANT_TYPE
from tests.world.builder import EMAIL
from tests.world.directory import insert_directory
from tests.world.relying_party import REDIRECT_URI, VERIFIER, RelyingParty, insert_relying_party
from tests.world.team import Team
from tests.world.world import World

OFF = {"op": "replace", "path": "active", "value": False}
GRANTS = {"authorization_code", "refresh_token", GRANT_TYPE}


async def grants_of(party: RelyingParty) -> dict[str, dict[str, Any]]:
    """Return a grant of each type that stands for a person."""
    tokens = await party.tokens()
    begun = await party.post("/auth/device/code", {})
    assert begun.status == 200, begun.text
    session_id = (await party.world.sign_in(EMAIL, org_slug="acme", service_slug="shop")).session_id
    # As if its person had approved the device.
    await party.world.installation.database.transact(
        lambda uow: device_codes.give(uow, begun.json["user_code"], session_id)
    )
    return {
        "authorization_code": {
            "code": await party.code(),
            "redirect_uri": REDIRECT_URI,
            "code_verifier": VERIFIER,
        },
        "refresh_token": {"refresh_token": tokens["refresh_token"]},
        GRANT_TYPE: {"device_code": begun.json["device_code"]},
    }


@pytest.mark.parametrize("end", ["nothing", "locked", "deactivated", "suspended"])
async def test_no_grant_gives_tokens_to_a_person_who_is_ended(world: World, end: str) -> None:
    party = insert_relying_party(world)
    user_id = world.user(EMAIL)
    world.member(party.organization_id, user_id)
    world.connection.execute(
        "UPDATE users SET created_by_organization_id = %s WHERE id = %s", (party.organization_id, user_id)
    )
    if end == "deactivated":
        world.mail_domain(party.organization_id, EMAIL.partition("@")[2])
    grants = await grants_of(party)
    assert set(grants) == GRANTS

    if end == "locked":
        root = await world.signed_in_platform_owner()
        assert (await root.post(f"/api/platform/users/{user_id}/lock")).status == 204
    elif end != "nothing":
        team = Team(world, party.organization_id, "acme")
        assert (await insert_directory(team).patch(str(user_id), OFF)).status == 200

    for grant_type, fields in grants.items():
        answer = await party.token(grant_type, **fields)
        if end == "nothing":
            assert answer.status == 200, (grant_type, answer.text)
        else:
            assert answer.status in {400, 401, 403}, (grant_type, answer.text)
            assert "access_token" not in answer.json, grant_type
    again = await world.log_in(EMAIL, org_slug="acme", service_slug="shop")
    assert (again.status == 200) is (end == "nothing"), again.text
