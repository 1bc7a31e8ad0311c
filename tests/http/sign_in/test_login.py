"""Signing in with an email address and a password (identity 4.1, decisions 3.3)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import pytest

from core.errors import ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from tests.application import serving
from tests.world.builder import EMAIL, PASSWORD, hash_password
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from entrypoints.installation import Installation
    from ports.accounts.passwords import PasswordHasher, Verdict
    from tests.application import Client


CHANGES_ALWAYS = {"timestamp", "request_id", "x-request-id"}
REFUSAL = "Email address or password is wrong."


class TestRightPassword:
    """Whoever knows the password of a verified account is let in."""

    async def test_it_answers_tokens_and_a_device_token(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        assert answer.status == 200
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type", "device_token"}
        assert (answer.json["expires_in"], answer.json["token_type"]) == (900, "Bearer")
        assert answer.headers["Cache-Control"] == "no-store"

    async def test_the_lifetime_that_it_names_is_the_one_of_the_token(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        claims = claims_of(answer.json["access_token"])
        assert answer.json["expires_in"] == claims["exp"] - claims["iat"]

    @pytest.mark.parametrize("written", ["ADA@Example.com", " ada@example.com\n"])
    async def test_the_address_may_be_written_in_other_ways(self, world: World, written: str) -> None:
        world.user()

        assert (await world.log_in(written)).status == 200

    @pytest.mark.parametrize("form", ["NFC", "NFD"])
    async def test_an_accent_may_be_written_in_both_ways(self, world: World, form: Literal["NFC", "NFD"]) -> None:
        world.user("zoë@example.com")

        assert (await world.log_in(unicodedata.normalize(form, "Zoë@example.com"))).status == 200

    @pytest.mark.parametrize("password", ["8 signs.", "x" * PASSWORD_CHARACTERS_MAX, "пароль 密码 🗝️ é"])
    async def test_passwords_of_any_writing_and_allowed_length_work(self, world: World, password: str) -> None:
        world.user(password_hash=hash_password(password))

        assert (await world.log_in(password=password)).status == 200

    async def test_it_is_a_login_event_with_its_device(self, world: World) -> None:
        user_id = world.user()

        await world.log_in(headers={"User-Agent": "curl/8.5.0"})

        [row] = world.rows("SELECT user_id, provider, success, user_agent, device_id IS NULL FROM login_events")
        assert row == (user_id, "password", True, "curl/8.5.0", False)

    async def test_every_organization_of_the_person_learns_of_a_sign_in_without_context(self, world: World) -> None:
        user_id = world.user()
        organizations = {world.organization("acme"), world.organization("bolt")}
        for organization_id in organizations:
            world.member(organization_id, user_id)
        world.organization("strangers")

        await world.log_in()

        events = world.events("user.login.success")
        assert {organization_id for organization_id, _, _ in events} == organizations
        assert {(email, data["provider"]) for _, email, data in events} == {(EMAIL, "password")}

    async def test_somebody_without_organizations_makes_an_event_that_belongs_to_none(self, world: World) -> None:
        world.user()

        await world.log_in()

        [(organization_id, email, _)] = world.events("user.login.success")
        assert (organization_id, email) == (None, EMAIL)

    async def test_a_refused_sign_in_before_counts_no_longer_against_it(self, world: World) -> None:
        world.user()

        await world.log_in()

        assert world.value("SELECT count(*) FROM sign_in_failures") == 0

    async def test_a_hash_of_an_older_kind_is_replaced(self, world: World) -> None:
        world.user(password_hash=hash_password(PASSWORD, memory_kib=16))

        await world.sign_in()

        assert ",t=1," in world.value("SELECT password_hash FROM users")
        assert "$m=8," in world.value("SELECT password_hash FROM users")
        assert (await world.log_in()).status == 200


@dataclass(frozen=True)
class Stranger:
    """A way to be refused that nobody must be able to tell from the others."""

    name: str
    email: str = EMAIL
    password: str = "not the password"

    def move_in(self, world: World) -> None:
        """Make the account that it takes."""
        match self.name:
            case "unknown account":
                pass
            case "no password":
                world.user(password_hash=None)
            case "deactivated" | "deactivated, right password":
                world.user(is_active=False)
            case "unverified":
                world.user(is_verified=False)
            case _:
                world.user()


STRANGERS = [
    Stranger("unknown account"),
    Stranger("wrong password"),
    Stranger("empty password", password=""),
    Stranger("too long password", password=PASSWORD + "x" * PASSWORD_CHARACTERS_MAX),
    Stranger("no password"),
    Stranger("deactivated"),
    Stranger("deactivated, right password", password=PASSWORD),
    Stranger("unverified"),
    Stranger("no address", email="nobody at all"),
]


ids = [stranger.name for stranger in STRANGERS]


def without_what_changes(fields: dict[str, str]) -> dict[str, str]:
    """Leave out what is another one with every answer."""
    return {name: value for name, value in fields.items() if name.lower() not in CHANGES_ALWAYS}


class TestWrongPassword:
    """Who is refused learns nothing about whether there is an account, and in which state (pitfall 14)."""

    @pytest.mark.parametrize("stranger", STRANGERS, ids=ids)
    async def test_every_refusal_looks_the_same(self, world: World, stranger: Stranger) -> None:
        stranger.move_in(world)

        answer = await world.log_in(stranger.email, stranger.password)

        nobody = await world.log_in("never@seen.example", "not the password")
        assert (answer.status, answer.json["error"], answer.json["error_code"]) == (401, REFUSAL, "UNAUTHORIZED")
        assert without_what_changes(answer.json) == without_what_changes(nobody.json)
        assert without_what_changes(dict(answer.headers)) == without_what_changes(dict(nobody.headers))

    @pytest.mark.parametrize("stranger", STRANGERS, ids=ids)
    async def test_the_metrics_which_anybody_reads_tell_them_apart_no_better(
        self, world: World, stranger: Stranger
    ) -> None:
        stranger.move_in(world)

        await world.log_in(stranger.email, stranger.password)

        metrics = (await world.client.get("/metrics")).text
        counted = [line for line in metrics.splitlines() if line.startswith("sso_login_failures_total{")]
        assert counted == ['sso_login_failures_total{reason="invalid_credentials"} 1.0']

    async def test_the_organizations_of_the_person_learn_of_it(self, world: World) -> None:
        user_id = world.user()
        organization_id = world.organization()
        world.member(organization_id, user_id)

        await world.log_in(password="not the password")

        assert world.events("user.login.failed") == [
            (organization_id, EMAIL, {"provider": "password", "reason": "wrong_password"})
        ]
        assert world.rows("SELECT user_id, success, risk_score FROM login_events") == [(user_id, False, 30)]

    async def test_a_guess_at_an_address_that_nobody_has_is_an_event_without_a_name(self, world: World) -> None:
        await world.log_in("a typed password@by mistake")

        assert world.events("user.login.failed") == [
            (None, None, {"provider": "password", "reason": "unknown_account"})
        ]
        assert world.value("SELECT count(*) FROM login_events") == 0

    async def test_the_reason_of_a_deactivated_account_is_told_to_its_organizations_alone(self, world: World) -> None:
        user_id = world.user(is_active=False)
        world.member(world.organization(), user_id)

        answer = await world.log_in()

        [(_, _, data)] = world.events("user.login.failed")
        assert (answer.json["error"], data["reason"]) == (REFUSAL, "deactivated")


class TestUnverified:
    """The documented refusal of an address that was not proved is for whoever knew the password."""

    async def test_the_right_password_of_an_unverified_account_is_refused_in_its_own_words(self, world: World) -> None:
        world.user(is_verified=False)

        answer = await world.log_in()

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert answer.json["error"].startswith("Verify your email address first")

    async def test_it_is_remembered_and_counted_as_what_it_is(self, world: World) -> None:
        world.user(is_verified=False)

        await world.log_in()

        [(_, _, data)] = world.events("user.login.failed")
        assert data["reason"] == "email_not_verified"
        assert 'sso_login_failures_total{reason="email_not_verified"} 1.0' in (await world.client.get("/metrics")).text


class TestBody:
    """What is sent is checked first."""

    @pytest.mark.parametrize(
        ("body", "named"),
        [
            ({"password": PASSWORD}, "email"),
            ({"email": EMAIL}, "password"),
            ({"email": EMAIL, "password": 8}, "password"),
            ({"email": EMAIL, "password": "nul\x00l"}, "password"),
            ({"email": EMAIL, "password": PASSWORD, "service_slug": "shop"}, "org_slug"),
        ],
    )
    async def test_a_wrong_field_is_named(self, client: Client, body: dict[str, object], named: str) -> None:
        answer = await client.post("/api/auth/login", body=body)

        assert_refused(answer, 400, "BAD_REQUEST")
        assert [detail["field"] for detail in answer.json["details"]] == [named]


@dataclass
class ManagedHasher:
    """The house's hasher, with what a test wants to happen at the moments that matter."""

    hasher: PasswordHasher
    connection: Connection
    changes_meanwhile: bool = False
    is_too_busy_to_compare: bool = False
    is_too_busy_to_hash: bool = False

    async def verify(self, password: str, encoded: str | None) -> Verdict:
        """Compare, and let somebody change the password while that goes on."""
        if self.is_too_busy_to_compare:
            raise ServiceUnavailable(retry_after_seconds=2)
        verdict = await self.hasher.verify(password, encoded)
        if self.changes_meanwhile:
            self.connection.execute("UPDATE users SET password_hash = %s", (hash_password("another"),))
        return verdict

    async def hash(self, password: str) -> str:
        """Hash."""
        if self.is_too_busy_to_hash:
            raise ServiceUnavailable(retry_after_seconds=2)
        return await self.hasher.hash(password)


class TestWhileComparing:
    """The comparison takes its time, and the world goes on."""

    @pytest.fixture
    def hasher(self, installation: Installation, connection: Connection) -> ManagedHasher:
        """A hasher that the test manages."""
        return ManagedHasher(installation.passwords, connection)

    @pytest.fixture
    def client(self, installation: Installation, hasher: ManagedHasher) -> Client:
        """A client of a house with that hasher."""
        return serving(replace(installation, passwords=hasher))

    async def test_a_password_that_is_changed_meanwhile_is_no_longer_right(
        self, world: World, hasher: ManagedHasher
    ) -> None:
        world.user()
        hasher.changes_meanwhile = True

        assert_refused(await world.log_in(), 401, "UNAUTHORIZED")

        [(_, _, data)] = world.events("user.login.failed")
        assert data["reason"] == "password_changed"
        assert world.value("SELECT count(*) FROM sessions") == 0

    async def test_who_finds_the_queue_full_is_told_when_to_come_back_and_has_not_tried(
        self, world: World, hasher: ManagedHasher
    ) -> None:
        world.user()
        hasher.is_too_busy_to_compare = True

        answer = await world.log_in()

        assert_refused(answer, 503, "SERVICE_UNAVAILABLE")
        assert answer.headers["Retry-After"] == "2"
        assert world.value("SELECT count(*) FROM sign_in_failures") == 0

    async def test_when_there_is_no_time_for_a_better_hash_the_old_one_will_do(
        self, world: World, hasher: ManagedHasher
    ) -> None:
        old = hash_password(PASSWORD, memory_kib=16)
        world.user(password_hash=old)
        hasher.is_too_busy_to_hash = True

        assert (await world.log_in()).status == 200

        assert world.value("SELECT password_hash FROM users") == old
