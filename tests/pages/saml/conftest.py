"""Services with SAML and a browser that is signed in, for the tests in this folder."""

from __future__ import annotations

import pytest

from tests.service_provider import key_pair
from tests.world.fixtures import saml, saml_shop
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor

__all__ = ["saml", "saml_shop"]


@pytest.fixture
async def browser(team: Team, visitor: Visitor) -> Visitor:
    """The browser of a member of the team who is signed in."""
    assert team.ids
    await visitor.sign_in("member@example.com")
    return visitor


@pytest.fixture
async def signed(saml: SamlWorld, team: Team) -> SamlService:
    """A service whose service provider signs its requests."""
    certificate = key_pair("sp of shop.acme").certificate_pem
    return await saml.service(team.organization_id, "acme", sp_certificate=certificate)


@pytest.fixture
async def blog(saml: SamlWorld, team: Team) -> SamlService:
    """Another service of the team."""
    return await saml.service(team.organization_id, "acme", "blog")
