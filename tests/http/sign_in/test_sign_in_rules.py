"""The sign-in rules of an organization: which second factors count where it requires one."""

from __future__ import annotations

import pytest

from tests.application import Answer
from tests.authenticators import Authenticator
from tests.secret_watch import WATCH
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person, insert_person
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

PATH = "/api/organizations/engines/sign-in-rules"
STRICT = {"mfa_methods": "phishing_resistant"}
PASSKEY_REQUIRED = "This organization accepts a passkey alone as a second factor."


@pytest.fixture
async def ada(world: World, keyring: Keyring) -> Person:
    """The owner of an organization that requires a second factor, signed in without one."""
    person = insert_person(world)
    person.join_organization(mfa_required=True)
    world.connection.execute("UPDATE memberships SET role = 'owner'")
    await person.sign_in()
    keyring.token = person.token
    return person


async def change(person: Person, body: object) -> Answer:
    """Change the rules."""
    return await person.world.client.request("PATCH", PATH, token=person.token, body=body)


async def strict(person: Person) -> None:
    """Let the organization of a person accept passkeys alone, as if another one had chosen it."""
    person.world.connection.execute("UPDATE organizations SET mfa_methods = 'phishing_resistant'")


async def mailed_token(person: Person) -> str:
    """Sign in with a mailed link, and with a code where MFA is on."""
    world = person.world
    await world.client.post("/api/auth/magic-link/request", body={"email": person.email})
    [token] = [mail.values["token"] for mail in await world.mails() if mail.template == "magic_link"]
    answer = await world.client.post("/api/auth/magic-link/verify", body={"token": token})
    if answer.json.get("mfa_required"):
        answer = await person.verify(answer.json["preauth_token"], person.code())
    return answer.json["access_token"]


async def test_the_rule_is_read_and_changed(world: World, ada: Person, keyring: Keyring) -> None:
    await keyring.registered()

    before = await world.client.get(PATH, token=ada.token)
    changed = await change(ada, STRICT)
    again = await change(ada, STRICT)
    nothing = await change(ada, {})

    assert before.json == {"mfa_methods": "any"}
    assert changed.json == again.json == nothing.json == STRICT
    [(*_, details)] = world.audit_entries("organization.updated")
    assert details["changes"] == {"mfa_methods": {"from": "any", "to": "phishing_resistant"}}
    assert (await change(ada, {"mfa_methods": "any"})).json == {"mfa_methods": "any"}
    assert_refused(await change(ada, {"mfa_methods": "none"}), 400, "BAD_REQUEST")


async def test_it_takes_one_on_the_account_of_who_sets_it(ada: Person, keyring: Keyring) -> None:
    await ada.turn_mfa_on()

    assert_refused(await change(ada, STRICT), 400, "BAD_REQUEST")

    keyring.token = ada.token
    passkey_id = (await keyring.register(Authenticator(is_user_verified=False))).json["id"]
    assert_refused(await change(ada, STRICT), 400, "BAD_REQUEST")
    await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})
    assert (await change(ada, STRICT)).json == STRICT


async def test_a_code_does_not_count_and_a_passkey_does(ada: Person, keyring: Keyring) -> None:
    await ada.turn_mfa_on()
    keyring.token = ada.token
    passkey_id = (await keyring.register(Authenticator(is_user_verified=False))).json["id"]
    await strict(ada)
    token = await ada.preauth_token(org_slug="engines")

    by_code = await ada.verify(token, ada.code())

    assert_refused(by_code, 403, "FORBIDDEN")
    assert by_code.json["error"].startswith(PASSKEY_REQUIRED)
    assert (await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})).status == 200


async def test_a_passkey_as_second_factor_counts(ada: Person, keyring: Keyring) -> None:
    passkey = Authenticator(is_user_verified=False)
    passkey_id = (await keyring.register(passkey)).json["id"]
    await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})
    await strict(ada)

    answer = await ada.verify_with(passkey, org_slug="engines")

    assert claims_of(answer.json["access_token"])["amr"] == ["pwd", "hwk", "user", "mfa"]
    assert (await ada.world.client.get(PATH, token=answer.json["access_token"])).json == STRICT


async def test_a_passkey_alone_that_verifies_its_user_counts(ada: Person, keyring: Keyring) -> None:
    passkey = await keyring.registered()
    await strict(ada)

    answer = await keyring.sign_in(passkey, org_slug="engines")

    assert claims_of(answer.json["access_token"])["org"]


async def test_sessions_that_have_begun_with_a_code_are_judged_too(ada: Person) -> None:
    await ada.turn_mfa_on()
    await ada.sign_in_with_second_factor()
    assert (await ada.world.client.get(PATH, token=ada.token)).status == 200
    await strict(ada)

    answer = await ada.world.client.get(PATH, token=ada.token)

    assert_refused(answer, 403, "FORBIDDEN")
    assert answer.json["error"].startswith(PASSKEY_REQUIRED)
    # It can be read, and left, but not loosened.
    assert (await ada.world.client.get("/api/organizations/engines", token=ada.token)).status == 200
    loosened = await ada.world.client.request(
        "PATCH", "/api/organizations/engines", token=ada.token, body={"mfa_required": False}
    )
    assert_refused(loosened, 403, "FORBIDDEN")


async def test_no_trusted_device_counts(ada: Person, keyring: Keyring) -> None:
    passkey = Authenticator()
    passkey_id = (await keyring.register(passkey)).json["id"]
    await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})
    token = await ada.preauth_token()
    options = (await ada.ask_passkey(token)).json["options"]
    trusted = (await ada.answer(token, passkey.get(options), trust_device=True)).json["device_token"]
    headers = {"X-Device-Token": trusted}
    assert (await ada.log_in(headers=headers, org_slug="engines")).json.get("mfa_required") is None
    await strict(ada)

    assert (await ada.log_in(headers=headers, org_slug="engines")).json["mfa_required"] is True
    remembered = (await ada.log_in(headers=headers)).json["access_token"]
    assert_refused(await ada.world.client.get(PATH, token=remembered), 403, "FORBIDDEN")


async def test_a_code_adds_no_passkey_and_a_mailed_proof_does(ada: Person, keyring: Keyring) -> None:
    await ada.turn_mfa_on()
    await ada.sign_in_with_second_factor()
    keyring.token = ada.token
    started = await keyring.start_registration()
    await strict(ada)

    refused = await keyring.ask("POST", "/register/start")
    finished = await keyring.finish_registration(started, Authenticator().create(started["options"]))
    for answer in (refused, finished):
        assert_refused(answer, 403, "FORBIDDEN")
        assert answer.json["error"].startswith("An organization of yours accepts passkeys alone")

    ada.next_step()
    keyring.token = await mailed_token(ada)
    assert_refused(await ada.world.client.get(PATH, token=keyring.token), 403, "FORBIDDEN")
    assert (await keyring.register()).status == 200
    assert (await ada.world.client.get(PATH, token=keyring.token)).json == STRICT


async def test_a_code_chooses_no_mailbox_for_the_mailed_proof(world: World, ada: Person) -> None:
    await ada.turn_mfa_on()
    await ada.sign_in_with_second_factor()
    await strict(ada)
    change_to = {"email": "eve@example.com"}

    refused = await world.client.patch("/api/user", token=ada.token, body=change_to)

    assert_refused(refused, 403, "FORBIDDEN")
    assert refused.json["error"].startswith("An organization of yours accepts passkeys alone")
    assert (await world.client.patch("/api/user", token=ada.token, body={"name": "Ada"})).status == 200
    ada.next_step()
    assert (await world.client.patch("/api/user", token=await mailed_token(ada), body=change_to)).status == 200


async def test_somebody_without_any_factor_comes_in_the_same_way(ada: Person, keyring: Keyring) -> None:
    await strict(ada)

    assert_refused(await keyring.ask("POST", "/register/start"), 403, "FORBIDDEN")
    keyring.token = await mailed_token(ada)
    assert (await keyring.register()).status == 200

    assert (await ada.world.client.get(PATH, token=keyring.token)).json == STRICT


async def test_where_no_second_factor_is_required_none_is_judged(ada: Person, keyring: Keyring) -> None:
    await strict(ada)
    ada.world.connection.execute("UPDATE organizations SET mfa_required = false")

    assert (await ada.world.client.get(PATH, token=ada.token)).json == STRICT
    assert (await keyring.ask("POST", "/register/start")).status == 200


async def test_a_second_factor_is_required_by_who_has_one_that_counts(ada: Person, keyring: Keyring) -> None:
    await strict(ada)
    ada.world.connection.execute("UPDATE organizations SET mfa_required = false")
    path, body = "/api/organizations/engines", {"mfa_required": True}

    refused = await ada.world.client.patch(path, token=ada.token, body=body)

    assert_refused(refused, 400, "BAD_REQUEST")
    assert refused.json["error"].startswith("Your own account has no passkey")
    await keyring.registered()
    assert (await ada.world.client.patch(path, token=ada.token, body=body)).status == 200


async def test_refreshing_asks_again(ada: Person, world: World) -> None:
    await ada.turn_mfa_on()
    answer = await ada.verify(await ada.preauth_token(org_slug="engines"), ada.code())
    await strict(ada)

    body = {"refresh_token": answer.json["refresh_token"]}

    assert_refused(await world.client.post("/api/auth/refresh", body=body), 401, "UNAUTHORIZED")


async def test_only_who_manages_the_settings_reads_and_changes_it(ada: Person, world: World) -> None:
    world.connection.execute("UPDATE memberships SET role = 'member'")
    world.connection.execute("UPDATE organizations SET mfa_required = false")

    assert_refused(await world.client.get(PATH, token=ada.token), 403, "FORBIDDEN")
    assert_refused(await change(ada, STRICT), 403, "FORBIDDEN")


async def key_of(person: Person, token: str) -> dict[str, str]:
    """Create a key of the organization in a session, and return the header that presents it."""
    body = {"name": "Terraform", "permissions": ["org.settings.manage"]}
    answer = await person.world.client.post("/api/organizations/engines/keys", token=token, body=body)
    assert answer.status == 200, answer.text
    WATCH.add(answer.json["secret"])
    return {"X-Api-Key": answer.json["secret"]}


async def test_keys_are_judged_by_the_factor_with_which_they_were_made(ada: Person, keyring: Keyring) -> None:
    client = ada.world.client
    await ada.turn_mfa_on()
    keyring.token = ada.token
    by_passkey = (await keyring.sign_in(await keyring.registered(), org_slug="engines")).json["access_token"]
    await ada.sign_in_with_second_factor()
    with_code, with_passkey = await key_of(ada, ada.token), await key_of(ada, by_passkey)
    await strict(ada)

    refused = await client.request("GET", PATH, headers=with_code)
    accepted = await client.request("GET", PATH, headers=with_passkey)

    assert_refused(refused, 403, "FORBIDDEN")
    assert refused.json["error"].startswith(PASSKEY_REQUIRED[:-1])
    assert accepted.json == STRICT
    # A key that does not say with which factor it was made goes on.
    ada.world.connection.execute("UPDATE organization_keys SET is_phishing_resistant = NULL")
    assert (await client.request("GET", PATH, headers=with_code)).json == STRICT
    ada.world.connection.execute("UPDATE organization_keys SET is_phishing_resistant = false")
    ada.world.connection.execute("UPDATE organizations SET mfa_required = false")
    assert (await client.request("GET", PATH, headers=with_code)).json == STRICT
