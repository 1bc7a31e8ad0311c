"""Credentials of an organization: made in person only, and kept when their maker leaves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.made_things import MadeKind
from core.mail.limits import MailLimit
from core.mail.mail import BY_ORGANIZATION, MailTemplate
from core.organizations.departures import LISTED_MAX, SEPARATOR
from entrypoints import capabilities
from entrypoints.web.serving.admission.access_policies import CredentialKind
from tests.application import Answer
from tests.secret_watch import WATCH
from tests.world.backend import insert_key
from tests.world.builder import NO_ID
from tests.world.directory import TOKEN, Directory, insert_directory, insert_scim_token
from tests.world.mail_servers import SERVER
from tests.world.organization_keys import insert_organization_key
from tests.world.team import Team
from tests.world.workload_issuer import ask, running_issuer
from tests.world.world import World, assert_refused

ROUTES = capabilities.routes(is_development=True)
# Of the console, the authorization matrix opens every page as a platform owner who impersonates.
MAKING = {
    route.name
    for route in ROUTES
    if route.who.operation is not None
    and route.who.operation.makes_credential
    and route.who.kind is not CredentialKind.BROWSER_SESSION
}
HOOK = {"name": "hook", "url": "https://hooks.example.com/secret-path", "events": ["user.invited"]}
SIEM = {"provider": "http", "endpoint": "https://siem.example.com/ingest?key=hush", "token": "token-of-the-siem"}
CONNECTION = {
    "type": "oidc",
    "name": "Acme",
    "issuer": "https://idp.acme.example",
    "client_id": "gatehouse",
    "client_secret": "the-secret-of-acme",
}
KEY = {"name": "Backend", "permissions": ["read:users"]}
WORKLOAD = {"name": "Pipeline", "issuer": "https://issuer.example.com/tenant", "match": {"sub": "job"}}
SERVICE = {"slug": "till", "name": "Till", "service_type": "web", "redirect_uris": []}


async def make(team: Team, name: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Make a credential, and watch its secret."""
    answer = await team.request(name, "POST", path, body=body)
    assert answer.status in {200, 201}, answer.text
    for field in ("secret", "client_secret", "key", "token"):
        if isinstance(answer.json.get(field), str):
            WATCH.add(answer.json[field])
    return answer.json


async def make_one_of_each(team: Team, name: str) -> None:
    """Let a member make a credential of each kind."""
    await make(team, name, "/services", SERVICE)
    await make(team, name, "/services/till/api-keys", KEY)
    await make(team, name, "/services/till/workloads", WORKLOAD)
    await make(team, name, "/scim-tokens", {"name": "URGENT evil.example"})
    await make(team, name, "/siem", SIEM)
    await make(team, name, "/webhooks", HOOK)
    await make(team, name, "/upstream-providers", CONNECTION)


async def told(world: World) -> list[tuple[str, list[str]]]:
    """Return who got a mail about credentials, and which ones it names."""
    mails = [message for message in await world.mails() if message.template is MailTemplate.CREDENTIALS_LEFT]
    return [(message.to, message.values["credentials"].split(SEPARATOR)) for message in mails]


class TestImpersonation:
    """While a platform owner impersonates a member, no credential is made."""

    @pytest.fixture
    async def impersonated(self, team: Team) -> Team:
        """The team, whose admin is impersonated, with a service that signs in by SAML."""
        await make(team, "admin", "/services", SERVICE)
        team.world.user("root@example.com")
        team.world.impersonate_in_sessions("admin@example.com", owner="root@example.com")
        return team

    async def test_none_is_made_and_none_is_changed(self, impersonated: Team, subtests: pytest.Subtests) -> None:
        team = impersonated
        webhook = await make(team, "owner", "/webhooks", HOOK)
        connection = await make(team, "owner", "/upstream-providers", CONNECTION)
        service, hook, provider = "/services/:service_slug", "/webhooks/:webhook_id", "/upstream-providers/:provider_id"
        customer = f"{service}/customers/:customer_id"
        bodies: dict[str, Any] = {
            "POST /services": SERVICE | {"slug": "another"},
            f"POST {service}/secret/rotate": None,
            f"POST {service}/api-keys": KEY,
            f"POST {service}/workloads": WORKLOAD,
            f"POST {service}/saml/certificate": None,
            "POST /webhooks": HOOK | {"name": "another"},
            f"PATCH {hook}": {"url": "https://evil.example/"},
            f"POST {hook}/rotate-secret": None,
            "POST /siem": SIEM,
            "POST /siem/restart": {},
            "POST /upstream-providers": CONNECTION,
            f"PATCH {provider}": {"client_secret": "another-secret"},
            f"POST {provider}/rotate-key-pair": None,
            "PUT /oauth-credentials/:provider": {"client_id": "mine", "client_secret": "the-secret-of-mine"},
            "POST /scim-tokens": {"name": "Okta"},
            "POST /setup-links": {"parts": ["scim"]},
            "POST /keys": {"name": "Terraform", "permissions": ["services.view"]},
            "POST /keys/:key_id/workloads": WORKLOAD,
            "PUT /smtp": SERVER,
            "POST /made-for-us/:thing_id/adopt": {},
            f"POST {customer}/connections": CONNECTION,
            f"PATCH {customer}/connections/:provider_id": {"name": "Other"},
            f"DELETE {customer}/connections/:provider_id": None,
            f"POST {customer}/mail-domains": {"domain": "globex.example", "provider_id": connection["id"]},
            f"POST {customer}/mail-domains/:domain_id/verify": None,
            f"DELETE {customer}/mail-domains/:domain_id": None,
            f"POST {customer}/scim-tokens": {"name": "Okta"},
            f"DELETE {customer}/scim-tokens/:token_id": None,
            f"POST {customer}/group-rules": {"source": "scim", "group": str(NO_ID), "service_roles": ["editor"]},
            f"PATCH {customer}/group-rules/:rule_id": {"service_roles": ["editor"]},
            f"DELETE {customer}/group-rules/:rule_id": None,
            f"POST {customer}/setup-links": {"parts": ["scim"]},
            f"DELETE {customer}/setup-links/:link_id": None,
        }
        words = {
            ":service_slug": "till",
            ":webhook_id": webhook["id"],
            ":provider_id": connection["id"],
            ":provider": "codehost",
            **{
                word: str(NO_ID)
                for word in (":key_id", ":thing_id", ":customer_id", ":domain_id", ":token_id", ":rule_id", ":link_id")
            },
        }

        assert set(bodies) == {
            name.replace("/api/organizations/:org_slug", "").replace("/api/organizations/:slug", "") for name in MAKING
        }
        for name, body in bodies.items():
            with subtests.test(route=name):
                method, _, path = name.partition(" ")
                for word, meant in words.items():
                    path = path.replace(word, meant)
                refused = await team.request("admin", method, path, body=body)
                assert_refused(refused, 403, "FORBIDDEN")
                # The test impersonates an admin; adopting takes the owner.
                assert ("while impersonating" in refused.json["error"]) is not path.startswith("/made-for-us")

    async def test_a_service_gets_no_keys_to_prove_itself_with(self, impersonated: Team) -> None:
        keys = {"jwks_uri": "https://evil.example/keys"}

        refused = await impersonated.request("admin", "PATCH", "/services/till", body=keys)
        renamed = await impersonated.request("admin", "PATCH", "/services/till", body={"name": "Till of Acme"})

        assert_refused(refused, 403, "FORBIDDEN")
        assert renamed.status == 200

    async def test_what_was_made_can_be_revoked(self, impersonated: Team) -> None:
        token = await make(impersonated, "owner", "/scim-tokens", {"name": "Okta"})
        hook = await make(impersonated, "owner", "/webhooks", HOOK)
        await make(impersonated, "owner", "/siem", SIEM)

        revoked = [
            await impersonated.request("admin", "DELETE", path)
            for path in (f"/scim-tokens/{token['id']}", f"/webhooks/{hook['id']}", "/siem")
        ]

        assert [answer.status for answer in revoked] in ([204, 200, 200], [200, 200, 200])


async def test_what_a_workload_makes_counts_as_made_by_who_added_it(team: Team) -> None:
    world = team.world
    group_id = await insert_directory(team, groups="directory").create_group("Sales")
    key_id = insert_organization_key(world, team.organization_id, team.ids["owner"])
    with running_issuer() as issuer:
        workload = {"name": "Job", "issuer": issuer.url, "match": {"sub": "job-1"}}
        await make(team, "admin", f"/keys/{key_id}/workloads", workload)
        token = (await ask(world, f"key:{key_id}", issuer.token(world))).json["access_token"]
    WATCH.add(token)
    rule = {"source": "scim", "group": group_id, "role": "member"}
    for method, path, body in (
        ("POST", "/services", SERVICE),
        ("POST", "/services/till/workloads", WORKLOAD),
        ("PUT", f"/services/till/grants/{team.ids['member']}", {"relation": "viewer"}),
        ("POST", "/webhooks", HOOK),
        ("POST", "/siem", SIEM),
        ("POST", "/upstream-providers", CONNECTION),
        ("POST", "/invitations", {"email": "new@example.com", "role": "member"}),
        ("PUT", "/group-rules", {"rules": [rule]}),
    ):
        answer = await world.client.request(method, f"/api/organizations/acme{path}", token=token, body=body)
        assert answer.status in {200, 201}, answer.text

    makers = {
        (table, column): {maker for (maker,) in world.rows(f"SELECT {column} FROM {table}")}
        for kind in MadeKind
        for table, column in kind.makers.items()
    }
    # These keys cannot make; the directory's token existed before.
    others = {("organization_keys", "created_by"), ("scim_tokens", "created_by")}
    others |= {("api_keys", "created_by"), ("setup_links", "created_by")}
    # A list takes a session, and an earlier branding is not taken back.
    others |= {("bulk_jobs", "maker_id"), ("branding_versions", "made_by")}
    assert {name for name, ids in makers.items() if ids != {team.ids["admin"]}} == others


async def by_hand(team: Team, user_id: UUID) -> Answer:
    """Remove a member."""
    return await team.request("owner", "POST", f"/members/{user_id}")


async def by_leaving(team: Team, _user_id: UUID) -> Answer:
    """Let the admin leave."""
    return await team.request("admin", "POST", "/leave")


async def by_directory(team: Team, user_id: UUID) -> Answer:
    """Remove a user by SCIM."""
    return await Directory(team, TOKEN).request("DELETE", f"/Users/{user_id}")


async def by_group(team: Team, user_id: UUID) -> Answer:
    """Remove a member of the group by SCIM."""
    return await Directory(team, TOKEN).patch_group({"op": "remove", "path": f'members[value eq "{user_id}"]'})


class TestLeaving:
    """The owner gets a mail about the credentials that stay."""

    @pytest.mark.parametrize("way", [by_hand, by_leaving, by_directory, by_group])
    async def test_the_owner_gets_one_mail_that_lists_them_without_texts_of_their_maker(
        self, team: Team, way: Any
    ) -> None:
        await make_one_of_each(team, "admin")
        insert_scim_token(team.world, team.organization_id, TOKEN)
        team.add("second", "admin")
        [scim, key] = [
            team.world.value(f"SELECT prefix FROM {table} WHERE created_by IS NOT NULL")
            for table in ("scim_tokens", "api_keys")
        ]

        answer = await way(team, team.ids["admin"])

        assert answer.status in {200, 204}, answer.text
        by = "made by admin@example.com"
        assert await told(team.world) == [
            (
                "owner@example.com",
                [
                    f"API key {key} of the service till, {by}",
                    f"SCIM token {scim}, {by}",
                    f"SIEM stream to siem.example.com, {by}",
                    f"client secret of the service till, {by}",
                    f"connection to idp.acme.example, {by}",
                    f"webhook to hooks.example.com, {by}",
                    f"workload of the service till, at issuer.example.com, {by}",
                ],
            )
        ]
        # They stay.
        assert team.world.value("SELECT count(*) FROM scim_tokens") == 2
        assert team.world.value("SELECT count(*) FROM api_keys") == 1

    @pytest.mark.parametrize(("hooks", "last"), [(50, "webhook to hooks.example.com"), (51, "and 1 more")])
    async def test_a_mail_lists_fifty_and_the_number_of_the_others(self, team: Team, hooks: int, last: str) -> None:
        await make(team, "admin", "/webhooks", HOOK)
        team.world.connection.execute(
            """
            INSERT INTO webhooks (id, name, organization_id, url, events, secret_sealed, made_by,
                                  created_at, updated_at)
            SELECT gen_random_uuid(), n::text, organization_id, url, events, secret_sealed, made_by,
                   created_at, updated_at
            FROM   webhooks, generate_series(2, %s) AS n
            """,
            (hooks,),
        )

        await by_leaving(team, team.ids["admin"])

        [(_, listed)] = await told(team.world)
        assert len(listed) == min(hooks, 50) + (hooks > 50)
        assert listed[-1].startswith(last)

    async def test_a_mail_says_what_to_do(self, team: Team) -> None:
        await make(team, "admin", "/scim-tokens", {"name": "Okta"})
        await by_leaving(team, team.ids["admin"])

        [message] = [mail for mail in await team.world.mails() if mail.template is MailTemplate.CREDENTIALS_LEFT]
        rendered = team.world.installation.mail_renderer.render(message)

        assert rendered.subject == "Credentials of Acme stay after their maker has left"
        assert "    SCIM token scim_live_" in rendered.text
        assert "<li>SCIM token scim_live_" in rendered.html
        assert "revoke the rest" in rendered.text

    async def test_members_without_valid_credentials_leave_silently(self, team: Team) -> None:
        service = team.world.service(team.organization_id)
        past = team.world.clock()
        insert_key(team.world, team.organization_id, service.id, f"sk_000001_{'a' * 43}", expires_at=past)
        team.world.connection.execute("UPDATE api_keys SET created_by = %s", (team.ids["admin"],))

        await by_leaving(team, team.ids["admin"])

        assert await told(team.world) == []

    async def test_several_who_leave_at_once_are_one_mail(self, team: Team) -> None:
        insert_scim_token(team.world, team.organization_id, TOKEN)
        team.add("second", "admin")
        team.custom_role("connector", "integrations.manage", "org.members.manage")
        team.add("connector", "connector")
        for name in ("second", "connector"):
            await make(team, name, "/scim-tokens", {"name": "Okta"})

        await Directory(team, TOKEN).put_group(team.ids["owner"], team.ids["admin"])

        [(to, listed)] = await told(team.world)
        assert to == "owner@example.com"
        assert [line.rpartition(" ")[2] for line in listed] == ["connector@example.com", "second@example.com"]

    async def test_a_long_list_ends_with_their_number(self, team: Team) -> None:
        service = team.world.service(team.organization_id)
        for number in range(LISTED_MAX + 2):
            insert_key(team.world, team.organization_id, service.id, f"sk_{number:06}_{'a' * 43}")
        team.world.connection.execute("UPDATE api_keys SET created_by = %s", (team.ids["admin"],))

        await by_leaving(team, team.ids["admin"])

        [(_, listed)] = await told(team.world)
        assert (len(listed), listed[-1]) == (LISTED_MAX + 1, "and 2 more")

    async def test_who_rotates_a_secret_is_its_maker_from_then_on(self, team: Team) -> None:
        await make(team, "admin", "/services", SERVICE)
        hook = await make(team, "admin", "/webhooks", HOOK)
        moved = await make(team, "admin", "/webhooks", HOOK | {"name": "moved"})
        renamed = await make(team, "admin", "/webhooks", HOOK | {"name": "renamed"})
        await make(team, "owner", "/services/till/secret/rotate", {})
        await make(team, "owner", f"/webhooks/{hook['id']}/rotate-secret", {})
        for webhook, change in ((moved, {"url": "https://new.example.com/"}), (renamed, {"name": "new"})):
            answer = await team.request("owner", "PATCH", f"/webhooks/{webhook['id']}", body=change)
            assert answer.status == 200, answer.text

        await by_leaving(team, team.ids["admin"])

        assert [listed for _, listed in await told(team.world)] == [
            ["webhook to hooks.example.com, made by admin@example.com"]
        ]

    async def test_a_provider_without_an_address_is_named_so(self, team: Team) -> None:
        for name in ("empty", "urn", "broken"):
            await make(team, "admin", "/upstream-providers", {"type": "saml", "name": name})
        for name, issuer in (("urn", "urn:acme"), ("broken", "https://[acme")):
            team.world.connection.execute("UPDATE upstream_connections SET issuer = %s WHERE name = %s", (issuer, name))

        await by_leaving(team, team.ids["admin"])

        [(_, listed)] = await told(team.world)
        assert listed == ["connection to a provider without an address, made by admin@example.com"] * 3

    def test_an_organization_neither_holds_the_mail_back_nor_fills_a_mailbox_with_it(self) -> None:
        assert MailTemplate.CREDENTIALS_LEFT not in BY_ORGANIZATION
        assert MailLimit.LEAVERS_OF_ORGANIZATION.refusal is None
