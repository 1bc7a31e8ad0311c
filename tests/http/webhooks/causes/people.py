"""What people do that causes events: signing in, securing their accounts, answering invitations, changing members."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.http.webhooks.causes.stage import Stage
from tests.world.builder import PASSWORD
from tests.world.directory import insert_directory

INVITATION_LIFETIME = timedelta(days=7)
SECOND = timedelta(seconds=1)


async def sign_in(stage: Stage) -> None:
    await stage.world.sign_in("member@example.com")


async def sign_in_wrongly(stage: Stage) -> None:
    assert (await stage.world.log_in("member@example.com", "a wrong one")).status == 401


async def sign_out(stage: Stage) -> None:
    await stage.member_request("POST", "/api/auth/logout")


async def turn_mfa_on(stage: Stage) -> None:
    await stage.member.turn_mfa_on()


async def turn_mfa_off(stage: Stage) -> None:
    person = stage.member
    await person.turn_mfa_on()
    person.next_step()
    answer = await person.mfa("DELETE", "", {"password": PASSWORD, "code": person.code()})
    assert answer.status == 200, answer.text


async def give_a_second_factor(stage: Stage) -> None:
    person = stage.member
    await person.turn_mfa_on()
    person.next_step()
    await person.sign_in_with_second_factor()


async def give_a_wrong_second_factor(stage: Stage) -> None:
    person = stage.member
    await person.turn_mfa_on()
    assert (await person.verify(await person.preauth_token(), person.wrong_code())).status == 401


async def change_the_password(stage: Stage) -> None:
    body = {"current_password": PASSWORD, "new_password": "quite another horse"}
    await stage.member_request("POST", "/api/user/change-password", body)


async def end_other_sessions(stage: Stage) -> None:
    await stage.world.sign_in("member@example.com")
    await stage.member_request("DELETE", "/api/user/sessions")


async def lock_the_account(stage: Stage) -> None:
    await stage.member_request("POST", "/api/user/lock")


async def export_the_data(stage: Stage) -> None:
    await stage.member_request("GET", f"/api/privacy/export/{stage.team.ids['member']}")


async def anonymize(stage: Stage) -> None:
    answer = await stage.world.client.delete(
        f"/api/privacy/forget/{stage.team.ids['member']}", token=await stage.team.token("owner")
    )
    assert answer.status == 200, answer.text


async def invite(stage: Stage) -> None:
    await stage.invite()


async def accept(stage: Stage) -> None:
    await stage.answer("accept")


async def decline(stage: Stage) -> None:
    await stage.answer("decline")


async def revoke(stage: Stage) -> None:
    await stage.request("POST", f"/invitations/{(await stage.invite()).id}")


async def let_an_invitation_expire(stage: Stage) -> None:
    await stage.invite()
    stage.world.clock.advance(INVITATION_LIFETIME + SECOND)
    stage.team.tokens.clear()
    await stage.invite()


async def remove_a_member(stage: Stage) -> None:
    await stage.request("POST", f"/members/{stage.team.ids['member']}")


async def change_a_role(stage: Stage) -> None:
    await stage.request("PATCH", f"/members/{stage.team.ids['member']}", {"role": "admin"})


async def patch_in_the_directory(stage: Stage, *operations: dict[str, Any]) -> None:
    directory = insert_directory(stage.team)
    answer = await directory.patch(str(stage.team.ids["member"]), *operations)
    assert answer.status == 200, answer.text


async def rename_in_the_directory(stage: Stage) -> None:
    await patch_in_the_directory(stage, {"op": "add", "path": "displayName", "value": "Member"})


async def create_a_group_in_the_directory(stage: Stage) -> None:
    await insert_directory(stage.team, groups="directory").create_group("Sales")


async def rename_a_group_in_the_directory(stage: Stage) -> None:
    directory = insert_directory(stage.team, groups="directory")
    group_id = await directory.create_group("Sales")
    await directory.change_group(group_id, {"op": "replace", "path": "displayName", "value": "Support"})


async def delete_a_group_in_the_directory(stage: Stage) -> None:
    directory = insert_directory(stage.team, groups="directory")
    await directory.request("DELETE", f"/Groups/{await directory.create_group('Sales')}")


async def keep_an_admin_from_the_directory(stage: Stage) -> None:
    stage.team.add("kept", "admin")
    await insert_directory(stage.team, maker_role=None).put_group()


async def deactivate_in_the_directory(stage: Stage) -> None:
    await patch_in_the_directory(stage, {"op": "replace", "path": "active", "value": False})


async def reactivate_in_the_directory(stage: Stage) -> None:
    stage.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE role = 'member'")
    await patch_in_the_directory(stage, {"op": "replace", "path": "active", "value": True})
