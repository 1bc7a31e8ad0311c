"""Asking for another email address, and proving it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import jwt
import pytest

from adapters.postgres.driver.connection import Connection
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.address_changes import NEW, ROUNDS, ask, asked, drop, prove, shown, submit
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

THIRD = "ada@third.example"
OTHER = "grace@example.com"
NEW_PASSWORD = "a quite different one"
DAY = timedelta(days=1)


class TestTheRequest:
    """Asking for an address changes what the profile shows, and nothing else."""

    async def test_the_answer_and_the_profile_show_the_new_address_unverified(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token

        answer = await ask(world, token, " ADA@New.Example ")

        assert (answer.status, answer.json["email"], answer.json["email_verified"]) == (200, NEW, False)
        assert answer.json == (await world.client.get("/api/user", token=token)).json

    async def test_everything_else_goes_on_with_the_present_address(self, world: World) -> None:
        tokens = await world.register_and_sign_in()
        await asked(world, tokens.access_token)

        refreshed = (await world.refresh(tokens.refresh_token)).json["access_token"]
        logged_in, unknown = await world.log_in(EMAIL), await world.log_in(NEW)
        await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
        await world.client.post("/api/auth/forgot-password", body={"email": NEW})

        assert jwt.decode(refreshed, options={"verify_signature": False})["email"] == EMAIL
        assert (logged_in.status, unknown.status) == (200, 401)
        assert [message.to for message in await world.mails()] == [EMAIL]
        assert (await world.register(EMAIL)).status == 409

    async def test_an_invitation_to_the_present_address_is_still_the_accounts_own(self, world: World) -> None:
        owner = await world.signed_in_member(world.organization(), email="owner@example.com")
        token = (await world.register_and_sign_in()).access_token
        await asked(world, token)
        for email in (EMAIL, NEW):
            body = {"email": email, "role": "member"}
            await world.client.post("/api/organizations/acme/invitations", token=owner.token, body=body)

        listed = (await world.client.get("/api/invitations", token=token)).json

        assert [one["email"] for one in listed] == [EMAIL]

    async def test_the_new_address_gets_a_link_and_the_present_one_a_notice(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        await world.mails()

        await ask(world, token)

        messages = {message.to: message for message in await world.mails()}
        assert {to: message.template.value for to, message in messages.items()} == {
            NEW: "verify_new_email",
            EMAIL: "email_change_requested",
        }
        # The notice does not disclose the new address.
        assert NEW not in world.installation.mail_renderer.render(messages[EMAIL]).text

    async def test_an_unverified_present_address_gets_no_notice(self, world: World, connection: Connection) -> None:
        token = (await world.register_and_sign_in()).access_token
        connection.execute("UPDATE users SET email_verified_at = NULL")

        tokens = await asked(world, token)

        assert set(tokens) == {NEW}
        assert (await prove(world, tokens[NEW])).status == 200
        assert await world.mails() == []
        assert await shown(world, token) == (NEW, True)

    async def test_the_present_address_drops_an_earlier_request(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        links = await asked(world, token)

        answer = await ask(world, token, EMAIL)

        assert (answer.json["email"], answer.json["email_verified"]) == (EMAIL, True)
        assert await shown(world, token) == (EMAIL, True)
        assert [(await prove(world, links[NEW])).status, (await drop(world, links[EMAIL])).status] == [400, 400]

    async def test_a_later_request_replaces_an_earlier_one(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        first = await asked(world, token)
        second = await asked(world, token, THIRD)

        assert await shown(world, token) == (THIRD, False)
        assert (await prove(world, first[NEW])).status == 400
        assert (await prove(world, second[THIRD])).status == 200
        assert await shown(world, token) == (THIRD, True)

    @pytest.mark.parametrize("is_verified", [True, False])
    async def test_an_address_of_another_account_is_refused_and_keeps_an_earlier_request(
        self, world: World, *, is_verified: bool
    ) -> None:
        world.user("taken@example.com", is_verified=is_verified)
        token = (await world.register_and_sign_in()).access_token
        links = await asked(world, token)

        answer = await ask(world, token, "Taken@example.com")

        assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
        assert await world.mails() == []
        assert (await prove(world, links[NEW])).status == 200

    async def test_an_invalid_address_is_refused_with_the_name_of_the_field(self, world: World) -> None:
        answer = await ask(world, (await world.register_and_sign_in()).access_token, "no address")

        assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")

    async def test_an_impersonator_may_not_ask(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        await world.register_and_verify("owner@example.com")
        world.impersonate_in_sessions(EMAIL, owner="owner@example.com")

        assert (await ask(world, token)).status == 403

    async def test_a_request_reserves_nothing(self, world: World) -> None:
        await asked(world, (await world.register_and_sign_in()).access_token)
        other = (await world.register_and_sign_in(OTHER)).access_token

        assert (await ask(world, other)).status == 200
        assert (await world.register(NEW)).status == 200


class TestTheLink:
    """The link to the new address: a page with a button, once and for a day."""

    async def test_opening_it_names_both_addresses_and_changes_nothing(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        path = f"/auth/verify-email?token={(await asked(world, token))[NEW]}"

        answers = [await world.client.get(path), await world.client.request("HEAD", path), await world.client.get(path)]

        assert [answer.status for answer in answers] == [200, 200, 200]
        assert EMAIL in answers[-1].text
        assert NEW in answers[-1].text
        assert await shown(world, token) == (NEW, False)
        assert (await world.log_in(EMAIL)).status == 200

    async def test_its_button_changes_the_address_and_ends_no_session(self, world: World) -> None:
        token, other = (await world.register_and_sign_in()).access_token, (await world.sign_in()).access_token

        answer = await prove(world, (await asked(world, token))[NEW])

        assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert NEW in answer.text
        assert [await shown(world, each) for each in (token, other)] == [(NEW, True), (NEW, True)]
        assert [(await world.log_in(email)).status for email in (NEW, EMAIL)] == [200, 401]

    async def test_programs_get_json(self, world: World) -> None:
        json = {"Accept": "application/json"}
        link = (await asked(world, (await world.register_and_sign_in()).access_token))[NEW]

        opened = await world.client.get(f"/auth/verify-email?token={link}", headers=json)
        pressed = await submit(world, "/auth/verify-email", link, json)
        again = await submit(world, "/auth/verify-email", link, json)

        assert EMAIL in opened.json["message"]
        assert NEW in opened.json["message"]
        assert pressed.json["message"].startswith("Your email address is changed. You sign in with ada@new.example")
        assert (again.status, again.json["error_code"]) == (400, "BAD_REQUEST")

    async def test_it_is_valid_once(self, world: World) -> None:
        link = (await asked(world, (await world.register_and_sign_in()).access_token))[NEW]
        await prove(world, link)

        again = await prove(world, link)

        assert again.status == 400
        assert "used already" in again.text

    async def test_it_is_valid_for_a_day(self, world: World, clock: SettableClock) -> None:
        await world.register_and_verify()
        link = (await asked(world, (await world.sign_in()).access_token))[NEW]

        clock.advance(DAY)
        answers = [await world.client.get(f"/auth/verify-email?token={link}"), await prove(world, link)]

        assert [answer.status for answer in answers] == [400, 400]
        assert "expired" in answers[0].text
        assert await shown(world, (await world.sign_in()).access_token) == (EMAIL, True)

    async def test_a_change_invalidates_links_sent_to_the_old_address(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
        reset_token = (await world.mail()).values["token"]

        links = await asked(world, token)
        await prove(world, links[NEW])

        body = {"token": reset_token, "new_password": NEW_PASSWORD}
        assert (await world.client.post("/api/auth/reset-password", body=body)).status == 400
        assert (await drop(world, links[EMAIL])).status == 400

    async def test_the_link_of_a_deactivated_account_is_refused(self, world: World) -> None:
        link = (await asked(world, (await world.register_and_sign_in()).access_token))[NEW]
        world.deactivate()

        assert (await prove(world, link)).status == 400

    async def test_sent_as_a_form_the_link_of_a_new_account_does_the_same_as_opened(self, world: World) -> None:
        await world.register()
        token = (await world.mail()).values["token"]

        page = await prove(world, token)

        assert page.status == 200
        assert "The password that you chose then" in page.text
        assert (await world.log_in()).status == 401
        assert "Your email address is verified" in (await prove(world, token, as_program=True)).json["message"]
        assert (await world.log_in()).status == 200


class TestDropping:
    """What drops a request besides the present address and a later request."""

    async def test_the_link_in_the_notice_drops_it(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        links = await asked(world, token)
        path = f"/auth/undo-email-change?token={links[EMAIL]}"

        opened = [await world.client.get(path), await world.client.request("HEAD", path)]
        assert [answer.status for answer in opened] == [200, 200]
        assert await shown(world, token) == (NEW, False)
        dropped = await drop(world, links[EMAIL])

        assert dropped.status == 200
        assert "forgot password" in dropped.text
        assert await shown(world, token) == (EMAIL, True)
        assert (await prove(world, links[NEW])).status == 400
        assert (await drop(world, links[EMAIL])).status == 400

    @pytest.mark.parametrize("token", ["", "nonsense"])
    async def test_an_invalid_link_answers_with_a_page(self, world: World, token: str) -> None:
        opened = await world.client.get(f"/auth/undo-email-change?token={token}")

        for answer in (opened, await drop(world, token)):
            assert answer.status == 400
            assert "This link is not valid" in answer.text

    async def test_ending_all_other_sessions_drops_it(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        link = (await asked(world, token))[NEW]

        await world.client.delete("/api/user/sessions", token=token)

        assert (await prove(world, link)).status == 400
        assert await shown(world, token) == (EMAIL, True)

    async def test_changing_the_password_drops_it(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        link = (await asked(world, token))[NEW]

        body = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
        assert (await world.client.post("/api/user/change-password", token=token, body=body)).status == 200

        assert (await prove(world, link)).status == 400

    async def test_resetting_the_password_drops_it(self, world: World) -> None:
        link = (await asked(world, (await world.register_and_sign_in()).access_token))[NEW]
        await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
        body = {"token": (await world.mail()).values["token"], "new_password": NEW_PASSWORD}
        assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200

        assert (await prove(world, link)).status == 400

    async def test_a_request_beside_the_end_of_its_session_is_dropped_or_refused(self, world: World) -> None:
        await world.register_and_verify()
        keeper = (await world.sign_in()).access_token
        for _ in range(ROUNDS):
            intruder = (await world.sign_in()).access_token

            answers = await at_once(
                partial(ask, world, intruder), partial(world.client.delete, "/api/user/sessions", token=keeper)
            )

            assert statuses_of(answers) in ([200, 204], [204, 401])
            assert await shown(world, keeper) == (EMAIL, True)


async def test_the_security_log_records_each_step(world: World, connection: Connection) -> None:
    token = (await world.register_and_sign_in()).access_token
    await drop(world, (await asked(world, token))[EMAIL])
    await prove(world, (await asked(world, token))[NEW])

    kinds = connection.execute("SELECT event_type, success FROM mfa_events ORDER BY id").fetchall()
    assert kinds == [
        ("email_change_requested", True),
        ("email_change_dropped", True),
        ("email_change_requested", True),
        ("email_changed", True),
    ]


async def test_forgetting_a_person_spares_an_address_that_they_only_asked_for(world: World) -> None:
    root = await world.signed_in_platform_owner()
    owner = await world.signed_in_member(world.organization(), email="owner@example.com")
    await asked(world, (await world.register_and_sign_in()).access_token)
    body = {"email": NEW, "role": "member"}
    await world.client.post("/api/organizations/acme/invitations", token=owner.token, body=body)

    answer = await world.client.delete(f"/api/privacy/forget/{world.user_id(EMAIL)}", token=root.token)

    assert answer.status < 300, answer.text
    assert world.rows("SELECT email, status FROM invitations") == [(NEW, "pending")]
