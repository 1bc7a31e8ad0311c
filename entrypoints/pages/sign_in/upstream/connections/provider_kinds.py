"""The identity providers that the pages of connections know: hosted ones, self-hosted programs, and any other."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from core.sign_in.upstream.connections.connections import ConnectionRecord
from entrypoints.pages.console.setup_steps import ProviderKind, Step
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.sign_in.upstream.connections.product_kinds import BY_OPENID, BY_SAML, NAME, READ_IN

_CREDENTIALS: Final = Step(
    text=marked("Enter the client id and the client secret here as well."), fields=("client_id", "client_secret")
)
OPENID: Final = ProviderKind(
    word="oidc",
    name=marked("Another OpenID provider"),
    source="https://openid.net/specs/openid-connect-core-1_0.html",
    read_in=READ_IN,
    steps=(
        Step(
            text=marked(
                "At your provider, register a web application that signs users in with an authorization code. Enter"
                " this address as its redirect URI, character for character."
            ),
            copies=("redirect_uri",),
        ),
        Step(
            text=marked(
                "Enter the issuer exactly as the provider names itself: the value of issuer in the document below"
                " /.well-known/openid-configuration."
            ),
            fields=("issuer",),
        ),
        Step(
            text=marked("Copy the client id and the client secret of the application."),
            fields=("client_id", "client_secret"),
        ),
        NAME,
    ),
)
SAML: Final = ProviderKind(
    word="saml",
    name=marked("Another SAML provider"),
    source="https://docs.oasis-open.org/security/saml/v2.0/saml-metadata-2.0-os.pdf",
    read_in=READ_IN,
    steps=(
        Step(
            text=marked(
                "At your identity provider, make an application by SAML 2.0. If it reads metadata, give it the metadata"
                " address; else enter the entity id and the address for assertions."
            ),
            copies=("metadata_address", "entity_id", "acs_url", "slo_url"),
        ),
        Step(
            text=marked(
                "Choose the persistent id as the name of users (NameID), and have the attribute email sent with the"
                " email address."
            ),
        ),
        Step(
            text=marked("Enter where your identity provider publishes its metadata, or paste the file."),
            fields=("metadata_url", "metadata_xml"),
        ),
    ),
)
# Programs that organizations run themselves; the long tests connect them (`tests/identity_programs/`).
_SELF_HOSTED: Final = (
    ProviderKind(
        word="lemonldap",
        name="LemonLDAP::NG",
        instead="lemonldap-saml",
        steps=(
            Step(
                text=marked(
                    "In the Manager of LemonLDAP::NG, open “General Parameters”, “Issuer modules” and “OpenID Connect”,"
                    " and switch “Activation” on. “OpenID Connect Service” has to have keys."
                )
            ),
            Step(
                text=marked(
                    "Under “OpenID Connect Relying Parties”, add one. Under “Options”, enter a client id and a client"
                    " secret, choose RS256 as “ID Token signature algorithm”, and enter this address under “Allowed"
                    " redirection addresses for login”."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked(
                    "Under “Exported attributes (claims)”, add email with the attribute mail. For roles by groups, add"
                    " groups too, and under “Scope values content” the scope email with the value: email groups."
                )
            ),
            _CREDENTIALS,
            Step(
                text=marked(
                    "The issuer is “Issuer identifier” under “OpenID Connect Service”, else the address of the portal."
                ),
                fields=("issuer",),
            ),
            NAME,
        ),
    ),
    ProviderKind(
        word="glewlwyd",
        name="Glewlwyd",
        steps=(
            Step(
                text=marked(
                    "In Glewlwyd, open “Parameters” and “Plugins”, and add the OpenID Connect plugin. Give it an RSA"
                    " key, and choose “Mandatory” as “E-mail claim”: else no address is sent."
                )
            ),
            Step(
                text=marked(
                    "Under “Clients”, add one that is confidential, with a password, the authorization type code, the"
                    " scope openid, and this address under “Redirect URIs”."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked("Enter its client id here, and its password as the client secret."),
                fields=("client_id", "client_secret"),
            ),
            Step(
                text=marked(
                    "The issuer is “Issuer” of the plugin. It has to be the address of Glewlwyd with /api/ and the name"
                    " of the plugin, such as https://sso.acme.example/api/oidc."
                ),
                fields=("issuer",),
            ),
            NAME,
        ),
    ),
    ProviderKind(
        word="django-allauth",
        name="django-allauth",
        steps=(
            Step(
                text=marked(
                    "In the settings of the site, add allauth.idp.oidc to INSTALLED_APPS, and a key to"
                    " IDP_OIDC_PRIVATE_KEYS. Include allauth.idp.urls at the root of the addresses."
                )
            ),
            Step(
                text=marked(
                    "In the administration of Django, add a client of allauth: confidential, with the scopes openid,"
                    " email and profile, and this address as its redirect URI."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked("Copy its id, and its secret before you leave the page."),
                fields=("client_id", "client_secret"),
            ),
            Step(
                text=marked("The issuer is the address of the site, without a path and without a slash at the end."),
                fields=("issuer",),
            ),
            NAME,
        ),
    ),
    ProviderKind(
        word="django-oauth-toolkit",
        name="django-oauth-toolkit",
        steps=(
            Step(
                text=marked(
                    "In OAUTH2_PROVIDER of the site's settings, set OIDC_ENABLED, OIDC_RSA_PRIVATE_KEY, and the scopes"
                    " openid, email and profile."
                )
            ),
            Step(
                text=marked(
                    "It sends no address by itself: set OAUTH2_VALIDATOR_CLASS to a class of your own, whose"
                    " get_additional_claims returns email. If it returns groups too, set its oidc_claim_scope to None."
                )
            ),
            Step(
                text=marked(
                    "In the administration of Django, add an application: confidential, with an authorization code, the"
                    " algorithm RS256, and this address as its redirect URI."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked("Copy its client id, and its client secret before you save: it keeps a hash alone."),
                fields=("client_id", "client_secret"),
            ),
            Step(
                text=marked(
                    "The issuer is the address at which oauth2_provider.urls is included, without a slash at the end,"
                    " such as https://site.acme.example/o."
                ),
                fields=("issuer",),
            ),
            NAME,
        ),
    ),
    ProviderKind(
        word="djangosaml2idp-saml",
        name="djangosaml2idp",
        steps=(
            Step(
                text=marked(
                    "In SAML_IDP_CONFIG of the site's settings, name a key and its certificate, and the formats"
                    " persistent and unspecified under name_id_format."
                )
            ),
            Step(
                text=marked(
                    "In the administration of Django, add a service provider with this entity id and metadata."
                ),
                copies=("entity_id", "metadata_address"),
            ),
            Step(
                text=marked(
                    "Switch “Sign assertion” of that service provider on: it signs nothing by itself. Leave email in"
                    " its attribute mapping."
                )
            ),
            Step(
                text=marked(
                    "Its metadata are at /metadata/ below the address at which djangosaml2idp.urls is included."
                ),
                fields=("metadata_url", "metadata_xml"),
            ),
        ),
    ),
)
KINDS: Final = (*BY_OPENID, *_SELF_HOSTED, OPENID, SAML)
_BY_SAML: Final = (
    *BY_SAML,
    ProviderKind(
        word="lemonldap-saml",
        name="LemonLDAP::NG",
        instead="lemonldap",
        steps=(
            Step(
                text=marked(
                    "In the Manager of LemonLDAP::NG, open “General Parameters”, “Issuer modules” and “SAML”, and"
                    " switch “Activation” on. “SAML2 Service” has to have a key with a certificate."
                )
            ),
            Step(
                text=marked("Under “SAML Service Providers”, add one, and load these metadata."),
                copies=("metadata_address",),
            ),
            Step(
                text=marked(
                    "Under “Options”, choose “Persistent” as “Default NameID format”. Under “Exported attributes”, add"
                    " mail with the name email."
                )
            ),
            Step(
                text=marked("Its metadata are at /saml/metadata/idp below the address of the portal."),
                fields=("metadata_url", "metadata_xml"),
            ),
        ),
    ),
)
ALL: Final = KINDS + _BY_SAML
# What the issuer of a provider is that has but one.
ISSUERS: Final[Mapping[str, str]] = {
    "google": "https://accounts.google.com",
    "jumpcloud": "https://oauth.id.jumpcloud.com/",
}
_HOSTS: Final = (
    ("okta", (".okta.com", ".oktapreview.com", ".okta-emea.com")),
    ("entra", ("login.microsoftonline.com", "login.microsoftonline.us", "sts.windows.net")),
    ("google", ("accounts.google.com",)),
    ("jumpcloud", (".jumpcloud.com",)),
    ("onelogin", (".onelogin.com",)),
    ("ping", (".pingone.com", ".pingone.eu", ".pingone.ca", ".pingone.asia", ".pingone.com.au", ".pingone.sg")),
)


def is_saml(kind: ProviderKind) -> bool:
    """Return whether a kind connects by SAML."""
    return kind.word.endswith("saml")


def kind_of_connection(connection: ConnectionRecord, word: str) -> ProviderKind:
    """Return the kind whose steps the page of a connection shows: the address's, else its issuer's."""
    suffix = "-saml" if connection.is_saml else ""
    named = next((kind for kind in ALL if kind.word == word and is_saml(kind) == connection.is_saml), None)
    if named is not None:
        return named
    host = "." + (urlsplit(connection.issuer or "").hostname or "")
    found = next((product for product, ends in _HOSTS if host.endswith(tuple(ends))), None)
    general = SAML if connection.is_saml else OPENID
    return next((kind for kind in ALL if found is not None and kind.word == f"{found}{suffix}"), general)
