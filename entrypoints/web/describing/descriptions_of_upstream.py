"""What the fields of signing in through other providers mean: a part of `descriptions.py`."""

from collections.abc import Sequence
from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_COUNT: Final = {"minimum": 0}
# A connection of an organization, and one that a vendor makes for a customer, as they are read and sent.
_CONNECTIONS: Final = ("Connection", "CustomerConnection")
_READ_OR_SENT: Final = ("Record", "Change", "Creation")


def _of_connections(name: str, text: str, *, of: Sequence[str] = _READ_OR_SENT, **keywords: Any) -> dict[str, Any]:
    return {f"{kind}{what}.{name}": _field(text, **keywords) for kind in _CONNECTIONS for what in of}


FIELDS: Final[dict[str, dict[str, Any]]] = {
    "provider_user_id": _field("The stable id of the account at the provider."),
    "IdentityItem.email": _field("The address that the provider gave when it was last used; null if none."),
    "IdentityItem.linked_at": _field("When the account was linked."),
    "authorization_url": _field("Where the user goes on, in the browser in which they are signed in; valid once."),
    "ProviderToken.provider": _field("The provider that has issued the token."),
    "ProviderToken.access_token": _field("The access token of the provider."),
    "ProviderToken.token_type": _field("How the provider takes the token."),
    "ProviderToken.expires_at": _field("When the token expires; null if the provider does not say."),
    "ProviderToken.scopes": _field("The scopes that the provider has granted."),
    "OwnCredentials.client_id": _field("The client id that the provider has given."),
    "has_secret": _field("Whether a secret is set; it is never shown."),
    "CredentialsBody.client_id": _field("The client id that the provider has given."),
    "CredentialsBody.client_secret": _field("The client secret that the provider has given."),
    # Upstream connections and domain routes
    "issuer": _field(
        "The issuer of the OpenID provider, exactly as it names itself; the entity id of a SAML identity provider, as"
        " in its metadata.",
        examples=["https://idp.example.com"],
    ),
    "metadata_url": _field(
        "Where the metadata of a SAML identity provider are, which are read again from time to time.",
        examples=["https://idp.example.com/metadata"],
    ),
    "metadata_xml": _field(
        "The metadata of a SAML identity provider, instead of their address.",
        examples=['<EntityDescriptor entityID="https://idp.example.com">…</EntityDescriptor>'],
    ),
    "metadata_valid_until": _field(
        "When the metadata of the SAML identity provider end, as they say; null if they do not."
    ),
    "token_issuer": _field(
        "Of a SAML connection: the issuer, found by OpenID Connect discovery, by whose keys its identity provider signs"
        " requests to end sessions; null or empty for none.",
        examples=["https://example.okta.com"],
    ),
    "signs_requests": _field(
        "Whether requests are signed, because the metadata of the SAML identity provider want it."
    ),
    "AcsForm.SAMLResponse": _field("The answer of the identity provider, in base64."),
    "AcsForm.RelayState": _field("The state of the sign-in, valid once."),
    "scopes": _field("The scopes to ask the provider for; `openid` is always one of them."),
    **_of_connections(
        "name_id_format",
        "Of a SAML connection: the format of names that requests ask for; null or empty for whichever the identity"
        " provider chooses (unspecified). With another one, the accounts of the one before are unlinked, unless the"
        " stable id is mapped.",
        examples=["urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"],
    ),
    **_of_connections("type", "`oidc` for OpenID Connect, or `saml`.", of=("Record", "Creation")),
    **_of_connections("client_id", "The client id that the provider has given; none by SAML."),
    **_of_connections("client_secret", "The client secret that the provider has given.", of=("Change", "Creation")),
    **_of_connections("enabled", "Whether people sign in by the connection."),
    "logout_token": _field("The logout token of the provider, a signed JWT."),
    "signs_out_at_provider": _field(
        "Of a connection by OpenID Connect: whether a browser that signs out here is led on to the provider's"
        " `end_session_endpoint`. Register `{base_url}/auth/upstream/signed-out` there as an address after logout."
    ),
    "attribute_mapping": _field(
        "The claims or attributes in which the stable id (`id`, by default `sub` or the NameID), the address (`email`),"
        " the groups (`groups`) and the names of a person (`name`, `given_name`, `family_name`) are.",
        examples=[{"email": "upn"}],
    ),
    "joins_as": _field("The role with which users become members: `member` or a custom role; null or empty for none."),
    "trust_mfa": _field("Whether a sign-in by the connection satisfies the second factor, in this organization."),
    "upstream_providers": _field("The connections."),
    "provider_id": _field("The id of the connection."),
    "route_id": _field("The id of the domain route."),
    "enforced": _field("Whether every other way to sign in is refused for this domain."),
    "domain_routes": _field("The domain routes."),
    "ProviderForm.provider": _field("The provider whose account is to be linked or unlinked."),
    "RouteEffects.connection_id": _field("The connection to which the domain leads, or would lead."),
    "RouteEffects.connection_name": _field("The name of that connection."),
    "RouteEffects.linked": _field("How many people are linked to it already.", **_COUNT),
    "RouteEffects.at_once": _field("How many are linked at their next sign-in, without a mailed code.", **_COUNT),
    "RouteEffects.by_code": _field("How many type one mailed code at their next sign-in.", **_COUNT),
    "RouteEffects.kept_out": _field("How many are deactivated, or have lost their address.", **_COUNT),
    "identities_unlinked": _field("How many accounts are unlinked.", **_COUNT),
    "ConnectionChangeEffects.sessions_ended": _field("How many sessions by the connection end.", **_COUNT),
    "ConnectionChangeEffects.at_once": _field("How many of them are linked again without a mailed code.", **_COUNT),
    "ConnectionChangeEffects.by_code": _field("How many of them type one mailed code.", **_COUNT),
    "ConnectionChangeEffects.kept_out": _field("How many of them the connection no longer lets in.", **_COUNT),
    "ConnectionForm.ends_links": _field("`on` for a change that may unlink accounts.", examples=["on"]),
    "OptionsForm.ends_links": _field("`on` for a change that may unlink accounts.", examples=["on"]),
}
