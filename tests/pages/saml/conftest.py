"""Services with SAML, for the tests in this folder."""

from tests.world.fixtures import saml, saml_shop

__all__ = ["saml", "saml_shop"]
