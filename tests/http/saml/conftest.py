"""Services with SAML and browsers, for the tests in this folder."""

from tests.world.fixtures import saml, saml_shop, visitor

__all__ = ["saml", "saml_shop", "visitor"]
