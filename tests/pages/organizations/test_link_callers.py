"""What use cases refuse the holder of a setup link, beyond what the pages offer."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.errors import Forbidden, NotFound
from core.organizations import group_rules, link_callers
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.group_roles import WantedRule
from core.organizations.link_callers import SetupLinkDead, SetupVisit
from core.services import service_access
from core.sessions.origins import BACKGROUND
from core.sign_in.upstream.connections.connections import ConnectionInForce
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import RouteInForce
from core.sign_in.upstream.trials import enabling
from entrypoints.web.serving.admission.browsers import SETUP_COOKIE
from ports.database import Database
from tests.world.setups import Setups


async def holding(setups: Setups, *parts: str, **fields: str) -> Database:
    """Return the database on behalf of the holder of a new link."""
    await setups.begin(await setups.create(*parts, **fields))
    visit = SetupVisit(cookie=setups.visitor.cookies[SETUP_COOKIE])
    return setups.team.world.installation.database.on_behalf_of(BACKGROUND, organization_credential=visit)


async def connection_of(setups: Setups) -> UUID:
    """Return a new connection of the team."""
    made = await setups.team.request("owner", "POST", "/upstream-providers", body={"type": "saml", "name": "Acme"})
    return UUID(made.json["id"])


async def test_a_link_enters_its_organization_alone(setups: Setups) -> None:
    database = await holding(setups, "domain")

    entered = await database.read(authorize, setups.team.slug, Operation.DOMAIN_READ)
    with pytest.raises(NotFound, match="There is no such organization"):
        await database.read(authorize, "globex", Operation.DOMAIN_READ)

    assert entered.organization.id == setups.team.organization_id
    assert entered.caller.actor_user_id is None


async def test_a_link_is_for_one_service(setups: Setups) -> None:
    for slug in ("shop", "other"):
        setups.team.world.service(setups.team.organization_id, slug)
    database = await holding(setups, "saml", service_slug="shop")

    opened = await database.read(service_access.authorize, setups.team.slug, "shop", Operation.SAML_READ)
    with pytest.raises(SetupLinkDead):
        await database.read(service_access.authorize, setups.team.slug, "other", Operation.SAML_READ)

    assert opened.service.slug == "shop"


async def test_a_link_switches_no_connection_off(setups: Setups) -> None:
    connection_id = await connection_of(setups)
    database = await holding(setups, "upstream")

    with pytest.raises(ConnectionInForce):
        await database.transact(link_callers.serve, enabling.switch, connection_id, is_on=False, allowed=())


async def test_a_link_enforces_nothing_and_leaves_a_domain_in_force_as_it_is(setups: Setups) -> None:
    connection_id = await connection_of(setups)
    database = await holding(setups, "upstream")

    made = await database.transact(
        link_callers.serve, domain_routes.create, "acme.example", connection_id, enforced=True
    )
    changed = await database.transact(
        link_callers.serve, domain_routes.change, made.id, connection_id=connection_id, enforced=True
    )
    setups.team.world.connection.execute("UPDATE domain_routes SET enforced = true")
    with pytest.raises(RouteInForce):
        await database.transact(link_callers.serve, domain_routes.change, made.id, connection_id=None, enforced=False)

    assert (made.enforced, changed.enforced) == (False, False)


async def test_a_link_makes_no_rule_for_another_role(setups: Setups) -> None:
    connection_id = await connection_of(setups)
    database = await holding(setups, "groups")
    rule = WantedRule(source=str(connection_id), group="everybody", role="admin")

    with pytest.raises(Forbidden, match="You may not make a rule"):
        await database.transact(link_callers.serve, group_rules.save, [rule])
