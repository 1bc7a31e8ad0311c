"""Signing in with a mailed code: it shares a secret with its link, and guesses are limited."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
import trio

from adapters.crypto.randomness import SystemRandomness
from adapters.postgres.driver.connection import Connection
from core.mail.mail import MailMessage, MailTemplate
from tests.application import Answer, serving, with_mail_limits
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.statements import alike, recorded_statements
from tests.waiting import waiting_for_a_lock
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL
from tests.world.mailed_codes import REQUEST, VERIFY, Challenge, ask, send_code
from tests.world.openid_connection import enforce
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World, assert_refused

UNKNOWN = "nobody@example.com"
ROUNDS = 20
WRONG = "This code is wrong"
OVER = "No code of this mail is taken here any more"


class TestSigningIn:
    """The code does what the link does."""

    async def test_the_code_of_the_mail_signs_in_with_the_answer_of_a_login(self, world: World) -> None:
        world.user()
        challenge = await ask(world)

        answer = await challenge.send(challenge.code)

        assert re.fullmatch("[0-9]{6}", challenge.code)
        assert UUID(challenge.id).version == 4
        assert answer.status == 200, answer.text
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type", "device_token"}
        assert answer.headers["Cache-Control"] == "no-store"
        claims = claims_of(answer.json["access_token"])
        assert (claims["email"], claims["amr"]) == (EMAIL, ["email"])
        assert world.events("user.login.success")[-1][2]["provider"] == "magic_link"

    async def test_spaces_that_are_typed_into_a_code_do_no_harm(self, world: World) -> None:
        world.user()
        challenge = await ask(world)

        assert (await challenge.send(f" {challenge.code[:3]} {challenge.code[3:]} ")).status == 200

    async def test_the_mail_has_the_code_to_read_aloud_and_to_copy_in_both_languages(self, world: World) -> None:
        world.user()
        for language, sentence in ((None, "valid for ten minutes"), ("de", "gilt zehn Minuten")):
            headers = {"Accept-Language": language} if language is not None else {}
            await world.client.post(REQUEST, body={"email": EMAIL}, headers=headers)
            message = await world.mail()
            code = message.values["code"]

            rendered = world.installation.mail_renderer.render(message)

            assert code not in rendered.subject
            assert f"\n    {code}\n" in rendered.text
            assert sentence in rendered.text
            assert sentence in rendered.html
            assert f'{" ".join(code)}"' in rendered.html
            assert f">{code}<" in rendered.html

    async def test_a_code_asks_for_the_second_factor(self, world: World) -> None:
        person = Person(world, world.user(), EMAIL)
        await person.turn_mfa_on()
        challenge = await ask(world)

        answer = await challenge.send(challenge.code)

        assert (answer.status, answer.json["mfa_required"], answer.json["refresh_token"]) == (200, True, "")

    async def test_a_code_signs_in_where_it_was_requested_for_and_nowhere_else(
        self, world: World, acme_shop: AcmeShop
    ) -> None:
        world.user()
        world.service(acme_shop.organization_id, "desk", name="Acme Desk")
        world.service(world.organization("globex"), "shop")
        challenge = await ask(world, **acme_shop.return_request)

        for target in ({"org_slug": "acme", "service_slug": "desk"}, {"org_slug": "globex", "service_slug": "shop"}):
            assert_refused(await challenge.send(challenge.code, **target), 400, "BAD_REQUEST")
        # The refusals have not used the code.
        answer = await challenge.send(challenge.code)

        claims = claims_of(answer.json["access_token"])
        assert (claims["org"], claims["service"]) == ("acme", "shop")

    async def test_a_code_requested_without_context_signs_in_to_the_service_named_later(
        self, world: World, acme_shop: AcmeShop
    ) -> None:
        world.user()
        challenge = await ask(world)

        answer = await challenge.send(challenge.code, org_slug="acme", service_slug="shop")

        assert claims_of(answer.json["access_token"])["service"] == "shop"

    async def test_the_first_proof_by_a_code_removes_what_was_set_up_before(self, world: World) -> None:
        await world.register_and_sign_in("attacker@example.com")
        attacker = (await world.sign_in("attacker@example.com")).access_token
        world.set_unproved_address("attacker@example.com", "victim@example.com")
        challenge = await ask(world, "victim@example.com")

        answer = await challenge.send(challenge.code)

        assert answer.status == 200
        assert (await world.client.get("/api/user", token=attacker)).status == 401
        assert (await world.log_in("victim@example.com")).status == 401
        assert (await world.client.get("/api/user", token=answer.json["access_token"])).json["email_verified"] is True

    async def test_where_single_sign_on_is_required_the_code_is_refused_as_the_link_is(self, world: World) -> None:
        user_id = world.user("ada@acme.example")
        acme, globex = world.organization("acme"), world.organization("globex")
        for organization_id in (acme, globex):
            world.member(organization_id, user_id)
        await enforce(world)

        for target in ({}, {"org_slug": "acme"}):
            challenge = await ask(world, "ada@acme.example")
            assert_refused(await challenge.send(challenge.code, **target), 403, "SSO_REQUIRED")
        challenge = await ask(world, "ada@acme.example")
        assert (await challenge.send(challenge.code, org_slug="globex")).status == 200


class TestOneSecret:
    """Code and link of one mail are one secret."""

    async def test_the_first_of_code_and_link_uses_up_both(self, world: World) -> None:
        world.user()
        by_code, by_link = await ask(world), await ask(world)

        assert (await by_code.send(by_code.code)).status == 200
        assert_refused(await by_code.follow(), 401, "UNAUTHORIZED")
        assert_refused(await by_code.send(by_code.code), 401, "UNAUTHORIZED")
        # A person who waited may have requested several mails: one sign-in uses up all of them.
        assert_refused(await by_link.send(by_link.code), 401, "UNAUTHORIZED")

        by_link = await ask(world)
        assert (await by_link.follow()).status == 200
        used = await by_link.send(by_link.code)
        assert_refused(used, 401, "UNAUTHORIZED")
        assert "used already" in used.json["error"]

    async def test_of_a_code_and_its_link_used_at_once_one_wins(self, world: World) -> None:
        world.user()
        for _ in range(ROUNDS):
            challenge = await ask(world)

            answers = await at_once(lambda: challenge.send(challenge.code), challenge.follow)  # noqa: B023 - awaited here

            assert statuses_of(answers) == [200, 401]

    async def test_of_a_code_sent_twice_at_once_one_wins(self, world: World) -> None:
        world.user()
        for _ in range(ROUNDS):
            challenge = await ask(world)

            answers = await at_once(*[lambda: challenge.send(challenge.code)] * 2)  # noqa: B023 - awaited here

            assert statuses_of(answers) == [200, 401]

    async def test_a_scanner_that_opens_the_link_uses_up_neither(self, world: World) -> None:
        world.user()
        challenge = await ask(world)

        for headers in ({}, {"Accept": "*/*"}):
            assert (await world.client.get(f"/auth/magic-link?token={challenge.token}", headers=headers)).status == 200

        assert (await challenge.send(challenge.code)).status == 200

    async def test_a_link_that_was_exchanged_for_the_code_of_its_page_uses_up_the_code(self, world: World) -> None:
        world.user()
        challenge = await ask(world)

        browser = Visitor(world.client)
        await browser.submit(await browser.open(f"/auth/magic-link?token={challenge.token}"))

        assert_refused(await challenge.send(challenge.code), 401, "UNAUTHORIZED")

    async def test_what_ends_the_sign_ins_of_an_account_ends_the_code(
        self, world: World, connection: Connection
    ) -> None:
        for number, change in enumerate(("deactivated_at = created_at", "email = 'elsewhere@example.com'")):
            email = f"person{number}@example.com"
            world.user(email)
            challenge = await ask(world, email)
            connection.execute(f"UPDATE users SET {change} WHERE email = %s".encode(), (email,))

            refused = await challenge.send(challenge.code)

            assert_refused(refused, 401, "UNAUTHORIZED")
            assert "no longer needed" in refused.json["error"]

    async def test_a_code_of_a_concurrently_deactivated_user_is_refused(
        self, world: World, connection: Connection
    ) -> None:
        world.user()
        challenge = await ask(world)
        statuses: list[int] = []

        async def use() -> None:
            statuses.append((await challenge.send(challenge.code)).status)

        async with trio.open_nursery() as nursery:
            with connection.transaction():
                world.deactivate()
                nursery.start_soon(use)
                await waiting_for_a_lock(connection)

        assert statuses == [401]
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)


class TestRefusals:
    """What is no code of the challenge."""

    async def test_five_wrong_codes_end_a_challenge_and_leave_its_link(self, world: World) -> None:
        world.user()
        challenge, other = await ask(world), await ask(world)

        wrong = [await challenge.send(challenge.wrong_code) for _ in range(5)]
        right = await challenge.send(challenge.code)

        for answer in wrong:
            assert_refused(answer, 401, "UNAUTHORIZED")
            assert WRONG in answer.json["error"]
        assert_refused(right, 401, "UNAUTHORIZED")
        assert OVER in right.json["error"]
        assert (await other.send(other.wrong_code)).status == 401
        assert (await challenge.follow()).status == 200

    async def test_the_fifth_try_may_be_right(self, world: World) -> None:
        world.user()
        challenge = await ask(world)
        for _ in range(4):
            await challenge.send(challenge.wrong_code)

        assert (await challenge.send(challenge.code)).status == 200

    async def test_of_tries_at_once_no_more_than_five_are_compared(self, world: World) -> None:
        world.user()
        challenge = await ask(world)

        answers = await at_once(*[lambda: challenge.send(challenge.wrong_code)] * 12)

        assert sum(WRONG in answer.json["error"] for answer in answers) == 5
        assert sum(OVER in answer.json["error"] for answer in answers) == 7

    async def test_a_code_is_valid_for_ten_minutes_and_its_link_for_15(
        self, world: World, clock: SettableClock
    ) -> None:
        world.user()
        challenge = await ask(world)

        clock.advance(timedelta(minutes=10))
        late = await challenge.send(challenge.code)
        clock.advance(timedelta(seconds=-1))
        in_time = await challenge.send(challenge.code)

        assert_refused(late, 401, "UNAUTHORIZED")
        assert OVER in late.json["error"]
        assert in_time.status == 200
        challenge = await ask(world)
        clock.advance(timedelta(minutes=14))
        assert (await challenge.follow()).status == 200

    async def test_a_code_answers_no_other_challenge(self, world: World) -> None:
        world.user()
        world.user("other@example.com")
        mine, newer, others = await ask(world), await ask(world), await ask(world, "other@example.com")

        for challenge_id in (newer.id, others.id, str(uuid4())):
            if mine.code not in {newer.code, others.code}:
                assert_refused(await send_code(world, challenge_id, mine.code), 401, "UNAUTHORIZED")
        assert (await mine.send(mine.code)).status == 200

    async def test_a_malformed_body_is_400_and_counts_no_try(self, world: World, subtests: pytest.Subtests) -> None:
        world.user()
        challenge = await ask(world)
        for body, field in (
            ({}, "token"),
            ({"token": str(uuid4()), "challenge_id": challenge.id, "code": challenge.code}, "token"),
            ({"code": challenge.code}, "challenge_id"),
            ({"challenge_id": challenge.id}, "code"),
            *[({"challenge_id": challenge.id, "code": code}, "code") for code in ("", "12345", "1234567", "12345x", 7)],
            *[({"challenge_id": challenge.id, "code": code}, "code") for code in ("١٢٣٤٥٦", None)],
            ({"challenge_id": "x", "code": challenge.code}, "challenge_id"),
        ):
            with subtests.test(body=body):
                answer = await world.client.post(VERIFY, body=body)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.invalid_fields == [field]
        assert world.value("SELECT wrong_codes FROM one_time_tokens") == 0

    async def test_a_challenge_of_a_page_takes_no_code_from_a_program(self, world: World) -> None:
        world.user()
        visitor = Visitor(world.client)
        methods = await visitor.submit(await visitor.open("/app/sign-in"), "/app/sign-in", email=EMAIL)
        page = await visitor.submit(methods, "/app/sign-in/link")
        [form] = [form for form in forms_of(page) if form.action == "/app/sign-in/code"]
        code = (await world.mail()).values["code"]

        refused = await send_code(world, form.fields["challenge_id"], code)

        assert OVER in refused.json["error"]

    async def test_the_log_and_those_who_help_learn_why(self, world: World) -> None:
        user_id = world.user()
        challenge = await ask(world)
        await challenge.send(challenge.wrong_code)
        await challenge.follow()
        await challenge.send(challenge.code)

        events = world.rows("SELECT user_id, reason, mailed_proof FROM login_events ORDER BY id")
        assert events == [(user_id, "unknown_link", "code"), (user_id, None, "link"), (user_id, "used_link", "code")]


class TestEvenness:
    """No answer tells whether the address has an account, whether its mail was sent, or whether it was used."""

    async def test_every_address_gets_a_challenge_by_the_same_statements(self, world: World) -> None:
        world.user()
        world.user("gone@example.com", is_active=False)
        world.user("blocked@example.com")
        world.connection.execute("UPDATE users SET wrong_mailed_codes = 100 WHERE email = 'blocked@example.com'")
        seen: list[tuple[Any, ...]] = []
        for email in (EMAIL, UNKNOWN, "gone@example.com", "blocked@example.com", "no address at all"):
            with recorded_statements() as statements:
                answer = await world.client.post(REQUEST, body={"email": email})
            seen.append((answer.status, sorted(answer.json), answer.json["message"], _headers(answer), statements))

        assert all(one == seen[0] for one in seen)

    async def test_every_wrong_code_is_refused_alike(self, world: World, subtests: pytest.Subtests) -> None:
        world.user()
        for email in ("gone@example.com", "blocked@example.com", "used@example.com"):
            world.user(email)
        world.connection.execute("UPDATE users SET wrong_mailed_codes = 100 WHERE email = 'blocked@example.com'")
        challenges = {
            email: await ask(world, email)
            for email in (EMAIL, UNKNOWN, "gone@example.com", "blocked@example.com", "used@example.com")
        }
        await challenges["used@example.com"].follow()
        world.deactivate("gone@example.com")
        seen: dict[str, list[Any]] = {}
        for email, challenge in challenges.items():
            for _ in range(6):
                with recorded_statements() as statements:
                    answer = await challenge.send(challenge.wrong_code)
                shown = {key: value for key, value in answer.json.items() if key not in {"timestamp", "request_id"}}
                seen.setdefault(email, []).append((answer.status, shown, _headers(answer), alike(statements)))

        for email, answers in seen.items():
            with subtests.test(email=email):
                assert answers == seen[EMAIL]

    async def test_the_code_that_an_unknown_address_would_have_got_signs_nobody_in(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(SystemRandomness, "choice", lambda _self, _alphabet, length: "7" * length)
        challenge = await ask(world, UNKNOWN)

        answer = await challenge.send("777777")

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert WRONG in answer.json["error"]


class TestLimits:
    """Limits on guesses."""

    @pytest.fixture
    def limited(self, world: World) -> World:
        """The world with the limits that are counted in the database."""
        return replace(world, client=serving(with_mail_limits(world.installation)))

    async def test_thirty_wrong_codes_in_an_hour_stop_a_network_whatever_the_address(
        self, limited: World, clock: SettableClock
    ) -> None:
        world, network = limited, [f"198.51.100.{host}" for host in range(1, 40)]
        world.user()
        for number in range(10):
            challenge = await ask(world, f"stranger{number}@example.com", address="203.0.113.9")
            for _ in range(3):
                assert (await challenge.send(challenge.wrong_code, address=network.pop())).status == 401
        challenge = await ask(world)

        refused = await challenge.send(challenge.code, address=network.pop())
        elsewhere = await ask(world, "another@example.com")

        assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
        assert refused.headers["Retry-After"] == "3600"
        assert (await elsewhere.send("000000", address="192.0.2.1")).status == 401
        # Nothing was compared: the code is as good as before, elsewhere at once, and here an hour later.
        assert world.value("SELECT sum(wrong_codes) FROM one_time_tokens WHERE user_id IS NOT NULL") == 0
        assert (await challenge.send(challenge.code, address="192.0.2.1")).status == 200
        clock.advance(timedelta(hours=1))
        challenge = await ask(world)
        assert (await challenge.send(challenge.code, address="198.51.100.7")).status == 200

    async def test_right_codes_and_dead_challenges_count_for_no_network(self, limited: World) -> None:
        world = limited
        for number in range(40):
            email = f"person{number}@example.com"
            world.user(email)
            challenge = await ask(world, email)
            assert (await challenge.send(challenge.code)).status == 200
            assert_refused(await send_code(world, str(uuid4()), "000000"), 401, "UNAUTHORIZED")

    async def test_of_guesses_at_once_a_network_has_thirty(self, limited: World) -> None:
        world = limited
        challenges = [await ask(world, f"stranger{number}@example.com") for number in range(10)]

        answers = await at_once(*[partial(one.send, one.wrong_code) for one in challenges for _ in range(5)])

        assert statuses_of(answers) == [401] * 30 + [429] * 20

    async def test_after_100_wrong_codes_in_a_row_an_address_gets_links_alone_until_it_signs_in(
        self, world: World
    ) -> None:
        world.user()
        before = await ask(world)
        for _ in range(20):
            challenge = await ask(world)
            for _ in range(5):
                assert (await challenge.send(challenge.wrong_code)).status == 401
        blocked = await ask(world)

        # Not even the right one of an earlier mail: no guesser gets further than 100.
        refused = await before.send(before.code)

        assert WRONG in refused.json["error"]
        assert blocked.code == ""
        rendered = world.installation.mail_renderer.render(
            MailMessage(to=EMAIL, template=MailTemplate.MAGIC_LINK, values=_values(blocked.token))
        )
        assert "no code" in rendered.text
        assert "no code" in rendered.html
        assert (await blocked.follow()).status == 200
        again = await ask(world)
        assert (await again.send(again.code)).status == 200

    async def test_a_sign_in_by_any_way_begins_the_row_anew(self, world: World) -> None:
        world.user()
        world.connection.execute("UPDATE users SET wrong_mailed_codes = 99")
        await world.sign_in()

        assert world.value("SELECT wrong_mailed_codes FROM users") == 0

    async def test_wrong_codes_of_one_address_leave_others_their_codes(self, world: World) -> None:
        world.user()
        world.user("other@example.com")
        world.connection.execute("UPDATE users SET wrong_mailed_codes = 100 WHERE email = %s", (EMAIL,))

        challenge = await ask(world, "other@example.com")

        assert (await challenge.send(challenge.code)).status == 200

    async def test_a_mail_that_an_earlier_version_has_queued_is_sent_without_a_code(self, world: World) -> None:
        values = _values("token")
        del values["code"]

        rendered = world.installation.mail_renderer.render(
            MailMessage(to=EMAIL, template=MailTemplate.MAGIC_LINK, values=values)
        )

        assert "code is valid" not in rendered.text
        assert "no code" not in rendered.text

    @pytest.mark.hypothesis
    async def test_guesses_from_many_networks_at_many_addresses_find_no_way_past_the_limits(
        self, limited: World, clock: SettableClock
    ) -> None:
        world, draw = limited, random.Random()
        victims = [f"victim{number}@example.com" for number in range(3)]
        for email in victims:
            world.user(email)
        networks = [f"198.51.{number}.1" for number in range(6)]
        compared = Counter[tuple[str, str]]()
        in_hour = dict[str, list[datetime]]()
        challenges = list[Challenge]()
        for _ in range(300):
            if not challenges or draw.random() < 0.25:
                challenges.append(await ask(world, draw.choice([*victims, UNKNOWN]), address=draw.choice(networks)))
            if draw.random() < 0.03:
                clock.advance(timedelta(minutes=draw.choice([1, 9, 31])))
            challenge, network = draw.choice(challenges[-6:]), draw.choice(networks)
            answers = await at_once(
                *[partial(challenge.send, challenge.wrong_code, address=network)] * draw.choice([1, 1, 2, 7])
            )
            wrong = sum(answer.status == 401 and WRONG in answer.json["error"] for answer in answers)
            compared["challenge", challenge.id] += wrong
            in_hour.setdefault(network, []).extend([clock()] * wrong)

        assert max(compared.values()) == 5
        for times in in_hour.values():
            for index, moment in enumerate(times):
                assert sum(moment <= other < moment + timedelta(hours=1) for other in times[index:]) <= 30
        assert world.value("SELECT count(*) FROM sessions") == 0
        assert world.value("SELECT max(wrong_mailed_codes) FROM users") <= 100


def _headers(answer: Answer) -> dict[str, str]:
    """Return the headers of an answer but its own id."""
    return {name.lower(): value for name, value in answer.headers.items() if name.lower() != "x-request-id"}


def _values(token: str) -> dict[str, str]:
    """Return the values of a mail without a code."""
    return {"token": token, "place": "", "first_proof": "", "code": ""}
