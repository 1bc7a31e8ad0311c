"""Signing in with an email address and a password."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from adapters.postgres.driver.connection import Connection
from core.errors import ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from entrypoints.installation import Installation
from ports.accounts.passwords import PasswordHasher, PasswordVerdict
from tests.application import Client, serving
from tests.world.builder import EMAIL, PASSWORD, hash_password
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

CHANGING_FIELDS = {"timestamp", "request_id", "x-request-id"}
REFUSAL = "Email address or password is wrong."


class TestRightPassword:
    """The right password of a verified account signs in."""

    async def test_a_login_returns_tokens_and_a_device_token(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        assert answer.status == 200
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type", "device_token"}
        assert (answer.json["expires_in"], answer.json["token_type"]) == (900, "Bearer")
        assert answer.headers["Cache-Control"] == "no-store"

    async def test_expires_in_is_the_lifetime_of_the_token(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        claims = claims_of(answer.json["access_token"])
        assert answer.json["expires_in"] == claims["exp"] - claims["iat"]

    @pytest.mark.parametrize("email", ["ADA@Example.com", " ada@example.com\n"])
    async def test_case_and_surrounding_space_of_the_address_are_ignored(self, world: World, email: str) -> None:
        world.user()

        assert (await world.log_in(email)).status == 200

    async def test_an_address_is_accepted_in_the_one_form_that_nothing_normalizes_to_another(
        self, world: World
    ) -> None:
        world.user("zo\u00eb@example.com")

        statuses = [(await world.log_in(email)).status for email in ("Zo\u00eb@example.com", "Zoe\u0308@example.com")]

        assert statuses == [200, 401]

    @pytest.mark.parametrize("password", ["8 signs.", "x" * PASSWORD_CHARACTERS_MAX, "пароль 密码 🗝️ é"])
    async def test_passwords_of_any_script_and_allowed_length_work(self, world: World, password: str) -> None:
        world.user(password_hash=hash_password(password))

        assert (await world.log_in(password=password)).status == 200

    async def test_a_login_is_recorded_as_a_login_event_with_its_device(self, world: World) -> None:
        user_id = world.user()

        await world.log_in(headers={"User-Agent": "curl/8.5.0"})

        [row] = world.rows("SELECT user_id, provider, success, user_agent, device_id IS NULL FROM login_events")
        assert row == (user_id, "password", True, "curl/8.5.0", False)

    async def test_all_organizations_of_the_user_receive_the_event_of_a_sign_in_without_context(
        self, world: World
    ) -> None:
        user_id = world.user()
        organizations = {world.organization("acme"), world.organization("bolt")}
        for organization_id in organizations:
            world.member(organization_id, user_id)
        world.organization("other")

        await world.log_in()

        events = world.events("user.login.success")
        assert {organization_id for organization_id, _, _ in events} == organizations
        assert {(email, data["provider"]) for _, email, data in events} == {(EMAIL, "password")}

    async def test_the_event_of_a_user_without_organizations_belongs_to_none(self, world: World) -> None:
        world.user()

        await world.log_in()

        [(organization_id, email, _)] = world.events("user.login.success")
        assert (organization_id, email) == (None, EMAIL)

    async def test_a_successful_login_leaves_no_sign_in_failure(self, world: World) -> None:
        world.user()

        await world.log_in()

        assert world.value("SELECT count(*) FROM sign_in_failures") == 0

    async def test_a_hash_with_outdated_parameters_is_replaced(self, world: World) -> None:
        world.user(password_hash=hash_password(PASSWORD, memory_kib=16))

        await world.sign_in()

        assert ",t=1," in world.value("SELECT password_hash FROM users")
        assert "$m=8," in world.value("SELECT password_hash FROM users")
        assert (await world.log_in()).status == 200


@dataclass(frozen=True)
class RefusedLogin:
    """A refused login, which must be indistinguishable from the others."""

    name: str
    email: str = EMAIL
    password: str = "not the password"

    def insert_account(self, world: World) -> None:
        """Insert the account that this refusal needs."""
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


REFUSED_LOGINS = [
    RefusedLogin("unknown account"),
    RefusedLogin("wrong password"),
    RefusedLogin("empty password", password=""),
    RefusedLogin("too long password", password=PASSWORD + "x" * PASSWORD_CHARACTERS_MAX),
    RefusedLogin("no password"),
    RefusedLogin("deactivated"),
    RefusedLogin("deactivated, right password", password=PASSWORD),
    RefusedLogin("unverified"),
    RefusedLogin("no address", email="not an address"),
]


ids = [login.name for login in REFUSED_LOGINS]


def without_changing_fields(fields: dict[str, str]) -> dict[str, str]:
    """Return the fields without those that differ in every answer."""
    return {name: value for name, value in fields.items() if name.lower() not in CHANGING_FIELDS}


class TestWrongPassword:
    """A refusal does not reveal whether there is an account, or in which state it is."""

    @pytest.mark.parametrize("login", REFUSED_LOGINS, ids=ids)
    async def test_every_refusal_looks_the_same(self, world: World, login: RefusedLogin) -> None:
        login.insert_account(world)

        answer = await world.log_in(login.email, login.password)

        unknown = await world.log_in("never@seen.example", "not the password")
        assert (answer.status, answer.json["error"], answer.json["error_code"]) == (401, REFUSAL, "UNAUTHORIZED")
        assert without_changing_fields(answer.json) == without_changing_fields(unknown.json)
        assert without_changing_fields(dict(answer.headers)) == without_changing_fields(dict(unknown.headers))

    @pytest.mark.parametrize("login", REFUSED_LOGINS, ids=ids)
    async def test_every_refusal_has_the_same_reason_in_the_public_metrics(
        self, world: World, login: RefusedLogin
    ) -> None:
        login.insert_account(world)

        await world.log_in(login.email, login.password)

        metrics = (await world.client.get("/metrics")).text
        counted = [
            line
            for line in metrics.splitlines()
            if line.startswith("sso_login_failures_total{") and not line.endswith(" 0.0")
        ]
        assert counted == ['sso_login_failures_total{reason="invalid_credentials"} 1.0']

    async def test_the_organizations_of_the_user_receive_the_failure(self, world: World) -> None:
        user_id = world.user()
        organization_id = world.organization()
        world.member(organization_id, user_id)

        await world.log_in(password="not the password")

        assert world.events("user.login.failed") == [
            (organization_id, EMAIL, {"provider": "password", "reason": "wrong_password"})
        ]
        assert world.rows("SELECT user_id, success, risk_score FROM login_events") == [(user_id, False, 30)]

    async def test_the_event_for_an_unknown_account_does_not_contain_the_typed_address(self, world: World) -> None:
        await world.log_in("a typed password@by mistake")

        assert world.events("user.login.failed") == [
            (None, None, {"provider": "password", "reason": "unknown_account"})
        ]
        assert world.value("SELECT count(*) FROM login_events") == 0

    async def test_only_the_organizations_receive_the_reason_of_a_deactivated_account(self, world: World) -> None:
        user_id = world.user(is_active=False)
        world.member(world.organization(), user_id)

        answer = await world.log_in()

        [(_, _, data)] = world.events("user.login.failed")
        assert (answer.json["error"], data["reason"]) == (REFUSAL, "deactivated")


class TestUnverified:
    """Only the right password gets the documented refusal of an unverified address."""

    async def test_the_right_password_of_an_unverified_account_gets_its_own_refusal(self, world: World) -> None:
        world.user(is_verified=False)

        answer = await world.log_in()

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert answer.json["error"].startswith("Verify your email address first")

    async def test_an_unverified_login_is_recorded_and_counted_with_its_reason(self, world: World) -> None:
        world.user(is_verified=False)

        await world.log_in()

        [(_, _, data)] = world.events("user.login.failed")
        assert data["reason"] == "email_not_verified"
        assert 'sso_login_failures_total{reason="email_not_verified"} 1.0' in (await world.client.get("/metrics")).text


class TestBody:
    """The body is validated first."""

    async def test_an_invalid_field_is_named(self, client: Client, subtests: pytest.Subtests) -> None:
        for body, field in (
            ({"password": PASSWORD}, "email"),
            ({"email": EMAIL}, "password"),
            ({"email": EMAIL, "password": 8}, "password"),
            ({"email": EMAIL, "password": "nul\x00l"}, "password"),
            ({"email": EMAIL, "password": PASSWORD, "service_slug": "shop"}, "org_slug"),
        ):
            with subtests.test(body=body, field=field):
                answer = await client.post("/api/auth/login", body=body)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert [detail["field"] for detail in answer.json["details"]] == [field]


@dataclass
class ScriptedHasher:
    """The installation's hasher, with an overload or a changed password on request."""

    hasher: PasswordHasher
    connection: Connection
    changes_meanwhile: bool = False
    is_too_busy_to_compare: bool = False
    is_too_busy_to_hash: bool = False

    async def verify(self, password: str, encoded: str | None, decoys: Sequence[str] = ()) -> PasswordVerdict:
        """Compare, and change the password during the comparison if requested."""
        if self.is_too_busy_to_compare:
            raise ServiceUnavailable(retry_after_seconds=2)
        verdict = await self.hasher.verify(password, encoded, decoys)
        if self.changes_meanwhile:
            self.connection.execute("UPDATE users SET password_hash = %s", (hash_password("another"),))
        return verdict

    async def hash(self, password: str, *, salt: bytes | None = None) -> str:
        """Hash."""
        if self.is_too_busy_to_hash:
            raise ServiceUnavailable(retry_after_seconds=2)
        return await self.hasher.hash(password, salt=salt)


class TestDuringComparison:
    """Changes and overload during the slow comparison of the password."""

    @pytest.fixture
    def hasher(self, installation: Installation, connection: Connection) -> ScriptedHasher:
        """A hasher that the test controls."""
        return ScriptedHasher(installation.passwords, connection)

    @pytest.fixture
    def client(self, installation: Installation, hasher: ScriptedHasher) -> Client:
        """A client of an installation with that hasher."""
        return serving(replace(installation, passwords=hasher))

    async def test_a_password_changed_during_the_comparison_is_refused(
        self, world: World, hasher: ScriptedHasher
    ) -> None:
        world.user()
        hasher.changes_meanwhile = True

        assert_refused(await world.log_in(), 401, "UNAUTHORIZED")

        [(_, _, data)] = world.events("user.login.failed")
        assert data["reason"] == "password_changed"
        assert world.value("SELECT count(*) FROM sessions") == 0

    async def test_an_overloaded_hasher_answers_503_with_retry_after_and_counts_no_failure(
        self, world: World, hasher: ScriptedHasher
    ) -> None:
        world.user()
        hasher.is_too_busy_to_compare = True

        answer = await world.log_in()

        assert_refused(answer, 503, "SERVICE_UNAVAILABLE")
        assert answer.headers["Retry-After"] == "2"
        assert world.value("SELECT count(*) FROM sign_in_failures") == 0

    async def test_an_outdated_hash_is_kept_while_the_hasher_is_overloaded(
        self, world: World, hasher: ScriptedHasher
    ) -> None:
        old = hash_password(PASSWORD, memory_kib=16)
        world.user(password_hash=old)
        hasher.is_too_busy_to_hash = True

        assert (await world.log_in()).status == 200

        assert world.value("SELECT password_hash FROM users") == old
