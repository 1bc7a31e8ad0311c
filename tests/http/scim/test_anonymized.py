"""What a directory said of a person is personal data: an anonymization deletes it, and it does not come back."""

from __future__ import annotations

from tests.shown_text import shows
from tests.world.directory import Directory, assert_scim_refused

ADA = "ada@example.com"


async def anonymize(directory: Directory, user_id: str) -> None:
    """Anonymize a user as a platform owner."""
    world = directory.world
    world.user("root@example.com", is_platform_owner=True)
    token = (await world.sign_in("root@example.com")).access_token
    answer = await world.client.delete(f"/api/privacy/forget/{user_id}", token=token)
    assert answer.status == 200, answer.text


async def test_the_profile_and_the_name_in_the_log_are_deleted(directory: Directory) -> None:
    user = await directory.create("Ada@example.com", displayName="Ada Lovelace", externalId="1")

    await anonymize(directory, user["id"])

    shown = await directory.show(user["id"])
    assert not shows(str(shown).lower(), "lovelace")
    assert ADA not in str(shown).lower()
    assert (shown["active"], shown["externalId"]) == (False, None)
    assert directory.world.rows("SELECT FROM scim_profiles") == []
    assert directory.world.rows("SELECT FROM scim_log_entries WHERE user_name IS NOT NULL") == []


async def test_a_directory_describes_an_anonymized_member_no_more_and_removes_them(directory: Directory) -> None:
    user = await directory.create()
    await anonymize(directory, user["id"])

    for operation in (
        {"op": "add", "path": "displayName", "value": "Ada"},
        {"op": "replace", "path": "active", "value": True},
    ):
        assert_scim_refused(await directory.patch(user["id"], operation), 404)
    assert directory.world.rows("SELECT FROM scim_profiles") == []
    assert (await directory.request("DELETE", f"/Users/{user['id']}")).status == 204
    assert await directory.found(f'id eq "{user["id"]}"') == []
