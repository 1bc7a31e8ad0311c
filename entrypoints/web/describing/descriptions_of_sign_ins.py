"""What the fields of signing in mean, by every way, and of helping those who cannot: a part of `descriptions.py`."""

from collections.abc import Sequence
from typing import Any, Final

from core.credentials.passkey_challenges import LIFETIME as PASSKEY_CHALLENGE_LIFETIME
from entrypoints.web.describing.described import Lines, field

_BASE64URL: Final = {
    "pattern": "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-]{2}(==)?|[A-Za-z0-9_-]{3}=?)?$",
    "examples": ["dGVzdA"],
}
_COUNT: Final = {"minimum": 0}
# A connection of an organization, and one that a vendor makes for a customer, as they are read and sent.
_CONNECTIONS: Final = ("Connection", "CustomerConnection")
_READ_OR_SENT: Final = ("Record", "Change", "Creation")


def _of_connections(name: str, text: str, *, of: Sequence[str] = _READ_OR_SENT, **keywords: Any) -> dict[str, Any]:
    return {f"{kind}{what}.{name}": field(text, **keywords) for kind in _CONNECTIONS for what in of}


FIELDS: Final[Lines] = {
    # The customer of a service for which its user comes
    "customer": field(
        "The customer of the service for which the user comes, by its id or slug. Without it, the only one that is open"
        " is taken, or the user is asked.",
        examples=["globex"],
    ),
    "ClaimsPreviewQuery.customer": "The id of the customer for which the person comes; none by default.",
    "MagicLinkRequest.customer": field(
        "The customer of the service for which the user comes, by its id or slug, unless the sign-in names another.",
        examples=["globex"],
    ),
    "ProfileForCustomer.customer_id": "The id of the customer for which the token is.",
    # The log of sign-ins
    "sign_ins": "The sign-ins, the newest first.",
    "SignIn.customer": "The customer of the service for which the user signed in, or was refused after they had proved"
    " who they are. It is null for none, for one that has ended since, and to the vendor where it does not know that"
    " the user belongs to the customer.",
    "SignIn.created_at": "When it was; with a second factor, when that was asked for, refused or accepted.",
    "outcome": field(
        "What came of it. `second_factor_asked` is a sign-in that waits for its second factor, or was given up then.",
        examples=["refused"],
    ),
    "SignIn.reason": field("Why it was refused, or what it waits for; null for a success.", examples=["wrong_code"]),
    "mailed_proof": "Whether the `link` or the `code` of a mail was used; null for other ways, and where it is not"
    " known.",
    "reason_text": field(
        "The reason for people; null for a success. What the person has read may reveal less.",
        examples=["The password was wrong."],
    ),
    "SignIn.organization": "The organization to sign in to; null for a sign-in on the platform.",
    "SignIn.service": "The service to sign in to; null for a sign-in to none.",
    "connection": "The connection by which the user came; null without one, and for another organization's.",
    "device": field("The browser or program, by its `user_agent`.", examples=["Firefox on Linux"]),
    "SignIn.device_id": "The id of the device; null unless its token has shown which it is.",
    "SignIn.risk_factors": field("What the risk consists of.", examples=[["new_device"]]),
    "SignIn.request_id": "The id of the request, as in the log of Gatehouse; null if it was not recorded.",
    "ExportedLogin.reason": "Why it was refused, or what it waited for; null for a success, or if not recorded.",
    "ExplainedSignIn.account": "The account; null when no account has the address, and for an organization also when"
    " its user is neither its member nor its end user.",
    "is_told": "Whether what concerns the account alone is shown: to an organization, of users who have confirmed that"
    " they belong to it.",
    "ways": "Each way to sign in that was asked about, and each connection.",
    "way": field("The way to sign in.", examples=["password"]),
    "ExplainedSignIn.next_step": "What the person does next, where a connection is required; null where nothing is"
    " required or known.",
    "StepOfSignIn.step": "`connection`: sign in by it, and nothing more is asked for. `mailed_code`: sign in by it,"
    " and type a code that is mailed to the address then, once.",
    "StepOfSignIn.connection": "The connection that is required.",
    "ExplainedWay.connection": "The connection; null for every other way.",
    "refused_by": field("The rule that refuses this way; null when none does.", examples=["credential"]),
    "ExplainedWay.rules": "The rules, in the order in which signing in applies them.",
    "rule": field("The rule.", examples=["credential"]),
    "verdict": field(
        "What it answers. One that asks for something more, or depends on the attempt, ends no sign-in; `not_told`"
        " concerns the account alone.",
        examples=["refuses"],
    ),
    "ExplainedRule.reason": field("Why it refuses, asks or depends; null otherwise.", examples=["no_password"]),
    "ExplainedRule.reason_text": "The reason for people.",
    "until": "Until when it refuses; null when that has no end, or it does not refuse.",
    "ExplainedRule.networks": field(
        "The networks from which it refuses; empty for an organization.", examples=[["192.0.2.0/24"]]
    ),
    "ExplainedRule.required": "The connection by which the user has to sign in; null when that is not why.",
    "NamedConnection.organization_name": "The name of the organization of the connection.",
    "attempts": "The last ten attempts to sign in, the newest first.",
    "ExplainedSignIn.problems": "Why sign-ins by the connections failed lately, of which the user is unknown.",
    "failures": "The problems, the newest first.",
    "UpstreamFailure.problem": "What was wrong.",
    "first_at": "When it occurred first, without a day between.",
    "last_at": "When it occurred last.",
    "occurrences": field("How often it occurred.", minimum=1, examples=[3]),
    "last_request_id": "The id of the request that met it last.",
    # Devices and factors
    "code": field("A code of the authenticator app, or a backup code.", examples=["123456"]),
    "MfaVerification.code": field(
        "A code of the authenticator app, or a backup code; in its place, `credential`.", examples=["123456"]
    ),
    "MfaVerification.credential": "What a passkey has signed, as its `toJSON()` writes it; else null.",
    "second_factor": "Whether the passkey is asked for after another factor.",
    "PasskeyUpdate.second_factor": "Whether the passkey is to be asked for after another factor.",
    "MfaActivation.code": field("The six digits that the app shows.", pattern="^[0-9]{6}$", examples=["123456"]),
    "enabled": "Whether multi-factor authentication is on.",
    "has_backup_codes": "Whether unused backup codes are left.",
    "secret": field("The secret as text, to type into the app.", examples=["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"]),
    "qr_code_svg": "The QR code to scan with the app, as an SVG image.",
    "qr_code_uri": field("The address that opens the app, `otpauth://…`.", format="uri"),
    "MfaEnabled.backup_codes": field(
        "The backup codes, each of which can be used once; empty beside another second factor, whose codes stay valid.",
        examples=[["ABCD-2345"]],
    ),
    "backup_codes": field("The backup codes, each of which can be used once.", examples=[["ABCD-2345"]]),
    "challenge_id": f"The id of the challenge, which is valid for {PASSKEY_CHALLENGE_LIFETIME.seconds // 60} minutes.",
    "options": "The options for `navigator.credentials`, as JSON (WebAuthn).",
    "RegistrationCredential.id AuthenticationCredential.id": field(
        "The id of the credential, in base64url.", **_BASE64URL, minLength=2
    ),
    "type": "The type of the credential.",
    "response": "The answer of the authenticator.",
    "clientDataJSON": field("The client data, in base64url.", **_BASE64URL),
    "attestationObject": field("The attestation object, in base64url.", **_BASE64URL),
    "authenticatorData": field("The authenticator data, in base64url.", **_BASE64URL),
    "signature": field("The signature of the authenticator, in base64url.", **_BASE64URL),
    "userHandle": field("The user handle, in base64url.", **_BASE64URL),
    "transports": field("How the authenticator is connected, such as `internal` or `usb`.", examples=[["internal"]]),
    "enroll": field("The page on which a passkey is added.", format="uri"),
    "manage": field("The page of one's passkeys.", format="uri"),
    "passkeys": "The passkeys, the oldest first.",
    "aaguid": "The model of the authenticator; zeros if it is not known.",
    "backup_eligible": "Whether the passkey can be synchronized between devices.",
    # Other providers
    "IdentityItem.email": "The address that the provider gave when it was last used; null if none.",
    "IdentityItem.linked_at": "When the account was linked.",
    "authorization_url": "Where the user goes on, in the browser in which they are signed in; valid once.",
    "ProviderToken.provider": "The provider that has issued the token.",
    "ProviderToken.access_token": "The access token of the provider.",
    "ProviderToken.token_type": "How the provider takes the token.",
    "ProviderToken.expires_at": "When the token expires; null if the provider does not say.",
    "ProviderToken.scopes": "The scopes that the provider has granted.",
    "OwnCredentials.client_id CredentialsBody.client_id": "The client id that the provider has given.",
    "has_secret": "Whether a secret is set; it is never shown.",
    "CredentialsBody.client_secret": "The client secret that the provider has given.",
    # Upstream connections and domain routes
    "issuer": field(
        "The issuer of the OpenID provider, exactly as it names itself; the entity id of a SAML identity provider, as"
        " in its metadata.",
        examples=["https://idp.example.com"],
    ),
    "metadata_url": field(
        "Where the metadata of a SAML identity provider are, which are read again from time to time.",
        examples=["https://idp.example.com/metadata"],
    ),
    "metadata_xml": field(
        "The metadata of a SAML identity provider, instead of their address.",
        examples=['<EntityDescriptor entityID="https://idp.example.com">…</EntityDescriptor>'],
    ),
    "metadata_valid_until": "When the metadata of the SAML identity provider end, as they say; null if they do not.",
    "token_issuer": field(
        "Of a SAML connection: the issuer, found by OpenID Connect discovery, by whose keys its identity provider signs"
        " requests to end sessions; null or empty for none.",
        examples=["https://example.okta.com"],
    ),
    "signs_requests": "Whether requests are signed, because the metadata of the SAML identity provider want it.",
    "AcsForm.SAMLResponse": "The answer of the identity provider, in base64.",
    "AcsForm.RelayState": "The state of the sign-in, valid once.",
    "scopes": "The scopes to ask the provider for; `openid` is always one of them.",
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
    "logout_token": "The logout token of the provider, a signed JWT.",
    "signs_out_at_provider": "Of a connection by OpenID Connect: whether a browser that signs out here is led on to"
    " the provider's `end_session_endpoint`. Register `{base_url}/auth/upstream/signed-out` there as an address after"
    " logout.",
    "attribute_mapping": field(
        "The claims or attributes in which the stable id (`id`, by default `sub` or the NameID), the address (`email`),"
        " the groups (`groups`) and the names of a person (`name`, `given_name`, `family_name`) are.",
        examples=[{"email": "upn"}],
    ),
    "joins_as": "The role with which users become members: `member` or a custom role; null or empty for none.",
    "trust_mfa": "Whether a sign-in by the connection satisfies the second factor, in this organization.",
    "upstream_providers": "The connections.",
    "provider_id": "The id of the connection.",
    "route_id": "The id of the domain route.",
    "enforced": "Whether every other way to sign in is refused for this domain.",
    "domain_routes": "The domain routes.",
    "ProviderForm.provider": "The provider whose account is to be linked or unlinked.",
    "RouteEffects.connection_id": "The connection to which the domain leads, or would lead.",
    "RouteEffects.connection_name": "The name of that connection.",
    "RouteEffects.linked": field("How many people are linked to it already.", **_COUNT),
    "RouteEffects.at_once": field("How many are linked at their next sign-in, without a mailed code.", **_COUNT),
    "RouteEffects.by_code": field("How many type one mailed code at their next sign-in.", **_COUNT),
    "RouteEffects.kept_out": field("How many are deactivated, or have lost their address.", **_COUNT),
    "identities_unlinked": field("How many accounts are unlinked.", **_COUNT),
    "ConnectionChangeEffects.sessions_ended": field("How many sessions by the connection end.", **_COUNT),
    "ConnectionChangeEffects.at_once": field("How many of them are linked again without a mailed code.", **_COUNT),
    "ConnectionChangeEffects.by_code": field("How many of them type one mailed code.", **_COUNT),
    "ConnectionChangeEffects.kept_out": field("How many of them the connection no longer lets in.", **_COUNT),
    "ConnectionForm.ends_links OptionsForm.ends_links": field(
        "`on` for a change that may unlink accounts.", examples=["on"]
    ),
    # The configuration
    "entity_id": field(
        "The entity id of the service provider; required when SAML is enabled.",
        examples=["https://app.example.com/saml/metadata"],
    ),
    "acs_url": field(
        "The only address to which assertions go: the assertion consumer service; required when SAML is enabled.",
        examples=["https://app.example.com/saml/acs"],
    ),
    "slo_url": field(
        "Where messages about logouts go; without it none are sent.", examples=["https://app.example.com/saml/slo"]
    ),
    "slo_binding": "How messages reach `slo_url`.",
    "name_id_format": "The format of the user's name in assertions; null means the email address.",
    "sign_assertions": "Whether assertions are signed.",
    "sign_response": "Whether responses are signed.",
    "sp_certificate": "The certificate of the service provider, as PEM. With it, requests without its signature are"
    " refused.",
    "members_only": "Whether only members, users that the organization created, existing end users of the service, and"
    " people of its customers may sign in.",
    "has_certificate": "Whether the service has an active certificate, without which SAML does not work.",
    "ProviderDescription.metadata": "The metadata of the service provider: the XML of an EntityDescriptor.",
    # Certificates
    "public_key": "The X.509 certificate, as PEM.",
    "valid_from": "When the certificate begins to be valid.",
    "valid_until": "When the certificate ends.",
    "CertificateRecord.is_active": "Whether Gatehouse signs with it.",
    # Messages
    "SAMLRequest": "A request of a service provider, encoded for its binding.",
    "SAMLResponse": "An answer of a service provider, encoded for its binding.",
    "RelayState": "What the service provider gets back unchanged.",
    "relay_state": "What the service provider gets with the assertion.",
    "saml_state": "The state under which a request of a service provider waits.",
    "ticket": "The ticket of a sign-in elsewhere, valid once, for a minute.",
    "saml_redirect_url": "Where to send the browser, within a minute, so that it is signed in to the application that"
    " has asked.",
    # What the support of the platform reads
    "is_platform_support": "Whether the user helps the users of the whole platform.",
    "RecordedAccount.is_platform_support": "Whether the user is appointed to the platform's support.",
    "RecordedAccount.name PlatformSupport.name ListedPlatformOwner.name": field(
        "What the person is called; null when no name is known.", examples=["Ada Lovelace"]
    ),
    "ListedPlatformOwner.is_active": "Whether the account can be used: it is neither deactivated nor closed.",
    "owners": "The platform owners.",
    "appointed_at": "When the person was appointed; null when that was not recorded.",
    "RecordedAccount.language": field(
        "The tag (BCP 47) of the language that the person has chosen or registered with; null when it is not known.",
        examples=["de"],
    ),
    "disowned": "Whether the organization of the mail domain has taken the address back.",
    "deactivated_at": "Since when the account cannot be used; null while it can.",
    "locked_at": "Since when the account is locked; null while it is open.",
    "closed_at": "When the user closed the account; null while it is open.",
    "sign_in_methods": "The ways to sign in.",
    "RecordedWays.identities": "The accounts at other providers that are linked.",
    "UserRecord.limits": "The failed sign-ins for the address, and what they limit.",
    "network": field("The network of the client.", examples=["203.0.113.0/24"]),
    "networks": "The networks from which sign-ins failed.",
    "AddressLimits.failures": field("How many sign-ins failed in the last 15 minutes.", **_COUNT),
    "NetworkLimit.failures": field("How many of them failed from the network.", **_COUNT),
    "AddressLimits.blocked_until": "Until when sign-ins from every network are refused, except on known devices; null"
    " while they are not.",
    "NetworkLimit.blocked_until": "Until when sign-ins from the network are refused; null while they are not.",
    "devices_total": field("How many devices there are; the 50 used last are listed.", **_COUNT),
    "RecordedDevice.name": field("What the device is called.", examples=["Firefox on Linux"]),
    "RecordedDevice.last_ip": field(
        "The network address of the last sign-in from it; null if unknown.", examples=["203.0.113.7"]
    ),
    "UserRecord.sessions": "The live sessions, the most recently used first.",
    "sessions_total": field("How many live sessions there are; the 50 used last are listed.", **_COUNT),
    "amr": field("How the user has proved their identity (RFC 8176).", examples=[["pwd", "otp", "mfa"]]),
    "is_impersonation": "Whether a platform owner acts as the user in it.",
    "RecordedSession.organization": "The organization of the session; null without one.",
    "RecordedSession.service": "The service of the session; null without one.",
    "sign_ins_total": field("How many sign-ins are kept; the newest 20 are listed.", **_COUNT),
    "UserRecord.mails": "The mails to the address, the newest first.",
    "mails_total": field("How many mails to the address are kept; the newest 20 are listed.", **_COUNT),
    "mails": "The mails, the newest first.",
    "mail": "The mail.",
    "mail_id": "The id of the mail.",
    "OutboxMailList.total": field("How many there are; 10001 stands for more than 10,000.", **_COUNT),
    "MailsQuery.state": "The state of the mails.",
    "MailsQuery.email": "The whole address of the recipient.",
    "recipient": field("The address that the mail goes to.", format="email"),
    "template": field("What kind of mail it is.", examples=["verify_email"]),
    "OutboxMail.state": field(
        "`queued` waits for its next attempt, `routed` for the mail server of its organization. `kept` is in the"
        " mailbox of an installation without a mail server. `failed` is given up.",
        examples=["failed"],
    ),
    "OutboxMail.attempts": field("How many attempts were made to send it.", **_COUNT),
    "due_at": "When it is, or was, to be sent next.",
    "OutboxMail.last_error": field(
        "Why the last attempt failed; null if none has.", examples=["550 5.1.1 There is no such mailbox."]
    ),
    "OutboxMail.organization_id": "The id of the organization that it is about; null for none.",
    "failed_sign_ins": field("How many failed sign-ins no longer count.", **_COUNT),
    "mail_counts": field("For how many kinds of mail the mails so far no longer count.", **_COUNT),
    "VerificationSent.sent": "Whether a mail leaves: none does above the limit of such mails to the address.",
    "support": "The people of the platform's support.",
}
