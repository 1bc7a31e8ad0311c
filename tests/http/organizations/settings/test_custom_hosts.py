"""What works under the custom domain of an organization, and what ends there."""

from __future__ import annotations

import html
import json
import re
from uuid import UUID

import pytest

from core.errors import Forbidden
from core.sign_in import child_sessions
from core.sign_in.proofs import Destination
from entrypoints import capabilities
from tests.authenticators import Authenticator, encoded
from tests.pictures import data_url, drawn_png
from tests.world.domains import DOMAIN, Domains
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person
from tests.world.visitor import Visitor
from tests.world.world import World

MEMBER = "member@example.com"
OWN_ONLY = (
    *("/docs", "/openapi.json", "/api/user", "/auth/magic-link?token=x", "/auth/verify-email?token=x"),
    *("/auth/reset-password?token=x", "/dev/mailbox", "/saml/globex/shop/metadata"),
)


# What the services of the organization use as clients of OpenID Connect.
OF_SERVICES = (
    *(
        "/auth/authorize",
        "/auth/authorize/continue",
        "/auth/authorize/resume",
        "/auth/authorize/allow",
        "/auth/authorize/deny",
        "/auth/authorize/cancel",
        "/auth/token",
    ),
    *("/auth/par", "/auth/userinfo", "/auth/introspect", "/auth/revoke", "/auth/logout", "/auth/logout/confirm"),
    *("/auth/device", "/auth/device/approve", "/auth/device/deny", "/auth/device/cancel", "/auth/device/code"),
    *("/auth/device/verify", "/auth/start/:client_id"),
    # The sign-in by a connection leaves the domain, and comes back to it.
    *("/auth/upstream", "/auth/upstream/return", "/auth/upstream/continue"),
)


class TestHosts:
    """Which host serves what."""

    async def test_an_unknown_host_gets_a_plain_404(self, domains: Domains, subtests: pytest.Subtests) -> None:
        await domains.verify()

        for path in ("/app/sign-in", "/nowhere", "/api/user", "/docs"):
            for host in ("evil.example", "id.globex.example", f"x.{DOMAIN}", "localhost.evil.example"):
                with subtests.test(host=host, path=path):
                    answer = await domains.team.world.client.get(path, headers={"Host": host})

                    assert answer.status == 404
                    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
                    assert answer.text == "Not found.\n"

    async def test_a_claim_that_is_not_verified_serves_nothing(self, domains: Domains) -> None:
        await domains.publish()

        assert (await domains.team.world.client.get("/app/sign-in", headers={"Host": DOMAIN})).status == 404

    async def test_names_that_are_none_of_the_internet_are_the_base_url_s(
        self, world: World, subtests: pytest.Subtests
    ) -> None:
        for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "gatehouse:8000", "localhost."):
            with subtests.test(host=host):
                assert (await world.client.get("/app/sign-in", headers={"Host": host})).status == 200

    async def test_probes_reach_a_process_under_any_name(self, world: World, subtests: pytest.Subtests) -> None:
        for path in ("/health", "/health/live", "/metrics"):
            with subtests.test(path=path):
                assert (await world.client.get(path, headers={"Host": "10-0-0-7.pods.example"})).status == 200

    async def test_account_pages_and_the_interface_are_not_there(
        self, domains: Domains, subtests: pytest.Subtests
    ) -> None:
        await domains.verify()

        for path in OWN_ONLY:
            with subtests.test(path=path):
                assert (await domains.team.world.client.get(path, headers={"Host": DOMAIN})).status == 404

    async def test_its_host_is_compared_without_case_port_and_final_dot(self, domains: Domains) -> None:
        await domains.verify()

        for host in (DOMAIN.upper(), f"{DOMAIN}:8000", f"{DOMAIN}."):
            assert (await domains.team.world.client.get("/app/sign-in", headers={"Host": host})).status == 200

    async def test_an_organization_that_is_not_active_serves_nothing(self, domains: Domains, world: World) -> None:
        await domains.verify()
        world.set_organization_status(domains.team.organization_id, "suspended")

        assert (await world.client.get("/app/sign-in", headers={"Host": DOMAIN})).status == 404

    def test_nothing_that_belongs_to_an_account_or_the_platform_works_there(self) -> None:
        served = {route.path for route in capabilities.routes(is_development=True) if route.on_custom_hosts}

        elsewhere = ("/api/", "/app/account", "/app/platform", "/app/register", "/auth/")
        # A passkey is asked for under the host to which it belongs, and a page takes it.
        others = {"/api/auth/passkeys/authenticate/start", *OF_SERVICES}
        assert {path for path in served if path.startswith(elsewhere)} == others

    async def test_pages_of_the_account_lead_to_the_base_url(self, domains: Domains) -> None:
        await domains.verify()

        for path in ("/app/register?return_to=/app", "/app/forgot-password"):
            answer = await domains.visitor().send("GET", path)
            assert (answer.status, answer.headers["Location"]) == (303, f"http://localhost:8000{path}")

    async def test_its_pages_have_its_branding(self, domains: Domains) -> None:
        await domains.verify()
        await domains.team.request("owner", "PATCH", "/branding", body={"logo": data_url(drawn_png(4, 3))})

        page = await domains.visitor().open("/app/sign-in")

        assert 'class="brand-logo"' in page.text
        assert 'class="brand-logo"' not in (await domains.visitor("localhost").open("/app/sign-in")).text


class TestSessions:
    """A session belongs to the host where it began."""

    async def test_a_session_works_on_the_host_where_it_began_only(self, domains: Domains) -> None:
        await domains.verify()
        there, here = domains.visitor(), domains.visitor("localhost")

        signed_in = await there.sign_in(MEMBER)
        here.cookies.update(there.cookies)
        moved = await here.send("GET", "/app")

        assert MEMBER in signed_in.text
        assert (moved.status, moved.headers["Location"].partition("?")[0]) == (303, "/app/sign-in")
        assert MEMBER in (await there.open("/app")).text

    async def test_a_session_of_the_base_url_does_not_work_there(self, domains: Domains) -> None:
        await domains.verify()
        there, here = domains.visitor(), domains.visitor("localhost")

        await here.sign_in(MEMBER)
        there.cookies.update(here.cookies)

        assert (await there.send("GET", "/app")).status == 303

    async def test_a_second_factor_is_asked_for_on_the_host_where_the_sign_in_began(
        self, domains: Domains, world: World
    ) -> None:
        await domains.verify()
        person = Person(world, domains.team.ids["member"], MEMBER)
        await person.turn_mfa_on()
        person.next_step()
        there, here = domains.visitor(), domains.visitor("localhost")
        asked = await there.sign_in(MEMBER)
        here.cookies.update(there.cookies)

        moved = await here.submit(await here.open("/app/second-factor"), "/app/second-factor", code=person.code())
        stayed = await there.submit(asked, "/app/second-factor", code=person.code())

        assert not here.has_session
        assert moved.status in {400, 401}
        assert there.has_session
        assert MEMBER in stayed.text

    async def test_it_signs_in_to_its_own_organization_only(self, domains: Domains, world: World) -> None:
        await domains.verify()
        globex = world.organization("globex")
        world.member(globex, domains.team.ids["member"], "member")
        await domains.visitor().sign_in(MEMBER)
        [session_id] = world.rows("SELECT session_id FROM browser_sessions WHERE domain_id IS NOT NULL")[0]

        async def begin(slug: str) -> UUID:
            completed = await world.installation.database.transact(
                child_sessions.begin,
                session_id,
                domains.team.ids["member"],
                Destination(organization_slug=slug),
            )
            return completed.session.id

        assert await begin("acme")
        with pytest.raises(Forbidden, match="another organization"):
            await begin("globex")

    async def test_forms_are_taken_from_its_own_pages_only(self, domains: Domains) -> None:
        await domains.verify()
        there = domains.visitor()
        page = await there.open("/app/sign-in")

        own = await there.submit(page, headers={"Origin": f"http://{DOMAIN}:8000"}, email=MEMBER)
        base = await there.submit(page, headers={"Origin": "http://localhost:8000"}, email=MEMBER)

        assert (own.status, base.status) == (200, 403)

    async def test_its_sessions_and_passkeys_end_with_the_domain(self, domains: Domains, world: World) -> None:
        await domains.verify()
        there = domains.visitor()
        await there.sign_in(MEMBER)
        [[session_id]] = world.rows("SELECT session_id FROM browser_sessions WHERE domain_id IS NOT NULL")

        await domains.request("DELETE")
        await domains.verify()

        assert (await there.send("GET", "/app")).status == 303
        assert world.value("SELECT revoked_at IS NOT NULL FROM sessions WHERE id = %s", session_id)


class TestPasskeys:
    """Passkeys that are made under a custom domain."""

    async def registered(self, domains: Domains) -> Authenticator:
        """Return an authenticator with a passkey of the member for the domain."""
        await domains.verify()
        there = domains.visitor()
        await there.sign_in(MEMBER)
        page = await there.open("/app/passkey")
        authenticator = Authenticator(rp_id=DOMAIN, origin=f"http://{DOMAIN}:8000")
        [options] = re.findall(r'data-options="([^"]*)"', page.text)
        credential = authenticator.create(json.loads(html.unescape(options)))
        done = await there.submit(page, "/app/passkey", credential=json.dumps(credential))
        assert "You are signed in" in done.text, done.text
        return authenticator

    async def sign_in(self, domains: Domains, authenticator: Authenticator, host: str) -> Visitor:
        """Try to sign in with a passkey under a host."""
        visitor = domains.visitor(host)
        started = await domains.team.world.client.post(
            "/api/auth/passkeys/authenticate/start", body={}, headers={"Host": host}
        )
        credential = authenticator.get(started.json["options"])
        page = await visitor.open("/app/sign-in")
        await visitor.submit(
            page,
            "/app/sign-in/passkey",
            challenge_id=started.json["challenge_id"],
            credential=json.dumps(credential),
        )
        return visitor

    async def test_a_passkey_signs_in_under_the_domain_that_it_was_made_for_only(self, domains: Domains) -> None:
        authenticator = await self.registered(domains)

        there = await self.sign_in(domains, authenticator, DOMAIN)
        here = await self.sign_in(domains, authenticator, "localhost")
        # A modified authenticator could sign for another host as well.
        authenticator.rp_id, authenticator.origin = "localhost", "http://localhost:8000"
        forged = await self.sign_in(domains, authenticator, "localhost")

        assert [there.has_session, here.has_session, forged.has_session] == [True, False, False]

    async def test_a_passkey_of_the_base_url_does_not_sign_in_there(self, domains: Domains, keyring: Keyring) -> None:
        await domains.verify()
        await keyring.sign_up()
        authenticator = await keyring.registered()
        authenticator.rp_id, authenticator.origin = DOMAIN, f"http://{DOMAIN}:8000"

        assert not (await self.sign_in(domains, authenticator, DOMAIN)).has_session

    async def test_the_options_of_a_host_name_its_own_passkeys_and_decoys(self, domains: Domains, world: World) -> None:
        authenticator = await self.registered(domains)

        async def allowed(host: str, email: str) -> list[str]:
            answer = await world.client.post(
                "/api/auth/passkeys/authenticate/start", body={"email": email}, headers={"Host": host}
            )
            assert answer.json["options"]["rpId"] == host
            return [one["id"] for one in answer.json["options"]["allowCredentials"]]

        own = encoded(authenticator.credential_id)
        assert await allowed(DOMAIN, MEMBER) == [own]
        assert own not in await allowed("localhost", MEMBER)
        unknown = [await allowed(host, "nobody@example.org") for host in (DOMAIN, "localhost", DOMAIN)]
        assert unknown[0] == unknown[2] != unknown[1]

    async def test_it_is_not_the_last_way_to_sign_in_and_ends_with_the_domain(
        self, domains: Domains, world: World
    ) -> None:
        await self.registered(domains)
        token = await domains.team.token("member")
        listed = (await world.client.get("/api/auth/passkeys", token=token)).json["total"]

        await domains.request("DELETE")

        assert (listed, (await world.client.get("/api/auth/passkeys", token=token)).json["total"]) == (1, 0)

    async def test_what_no_authenticator_has_made_is_refused(self, domains: Domains, subtests: pytest.Subtests) -> None:
        await domains.verify()
        there = domains.visitor()
        await there.sign_in(MEMBER)

        for credential in ("", "{}", "null", '{"id": "AA", "type": "public-key", "response": {}}'):
            with subtests.test(credential=credential):
                answer = await there.submit(await there.open("/app/passkey"), "/app/passkey", credential=credential)
                without_id = await there.submit(answer, "/app/passkey", credential=credential, challenge_id="x")

                assert (answer.status, without_id.status) == (400, 400)
                assert "could not be registered" in answer.text
