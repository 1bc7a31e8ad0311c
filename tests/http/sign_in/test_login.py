"""Signing in with an email address and a password (identity 4.1, decisions 3.3)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from datetime import timedelta
from ipaddress import ip_network
from typing import TYPE_CHECKING, Literal

import pytest
from werkzeug.http import parse_cookie

from core.errors import ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from entrypoints.settings import Settings
from tests.application import serving
from tests.world.builder import EMAIL, PASSWORD, hash_password
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from entrypoints.installation import Installation
    from ports.accounts.passwords import PasswordHasher, Verdict
    from tests.application import Client
    from tests.clock import SettableClock

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


class TestOrganization:
    """A sign-in may name an organization, whose member somebody has to be (decisions 3.3)."""

    async def test_a_member_signs_in_to_it(self, world: World) -> None:
        organization_id = world.organization()
        world.member(organization_id, world.user(), "admin")

        entered = await world.sign_in(org_slug="acme")

        assert (entered.claims["org"], entered.claims["role"]) == ("acme", "admin")
        assert world.value("SELECT organization_id FROM sessions") == organization_id
        assert [organization for organization, _, _ in world.events("user.login.success")] == [organization_id]
        assert world.value("SELECT organization_id FROM login_events") == organization_id

    async def test_an_unknown_one_is_not_found_whoever_asks(self, world: World) -> None:
        world.user()

        for email, password in ((EMAIL, PASSWORD), (EMAIL, "wrong"), ("nobody@example.com", "wrong")):
            assert_refused(await world.log_in(email, password, org_slug="nowhere"), 404, "NOT_FOUND")

    async def test_whoever_is_no_member_is_forbidden(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(org_slug="acme"), 403, "FORBIDDEN")

    async def test_whether_somebody_is_a_member_is_told_to_whoever_knows_the_password(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(password="wrong", org_slug="acme"), 401, "UNAUTHORIZED")

    @pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
    async def test_one_that_is_not_active_takes_nobody_in(self, world: World, status: str) -> None:
        world.member(world.organization(status=status), world.user())

        assert_refused(await world.log_in(org_slug="acme"), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_a_stranger_does_not_learn_that_it_is_suspended(self, world: World) -> None:
        world.user()
        world.organization(status="suspended")

        assert_refused(await world.log_in(org_slug="acme"), 403, "FORBIDDEN")

    async def test_whoever_is_refused_there_gets_no_session(self, world: World) -> None:
        world.user()
        world.organization()

        await world.log_in(org_slug="acme")

        assert world.value("SELECT count(*) FROM sessions") == 0
        assert world.value("SELECT count(*) FROM sign_in_failures") == 1

    async def test_one_that_asks_for_two_factors_refuses_one(self, world: World) -> None:
        world.member(world.organization(mfa_required=True), world.user())

        answer = await world.log_in(org_slug="acme")

        assert_refused(answer, 403, "FORBIDDEN")
        assert "multi-factor" in answer.json["error"]
        assert (await world.log_in()).status == 200

    async def test_one_that_asks_for_two_factors_asks_whoever_has_a_second(self, world: World) -> None:
        world.member(world.organization(mfa_required=True), world.user(has_mfa=True))

        answer = await world.log_in(org_slug="acme")

        assert (answer.status, answer.json["mfa_required"]) == (200, True)


class TestService:
    """A sign-in may name a service, whose end user everybody becomes (decisions 3.3)."""

    async def test_whoever_signs_in_becomes_an_end_user(self, world: World, clock: SettableClock) -> None:
        user_id, organization_id = world.user(), world.organization()
        world.service(organization_id)

        await world.sign_in(org_slug="acme", service_slug="shop")

        query = "SELECT user_id, organization_id, first_login_at, last_login_at FROM service_users"
        assert world.rows(query) == [(user_id, organization_id, clock.now, clock.now)]

    async def test_who_was_one_already_is_seen_again(self, world: World, clock: SettableClock) -> None:
        world.user()
        world.service(world.organization())
        await world.sign_in(org_slug="acme", service_slug="shop")
        first = clock.now
        clock.advance(timedelta(days=1))

        await world.sign_in(org_slug="acme", service_slug="shop")

        assert world.rows("SELECT first_login_at, last_login_at FROM service_users") == [(first, clock.now)]

    async def test_the_token_is_for_the_service(self, world: World) -> None:
        world.user()
        client_id = world.service(world.organization()).client_id

        entered = await world.sign_in(org_slug="acme", service_slug="shop")

        claims = entered.claims
        assert (claims["org"], claims["service"], claims["aud"]) == ("acme", "shop", str(client_id))
        assert "role" not in claims
        assert (await world.list_sessions(entered)).status == 200

    async def test_an_unknown_one_is_not_found(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(org_slug="acme", service_slug="shop"), 404, "NOT_FOUND")

    async def test_one_of_another_organization_is_not_found(self, world: World) -> None:
        world.user()
        world.organization()
        world.service(world.organization("bolt"))

        assert_refused(await world.log_in(org_slug="acme", service_slug="shop"), 404, "NOT_FOUND")

    async def test_one_of_a_suspended_organization_takes_nobody_in(self, world: World) -> None:
        world.user()
        world.service(world.organization(status="suspended"))

        answer = await world.log_in(org_slug="acme", service_slug="shop")

        assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_what_an_organization_asks_of_its_members_it_does_not_ask_of_end_users(self, world: World) -> None:
        world.user()
        world.service(world.organization(mfa_required=True))

        assert (await world.log_in(org_slug="acme", service_slug="shop")).status == 200


class TestDevice:
    """Whoever signs in gets a token of their device, by cookie and in the body (decisions 4.1)."""

    async def test_the_cookie_is_out_of_reach_for_scripts_and_foreign_pages(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        value, *attributes = answer.headers["Set-Cookie"].split("; ")
        assert value == f"gatehouse_device={answer.json['device_token']}"
        assert {"HttpOnly", "SameSite=Lax", "Path=/", f"Max-Age={90 * 24 * 3600}"} < set(attributes)
        assert not any(attribute.startswith("Domain") for attribute in attributes)

    async def test_on_https_it_is_secure(self, world: World, installation: Installation) -> None:
        world.user()
        client = serving(replace(installation, settings=Settings(base_url="https://id.example.com")))

        answer = await client.post("/api/auth/login", body={"email": EMAIL, "password": PASSWORD})

        assert "Secure" in answer.headers["Set-Cookie"].split("; ")

    async def test_behind_a_proxy_that_speaks_https_it_is_secure_too(
        self, world: World, installation: Installation
    ) -> None:
        world.user()
        client = serving(replace(installation, settings=Settings(trusted_proxies=(ip_network("192.0.2.0/24"),))))

        answer = await client.post(
            "/api/auth/login",
            body={"email": EMAIL, "password": PASSWORD},
            headers={"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.1"},
            address="192.0.2.1",
        )

        assert "Secure" in answer.headers["Set-Cookie"].split("; ")
        assert world.value("SELECT ip_address FROM sessions") == "198.51.100.1"

    @pytest.mark.parametrize("way", ["cookie", "header"])
    async def test_a_device_that_shows_its_token_is_the_same_one(self, world: World, way: str) -> None:
        world.user()
        token = (await world.sign_in()).device_token
        headers = {"Cookie": f"gatehouse_device={token}"} if way == "cookie" else {"X-Device-Token": token}

        again = await world.sign_in(headers=headers | {"User-Agent": "another browser"})

        assert again.device_token == token
        assert world.value("SELECT count(*) FROM devices") == 1
        assert world.value("SELECT risk_factors FROM login_events ORDER BY id DESC LIMIT 1") == []

    async def test_without_it_a_device_counts_as_new(self, world: World) -> None:
        world.user()
        token = (await world.sign_in()).device_token

        again = await world.sign_in()

        assert again.device_token != token
        assert world.value("SELECT risk_factors FROM login_events ORDER BY id DESC LIMIT 1") == ["new_device"]

    async def test_the_token_of_somebody_elses_device_is_none(self, world: World) -> None:
        world.user()
        world.user("eve@example.com")
        token = (await world.sign_in("eve@example.com")).device_token

        entered = await world.sign_in(headers={"X-Device-Token": token})

        assert entered.device_token != token

    async def test_only_its_hash_is_stored(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        cookie = parse_cookie(answer.headers["Set-Cookie"])["gatehouse_device"]
        assert world.value("SELECT token_hash = sha256(%s) FROM device_tokens", cookie.encode())


class TestSecondFactor:
    """With MFA on, the password gets as far as the code (identity 3)."""

    async def test_the_answer_has_the_documented_fields_and_the_token_twice(self, world: World) -> None:
        world.user(has_mfa=True)

        answer = await world.log_in()

        token = answer.json["preauth_token"]
        assert answer.json == {
            "access_token": token,
            "refresh_token": "",
            "expires_in": 600,
            "mfa_required": True,
            "preauth_token": token,
        }

    async def test_no_session_begins_and_no_device_is_known_by_it(self, world: World) -> None:
        world.user(has_mfa=True)

        answer = await world.log_in()

        assert world.value("SELECT count(*) FROM sessions") == 0
        assert "Set-Cookie" not in answer.headers

    async def test_the_token_opens_nothing_else(self, world: World) -> None:
        world.user(has_mfa=True)

        token = (await world.log_in()).json["access_token"]

        assert_refused(await world.client.get("/api/user/sessions", token=token), 401, "JWT_ERROR")


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
