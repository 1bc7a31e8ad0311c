"""How LemonLDAP::NG, a portal in front of many programs, is connected."""

from typing import Final

from entrypoints.pages.console.recipes.recipe import SAML_GROUPS, Protocol, Recipe
from entrypoints.pages.frame.languages import marked

_RUN: Final = "2.16.1 (Debian)"
_RECOMMENDS: Final = marked(
    "Of Debian's packages it needs the recommended ones too, and https, or an address of loopback."
)
_ADMINS: Final = marked("A rule lets a group in: listMatch($memberOf, 'admins', 1).")
_APPLICATION: Final = """\
# An application behind it that the group admins alone may open; the menu shows it to no one else:
cli addKey \\
  locationRules/reports.example.com default "listMatch(\\$memberOf, 'admins', 1)" \\
  applicationList/protected type category \\
  applicationList/protected catname Applications \\
  applicationList/protected/reports type application \\
  applicationList/protected/reports/options name Reports \\
  applicationList/protected/reports/options uri https://reports.example.com/ \\
  applicationList/protected/reports/options display auto
"""

RECIPES: Final = (
    Recipe(
        word="lemonldap-openid",
        name="LemonLDAP::NG by OpenID Connect",
        run=_RUN,
        source="https://lemonldap-ng.org/documentation/latest/authopenidconnect.html",
        redirect_uri="@PROGRAM@/?openidconnectcallback=1",
        logout_uri="@PROGRAM@/?logout=1",
        settings={
            "lemonldap-ng-cli": """
cli() { /usr/share/lemonldap-ng/bin/lemonldap-ng-cli -yes 1 "$@"; }
cli set authentication OpenIDConnect userDB OpenIDConnect portal @PROGRAM@/ portalUserAttr mail
cli addKey oidcOPMetaDataJSON gatehouse "$(curl -sS @ISSUER@/.well-known/openid-configuration)"
cli addKey oidcOPMetaDataJWKS gatehouse "$(curl -sS @ISSUER@/.well-known/jwks.json)"
cli addKey \\
  oidcOPMetaDataOptions/gatehouse oidcOPMetaDataOptionsConfigurationURI @ISSUER@/.well-known/openid-configuration \\
  oidcOPMetaDataOptions/gatehouse oidcOPMetaDataOptionsClientID @CLIENT@ \\
  oidcOPMetaDataOptions/gatehouse oidcOPMetaDataOptionsClientSecret @SECRET@ \\
  oidcOPMetaDataOptions/gatehouse oidcOPMetaDataOptionsScope "openid email profile" \\
  oidcOPMetaDataOptions/gatehouse oidcOPMetaDataOptionsStoreIDToken 1 \\
  oidcOPMetaDataOptions/gatehouse oidcOPMetaDataOptionsJWKSTimeout 3600 \\
  oidcOPMetaDataExportedVars/gatehouse uid sub \\
  oidcOPMetaDataExportedVars/gatehouse mail email \\
  oidcOPMetaDataExportedVars/gatehouse cn name \\
  oidcOPMetaDataExportedVars/gatehouse memberOf groups
"""
            + _APPLICATION,
        },
        groups=marked("It keeps the list of names in groups, or in service_roles, which rules compare."),
        admins=_ADMINS,
        notes=(_RECOMMENDS,),
    ),
    Recipe(
        word="lemonldap-saml",
        name="LemonLDAP::NG by SAML",
        run=_RUN,
        source="https://lemonldap-ng.org/documentation/latest/authsaml.html",
        protocol=Protocol.SAML,
        entity_id="@PROGRAM@/saml/metadata",
        redirect_uri="@PROGRAM@/saml/proxySingleSignOnPost",
        logout_uri="@PROGRAM@/saml/proxySingleLogout",
        settings={
            "lemonldap-ng-cli": """
cli() { /usr/share/lemonldap-ng/bin/lemonldap-ng-cli -yes 1 "$@"; }
cli set authentication SAML userDB SAML portal @PROGRAM@/ portalUserAttr mail
cli addKey samlIDPMetaDataXML/gatehouse samlIDPMetaDataXML "$(curl -sS @IDP@/metadata)"
cli addKey \\
  samlIDPMetaDataExportedAttributes/gatehouse mail "1;email" \\
  samlIDPMetaDataExportedAttributes/gatehouse cn "0;name" \\
  samlIDPMetaDataExportedAttributes/gatehouse role "0;role" \\
  samlIDPMetaDataExportedAttributes/gatehouse memberOf "0;groups"
"""
            + _APPLICATION,
        },
        groups=SAML_GROUPS,
        admins=_ADMINS,
        notes=(
            marked("Make its SAML key in the Manager first; then import its metadata here."),
            marked(
                "By SAML its cookie needs https; without it, sameSite has to be Lax, or the sign-in goes in circles."
            ),
            _RECOMMENDS,
        ),
    ),
)
