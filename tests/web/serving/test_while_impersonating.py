"""What outlasts an impersonation is closed during it: every operation that writes declares what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from psycopg.types.json import Jsonb

from core.organizations.access import Operation, WhileImpersonating
from core.services.services import ServiceFields
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.application import Answer
from tests.http.services.test_security_profile import KEYS as JWKS
from tests.web.serving.test_authorization import ROUTES, call
from tests.web.serving.test_authorization_of_browsers import call_in_browser, code_of_page
from tests.world.builder import Service
from tests.world.callers import ACME, Caller, Callers, insert_callers
from tests.world.domains import insert_verified
from tests.world.world import World

WRITING: Final = [route for route in ROUTES if route.who.operation is not None and route.method != "GET"]
# They are sent by POST, and change nothing.
READING: Final = {
    "POST /api/organizations/:org_slug/services/:service_slug/claims/preview",
    "POST /app/organizations/:org_slug/branding/preview",
    "POST /app/organizations/:org_slug/people/personal-data/:user_id/download",
}
REDIRECT_URI: Final = "https://shop.example/callback"


def declared(route: Route) -> WhileImpersonating:
    """Return what the operation of a route is while impersonating."""
    assert route.who.operation is not None
    return route.who.operation.while_impersonating


@pytest.fixture
async def callers(world: World) -> Callers:
    """A platform owner impersonates the owner of acme, which has a service."""
    made = insert_callers(world)
    world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (made.people[Caller.OWNER],))
    world.connection.execute(
        "UPDATE memberships SET role = 'owner' WHERE user_id = %s", (made.people[Caller.IMPERSONATED],)
    )
    service = world.service(made.acme_id, "shop", redirect_uris=[REDIRECT_URI, "https://shop.example/other"])
    world.grant(made.acme_id, service.id, made.people[Caller.INTERN], "manager")
    world.custom_role(made.acme_id, "helpdesk", "end_users.view", "audit_logs.view")
    world.custom_role(made.acme_id, "unused", "end_users.view")
    insert_trade_of(made)
    for email, role in (("one@example.org", "member"), ("two@example.org", "admin")):
        invited = await world.client.post(
            f"/api/organizations/{ACME}/invitations",
            body={"email": email, "role": role},
            headers=made.credentials(Caller.ADMIN),
        )
        assert invited.status == 200, invited.text
    return made


def insert_trade_of(made: Callers) -> None:
    """Give acme customers of three services, one of them paused, and three products of the other organization."""
    world = made.world
    for slug, paused_by in (("cafe", []), ("blog", ["vendor"]), ("mill", [])):
        world.customer(world.service(made.acme_id, slug), made.globex_id, external_id="one", paused_by=paused_by)
    for slug in ("till", "desk", "mine"):
        ids = world.rows("SELECT id, client_id FROM services WHERE slug = %s", slug)
        service = Service(*ids[0]) if ids else world.service(made.globex_id, slug)
        world.serve_customers(service, "editor", "viewer")
        is_first = slug == "till"
        customer_id = world.customer(
            service,
            made.acme_id,
            access="assigned" if is_first else "members",
            hidden=True,
            paused_by=["customer"] if is_first else [],
            shares_directory=slug == "desk",
        )
        world.assign(customer_id, "role:owner", "editor")


def test_what_writes_is_not_declared_as_reading() -> None:
    assert {route.name for route in WRITING if declared(route) is WhileImpersonating.READS} == READING


def test_what_makes_a_credential_is_closed() -> None:
    open_to_impersonators = {one for one in Operation if one.makes_credential and not one.is_closed_while_impersonating}

    assert open_to_impersonators == set()


async def test_a_closed_operation_is_refused_whatever_the_role(callers: Callers, subtests: pytest.Subtests) -> None:
    before = callers.everything_of_acme()

    for route in ROUTES:
        if route.who.operation is not None and route.who.operation.is_closed_while_impersonating:
            with subtests.test(route=route.name):
                if route.who.kind is CredentialKind.BROWSER_SESSION:
                    answer = await call_in_browser(callers, route, Caller.IMPERSONATED, service_slug="shop")
                else:
                    answer = await call(callers, route, Caller.IMPERSONATED, service_slug="shop")

                assert answer.status == 403, answer.text
                assert callers.everything_of_acme() == before


class Judged:
    """A request to an operation of which a part is closed: its bodies, by the ids of what there is."""

    def __init__(
        self,
        path: Callable[[Callers], str],
        *,
        closed: list[Any] | None = None,
        opened: list[Any] | None = None,
        closed_path: Callable[[Callers], str] | None = None,
    ) -> None:
        self.path, self.closed_path = path, closed_path or path
        self.closed, self.opened = closed or [], opened or []


def person(caller: Caller) -> Callable[[Callers], str]:
    """Return the path of a member."""
    return lambda callers: f"/members/{callers.people[caller]}"


def grant_of(caller: Caller) -> Callable[[Callers], str]:
    """Return the path of a grant."""
    return lambda callers: f"/services/shop/grants/{callers.people[caller]}"


def invitation(role: str, action: str = "") -> Callable[[Callers], str]:
    """Return the path of the invitation to a role."""
    return lambda callers: (
        f"/invitations/{callers.world.value('SELECT id FROM invitations WHERE role = %s', role)}{action}"
    )


def at(path: str) -> Callable[[Callers], str]:
    """Return a path of the organization."""
    return lambda _: path


def customer_of(service: str) -> Callable[[Callers], str]:
    """Return the path of the customer of a service of acme."""
    customer = "SELECT c.id FROM service_customers c JOIN services s ON s.id = c.service_id WHERE s.slug = %s"
    return lambda callers: f"/services/{service}/customers/{callers.world.value(customer, service)}"


def product(service: str) -> Callable[[Callers], str]:
    """Return the path of a product of acme, by the slug of the service."""
    client = "SELECT client_id FROM services WHERE slug = %s"
    return lambda callers: f"/products/{callers.world.value(client, service)}"


# Each field of a service but its name and the scopes at other providers; a body of None is none.
CLOSED_FIELDS: Final[dict[str, Any]] = {
    "service_type": "mobile",
    "redirect_uris": [REDIRECT_URI, "https://evil.example/callback"],
    "post_logout_redirect_uris": ["https://evil.example/"],
    "backchannel_logout_uri": "https://evil.example/",
    "frontchannel_logout_uri": "https://evil.example/",
    "device_activation_uri": "https://evil.example/",
    "jwks_uri": "https://evil.example/jwks",
    "jwks": JWKS,
    # They take verified domains, and keys of the service's own: see below.
    "audiences": ["https://api.acme.example/"],
    "group_claims": ["all"],
    "groups_as": "ids",
    "token_signing": "ES256",
    "security_profile": "fapi2",
    "customers": "listed",
    # It takes customers: see below.
    "individuals": "none",
    # It takes a service that is closed: see below.
    "access": "everyone",
    "initiate_login_uri": "https://evil.example/login",
    "scopes": [{"name": "shop:write", "description": "Change the shop"}],
    "machine_scopes": ["shop:write"],
    "claims": [{"claim": "tier", "from": "organization.tier", "in_access_token": True}],
}
# Without more, they are invalid.
_WITH_MORE: Final = {"machine_scopes", "audiences", "security_profile", "individuals", "access"}
OPEN_FIELDS: Final[dict[str, Any]] = {
    "name": "Shop of Acme",
    "codehost_scopes": ["user:email"],
    "websuite_scopes": ["email"],
    "officesuite_scopes": ["email"],
    "roles": [{"name": "editor", "title": "Editor"}],
}
# By the routes of the operations of which a part is closed; one that is added is put here as well.
JUDGED: Final[dict[str, list[Judged]]] = {
    "PATCH /api/organizations/:slug": [
        Judged(
            at(""),
            closed=[{"metadata": {"tier": "gold"}}, {"name": "Acme", "metadata": {"tier": "gold"}}],
            opened=[{"name": "Acme Ltd"}, {"metadata": {"none": None}}],
        )
    ],
    "PATCH /api/organizations/:slug/members/:user_id": [
        Judged(person(Caller.MEMBER), closed=[{"role": "admin"}, {"role": "helpdesk"}]),
        Judged(person(Caller.INTERN), closed=[{"role": "admin"}], opened=[{"role": "member"}]),
        Judged(person(Caller.ADMIN), opened=[{"role": "helpdesk"}, {"role": "member"}]),
    ],
    "POST /api/organizations/:slug/roles": [
        Judged(at("/roles"), closed=[{"slug": "mine", "name": "Mine", "permissions": []}])
    ],
    "PATCH /api/organizations/:slug/roles/:role_slug": [
        Judged(
            at("/roles/helpdesk"),
            closed=[{"permissions": ["end_users.view", "audit_logs.view", "services.manage"]}],
            opened=[{"name": "Help"}, {"permissions": ["end_users.view"]}],
        )
    ],
    "DELETE /api/organizations/:slug/roles/:role_slug": [Judged(at("/roles/unused"), opened=[None])],
    "POST /api/organizations/:org_slug/invitations": [
        Judged(
            at("/invitations"),
            closed=[{"email": "new@example.org", "role": role} for role in ("admin", "helpdesk")],
            opened=[{"email": "new@example.org", "role": "member"}],
        )
    ],
    "POST /api/organizations/:org_slug/invitations/:invitation_id": [Judged(invitation("admin"), opened=[None])],
    "POST /api/organizations/:org_slug/invitations/:invitation_id/accept": [
        Judged(invitation("admin", "/accept"), closed=[None]),
        Judged(invitation("member", "/accept"), opened=[None]),
    ],
    "PATCH /api/organizations/:org_slug/services/:service_slug": [
        Judged(
            at("/services/shop"),
            closed=[{name: value} for name, value in CLOSED_FIELDS.items() if name not in _WITH_MORE]
            + [{"name": "Shop", "redirect_uris": ["https://evil.example/callback"]}],
            opened=[{name: value} for name, value in OPEN_FIELDS.items()]
            + [{"name": "Till", "redirect_uris": [REDIRECT_URI, "https://shop.example/other"]}]
            + [{"redirect_uris": [REDIRECT_URI]}, {"jwks": None, "post_logout_redirect_uris": []}],
        )
    ],
    "PUT /api/organizations/:org_slug/services/:service_slug/grants/:user_id": [
        Judged(grant_of(Caller.MEMBER), closed=[{"relation": "viewer"}, {"relation": "manager"}]),
        Judged(grant_of(Caller.INTERN), opened=[{"relation": "viewer"}]),
    ],
    "PATCH /api/organizations/:org_slug/services/:service_slug/customers/:customer_id": [
        Judged(
            customer_of("cafe"),
            closed=[{"external_id": "other"}, {"external_id": None}, {"metadata": {"tier": "gold"}}],
            opened=[{}, {"external_id": "one"}, {"paused": True}],
        ),
        Judged(customer_of("blog"), closed=[{"paused": False}], opened=[{"paused": True}]),
    ],
    "DELETE /api/organizations/:org_slug/services/:service_slug/customers/:customer_id": [
        Judged(customer_of("mill"), opened=[None])
    ],
    "PATCH /api/organizations/:slug/products/:client_id": [
        Judged(
            product("till"),
            closed=[
                {"access": "members"},
                {"assignments": [{"subject": "role:owner", "roles": ["editor"]}, {"subject": "everyone"}]},
                {"assignments": [{"subject": "role:owner", "roles": ["editor", "viewer"]}]},
                {"shares_directory": True},
                {"hidden": False},
                {"paused": False},
            ],
            opened=[
                {},
                {"assignments": [{"subject": "role:owner"}]},
                {"assignments": [], "access": "assigned", "groups": [], "hidden": True, "paused": True},
            ],
        ),
        Judged(
            product("desk"),
            closed=[{"access": "assigned", "hidden": False}],
            opened=[{"access": "assigned"}, {"shares_directory": False}],
        ),
    ],
    "DELETE /api/organizations/:org_slug/services/:service_slug/grants/:user_id": [
        Judged(grant_of(Caller.INTERN), opened=[None])
    ],
}


def test_every_route_of_an_operation_that_is_partly_closed_is_in_the_table() -> None:
    judged = {
        route.name
        for route in WRITING
        if declared(route) is WhileImpersonating.JUDGED and route.who.kind is not CredentialKind.BROWSER_SESSION
    }

    assert set(JUDGED) == judged


def test_every_field_of_a_service_is_open_or_closed() -> None:
    assert {*CLOSED_FIELDS, *OPEN_FIELDS} == {*ServiceFields.__annotations__} - {"slug"}


async def send(callers: Callers, method: str, path: str, body: Any) -> Answer:
    """Send a request to the organization while impersonating its owner."""
    return await callers.world.client.request(
        method, f"/api/organizations/{ACME}{path}", headers=callers.credentials(Caller.IMPERSONATED), body=body
    )


@pytest.mark.parametrize("name", sorted(JUDGED))
async def test_of_an_operation_that_is_partly_closed_only_what_outlasts_the_impersonation_is_refused(
    callers: Callers, name: str
) -> None:
    method = name.split(maxsplit=1)[0]
    before = callers.everything_of_acme()
    for judged in JUDGED[name]:
        for body in judged.closed:
            refused = await send(callers, method, judged.path(callers), body)
            assert refused.status == 403, (body, refused.text)
            assert "while impersonating" in refused.json["error"], body
            assert callers.everything_of_acme() == before, body

    for judged in JUDGED[name]:
        for body in judged.opened:
            done = await send(callers, method, judged.path(callers), body)
            assert done.status in {200, 204}, (body, done.text)


async def test_neither_audiences_nor_a_security_profile_are_set_and_no_profile_is_taken_off(callers: Callers) -> None:
    insert_verified(callers.world, callers.acme_id, "acme.example")
    callers.world.connection.execute("UPDATE services SET jwks = %s WHERE slug = 'shop'", (Jsonb(JWKS),))
    of_profile = "UPDATE services SET security_profile = %s WHERE slug = 'shop'"
    requests: list[tuple[str | None, dict[str, Any]]] = [
        (None, {"audiences": ["https://api.acme.example/"]}),
        (None, {"security_profile": "fapi2"}),
        ("fapi2", {"security_profile": None}),
    ]

    for present, body in requests:
        callers.world.connection.execute(of_profile, (present,))
        refused = await send(callers, "PATCH", "/services/shop", body)
        assert refused.status == 403, (body, refused.text)


async def test_who_comes_without_a_customer_is_not_changed(callers: Callers) -> None:
    for individuals in ("none", "all"):
        refused = await send(callers, "PATCH", "/services/cafe", {"individuals": individuals})
        assert refused.status == 403, refused.text


async def test_strangers_are_not_let_in_and_nobody_is_assigned(callers: Callers) -> None:
    callers.world.connection.execute(b"UPDATE services SET access = 'members' WHERE slug = 'shop'")
    assignments = [{"subject": "everyone", "roles": []}]
    for body in ({"access": "everyone"}, {"assignments": assignments}):
        refused = await send(callers, "PATCH", "/services/shop", body)
        assert refused.status == 403, (body, refused.text)

    for body in ({"access": "assigned"}, {"assignments": []}):
        narrowed = await send(callers, "PATCH", "/services/shop", body)
        assert narrowed.status == 200, (body, narrowed.text)


async def test_closed_operations_on_pages_answer_with_a_page_that_says_why(callers: Callers) -> None:
    [route] = [one for one in ROUTES if one.name == "POST /app/organizations/:org_slug/domain"]

    answer = await call_in_browser(callers, route, Caller.IMPERSONATED)

    assert code_of_page(answer) == "FORBIDDEN"
    assert "outlast the impersonation" in answer.json["error"]
