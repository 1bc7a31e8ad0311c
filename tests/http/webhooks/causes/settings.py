"""What causes events about the settings of an organization and about what it connects with."""

from __future__ import annotations

from uuid import UUID

from core.organizations.settings import domain
from core.sessions.origins import BACKGROUND
from core.sign_in.upstream.connections import changes
from core.sign_in.upstream.domains import domain_routes
from tests.http.webhooks.causes.stage import Stage
from tests.world.inviter import GUEST
from tests.world.mail_servers import SERVER
from tests.world.visitor import Visitor


async def change_the_organization(stage: Stage) -> None:
    await stage.request("PATCH", "", {"name": "Acme & Sons"})


async def delete_the_organization_and_restore_it(stage: Stage) -> None:
    # Nothing is delivered before it is active again.
    await stage.request("DELETE", "")
    browser, page = Visitor(stage.world.client), f"/app/deleted-organizations/{stage.team.slug}"
    await browser.sign_in("owner@example.com")
    restored = await browser.submit(await browser.open(page), page)
    assert "The organization is restored." in restored.text


async def transfer_the_ownership(stage: Stage) -> None:
    await stage.request("POST", "/transfer-ownership", {"new_owner_user_id": str(stage.team.ids["admin"])})


async def set_a_mail_server(stage: Stage) -> None:
    await stage.request("PUT", "/smtp", SERVER)


async def remove_the_mail_server(stage: Stage) -> None:
    await set_a_mail_server(stage)
    await stage.request("DELETE", "/smtp")


async def change_the_branding(stage: Stage) -> None:
    await stage.request("PATCH", "/branding", {"primary_color": "#14544a"})


async def set_oauth_credentials(stage: Stage) -> None:
    body = {"client_id": "acme", "client_secret": "the-secret-of-acme"}
    await stage.request("PUT", "/oauth-credentials/codehost", body)


async def set_a_domain(stage: Stage) -> None:
    await stage.request("PUT", "/domain", {"domain": "id.acme.example"})


async def verify_a_domain(stage: Stage) -> None:
    await set_a_domain(stage)
    # What name servers answer is tested beside the domain.
    [row] = stage.world.rows("SELECT value FROM custom_domains")
    database = stage.world.installation.database
    claim = await database.read(lambda uow: uow.custom_domains.of(stage.team.organization_id))
    assert claim is not None
    session_id = stage.world.value("SELECT id FROM sessions WHERE user_id = %s", stage.team.ids["owner"])
    await database.on_behalf_of(BACKGROUND, session_id).transact(domain.verify, stage.team.slug, claim, row)


async def delete_the_domain(stage: Stage) -> None:
    await set_a_domain(stage)
    await stage.request("DELETE", "/domain")


async def request_a_test(stage: Stage) -> None:
    [webhook] = (await stage.request("GET", "/webhooks"))["webhooks"]
    await stage.request("POST", f"/webhooks/{webhook['id']}/test")


async def request_a_test_of_another(stage: Stage) -> None:
    body = {"name": "other", "url": "http://127.0.0.1:9/", "events": ["webhook.test"]}
    other = await stage.request("POST", "/webhooks", body)
    await stage.request("POST", f"/webhooks/{other['id']}/test")


async def redeliver_what_failed(stage: Stage) -> None:
    [webhook] = (await stage.request("GET", "/webhooks"))["webhooks"]
    since = stage.world.clock().isoformat()
    await stage.request("POST", f"/webhooks/{webhook['id']}/redeliver-failed", {"since": since})


async def try_the_mail_server(stage: Stage) -> None:
    await set_a_mail_server(stage)
    await stage.request("POST", "/smtp/test", {"to": GUEST})


async def connect_a_provider(stage: Stage) -> str:
    body = {
        "type": "oidc",
        "name": "Acme",
        "issuer": "https://idp.acme.example",
        "client_id": "gatehouse",
        "client_secret": "a-secret",
    }
    return (await stage.request("POST", "/upstream-providers", body))["id"]


async def change_a_connection(stage: Stage) -> None:
    await stage.request("PATCH", f"/upstream-providers/{await connect_a_provider(stage)}", {"name": "Other"})


async def delete_a_connection(stage: Stage) -> None:
    await stage.request("DELETE", f"/upstream-providers/{await connect_a_provider(stage)}")


async def replace_certificates(stage: Stage) -> None:
    connection_id = UUID(await connect_a_provider(stage))
    stage.world.connection.execute("UPDATE upstream_connections SET certificates = '{before}'")
    organization_id = stage.world.value("SELECT organization_id FROM upstream_connections")
    named = frozenset({"before", "after"})
    transact = stage.world.installation.database.transact
    assert await transact(changes.take_published, organization_id, connection_id, named)


async def route_a_domain(stage: Stage) -> str:
    body = {"domain": "acme.example", "provider_id": await connect_a_provider(stage)}
    return (await stage.request("POST", "/domain-routes", body))["id"]


async def enforce_a_route(stage: Stage) -> None:
    await stage.request("PATCH", f"/domain-routes/{await route_a_domain(stage)}", {"enforced": True})


async def delete_a_route(stage: Stage) -> None:
    await stage.request("DELETE", f"/domain-routes/{await route_a_domain(stage)}")


async def verify_a_route(stage: Stage) -> None:
    route_id = UUID(await route_a_domain(stage))
    [(value,)] = stage.world.rows("SELECT value FROM domain_routes")
    session_id = stage.world.value("SELECT id FROM sessions WHERE user_id = %s", stage.team.ids["owner"])
    database = stage.world.installation.database.on_behalf_of(BACKGROUND, session_id)
    await database.transact(domain_routes.verify, stage.team.slug, route_id, [value])


async def create_a_scim_token(stage: Stage) -> str:
    return (await stage.request("POST", "/scim-tokens", {"name": "Okta"}))["id"]


async def create_one_scim_token(stage: Stage) -> None:
    await create_a_scim_token(stage)


async def revoke_a_scim_token(stage: Stage) -> None:
    await stage.request("DELETE", f"/scim-tokens/{await create_a_scim_token(stage)}")


async def create_an_organization_key(stage: Stage) -> str:
    body = {"name": "Terraform", "permissions": ["services.view"]}
    return (await stage.request("POST", "/keys", body))["key"]["id"]


async def create_one_organization_key(stage: Stage) -> None:
    await create_an_organization_key(stage)


async def delete_an_organization_key(stage: Stage) -> None:
    await stage.request("DELETE", f"/keys/{await create_an_organization_key(stage)}")


async def set_a_siem(stage: Stage) -> None:
    await stage.request("POST", "/siem", {"provider": "http", "endpoint": "http://127.0.0.1:9/"})


async def remove_the_siem(stage: Stage) -> None:
    await set_a_siem(stage)
    await stage.request("DELETE", "/siem")


async def try_the_siem(stage: Stage) -> None:
    await set_a_siem(stage)
    await stage.request("POST", "/siem/test")


async def export_the_audit_log(stage: Stage) -> None:
    answer = await stage.send("GET", "/audit-log/export")
    assert answer.status == 200, answer.text
