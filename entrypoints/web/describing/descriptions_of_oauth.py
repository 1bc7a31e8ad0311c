"""What the fields of OAuth and OpenID Connect mean: a part of `descriptions.py`."""

from typing import Final

from entrypoints.web.describing.described import Lines, field

_PKCE: Final = {"examples": ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"]}
_CODE: Final = {"examples": ["ZXhhbXBsZS1leGFtcGxlLWV4YW1wbGUtZXhhbXBsZQA"]}

FIELDS: Final[Lines] = {
    # The troubles of a client
    "ClientProblemList.problems": "The requests that were refused, the newest first.",
    "ClientProblem.at": "When it was refused.",
    "ClientProblem.kind": "What was wrong with it.",
    "ClientProblem.details": "What it has sent, and what is registered.",
    "ClientProblem.ip_address": field(
        "The address of the backend that sent it; of a request that came by a browser its network (/24, /48).",
        examples=["203.0.113.0/24"],
    ),
    "ProblemDetails.sent": "The address, the response type, the scopes, the grant or the way to authenticate that was"
    " sent; null for none. What could be a secret or name a person is shown as `…`.",
    "ProblemDetails.registered": "What the service had registered then, or what is taken.",
    # The record of a service
    "post_logout_redirect_uris": field(
        "The addresses that signing out may lead back to, compared exactly.",
        sent="The addresses to which a browser may be sent after signing out, compared exactly.",
    ),
    "backchannel_logout_uri": field(
        "Where a logout token is posted when a session ends; null for nowhere.",
        sent="The address to which Gatehouse posts a logout token when a session ends, or null.",
    ),
    "frontchannel_logout_uri": field(
        "The page that a browser loads when a session ends; null for none.",
        sent="The page that the browser loads in a frame when a session ends, or null.",
    ),
    "jwks_uri": field(
        "The address of the service's public keys; null when it has none.",
        sent="The address of the public keys that sign the service's assertions, or null.",
    ),
    "jwks": field(
        "The public keys of the service, as a JSON Web Key Set; null when it has none here.",
        sent="The public keys that sign the service's assertions, as a JSON Web Key Set, or null.",
    ),
    "group_claims": field(
        "The ids of the groups of the directory that tokens, userinfo and SAML assertions name of a member, or `all`.",
        maxItems=100,
    ),
    "groups_as": "How tokens, userinfo and introspection tell of groups: a list of `names`, of `ids`, or of `objects`"
    " with `id` and `name`. SAML assertions have names.",
    "machine_scopes": "The scopes that the service's own tokens, and the tokens of its workloads, may have.",
    "ServiceRecord.claims ServiceItem.claims": "What tokens and assertions say besides, and from where.",
    "NewService.claims": "What tokens and assertions are to say besides, at most 30, and from where.",
    "ServiceChange.claims": "What tokens and assertions are to say besides, at most 30, and from where. A key of the"
    " service cannot change them.",
    "ClaimsToPreview.claims": "The claims to show, as a service has them.",
    "ClaimsForm.claims": field(
        "The claims by lines: each a claim and its source, and access for access tokens.",
        examples=["seats organization.metadata.seats access"],
    ),
    "ServiceClaim.claim": field(
        "The name in tokens: letters of ASCII, digits and `_.:/-`. None of those that tokens of Gatehouse have, nor of"
        " IANA's registry but `groups`, `roles` and `entitlements`, which are lists always.",
        examples=["https://acme.example/seats"],
    ),
    "from": field(
        "The source: `user.id`, `user.email`, `user.email_verified`, `user.name`, `user.created_at`, `membership.role`,"
        " `organization.id`, `organization.slug`, `organization.name`, `organization.tier`,"
        " `organization.metadata.<name>`, `service_user.metadata.<name>`, `service_roles`, `subscription.plan`,"
        " `subscription.status`, `subscription.features`, `directory.name.given`, `directory.name.family`,"
        " `directory.display_name`, `directory.external_id`, `directory.groups`, `customer.id`, `customer.slug`,"
        " `customer.name`, `customer.role`, `customer.external_id` or `customer.metadata.<name>`.",
        examples=["organization.metadata.seats"],
    ),
    "in_access_token": "Whether access tokens have it too, as far as it fits into one.",
    "PreviewedClaim.claim": field("The name in tokens.", examples=["https://acme.example/seats"]),
    "PreviewedClaim.value": "What it says; null where the source has no value, and it is left out.",
    "TokenPreview.id_token": "The payload of the ID token; null without the scope `openid`.",
    "TokenPreview.access_token": "The payload of the access token.",
    "TokenPreview.userinfo": "What the user information endpoint would answer; null without `openid`.",
    "TokenPreview.saml": "The attributes of an assertion, by their names; null without SAML.",
    "TokenPreview.claims": "Each claim of the product, its source and what it says.",
    "bytes": "The bytes of the larger of both tokens.",
    "warnings": "What to know of it: a token from 2,048 bytes on, and claims that do not fit.",
    "ServiceScope.name": field("The name in requests and tokens (RFC 6749, 3.3).", examples=["orders.read"]),
    "ServiceScope.description": field(
        "The sentence that people read before they allow it: 1 to 200 characters of plain text.",
        examples=["See your orders."],
    ),
    "ServiceRole.scopes": field(
        "The scopes that the role gives. One that any role lists is given by roles alone.", examples=[["orders.read"]]
    ),
    "Role.scopes": field(
        "The scopes of services of the organization that the role gives. One that any role lists is given by roles"
        " alone; owners and admins have all.",
        examples=[["orders.read"]],
    ),
    "audiences": field(
        "The addresses of APIs for which the service may get access tokens.",
        sent="The addresses of the APIs for which the service may get access tokens, as their `aud`: absolute https"
        " addresses under a verified domain of the organization, each registered by one service only.",
    ),
    "security_profile": field(
        "Which stricter rules of OAuth hold for the service: `fapi2`, the FAPI 2.0 Security Profile, or null.",
        sent="`fapi2` for the FAPI 2.0 Security Profile: the service pushes its requests with PKCE, authenticates by"
        " `private_key_jwt`, binds its tokens by DPoP, and signs by ES256 or PS256; or null.",
    ),
    "token_signing": field(
        "The algorithm that signs the service's tokens: `RS256`, or `ES256`, which costs a tenth of the time. With a"
        " `security_profile` it is ES256.",
        sent="The algorithm that signs the service's access, ID and logout tokens: `RS256`, which every library"
        " verifies, or `ES256`, which costs a tenth of the time. With a `security_profile` it is always ES256.",
    ),
    # Clients and grants
    "client_assertion_type": field(
        "The type of the assertion.", examples=["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"]
    ),
    "client_assertion": "A JWT that the service has signed with its own key (`private_key_jwt`).",
    "grant_type": field(
        "The grant: `authorization_code`, `refresh_token`, `client_credentials` or"
        " `urn:ietf:params:oauth:grant-type:device_code`.",
        examples=["authorization_code"],
    ),
    "TokenRequest.client_id": "The client id, unless the Authorization header has it.",
    "TokenRequest.client_secret": "The client secret, unless the Authorization header has it.",
    "TokenRequest.code": field("The code that the browser brought to the redirect URI.", **_CODE),
    "TokenRequest.redirect_uri": "The redirect URI of the authorization request.",
    "code_verifier": field("The text of which the authorization request had the hash.", **_CODE),
    "device_code": field("The code with which the device polls.", **_CODE),
    "scope": field(
        "Scopes, separated by blanks: `openid`, `profile`, `email`, and the service's own scopes.",
        examples=["openid email"],
    ),
    "resource": "One of the audiences of the service, for which the access token is to be.",
    "id_token": "Who has signed in, when and how, as a JWT for the service.",
    "GrantedTokens.token_type": "`Bearer`, or `DPoP` for tokens that are bound to a key.",
    "GrantedTokens.expires_in": "The seconds until the access token expires.",
    "OwnToken.token": "The token.",
    "token_type_hint": "`access_token` or `refresh_token`; it is not needed.",
    "OauthError.error": field("The name of the refusal in the RFCs.", examples=["invalid_grant"]),
    "error_description": "What is wrong, and what to do, for developers.",
    # Authorization requests
    "response_type": field("Always `code`.", examples=["code"]),
    "response_mode": field(
        "`query`, also if it is left out, or `form_post`: the browser posts the answer as a form to a web address.",
        examples=["query"],
    ),
    "PushedAuthorizationRequest.redirect_uri": "One of the redirect URIs of the service, exactly.",
    "state": "A text that comes back with the code.",
    "nonce": "A text that comes back in the ID token.",
    "code_challenge": field("The SHA-256 of the code verifier, in base64url; public services must send it.", **_PKCE),
    "code_challenge_method": field("Always `S256`.", examples=["S256"]),
    "prompt": field(
        "`none`, or any of `login`, `consent`, `select_account` and `create`, which shows the page for a new account"
        " first.",
        examples=["login"],
    ),
    "max_age": field("The most seconds since the user has signed in.", examples=["3600"]),
    "login_hint": "The email address with which the user probably signs in.",
    "id_token_hint": "An ID token of the service: only its user may be signed in. Another one is answered"
    " `login_required`.",
    "acr_values": "The classes of sign-ins that the service accepts, the preferred one first.",
    "claims": field(
        "JSON with the members `userinfo` and `id_token`: the claims that the service asks for by name"
        " (OpenID Connect Core, 5.5).",
        examples=['{"userinfo": {"email": {"essential": true}}}'],
    ),
    "ui_locales": field(
        "Languages for the pages of the sign-in, the preferred one first; the first that is offered is taken.",
        examples=["de en"],
    ),
    "dpop_jkt": field("The thumbprint of the key to which the tokens are to be bound.", **_PKCE),
    "request": "Refused: request objects are not supported.",
    "request_uri": "The reference to a pushed request; it is no parameter of one.",
    "PushedRequestReference.expires_in": "The seconds for which the reference is good.",
    "post_logout_redirect_uri": "Where the browser goes then: an address that the service has registered.",
    # Devices
    "DeviceAuthorization.service": "The slug of the service, which is likewise only compared.",
    "user_code": "The code that the device shows, in any case, with or without the dash.",
    "verification_uri": "The page on which people type the user code.",
    "verification_uri_complete": "The same page with the user code, for a QR code.",
    "DeviceAuthorizationCodes.expires_in": "The seconds for which the codes are good.",
    "interval": "The least seconds between two requests of the device.",
    "available_providers": "The external providers that the users of the service can sign in with.",
}
