"""Every event type arrives at a webhook, caused by what the documents name (operations 6.1 and 6.3, decisions 7.2).

A capability that publishes a type adds a line to `CAUSES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from core.events.events import EventType
from core.organizations.settings import domain
from core.services.api_keys import Permission
from core.sessions.callers import BACKGROUND
from core.sign_in.upstream import domain_routes
from tests.world.builder import PASSWORD
from tests.world.directory import insert_directory
from tests.world.inviter import GUEST, Invitation
from tests.world.mail_servers import SERVER
from tests.world.second_factors import Person

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.receiver import Receiver
    from tests.world.hooks import Hooks
    from tests.world.team import Team
    from tests.world.world import World

INVITATION_LIFETIME = timedelta(days=7)
SECOND = timedelta(seconds=1)


@dataclass
class Stage:
    """The team whose webhook subscribes; its member is the user of the events."""

    team: Team

    @property
    def world(self) -> World:
        """The world of the team."""
        return self.team.world

    @property
    def member(self) -> Person:
        """The member, with the second factor if there is one."""
        return Person(self.world, self.team.ids["member"], "member@example.com")

    async def request(self, method: str, path: str, body: Any = None, *, by: str = "owner") -> Any:
        """Send a request below the path of the organization; return the decoded answer."""
        answer = await self.team.request(by, method, path, body=body)
        assert answer.status in {200, 201, 204}, answer.text
        return answer.json if answer.content else None

    async def invite(self) -> Invitation:
        """Invite a guest."""
        answer = await self.request("POST", "/invitations", {"email": GUEST, "role": "member"})
        [message] = [one for one in await self.world.mails() if one.values.get("token") == answer["token"]]
        return Invitation(UUID(answer["invitation"]["id"]), answer["token"], message.values["proof"], answer)

    async def answer(self, verb: str) -> None:
        """Answer an invitation without signing in."""
        invitation = await self.invite()
        answer = await self.world.client.post(f"/api/invitations/{verb}", body={"token": invitation.token})
        assert answer.status == 200, answer.text

    async def create_service(self) -> None:
        """Create a service."""
        await self.request("POST", "/services", {"slug": "shop", "name": "Shop", "service_type": "web"})

    async def create_plan(self) -> str:
        """Create a service and a plan of it; return the id of the plan."""
        await self.create_service()
        return (await self.request("POST", "/services/shop/plans", {"name": "Pro", "price_cents": 990}))["id"]

    async def create_api_key(self) -> Any:
        """Create an API key of the service."""
        body = {"name": "Backend", "permissions": [str(permission) for permission in Permission]}
        return await self.request("POST", "/services/shop/api-keys", body)

    async def service_request(self, key: str, method: str, path: str, body: Any = None) -> Any:
        """Send a request of the service's backend with its API key."""
        answer = await self.world.client.request(method, f"/api/service{path}", headers={"X-Api-Key": key}, body=body)
        assert answer.status in {200, 204}, answer.text
        return answer.json if answer.content else None

    async def subscribe(self) -> tuple[str, str]:
        """Give a user of a new service a plan; return the key of its backend and the id of the user."""
        plan_id = await self.create_plan()
        key = (await self.create_api_key())["key"]
        user = await self.service_request(key, "POST", "/users", {"email": GUEST})
        await self.service_request(key, "POST", "/subscriptions", {"user_id": user["id"], "plan_id": plan_id})
        return key, user["id"]

    async def member_request(self, method: str, path: str, body: Any = None) -> None:
        """Send a request of the member about their own account."""
        token = await self.team.token("member")
        answer = await self.world.client.request(method, path, token=token, body=body)
        assert answer.status in {200, 204}, answer.text


async def sign_in(stage: Stage) -> None:
    await stage.world.sign_in("member@example.com")


async def sign_in_wrongly(stage: Stage) -> None:
    assert (await stage.world.log_in("member@example.com", "a wrong one")).status == 401


async def sign_out(stage: Stage) -> None:
    await stage.member_request("POST", "/api/auth/logout")


async def turn_mfa_on(stage: Stage) -> None:
    await stage.member.turn_mfa_on()


async def turn_mfa_off(stage: Stage) -> None:
    person = stage.member
    await person.turn_mfa_on()
    person.next_step()
    answer = await person.mfa("DELETE", "", {"password": PASSWORD, "code": person.code()})
    assert answer.status == 200, answer.text


async def give_a_second_factor(stage: Stage) -> None:
    person = stage.member
    await person.turn_mfa_on()
    person.next_step()
    await person.sign_in_with_second_factor()


async def give_a_wrong_second_factor(stage: Stage) -> None:
    person = stage.member
    await person.turn_mfa_on()
    assert (await person.verify(await person.preauth_token(), person.wrong_code())).status == 401


async def invite(stage: Stage) -> None:
    await stage.invite()


async def accept(stage: Stage) -> None:
    await stage.answer("accept")


async def decline(stage: Stage) -> None:
    await stage.answer("decline")


async def revoke(stage: Stage) -> None:
    await stage.request("POST", f"/invitations/{(await stage.invite()).id}")


async def let_an_invitation_expire(stage: Stage) -> None:
    await stage.invite()
    stage.world.clock.advance(INVITATION_LIFETIME + SECOND)
    stage.team.tokens.clear()
    await stage.invite()


async def remove_a_member(stage: Stage) -> None:
    await stage.request("POST", f"/members/{stage.team.ids['member']}")


async def change_a_role(stage: Stage) -> None:
    await stage.request("PATCH", f"/members/{stage.team.ids['member']}", {"role": "admin"})


async def anonymize(stage: Stage) -> None:
    answer = await stage.world.client.delete(
        f"/api/privacy/forget/{stage.team.ids['member']}", token=await stage.team.token("owner")
    )
    assert answer.status == 200, answer.text


async def end_other_sessions(stage: Stage) -> None:
    await stage.world.sign_in("member@example.com")
    await stage.member_request("DELETE", "/api/user/sessions")


async def change_the_organization(stage: Stage) -> None:
    await stage.request("PATCH", "", {"name": "Acme & Sons"})


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


async def grant_a_service(stage: Stage) -> None:
    stage.world.service(stage.team.organization_id)
    await stage.request("PUT", f"/services/shop/grants/{stage.team.ids['member']}", {"relation": "viewer"})


async def create_a_service(stage: Stage) -> None:
    await stage.create_service()


async def delete_a_service(stage: Stage) -> None:
    await stage.create_service()
    await stage.request("DELETE", "/services/shop")


async def create_a_plan(stage: Stage) -> None:
    await stage.create_plan()


async def change_a_plan(stage: Stage) -> None:
    await stage.request("PATCH", f"/services/shop/plans/{await stage.create_plan()}", {"price_cents": 1990})


async def delete_a_plan(stage: Stage) -> None:
    await stage.request("DELETE", f"/services/shop/plans/{await stage.create_plan()}")


async def subscribe(stage: Stage) -> None:
    await stage.subscribe()


async def change_a_subscription(stage: Stage) -> None:
    key, user_id = await stage.subscribe()
    await stage.service_request(key, "PATCH", f"/subscriptions/{user_id}", {"status": "past_due"})


async def cancel_a_subscription(stage: Stage) -> None:
    key, user_id = await stage.subscribe()
    await stage.service_request(key, "PATCH", f"/subscriptions/{user_id}", {"status": "cancelled"})


async def create_an_api_key(stage: Stage) -> None:
    await stage.create_service()
    await stage.create_api_key()


async def delete_an_api_key(stage: Stage) -> None:
    await stage.create_service()
    await stage.request("DELETE", f"/services/shop/api-keys/{(await stage.create_api_key())['id']}")


async def export_the_data(stage: Stage) -> None:
    await stage.member_request("GET", f"/api/privacy/export/{stage.team.ids['member']}")


async def change_the_password(stage: Stage) -> None:
    body = {"current_password": PASSWORD, "new_password": "quite another horse"}
    await stage.member_request("POST", "/api/user/change-password", body)


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


async def set_up_saml(stage: Stage) -> None:
    await stage.create_service()
    body = {"enabled": True, "entity_id": "https://sp.example", "acs_url": "https://sp.example/acs"}
    await stage.request("POST", "/services/shop/saml", body)


async def create_a_saml_certificate(stage: Stage) -> None:
    await set_up_saml(stage)
    await stage.request("POST", "/services/shop/saml/certificate")


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


async def set_a_siem(stage: Stage) -> None:
    await stage.request("POST", "/siem", {"provider": "http", "endpoint": "http://127.0.0.1:9/"})


async def remove_the_siem(stage: Stage) -> None:
    await set_a_siem(stage)
    await stage.request("DELETE", "/siem")


async def try_the_siem(stage: Stage) -> None:
    await set_a_siem(stage)
    await stage.request("POST", "/siem/test")


async def export_the_audit_log(stage: Stage) -> None:
    answer = await stage.team.request("owner", "GET", "/audit-log/export")
    assert answer.status == 200, answer.text


async def open_the_portal(stage: Stage) -> None:
    await stage.request("POST", "/billing/portal", {"return_url": "https://app.example.com/"})


async def patch_in_the_directory(stage: Stage, *operations: dict[str, Any]) -> None:
    directory = insert_directory(stage.team)
    answer = await directory.patch(str(stage.team.ids["member"]), *operations)
    assert answer.status == 200, answer.text


async def rename_in_the_directory(stage: Stage) -> None:
    await patch_in_the_directory(stage, {"op": "add", "path": "displayName", "value": "Member"})


async def deactivate_in_the_directory(stage: Stage) -> None:
    await patch_in_the_directory(stage, {"op": "replace", "path": "active", "value": False})


async def reactivate_in_the_directory(stage: Stage) -> None:
    stage.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE role = 'member'")
    await patch_in_the_directory(stage, {"op": "replace", "path": "active", "value": True})


CAUSES: dict[EventType, Callable[[Stage], Awaitable[object]]] = {
    EventType.USER_LOGIN_SUCCESS: sign_in,
    EventType.USER_LOGIN_FAILED: sign_in_wrongly,
    EventType.USER_LOGOUT: sign_out,
    EventType.USER_SIGNUP_SUCCESS: accept,
    EventType.USER_MFA_ENABLED: turn_mfa_on,
    EventType.USER_MFA_DISABLED: turn_mfa_off,
    EventType.USER_MFA_VERIFY_SUCCESS: give_a_second_factor,
    EventType.USER_MFA_VERIFY_FAILED: give_a_wrong_second_factor,
    EventType.USER_INVITED: invite,
    EventType.USER_JOINED: accept,
    EventType.USER_REMOVED: remove_a_member,
    EventType.USER_ROLE_UPDATED: change_a_role,
    EventType.USER_UPDATED: rename_in_the_directory,
    EventType.USER_DEACTIVATED: deactivate_in_the_directory,
    EventType.USER_REACTIVATED: reactivate_in_the_directory,
    EventType.USER_ANONYMIZED: anonymize,
    EventType.USER_EXPORTED: export_the_data,
    EventType.SESSION_REVOKED: end_other_sessions,
    EventType.INVITATION_ACCEPTED: accept,
    EventType.INVITATION_DECLINED: decline,
    EventType.INVITATION_EXPIRED: let_an_invitation_expire,
    EventType.INVITATION_REVOKED: revoke,
    EventType.SERVICE_OAUTH_CREDENTIALS_UPDATED: set_oauth_credentials,
    EventType.ORGANIZATION_UPDATED: change_the_organization,
    EventType.ORGANIZATION_OWNER_CHANGED: transfer_the_ownership,
    EventType.ORGANIZATION_SMTP_CONFIGURED: set_a_mail_server,
    EventType.ORGANIZATION_SMTP_REMOVED: remove_the_mail_server,
    EventType.BRANDING_UPDATED: change_the_branding,
    EventType.DOMAIN_SET: set_a_domain,
    EventType.DOMAIN_VERIFIED: verify_a_domain,
    EventType.DOMAIN_DELETED: delete_the_domain,
    EventType.SERVICE_CREATED: create_a_service,
    EventType.SERVICE_UPDATED: grant_a_service,
    EventType.SERVICE_DELETED: delete_a_service,
    EventType.PLAN_CREATED: create_a_plan,
    EventType.PLAN_UPDATED: change_a_plan,
    EventType.PLAN_DELETED: delete_a_plan,
    EventType.SUBSCRIPTION_CREATED: subscribe,
    EventType.SUBSCRIPTION_UPDATED: change_a_subscription,
    EventType.SUBSCRIPTION_CANCELED: cancel_a_subscription,
    EventType.API_KEY_CREATED: create_an_api_key,
    EventType.API_KEY_DELETED: delete_an_api_key,
    EventType.SECURITY_MFA_ENABLED: turn_mfa_on,
    EventType.SECURITY_MFA_DISABLED: turn_mfa_off,
    EventType.SECURITY_PASSWORD_CHANGED: change_the_password,
    EventType.ORGANIZATION_SMTP_TESTED: try_the_mail_server,
    EventType.UPSTREAM_CONNECTION_CREATED: connect_a_provider,
    EventType.UPSTREAM_CONNECTION_UPDATED: change_a_connection,
    EventType.UPSTREAM_CONNECTION_DELETED: delete_a_connection,
    EventType.DOMAIN_ROUTE_CREATED: route_a_domain,
    EventType.DOMAIN_ROUTE_UPDATED: enforce_a_route,
    EventType.DOMAIN_ROUTE_VERIFIED: verify_a_route,
    EventType.DOMAIN_ROUTE_DELETED: delete_a_route,
    EventType.SAML_CONFIGURATION_UPDATED: set_up_saml,
    EventType.SAML_CERTIFICATE_CREATED: create_a_saml_certificate,
    EventType.SCIM_TOKEN_CREATED: create_one_scim_token,
    EventType.SCIM_TOKEN_REVOKED: revoke_a_scim_token,
    EventType.SIEM_CONFIGURED: set_a_siem,
    EventType.SIEM_REMOVED: remove_the_siem,
    EventType.SIEM_TESTED: try_the_siem,
    EventType.AUDIT_LOG_EXPORTED: export_the_audit_log,
    EventType.BILLING_PORTAL_OPENED: open_the_portal,
    EventType.WEBHOOK_TEST: request_a_test,
    EventType.WEBHOOK_TESTED: request_a_test_of_another,
    EventType.WEBHOOK_REDELIVERED: redeliver_what_failed,
}


def test_every_event_type_has_a_cause() -> None:
    assert CAUSES.keys() == set(EventType)


@pytest.mark.parametrize("event", CAUSES, ids=lambda event: event.value)
async def test_its_cause_sends_the_event_to_the_webhook(hooks: Hooks, receiver: Receiver, event: EventType) -> None:
    await hooks.create(receiver.url, event.value)

    await CAUSES[event](Stage(hooks.team))
    await hooks.send()

    assert receiver.received
    for received in receiver.received:
        payload = received.payload
        assert payload["event"] == event.value
        assert payload["organization_id"] == str(hooks.team.organization_id)
        assert payload["id"] == received.headers["webhook-id"]


async def test_the_creation_of_a_user_with_an_api_key_is_a_sign_up(hooks: Hooks, receiver: Receiver) -> None:
    """Operations 6.1: `UserSignupSuccess` is published when the service interface creates a user."""
    await hooks.create(receiver.url, "user.signup.success")

    _, user_id = await Stage(hooks.team).subscribe()
    await hooks.send()

    [received] = receiver.received
    assert (received.payload["event"], received.payload["data"]["user_id"]) == ("user.signup.success", user_id)
