"""What the fields of OAuth and OpenID Connect mean: a part of `descriptions.py`."""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_PKCE: Final = {"examples": ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"]}
_CODE: Final = {"examples": ["ZXhhbXBsZS1leGFtcGxlLWV4YW1wbGUtZXhhbXBsZQA"]}

FIELDS: Final[dict[str, dict[str, Any]]] = {
    # The troubles of a client
    "ClientProblemList.problems": _field("The requests that were refused, the newest first."),
    "ClientProblem.at": _field("When it was refused."),
    "ClientProblem.kind": _field("What was wrong with it."),
    "ClientProblem.details": _field("What it has sent, and what is registered."),
    "ClientProblem.ip_address": _field(
        "The address of the backend that sent it; of a request that came by a browser its network (/24, /48).",
        examples=["203.0.113.0/24"],
    ),
    "ProblemDetails.sent": _field(
        "The address, the response type, the scopes, the grant or the way to authenticate that was sent; null for none."
        " What could be a secret or name a person is shown as `…`."
    ),
    "ProblemDetails.registered": _field("What the service had registered then, or what is taken."),
    # The record of a service
    "post_logout_redirect_uris": _field(
        "The addresses that signing out may lead back to, compared exactly.",
        sent="The addresses to which a browser may be sent after signing out, compared exactly.",
    ),
    "backchannel_logout_uri": _field(
        "Where a logout token is posted when a session ends; null for nowhere.",
        sent="The address to which Gatehouse posts a logout token when a session ends, or null.",
    ),
    "frontchannel_logout_uri": _field(
        "The page that a browser loads when a session ends; null for none.",
        sent="The page that the browser loads in a frame when a session ends, or null.",
    ),
    "jwks_uri": _field(
        "The address of the service's public keys; null when it has none.",
        sent="The address of the public keys that sign the service's assertions, or null.",
    ),
    "jwks": _field(
        "The public keys of the service, as a JSON Web Key Set; null when it has none here.",
        sent="The public keys that sign the service's assertions, as a JSON Web Key Set, or null.",
    ),
    "group_claims": _field(
        "The ids of the groups of the directory that tokens, userinfo and SAML assertions name of a member, or `all`.",
        maxItems=100,
    ),
    "groups_as": _field(
        "How tokens, userinfo and introspection tell of groups: a list of `names`, of `ids`, or of `objects` with `id`"
        " and `name`. SAML assertions have names."
    ),
    "scopes": _field(
        "The scopes of the service's own, which tokens for its interfaces carry.",
        sent="The scopes of the service's own, at most 50, each with a name that none of OpenID's has, and"
        " all names with 1,500 characters together. A key of the service cannot change them.",
    ),
    "machine_scopes": _field("The scopes that the service's own tokens, and the tokens of its workloads, may have."),
    "ServiceRecord.claims": _field("What tokens and assertions say besides, and from where."),
    "ServiceItem.claims": _field("What tokens and assertions say besides, and from where."),
    "NewService.claims": _field("What tokens and assertions are to say besides, at most 30, and from where."),
    "ServiceChange.claims": _field(
        "What tokens and assertions are to say besides, at most 30, and from where. A key of the service cannot change"
        " them."
    ),
    "ClaimsToPreview.claims": _field("The claims to show, as a service has them."),
    "ClaimsForm.claims": _field(
        "The claims by lines: each a claim and its source, and access for access tokens.",
        examples=["seats organization.metadata.seats access"],
    ),
    "ServiceClaim.claim": _field(
        "The name in tokens: letters of ASCII, digits and `_.:/-`. None of those that tokens of Gatehouse have, nor of"
        " IANA's registry but `groups`, `roles` and `entitlements`, which are lists always.",
        examples=["https://acme.example/seats"],
    ),
    "from": _field(
        "The source: `user.id`, `user.email`, `user.email_verified`, `user.name`, `user.created_at`, `membership.role`,"
        " `organization.id`, `organization.slug`, `organization.name`, `organization.tier`,"
        " `organization.metadata.<name>`, `service_user.metadata.<name>`, `service_roles`, `subscription.plan`,"
        " `subscription.status`, `subscription.features`, `directory.name.given`, `directory.name.family`,"
        " `directory.display_name`, `directory.external_id`, `directory.groups`, `customer.id`, `customer.slug`,"
        " `customer.name`, `customer.role`, `customer.external_id` or `customer.metadata.<name>`.",
        examples=["organization.metadata.seats"],
    ),
    "in_access_token": _field("Whether access tokens have it too, as far as it fits into one."),
    "PreviewedClaim.claim": _field("The name in tokens.", examples=["https://acme.example/seats"]),
    "PreviewedClaim.value": _field("What it says; null where the source has no value, and it is left out."),
    "TokenPreview.id_token": _field("The payload of the ID token; null without the scope `openid`."),
    "TokenPreview.access_token": _field("The payload of the access token."),
    "TokenPreview.userinfo": _field("What the user information endpoint would answer; null without `openid`."),
    "TokenPreview.saml": _field("The attributes of an assertion, by their names; null without SAML."),
    "TokenPreview.claims": _field("Each claim of the product, its source and what it says."),
    "bytes": _field("The bytes of the larger of both tokens."),
    "warnings": _field("What to know of it: a token from 2,048 bytes on, and claims that do not fit."),
    "ServiceScope.name": _field("The name in requests and tokens (RFC 6749, 3.3).", examples=["orders.read"]),
    "ServiceScope.description": _field(
        "The sentence that people read before they allow it: 1 to 200 characters of plain text.",
        examples=["See your orders."],
    ),
    "ServiceRole.scopes": _field(
        "The scopes that the role gives. One that any role lists is given by roles alone.", examples=[["orders.read"]]
    ),
    "Role.scopes": _field(
        "The scopes of services of the organization that the role gives. One that any role lists is given by roles"
        " alone; owners and admins have all.",
        examples=[["orders.read"]],
    ),
    "audiences": _field(
        "The addresses of APIs for which the service may get access tokens.",
        sent="The addresses of the APIs for which the service may get access tokens, as their `aud`: absolute https"
        " addresses under a verified domain of the organization, each registered by one service only.",
    ),
    "security_profile": _field(
        "Which stricter rules of OAuth hold for the service: `fapi2`, the FAPI 2.0 Security Profile, or null.",
        sent="`fapi2` for the FAPI 2.0 Security Profile: the service pushes its requests with PKCE, authenticates by"
        " `private_key_jwt`, binds its tokens by DPoP, and signs by ES256 or PS256; or null.",
    ),
    "token_signing": _field(
        "The algorithm that signs the service's tokens: `RS256`, or `ES256`, which costs a tenth of the time. With a"
        " `security_profile` it is ES256.",
        sent="The algorithm that signs the service's access, ID and logout tokens: `RS256`, which every library"
        " verifies, or `ES256`, which costs a tenth of the time. With a `security_profile` it is always ES256.",
    ),
    # Clients and grants
    "client_assertion_type": _field(
        "The type of the assertion.", examples=["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"]
    ),
    "client_assertion": _field("A JWT that the service has signed with its own key (`private_key_jwt`)."),
    "grant_type": _field(
        "The grant: `authorization_code`, `refresh_token`, `client_credentials` or"
        " `urn:ietf:params:oauth:grant-type:device_code`.",
        examples=["authorization_code"],
    ),
    "TokenRequest.client_id": _field("The client id, unless the Authorization header has it."),
    "TokenRequest.client_secret": _field("The client secret, unless the Authorization header has it."),
    "TokenRequest.code": _field("The code that the browser brought to the redirect URI.", **_CODE),
    "TokenRequest.redirect_uri": _field("The redirect URI of the authorization request."),
    "code_verifier": _field("The text of which the authorization request had the hash.", **_CODE),
    "device_code": _field("The code with which the device polls.", **_CODE),
    "scope": _field(
        "Scopes, separated by blanks: `openid`, `profile`, `email`, and the service's own scopes.",
        examples=["openid email"],
    ),
    "resource": _field("One of the audiences of the service, for which the access token is to be."),
    "id_token": _field("Who has signed in, when and how, as a JWT for the service."),
    "GrantedTokens.token_type": _field("`Bearer`, or `DPoP` for tokens that are bound to a key."),
    "GrantedTokens.expires_in": _field("The seconds until the access token expires."),
    "OwnToken.token": _field("The token."),
    "token_type_hint": _field("`access_token` or `refresh_token`; it is not needed."),
    "OauthError.error": _field("The name of the refusal in the RFCs.", examples=["invalid_grant"]),
    "error_description": _field("What is wrong, and what to do, for developers."),
    # Authorization requests
    "response_type": _field("Always `code`.", examples=["code"]),
    "response_mode": _field(
        "`query`, also if it is left out, or `form_post`: the browser posts the answer as a form to a web address.",
        examples=["query"],
    ),
    "PushedAuthorizationRequest.redirect_uri": _field("One of the redirect URIs of the service, exactly."),
    "state": _field("A text that comes back with the code."),
    "nonce": _field("A text that comes back in the ID token."),
    "code_challenge": _field("The SHA-256 of the code verifier, in base64url; public services must send it.", **_PKCE),
    "code_challenge_method": _field("Always `S256`.", examples=["S256"]),
    "prompt": _field(
        "`none`, or any of `login`, `consent`, `select_account` and `create`, which shows the page for a new account"
        " first.",
        examples=["login"],
    ),
    "max_age": _field("The most seconds since the user has signed in.", examples=["3600"]),
    "login_hint": _field("The email address with which the user probably signs in."),
    "id_token_hint": _field(
        "An ID token of the service: only its user may be signed in. Another one is answered `login_required`."
    ),
    "acr_values": _field("The classes of sign-ins that the service accepts, the preferred one first."),
    "claims": _field(
        "JSON with the members `userinfo` and `id_token`: the claims that the service asks for by name"
        " (OpenID Connect Core, 5.5).",
        examples=['{"userinfo": {"email": {"essential": true}}}'],
    ),
    "ui_locales": _field(
        "Languages for the pages of the sign-in, the preferred one first; the first that is offered is taken.",
        examples=["de en"],
    ),
    "dpop_jkt": _field("The thumbprint of the key to which the tokens are to be bound.", **_PKCE),
    "request": _field("Refused: request objects are not supported."),
    "request_uri": _field("The reference to a pushed request; it is no parameter of one."),
    "PushedRequestReference.expires_in": _field("The seconds for which the reference is good."),
    "post_logout_redirect_uri": _field("Where the browser goes then: an address that the service has registered."),
    # Devices
    "org": _field("The slug of the organization, which is only compared with the organization of the client id."),
    "DeviceAuthorization.service": _field("The slug of the service, which is likewise only compared."),
    "user_code": _field("The code that the device shows, in any case, with or without the dash."),
    "verification_uri": _field("The page on which people type the user code."),
    "verification_uri_complete": _field("The same page with the user code, for a QR code."),
    "DeviceAuthorizationCodes.expires_in": _field("The seconds for which the codes are good."),
    "interval": _field("The least seconds between two requests of the device."),
    "available_providers": _field("The external providers that the users of the service can sign in with."),
}
