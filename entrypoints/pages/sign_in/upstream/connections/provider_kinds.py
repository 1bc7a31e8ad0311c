"""The identity providers that the pages of connections know: hosted ones, self-hosted programs, and any other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from core.sign_in.upstream.connections.connections import ConnectionRecord
from entrypoints.pages.console.setup_steps import ProviderKind, kind_of, step
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.sign_in.upstream.connections.product_kinds import BY_OPENID, BY_SAML, by_openid, by_saml

_CREDENTIALS: Final = step(
    "Enter the client id and the client secret here as well.", fields=("client_id", "client_secret")
)
OPENID: Final = by_openid(
    "oidc",
    marked("Another OpenID provider"),
    step(
        "At your provider, register a web application that signs users in with an authorization code."
        " Enter this address as its redirect URI, character for character.",
        copies=("redirect_uri",),
    ),
    step(
        "Enter the issuer exactly as the provider names itself: the value of issuer in the document"
        " below /.well-known/openid-configuration.",
        fields=("issuer",),
    ),
    step(
        "Copy the client id and the client secret of the application.",
        fields=("client_id", "client_secret"),
    ),
    source="https://openid.net/specs/openid-connect-core-1_0.html",
)
SAML: Final = by_saml(
    "saml",
    marked("Another SAML provider"),
    step(
        "At your identity provider, make an application by SAML 2.0. If it reads metadata, give it the"
        " metadata address; else enter the entity id and the address for assertions.",
        copies=("metadata_address", "entity_id", "acs_url", "slo_url"),
    ),
    step(
        "Choose the persistent id as the name of users (NameID), and have the attribute email sent with"
        " the email address."
    ),
    step(
        "Enter where your identity provider publishes its metadata, or paste the file.",
        fields=("metadata_url", "metadata_xml"),
    ),
    source="https://docs.oasis-open.org/security/saml/v2.0/saml-metadata-2.0-os.pdf",
)
# Programs that organizations run themselves; the long tests connect them (`tests/identity_programs/`).
_SELF_HOSTED: Final = (
    by_openid(
        "lemonldap",
        "LemonLDAP::NG",
        step(
            "In the Manager of LemonLDAP::NG, open “General Parameters”, “Issuer modules” and “OpenID Connect”, and"
            " switch “Activation” on. “OpenID Connect Service” has to have keys."
        ),
        step(
            "Under “OpenID Connect Relying Parties”, add one. Under “Options”, enter a client id and a client secret,"
            " choose RS256 as “ID Token signature algorithm”, and enter this address under “Allowed redirection"
            " addresses for login”.",
            copies=("redirect_uri",),
        ),
        step(
            "Under “Exported attributes (claims)”, add email with the attribute mail. For roles by groups, add groups"
            " too, and under “Scope values content” the scope email with the value: email groups."
        ),
        _CREDENTIALS,
        step(
            "The issuer is “Issuer identifier” under “OpenID Connect Service”, else the address of the portal.",
            fields=("issuer",),
        ),
    ),
    by_openid(
        "glewlwyd",
        "Glewlwyd",
        step(
            "In Glewlwyd, open “Parameters” and “Plugins”, and add the OpenID Connect plugin. Give it an RSA key, and"
            " choose “Mandatory” as “E-mail claim”: else no address is sent."
        ),
        step(
            "Under “Clients”, add one that is confidential, with a password, the authorization type code, the scope"
            " openid, and this address under “Redirect URIs”.",
            copies=("redirect_uri",),
        ),
        step("Enter its client id here, and its password as the client secret.", fields=("client_id", "client_secret")),
        step(
            "The issuer is “Issuer” of the plugin. It has to be the address of Glewlwyd with /api/ and the name of the"
            " plugin, such as https://sso.acme.example/api/oidc.",
            fields=("issuer",),
        ),
    ),
    by_openid(
        "django-allauth",
        "django-allauth",
        step(
            "In the settings of the site, add allauth.idp.oidc to INSTALLED_APPS, and a key to IDP_OIDC_PRIVATE_KEYS."
            " Include allauth.idp.urls at the root of the addresses."
        ),
        step(
            "In the administration of Django, add a client of allauth: confidential, with the scopes openid, email and"
            " profile, and this address as its redirect URI.",
            copies=("redirect_uri",),
        ),
        step("Copy its id, and its secret before you leave the page.", fields=("client_id", "client_secret")),
        step(
            "The issuer is the address of the site, without a path and without a slash at the end.", fields=("issuer",)
        ),
    ),
    by_openid(
        "django-oauth-toolkit",
        "django-oauth-toolkit",
        step(
            "In OAUTH2_PROVIDER of the site's settings, set OIDC_ENABLED, OIDC_RSA_PRIVATE_KEY, and the scopes openid,"
            " email and profile."
        ),
        step(
            "It sends no address by itself: set OAUTH2_VALIDATOR_CLASS to a class of your own, whose"
            " get_additional_claims returns email. If it returns groups too, set its oidc_claim_scope to None."
        ),
        step(
            "In the administration of Django, add an application: confidential, with an authorization code, the"
            " algorithm RS256, and this address as its redirect URI.",
            copies=("redirect_uri",),
        ),
        step(
            "Copy its client id, and its client secret before you save: it keeps a hash alone.",
            fields=("client_id", "client_secret"),
        ),
        step(
            "The issuer is the address at which oauth2_provider.urls is included, without a slash at the end, such as"
            " https://site.acme.example/o.",
            fields=("issuer",),
        ),
    ),
    by_saml(
        "djangosaml2idp-saml",
        "djangosaml2idp",
        step(
            "In SAML_IDP_CONFIG of the site's settings, name a key and its certificate, and the formats persistent and"
            " unspecified under name_id_format."
        ),
        step(
            "In the administration of Django, add a service provider with this entity id and metadata.",
            copies=("entity_id", "metadata_address"),
        ),
        step(
            "Switch “Sign assertion” of that service provider on: it signs nothing by itself. Leave email in its"
            " attribute mapping."
        ),
        step(
            "Its metadata are at /metadata/ below the address at which djangosaml2idp.urls is included.",
            fields=("metadata_url", "metadata_xml"),
        ),
    ),
)
_CHOICES: Final = (*BY_OPENID, *_SELF_HOSTED, OPENID, SAML)
_BY_SAML: Final = (
    *BY_SAML,
    by_saml(
        "lemonldap-saml",
        "LemonLDAP::NG",
        step(
            "In the Manager of LemonLDAP::NG, open “General Parameters”, “Issuer modules” and “SAML”, and switch"
            " “Activation” on. “SAML2 Service” has to have a key with a certificate."
        ),
        step("Under “SAML Service Providers”, add one, and load these metadata.", copies=("metadata_address",)),
        step(
            "Under “Options”, choose “Persistent” as “Default NameID format”. Under “Exported attributes”, add mail"
            " with the name email."
        ),
        step(
            "Its metadata are at /saml/metadata/idp below the address of the portal.",
            fields=("metadata_url", "metadata_xml"),
        ),
    ),
)


def _with_other_protocol(kind: ProviderKind) -> ProviderKind:
    """Return a kind that names the one of the same product by the other protocol, if there is one."""
    others = (one.word for one in (*_CHOICES, *_BY_SAML) if one.name == kind.name and one is not kind)
    return replace(kind, instead=next(others, ""))


# What a page offers first, and every kind.
KINDS: Final = tuple(map(_with_other_protocol, _CHOICES))
ALL: Final = KINDS + tuple(map(_with_other_protocol, _BY_SAML))
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


def chosen(word: str, protocol: str | None) -> ProviderKind | None:
    """Return the kind of a word; without one, any provider of the protocol of a form. None where no form was sent."""
    if protocol is None:
        return kind_of(ALL, word)
    return kind_of(ALL, word) or (SAML if protocol == "saml" else OPENID)


def known_word(word: str) -> str:
    """Return the word of a kind; empty for any other text."""
    return word if kind_of(ALL, word) is not None else ""


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
