"""A PATCH changes the fields that it names, and no other one: every route, every field alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import msgspec
import pytest

from entrypoints import capabilities
from tests.application import Answer
from tests.identity_provider import IdentityProvider
from tests.world.backend import KEY, insert_backend, insert_key
from tests.world.customer_setups import CONNECTION, CustomerSetup, make_customer_setup
from tests.world.directory import PATCH, insert_directory
from tests.world.openid_connection import connected_organization
from tests.world.passkeys import Keyring
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.team import Team
from tests.world.trade import insert_trade
from tests.world.world import World

PATCHES: Final = {route.path: route for route in capabilities.routes(is_development=True) if route.method == "PATCH"}
# SCIM names fields in `Operations`, and `/Me` answers programs that it is for people.
WITHOUT_FIELDS: Final = {"/scim/v2/Me", "/scim/v2/Users/:user_id", "/scim/v2/Groups/:group_id"}
# Their own tests send them, to an address that has metadata.
ELSEWHERE: Final = {
    "/api/organizations/:slug/upstream-providers/:provider_id": {"metadata_url"},
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/connections/:provider_id": {
        "metadata_url"
    },
    "/api/service/customers/:customer_id/connections/:provider_id": {"metadata_url"},
    # They are rows of their own, and a key of the service changes neither.
    "/api/organizations/:org_slug/services/:service_slug": {"assignments"},
    "/api/service/info": {"access", "assignments"},
}
# They say when something changed.
TIMES: Final = {"updated_at", "meta"}
PIXEL: Final = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

Read = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[Answer]]


@dataclass
class Resource:
    """What is changed: how it is read, how it is sent a change, and a value for each field that it takes.

    `names` says what a field changes that the record has by other names, and `first` what has to be changed before it.
    """

    read: Read
    send: Send
    values: Mapping[str, Any]
    names: Mapping[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    first: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])


async def team_of(world: World) -> Team:
    team = world.team()
    team.add("owner", "owner")
    team.add("member", "member")
    return team


def at(team: Team, path: str, values: Mapping[str, Any], /, pick: str = "", **others: Any) -> Resource:
    """Return a resource of an organization."""

    async def read() -> Mapping[str, Any]:
        answer = await team.request("owner", "GET", path)
        assert answer.status == 200, answer.text
        return answer.json[pick] if pick else answer.json

    async def send(body: Mapping[str, Any]) -> Answer:
        return await team.request("owner", "PATCH", path, body=body)

    return Resource(read, send, values, **others)


async def made(team: Team, path: str, body: Mapping[str, Any]) -> str:
    """Let the owner make something, and return its id."""
    answer = await team.request("owner", "POST", path, body=body)
    assert answer.status == 200, answer.text
    return answer.json.get("id") or answer.json["webhook"]["id"]


def row(world: World, table: str, where: str, *parameters: Any) -> Read:
    """Return how a row is read, with the columns that no record shows."""

    async def read() -> Mapping[str, Any]:
        [(found,)] = world.rows(f"SELECT to_jsonb(t) FROM {table} t WHERE {where}", *parameters)
        return found

    return read


OF_CONNECTION: Final[dict[str, Any]] = {
    "name": "Other",
    "client_id": "other",
    "client_secret": "another",
    "scopes": ["openid", "email"],
    "attribute_mapping": {"email": "mail"},
    "joins_as": "member",
    "trust_mfa": True,
    "signs_out_at_provider": True,
    "enabled": True,
    "issuer": "https://other.example",
}
BY_CONNECTION: Final = {
    "client_secret": {"client_secret_sealed"},
    # With it the client secret is sent.
    "issuer": {"client_secret_sealed", "is_vouched_for"},
    "enabled": {"was_on"},
}
BY_SAML: Final = {
    # What the metadata say.
    "metadata_xml": {"issuer", "certificates", "is_vouched_for", "metadata_valid_until", "signs_requests"},
    "enabled": {"was_on"},
}
SERVICE: Final[dict[str, Any]] = {
    "name": "Other",
    "service_type": "mobile",
    "codehost_scopes": ["repo"],
    "websuite_scopes": ["drive"],
    "officesuite_scopes": ["Mail.Read"],
    "redirect_uris": ["https://shop.acme.example/other"],
    "device_activation_uri": "https://shop.acme.example/device",
    "post_logout_redirect_uris": ["https://shop.acme.example/out"],
    "backchannel_logout_uri": "https://shop.acme.example/backchannel",
    "frontchannel_logout_uri": "https://shop.acme.example/frontchannel",
    "jwks_uri": "https://shop.acme.example/jwks",
    "jwks": {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]},
    "audiences": [],
    "group_claims": [],
    "groups_as": "ids",
    "token_signing": "ES256",
    "security_profile": None,
    "customers": "listed",
    "individuals": "none",
    "roles": [{"name": "editor", "title": "Editor"}],
    "initiate_login_uri": "https://shop.acme.example/login",
    "scopes": [{"name": "shop:read", "description": "Read the shop"}],
    "machine_scopes": ["shop:read"],
    "claims": [{"claim": "tier", "from": "organization.tier", "in_access_token": True}],
}
# Only members may give these; a key may say what there is.
OF_MEMBERS: Final[dict[str, Any]] = {"scopes": [], "machine_scopes": [], "claims": []}
METADATA: Final = {"region": "north"}
SERVICE_OTHERS: Final[dict[str, Any]] = {
    # A service has one of the two; whether individuals may come follows from having customers.
    "names": {"jwks": {"jwks_uri"}, "customers": {"individuals"}, "roles": {"role_ids"}},
    "first": {"jwks": {"jwks_uri": None}},
}


async def service(world: World) -> Resource:
    team = await team_of(world)
    shop = world.service(team.organization_id, "shop")
    found = at(team, "/services/shop", SERVICE | {"access": "members"}, **SERVICE_OTHERS)
    found.read = row(world, "services", "id = %s", shop.id)
    return found


async def service_by_key(world: World) -> Resource:
    backend = insert_backend(world)

    async def send(body: Mapping[str, Any]) -> Answer:
        return await backend.request("PATCH", "/info", body=body)

    values = SERVICE | OF_MEMBERS
    return Resource(row(world, "services", "id = %s", backend.service_id), send, values, **SERVICE_OTHERS)


async def plan(world: World) -> Resource:
    team = await team_of(world)
    shop = world.service(team.organization_id, "shop")
    plan_id = world.plan(team.organization_id, shop.id, "Pro")
    values = {
        "name": "Plus",
        "price_cents": 1234,
        "currency": "eur",
        "features": ["a"],
        "billing_price_id": "price_2",
    }
    found = at(team, f"/services/shop/plans/{plan_id}", values)
    found.read = row(world, "plans", "id = %s", plan_id)
    return found


async def webhook(world: World) -> Resource:
    team = await team_of(world)
    body = {"name": "Hook", "url": "https://hooks.example/a", "events": ["user.joined"]}
    webhook_id = await made(team, "/webhooks", body)
    values = {"name": "Other", "url": "https://hooks.example/b", "events": ["user.invited"], "is_active": False}
    found = at(team, f"/webhooks/{webhook_id}", values)
    found.read = row(world, "webhooks", "id = %s", UUID(webhook_id))
    return found


async def organization(world: World) -> Resource:
    team = await team_of(world)
    found = at(team, "", {"name": "Other", "device_trust_days": 7, "mfa_required": True, "metadata": METADATA})
    found.read = row(world, "organizations", "id = %s", team.organization_id)
    return found


async def rules(world: World) -> Resource:
    team = await team_of(world)
    found = at(team, "/sign-in-rules", {"mfa_methods": None})
    found.read = row(world, "organizations", "id = %s", team.organization_id)
    return found


async def branding(world: World) -> Resource:
    team = await team_of(world)
    values = {
        "logo": PIXEL,
        "icon": PIXEL,
        "primary_color": "#112233",
        "background_color": "#ffffff",
        "support_email": "help@acme.example",
        "terms_url": "https://acme.example/terms",
        "privacy_url": "https://acme.example/privacy",
    }
    return at(team, "/branding", values)


async def domain_route(world: World) -> Resource:
    team = await team_of(world)
    connections = [
        await made(
            team,
            "/upstream-providers",
            {"type": "oidc", "name": name, "issuer": "https://idp.example", "client_id": "x", "client_secret": "y"},
        )
        for name in ("A", "B")
    ]
    route_id = await made(team, "/domain-routes", {"domain": "acme.example", "provider_id": connections[0]})
    values = {"provider_id": connections[1], "enforced": True}
    found = at(team, f"/domain-routes/{route_id}", values, names={"provider_id": {"connection_id", "vouched_for"}})
    found.read = row(world, "domain_routes", "id = %s", UUID(route_id))
    return found


async def member(world: World) -> Resource:
    team = await team_of(world)
    found = at(team, f"/members/{team.ids['member']}", {"role": "admin"})
    found.read = row(world, "memberships", "user_id = %s", team.ids["member"])
    return found


async def role(world: World) -> Resource:
    team = await team_of(world)
    world.service(team.organization_id, "shop")
    body = {"slug": "helper", "name": "Helper", "description": "Helps", "permissions": ["services.view"]}
    answer = await team.request("owner", "POST", "/roles", body=body)
    assert answer.status == 200, answer.text
    await team.request("owner", "PATCH", "/services/shop", body={"scopes": SERVICE["scopes"]})
    values = {"name": "Other", "description": "Other", "permissions": ["end_users.view"], "scopes": ["shop:read"]}
    return at(team, "/roles/helper", values)


async def customer(world: World) -> Resource:
    trade = insert_trade(world)
    customer_id = await trade.begin()

    async def send(body: Mapping[str, Any]) -> Answer:
        return await trade.at_vendor("PATCH", f"/{customer_id}", body=body)

    values = {"external_id": "c-1", "paused": True, "metadata": METADATA}
    names = {"paused": {"vendor_paused_at"}}
    return Resource(row(world, "service_customers", "id = %s", UUID(customer_id)), send, values, names=names)


async def customer_by_key(world: World) -> Resource:
    trade = insert_trade(world)
    customer_id = await trade.begin()
    insert_key(world, trade.vendor.organization_id, trade.service.id, KEY)

    async def send(body: Mapping[str, Any]) -> Answer:
        path = f"/api/service/customers/{customer_id}"
        return await world.client.request("PATCH", path, headers={"X-Api-Key": KEY}, body=body)

    values = {"external_id": "c-1", "paused": True, "metadata": METADATA}
    names = {"paused": {"vendor_paused_at"}}
    return Resource(row(world, "service_customers", "id = %s", UUID(customer_id)), send, values, names=names)


async def product(world: World) -> Resource:
    trade = insert_trade(world)
    await trade.begin()

    async def read() -> Mapping[str, Any]:
        answer = await trade.at_customer("GET")
        assert answer.status == 200, answer.text
        return answer.json

    async def send(body: Mapping[str, Any]) -> Answer:
        return await trade.at_customer("PATCH", body=body)

    values = {
        "access": "members",
        "assignments": [{"subject": "role:admin", "roles": []}],
        "shares_directory": True,
        "groups": [],
        "hidden": True,
        "paused": True,
        "vendor_setup": ["scim"],
    }
    return Resource(read, send, values, names={"paused": {"state", "paused_by"}})


async def customer_connection(world: World) -> Resource:
    setup = await make_customer_setup(insert_trade(world))
    return await _connection_of(setup, setup.by_member)


async def customer_connection_by_key(world: World) -> Resource:
    setup = await make_customer_setup(insert_trade(world))
    return await _connection_of(setup, setup.by_key)


async def saml_connection_of_customer(world: World) -> Resource:
    setup = await make_customer_setup(insert_trade(world))
    return await _saml_connection_of(setup, setup.by_member)


async def saml_connection_of_customer_by_key(world: World) -> Resource:
    setup = await make_customer_setup(insert_trade(world))
    return await _saml_connection_of(setup, setup.by_key)


async def _connection_of(setup: CustomerSetup, request: Callable[..., Awaitable[Answer]]) -> Resource:
    world = setup.trade.world
    answer = await request("POST", "/connections", body=CONNECTION | {"enabled": False})
    assert answer.status == 200, answer.text
    provider_id = answer.json["id"]

    async def send(body: Mapping[str, Any]) -> Answer:
        return await request("PATCH", f"/connections/{provider_id}", body=body)

    own = {"joins_as", "trust_mfa"}
    values = {name: value for name, value in OF_CONNECTION.items() if name not in own}
    read = row(world, "upstream_connections", "id = %s", UUID(provider_id))
    return Resource(read, send, values, names=BY_CONNECTION, first={"issuer": {"client_secret": "another"}})


async def _saml_connection_of(setup: CustomerSetup, request: Callable[..., Awaitable[Answer]]) -> Resource:
    world = setup.trade.world
    answer = await request("POST", "/connections", body={"type": "saml", "name": "A", "enabled": False})
    assert answer.status == 200, answer.text
    provider_id = answer.json["id"]

    async def send(body: Mapping[str, Any]) -> Answer:
        return await request("PATCH", f"/connections/{provider_id}", body=body)

    metadata = IdentityProvider(now=world.clock).metadata()
    values = {"metadata_xml": metadata, "token_issuer": "https://idp.acme.example", "name_id_format": "persistent"}
    return Resource(row(world, "upstream_connections", "id = %s", UUID(provider_id)), send, values, names=BY_SAML)


async def customer_rule(world: World) -> Resource:
    setup = await make_customer_setup(insert_trade(world))
    path = await _rule_of(setup)

    async def send(body: Mapping[str, Any]) -> Answer:
        return await setup.by_member("PATCH", path, body=body)

    return _customer_rule(world, send)


async def customer_rule_by_key(world: World) -> Resource:
    setup = await make_customer_setup(insert_trade(world))
    path = await _rule_of(setup)

    async def send(body: Mapping[str, Any]) -> Answer:
        return await setup.by_key("PATCH", path, body=body)

    return _customer_rule(world, send)


async def _rule_of(setup: CustomerSetup) -> str:
    """Make a rule for a customer, and return its path below the customer's."""
    connection = await setup.connect()
    body = {"source": connection["id"], "group": "Editors", "service_roles": ["editor"]}
    answer = await setup.by_key("POST", "/group-rules", body=body)
    assert answer.status == 200, answer.text
    return f"/group-rules/{answer.json['id']}"


def _customer_rule(world: World, send: Send) -> Resource:
    names = {"service_roles": {"role_ids"}}
    return Resource(row(world, "customer_group_rules", "true"), send, {"service_roles": ["viewer"]}, names=names)


async def connection(world: World, **others: Any) -> Resource:
    made_one = await connected_organization(world, "https://idp.example", client_id="x", client_secret="y")
    path = f"/api/organizations/acme/upstream-providers/{made_one.connection_id}"
    await made_one.owner.patch(path, {"enabled": False})

    async def send(body: Mapping[str, Any]) -> Answer:
        return await made_one.owner.patch(path, dict(body))

    read = row(world, "upstream_connections", "id = %s", UUID(made_one.connection_id))
    return Resource(read, send, OF_CONNECTION, names=BY_CONNECTION, first={"issuer": {"client_secret": "another"}})


async def saml_connection(world: World) -> Resource:
    team = await team_of(world)
    provider_id = await made(team, "/upstream-providers", {"type": "saml", "name": "A", "enabled": False})
    idp = IdentityProvider(now=world.clock)
    found = at(
        team,
        f"/upstream-providers/{provider_id}",
        {
            "metadata_xml": idp.metadata(),
            "token_issuer": "https://idp.acme.example",
            "name": "Other",
            "attribute_mapping": {"email": "mail"},
            "joins_as": "member",
            "trust_mfa": True,
            "name_id_format": "persistent",
            "enabled": True,
        },
    )
    found.read = row(world, "upstream_connections", "id = %s", UUID(provider_id))
    found.names = BY_SAML
    return found


async def tier(world: World) -> Resource:
    platform = await platform_of(world)
    body = {
        "name": "starter",
        "display_name": "Starter",
        "default_max_services": 2,
        "default_max_users": 3,
        "price_cents": 4,
    }
    answer = await platform.request("POST", "/api/platform/tiers", body)
    assert answer.status == 200, answer.text
    tier_id = answer.json["id"]

    async def send(sent: Mapping[str, Any]) -> Answer:
        return await platform.request("PATCH", f"/api/platform/tiers/{tier_id}", sent)

    values = {"display_name": "Other", "default_max_services": 20, "default_max_users": 30, "price_cents": 40}
    return Resource(row(world, "tiers", "id::text = %s", str(tier_id)), send, values)


async def tier_of_organization(world: World) -> Resource:
    platform = await platform_of(world)
    organization_id = world.organization("acme")
    world.connection.execute("UPDATE organizations SET max_services = 5, max_users = 6")

    async def send(sent: Mapping[str, Any]) -> Answer:
        return await platform.request("PATCH", f"/api/platform/organizations/{organization_id}/tier", sent)

    present, other = (
        str(world.value("SELECT id FROM tiers WHERE name = %s", name)) for name in ("free", "professional")
    )
    world.connection.execute("UPDATE organizations SET tier_id = %s", (present,))
    values = {"max_services": 7, "max_users": 8, "tier_id": other}
    # The tier is sent with each.
    first = {"max_services": {"tier_id": present}, "max_users": {"tier_id": present}}
    return Resource(row(world, "organizations", "id = %s", organization_id), send, values, first=first)


async def platform_of(world: World) -> Platform:
    owner_id = world.user(PLATFORM_OWNER, is_platform_owner=True)
    return Platform(world, owner_id, await world.sign_in(PLATFORM_OWNER))


async def subscription(world: World) -> Resource:
    backend = insert_backend(world)
    user_id = backend.user("ada@acme.example")
    first, second = backend.plan(), backend.plan("Other")
    world.subscription(first, user_id)

    async def send(body: Mapping[str, Any]) -> Answer:
        return await backend.request("PATCH", f"/subscriptions/{user_id}", body=body)

    values = {"status": "past_due", "current_period_end": "2030-01-01T00:00:00Z", "plan_id": str(second)}
    return Resource(row(world, "subscriptions", "user_id = %s", user_id), send, values)


async def end_user(world: World) -> Resource:
    backend = insert_backend(world)
    user_id = backend.own_user("ada@acme.example")

    async def send(body: Mapping[str, Any]) -> Answer:
        return await backend.request("PATCH", f"/users/{user_id}", body=body)

    # An address that a service has changed has to be proved.
    of_address = {"changed_by_service_at", "email_changed_at", "email_verified_at"}
    names = {"email": of_address | {"password_hash", "passkey_challenges_ended"}}
    values = {"email": "other@acme.example", "metadata": METADATA}
    return Resource(row(world, "users", "id = %s", user_id), send, values, names=names)


async def end_user_by_member(world: World) -> Resource:
    team = await team_of(world)
    shop = world.service(team.organization_id, "shop")
    user_id = world.user("ada@example.com")
    world.link(team.organization_id, shop.id, user_id)
    found = at(team, f"/services/shop/users/{user_id}", {"metadata": METADATA})
    found.read = row(world, "users", "id = %s", user_id)
    return found


async def person(world: World) -> Resource:
    ada = await world.signed_in_user("ada@acme.example")

    async def send(body: Mapping[str, Any]) -> Answer:
        return await ada.patch("/api/user", dict(body))

    read = row(world, "users", "email = 'ada@acme.example'")
    # A changed address counts only after its proof.
    names = {"email": {"wished_email", "wished_at", "pending_email", "email_wish"}, "name": {"name_asked_at"}}
    return Resource(read, send, {"name": "Ada", "email": "other@acme.example"}, names=names)


async def device(world: World) -> Resource:
    ada = await world.signed_in_user("ada@acme.example")
    device_id = world.value("SELECT id FROM devices")

    async def send(body: Mapping[str, Any]) -> Answer:
        return await ada.patch(f"/api/user/devices/{device_id}", dict(body))

    return Resource(
        row(world, "devices", "id = %s", device_id), send, {"name": "Mine"}, names={"name": {"custom_name"}}
    )


async def passkey(world: World) -> Resource:
    keyring = Keyring(world)
    await keyring.sign_up()
    await keyring.registered()
    passkey_id = world.value("SELECT id FROM passkeys")

    async def send(body: Mapping[str, Any]) -> Answer:
        return await keyring.ask("PATCH", f"/{passkey_id}", body)

    names = {"second_factor": {"second_factor_at"}}
    values = {"name": "Mine", "second_factor": True}
    return Resource(row(world, "passkeys", "id = %s", passkey_id), send, values, names=names)


RESOURCES: Final[Mapping[str, tuple[Callable[[World], Awaitable[Resource]], ...]]] = {
    "/api/auth/passkeys/:id": (passkey,),
    "/api/organizations/:org_slug/services/:service_slug": (service,),
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id": (customer,),
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/connections/:provider_id": (
        customer_connection,
        saml_connection_of_customer,
    ),
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/group-rules/:rule_id": (customer_rule,),
    "/api/organizations/:org_slug/services/:service_slug/plans/:plan_id": (plan,),
    "/api/organizations/:org_slug/services/:service_slug/users/:user_id": (end_user_by_member,),
    "/api/organizations/:org_slug/webhooks/:webhook_id": (webhook,),
    "/api/organizations/:slug": (organization,),
    "/api/organizations/:slug/branding": (branding,),
    "/api/organizations/:slug/domain-routes/:route_id": (domain_route,),
    "/api/organizations/:slug/members/:user_id": (member,),
    "/api/organizations/:slug/products/:client_id": (product,),
    "/api/organizations/:slug/roles/:role_slug": (role,),
    "/api/organizations/:slug/sign-in-rules": (rules,),
    "/api/organizations/:slug/upstream-providers/:provider_id": (connection, saml_connection),
    "/api/platform/organizations/:id/tier": (tier_of_organization,),
    "/api/platform/tiers/:id": (tier,),
    "/api/service/customers/:customer_id": (customer_by_key,),
    "/api/service/customers/:customer_id/connections/:provider_id": (
        customer_connection_by_key,
        saml_connection_of_customer_by_key,
    ),
    "/api/service/customers/:customer_id/group-rules/:rule_id": (customer_rule_by_key,),
    "/api/service/info": (service_by_key,),
    "/api/service/subscriptions/:user_id": (subscription,),
    "/api/service/users/:user_id": (end_user,),
    "/api/user": (person,),
    "/api/user/devices/:id": (device,),
}


def test_every_field_of_every_patch_is_sent() -> None:
    assert RESOURCES.keys() | WITHOUT_FIELDS == PATCHES.keys()


@pytest.mark.parametrize("path", RESOURCES)
async def test_a_patch_changes_the_field_that_it_names_alone(world: World, path: str) -> None:
    [make, *more] = RESOURCES[path]
    found = await make(world)
    sent = set(found.values) | ELSEWHERE.get(path, set())
    await send_each(found)
    for one in more:
        for table in ("organizations", "users"):
            world.connection.execute(f"TRUNCATE {table} CASCADE")
        other = await one(world)
        sent |= set(other.values)
        await send_each(other)

    body = PATCHES[path].body
    assert body is not None
    assert sent == {one.encode_name for one in msgspec.structs.fields(body)}


async def send_each(resource: Resource) -> None:
    """Send each field alone, and compare what is stored before and after."""
    for name, value in resource.values.items():
        before = dict(await resource.read())
        answer = await resource.send({**resource.first.get(name, {}), name: value})
        after = dict(await resource.read())

        changed = {one for one in after if after[one] != before[one]}
        assert answer.status < 400, (name, answer.text)
        assert changed <= {name, *TIMES, *resource.names.get(name, ())}, (name, changed)


async def test_what_a_directory_names_in_an_operation_changes_alone(world: World) -> None:
    team = await team_of(world)
    directory = insert_directory(team, groups="directory")
    made_user = await directory.create("ada@acme.example", displayName="Ada")
    group_id = await directory.create_group("Helpers", made_user["id"])

    for path, operation in (
        (f"/Users/{made_user['id']}", {"op": "replace", "path": "displayName", "value": "Other"}),
        (f"/Groups/{group_id}", {"op": "replace", "path": "displayName", "value": "Others"}),
    ):
        before = (await directory.request("GET", path)).json
        body = {"schemas": [PATCH], "Operations": [operation]}
        answer = await directory.request("PATCH", path, body=body)
        after = (await directory.request("GET", path)).json

        assert answer.status in {200, 204}, answer.text
        assert {one for one in after if after[one] != before.get(one)} <= {"displayName", "name", *TIMES}, path


async def test_a_connection_that_was_made_switched_off_stays_off_with_its_metadata(world: World) -> None:
    resource = await saml_connection(world)

    await resource.send({"metadata_xml": resource.values["metadata_xml"]})
    assert (await resource.read())["enabled"] is False
    await resource.send({"enabled": True})

    assert (await resource.read())["enabled"] is True
