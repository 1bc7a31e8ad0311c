"""What the fields of the interface mean, and what they take, for the reference and the OpenAPI document.

A word has one meaning in the whole interface, so a field is described once, by its name. Where a field of one schema
says more or takes something else, `Schema.field` comes first; `Schema` is the name in the OpenAPI document, the name
of the class of a query, or the id of an operation for a parameter of its path. Several fields that mean the same have
one line, which names all of them. A field that is not described here, and a line that describes no field, fail
`tests/web/describing/test_descriptions.py`.

Besides the description, a line may have keywords of JSON Schema that the type does not state because the rule is
decided in core; and as `sent`, what a request has to know of the value.
"""

from typing import Final

from core.events.events import EventType
from core.limits import (
    EMAIL_CHARACTERS_MAX,
    NAME_CHARACTERS_MAX,
    PAGE_ITEMS_MAX,
    PASSWORD_CHARACTERS_MAX,
    PASSWORD_CHARACTERS_MIN,
    REASON_CHARACTERS_MAX,
)
from core.organizations.organizations import NAME_CHARACTERS_MIN
from core.organizations.roles import DESCRIPTION_CHARACTERS_MAX
from core.text import MESSAGE_CHARACTERS_MAX, SLUG_CHARACTERS_MAX, SLUG_CHARACTERS_MIN
from entrypoints.web.describing import (
    descriptions_of_customers,
    descriptions_of_event_data,
    descriptions_of_events,
    descriptions_of_oauth,
    descriptions_of_pages,
    descriptions_of_sales,
    descriptions_of_scim,
    descriptions_of_settings,
    descriptions_of_sign_ins,
)
from entrypoints.web.describing.described import SENT, Lines, by_field, field

_EMAIL: Final = {"format": "email", "maxLength": EMAIL_CHARACTERS_MAX, "examples": ["ada@example.com"]}
_SLUG: Final = {
    "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
    "minLength": SLUG_CHARACTERS_MIN,
    "maxLength": SLUG_CHARACTERS_MAX,
}
_NAME: Final = {
    "minLength": 1,
    "maxLength": NAME_CHARACTERS_MAX,
    # One line, without control characters and without blanks around it.
    "pattern": r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f])?$",
}
_SENT_NAME: Final = "The name for people, with 1 to 100 characters."
_SENT_PERSON: Final = "One line with 1 to 100 characters, without an address of the web."
_PASSWORD: Final = {
    "format": "password",
    "minLength": PASSWORD_CHARACTERS_MIN,
    "maxLength": PASSWORD_CHARACTERS_MAX,
    "examples": ["correct horse battery staple"],
}
_ACCEPTED: Final = (
    "It is refused when it is among the commonest, has nothing but words of the address and of names around it, or is"
    " known from a data breach."
)
_REASON: Final = {"minLength": 1, "maxLength": REASON_CHARACTERS_MAX, "pattern": r"\S"}
_COUNT: Final = {"minimum": 0, "examples": [3]}
_ADDRESS: Final = {"examples": ["203.0.113.7"]}
_USER_AGENT: Final = {"examples": ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"]}
_TOKEN: Final = {"examples": ["ZXhhbXBsZS1leGFtcGxlLWV4YW1wbGUtZXhhbXBsZQA"]}
_JWT: Final = {"examples": ["eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"]}
_UUID_TOKEN: Final = {"examples": ["6f1d2c1e-9a3b-4c5d-8e7f-0a1b2c3d4e5f"]}
_PERMISSIONS: Final = {"examples": [["audit_logs.view", "analytics.view"]]}
_SMALL_PAGE: Final = f"At most how many to list; more than {PAGE_ITEMS_MAX} is lowered to {PAGE_ITEMS_MAX}."

_GENERAL: Final[Lines] = {
    # Errors
    "error": field("What went wrong, and what to do next, for people.", examples=["There is no such organization."]),
    "error_code": "What went wrong, for programs.",
    "request_id": field(
        "The id of this request, as in the header `X-Request-Id` and in the log of Gatehouse.",
        examples=["5f0c8c9d2f6b4b6a9d53c1a7c1f0e2ab"],
    ),
    "Error.timestamp": "When the request was refused.",
    "Error.details": "Every invalid field. It is missing when the problem is not about single fields.",
    "field": field("The path of the field in the body, or its name in the query.", examples=["email"]),
    "FieldError.message": field("What is wrong with the field.", examples=["This is not a valid email address."]),
    # Ids, names and times
    "id": "The unique id.",
    "user_id": "The id of the user.",
    "org_id organization_id": "The id of the organization.",
    "PlatformAuditLogEntryRecord.org_id": "The id of the organization; null if the action concerned none.",
    "service_id": "The id of the service.",
    "RecentLogin.service_id": "The id of the service that was signed in to; null for Gatehouse itself.",
    "device_id": "The id of the device on which the session began; null if it is unknown.",
    "session_id": "The id of the session.",
    "invitation_id": "The id of the invitation.",
    "message_id": "The id of the mail.",
    "audit_log_id": "The id of the entry in the platform's audit log.",
    "connection_id": "The id of the connection to the identity provider.",
    "slug": field("The short name that paths contain. It never changes.", **_SLUG, examples=["acme"]),
    "org_slug organization_slug": field("The slug of the organization.", **_SLUG, examples=["acme"]),
    "service_slug": field("The slug of the service.", **_SLUG, examples=["shop"]),
    "role_slug": field("The slug of the role.", **_SLUG, examples=["auditor"]),
    "name": field("The name for people.", **_NAME, examples=["Example"]),
    "OrganizationCreation.name OrganizationUpdate.name": field(
        "The name for people.", **_NAME | {"minLength": NAME_CHARACTERS_MIN}, examples=["Acme Ltd"]
    ),
    "NewPlan.name NewService.name PlanChange.name ServiceChange.name": field(
        "The name for people.", sent=_SENT_NAME, **_NAME, examples=["Example"]
    ),
    "Tier.name TierSummary.name": field("The name for programs.", examples=["professional"]),
    "assets_asset.name": field("The name of the file, as the pages contain it.", examples=["gatehouse.css"]),
    "display_name": field("The name for people.", examples=["Professional"]),
    "service_name": "The name of the service.",
    "description": field("A description for people.", maxLength=DESCRIPTION_CHARACTERS_MAX, examples=["Reads logs."]),
    "created_at": "When it was created.",
    "Role.created_at": "When the role was created; null for a built-in role.",
    "updated_at": "When it was last changed.",
    "Role.updated_at": "When the role was last changed; null for a built-in role.",
    "timestamp": "When it happened.",
    "joined_at": "When the user became a member.",
    "expires_at": "When it expires.",
    "last_used_at": "When it was last used.",
    "PasskeyItem.last_used_at ChangedPasskeyItem.last_used_at": "When it was last used to sign in; null if never.",
    # People and addresses
    "email": field("The email address.", **_EMAIL),
    "AuditLogActor.email OrganizationOwner.email": "The email address; a placeholder if the account no longer exists.",
    "LinkedIdentity.email": field("The email address that the provider gave; null if none.", **_EMAIL),
    **{
        f"{schema}.name": field("What the person is called; null when no name is known.", examples=["Ada Lovelace"])
        for schema in ("Profile", "MemberUser", "EndUser", "EndUserDetails", "PlatformUser", "PersonalDataExport")
    },
    **{
        f"{schema}.name": field(
            "What the person is called.", **_NAME, examples=["Ada Lovelace"], **{SENT: _SENT_PERSON}
        )
        for schema in ("Registration", "ProfileUpdate")
    },
    "ProfileUpdate.email": field("The new email address.", **_EMAIL),
    "PasskeySignInStart.email": "The email address of the account; without it, any passkey fits.",
    "MailedLinkRequest.email": field("The email address to send the link to.", examples=["ada@example.com"]),
    "Login.email": field("The email address of the account.", examples=["ada@example.com"]),
    "MfaAlert.email": "The email address of the user.",
    "PersonalDataExport.email": "The email address.",
    "MailboxMessage.language": field("The tag (BCP 47) of the language in which it is written.", examples=["en"]),
    "PersonalDataExport.language": field(
        "The tag (BCP 47) of the language that the person has chosen or registered with; null when it is not known.",
        examples=["de"],
    ),
    "UserSearch.email": "A part of the email address.",
    "email_verified": "Whether the user has proved that the address is theirs.",
    "is_platform_owner": "Whether the user manages the whole platform.",
    "user": "The user.",
    "owner": "The owner of the organization.",
    "PlatformOrganization.owner": "The owner of the organization; null while it has none.",
    "PlatformOrganization.unclaimed": "Whether a vendor has made the organization for a customer, and no person owns"
    " it yet.",
    "impersonated_user": "The user that the session impersonates.",
    "users": "The users.",
    "hint": "Why a search may have found less than expected; only where it has.",
    "ip_address": field("The network address of the request; null if unknown.", **_ADDRESS),
    "last_ip": field("The network address of the last request; empty if unknown.", **_ADDRESS),
    "user_agent": field("The browser or program, as it names itself; null if unknown.", **_USER_AGENT),
    # Signing in
    "password": field("The password.", format="password", examples=["correct horse battery staple"]),
    "Registration.password": field(f"The password of the new account. {_ACCEPTED}", **_PASSWORD),
    "new_password": field(f"The new password. {_ACCEPTED}", **_PASSWORD),
    "PasswordResetForm.new_password": "The new password.",
    "repeated": "The new password again.",
    "current_password": field("The present password.", format="password", examples=["incorrect horse"]),
    "redirect_uri": field(
        "Where the page of the mailed link leads back to: exactly an address that the service has registered.",
        format="uri",
        examples=["https://app.example.com/welcome"],
    ),
    "access_token": field("The JWT to send as `Authorization: Bearer …`.", **_JWT),
    "PendingSecondFactor.access_token": field(
        "The same as `preauth_token`, which no other path than `POST /api/auth/mfa/verify` accepts.", **_JWT
    ),
    "refresh_token": field("The token that `POST /api/auth/refresh` exchanges for new tokens, once.", **_TOKEN),
    "PendingSecondFactor.refresh_token": field("Empty: there is no session yet.", const=""),
    "expires_in": field("After how many seconds the access token expires.", minimum=0, examples=[900]),
    "token_type": field("How the access token is sent.", const="Bearer"),
    "password_notice": "`breached` when the password is known from a data breach: ask the user to change it. Otherwise"
    " it is missing.",
    "device_token": field("The token that recognizes this device: send it as `X-Device-Token`.", **_TOKEN),
    "SignInTokens.method": field(
        "The second factor that was used, if one was.", enum=["totp", "backup_code", "passkey"]
    ),
    "PendingSecondFactor.mfa_required": field("Always true: no session has begun yet.", const=True),
    "preauth_token": field("The token that `POST /api/auth/mfa/verify` takes with the second factor.", **_JWT),
    "PasskeyFactorStart.preauth_token MfaVerification.preauth_token": field(
        "The pre-auth token, unless it is sent as a bearer token.", **_JWT
    ),
    "trust_device": "Whether this device remembers the second factor for a while.",
    "token": field("The token of the mailed link, which can be used once.", **_UUID_TOKEN),
    "CreatedInvitation.token": field("The token of the invitation, which is shown here only.", **_UUID_TOKEN),
    "InvitationRecord.token": field("The SHA-256 of the token.", examples=["9f86d081884c7d659a2feaa0c55ad015"]),
    "ReceivedInvitationRecord.token": field("The token to accept or decline the invitation with.", **_UUID_TOKEN),
    "InvitationAcceptance.token InvitationDecline.token": field("The token of the invitation.", **_UUID_TOKEN),
    "MagicLinkSignIn.token": field(
        "The token of the link, or the code that its page shows; without `challenge_id` and `code`.", **_UUID_TOKEN
    ),
    "MagicLinkSignIn.challenge_id": "What the request for the mail has answered; with `code`.",
    "MagicLinkSignIn.code": field("The six digits in the mail.", examples=["123456"]),
    "MagicLinkRequested.challenge_id": "What `POST /api/auth/magic-link/verify` takes with the code of the mail; keep"
    " it to this client.",
    "proof": field("The proof that only the mailed link contains: it verifies the address.", **_UUID_TOKEN),
    "domain": field("The domain of the email address.", examples=["example.com"]),
    "auth_method": "How the addresses of the domain sign in.",
    "provider_name": "The name of the identity provider.",
    "EmailLookupResult.organization": "The slug of the organization that the domain belongs to.",
    "sso_required": "Whether the organization requires its own single sign-on.",
    "login_url": field("Where to sign in.", format="uri"),
    "message": "What was done, for people.",
    "success": "Whether it succeeded.",
    # Sessions and devices
    "SessionList.sessions": "The active sessions, the most recently used first.",
    "EndUserDetails.sessions": "The sessions of the user in this organization.",
    "total": field("How many there are in total.", **_COUNT),
    "is_current": "Whether this request comes from it.",
    "provider": field("The sign-in method, such as `password`.", examples=["password"]),
    "devices": "The devices, the most recently used first.",
    "device_type": "What kind of device it is.",
    "browser": field("The browser; empty if unknown.", examples=["Firefox"]),
    "browser_version": field("The version of the browser; empty if unknown.", examples=["140.0"]),
    "os": field("The operating system; empty if unknown.", examples=["Linux"]),
    "os_version": "The version of the operating system; empty if unknown.",
    "trusted": "Whether the device remembers the second factor.",
    "last_location": "Where the last sign-in from the device came from.",
    "city": field("The city; empty if unknown.", examples=["London"]),
    "country": field("The country as a code of ISO 3166; empty if unknown.", examples=["GB"]),
    "DeviceDetails.risk_score": field("The risk of the last sign-in from the device.", minimum=0, maximum=1),
    "PasskeyRegistration.name": field("The name of the passkey; by default the name of the browser.", **_NAME),
    # Organizations and members
    "organization": "The organization.",
    "organizations": "The organizations.",
    "OrganizationUpdate.mfa_required mfa_required": "Whether members need a second factor.",
    "mfa_methods": "Which second factors count where members need one.",
    "device_trust_days": "For how many days a trusted device remembers the second factor; 0 means never.",
    "status": "The state.",
    "MembershipSummary.status MembershipRecord.status GroupMemberItem.status Grantee.status": "`inactive` while the"
    " membership is deactivated, which takes all access.",
    "Health.status": "Always `healthy`: the service responds.",
    "OrganizationsQuery.status": "Only organizations in this state.",
    "InvitationsWanted.status": "Only invitations in this state.",
    "tier": "The tier.",
    "tier_id": "The id of the tier.",
    "OrganizationApproval.tier_id": "The id of the tier to begin in; by default the present one.",
    "OrganizationsQuery.tier_id": "Only organizations of this tier.",
    "max_services": field("The organization's own limit of services; null for the tier's limit.", minimum=0),
    "max_users": field("The organization's own limit of members; null for the tier's limit.", minimum=0),
    "MemberLimits.max_users": field("How many members the organization can have; null for no limit.", minimum=0),
    "default_max_services": field("How many services an organization can have; null for no limit.", minimum=0),
    "default_max_users": field("How many members an organization can have; null for no limit.", minimum=0),
    "price_cents": field(
        "The price per month in cents.", sent="The price of a period, in cents of the currency.", minimum=0
    ),
    "approved_at": "When it was approved; null if it was not.",
    "approved_by": "The id of the platform owner who approved it; null if it was approved automatically.",
    "rejected_at": "When it was rejected; null if it was not.",
    "rejection_reason": "Why it was rejected; null if it was not.",
    "deletes_at": "When it is deleted permanently, unless its owner restores it before; null if its owner has not"
    " deleted it.",
    "suspended_at": "When it was suspended; null if it is not suspended.",
    "suspension_reason": "Why it was suspended; null if no reason was given.",
    "membership": "The membership of the user.",
    "membership_count": field("How many members the organization has.", **_COUNT),
    "service_count": field("How many services the organization has.", **_COUNT),
    "members": "The members.",
    "limits": "The limit of the number of members.",
    "source": "Where the limit is set.",
    "CurrentOwner.role": "The role of the new owner.",
    "role": field("The role: `owner`, `admin`, `member`, or the slug of a custom role.", **_SLUG, examples=["admin"]),
    "MemberUpdate.role": field("The new role: `admin`, `member`, or the slug of a custom role.", examples=["admin"]),
    "InvitationCreation.role": field("`member`, `admin`, or the slug of a custom role.", examples=["member"]),
    "MembersQuery.role": "Only members with this role; a custom one by its slug.",
    "Profile.role": "Your role in the organization of your token; null without one.",
    "new_owner_user_id": "The id of the member who becomes the owner.",
    "old_owner": "The previous owner.",
    "new_owner": "The new owner.",
    "new_role": "The role that the previous owner has now.",
    "roles": "The roles, the built-in ones first.",
    "permissions": field("The capabilities of the role.", **_PERMISSIONS),
    "Profile.permissions": field("Your capabilities in the organization of your token.", **_PERMISSIONS),
    "is_built_in": "Whether the role is built in, and so cannot be changed.",
    "grants": "The grants.",
    "relation": "What the member may do with the service.",
    "granted_by": "The id of the member who granted it; null if the account no longer exists.",
    "invitation": "The invitation.",
    "InvitationCreation.services": field(
        "The slugs of services of the organization that the person is linked to with the membership, at most 20."
        " They require `end_users.manage`.",
        examples=[["shop"]],
    ),
    "InvitationRecord.services": field(
        "The slugs of the services that the person is linked to with the membership.", examples=[["shop"]]
    ),
    "InvitationCreation.message": field(
        "What the person sees on the page of the invitation: plain text without web addresses. No mail has it.",
        maxLength=MESSAGE_CHARACTERS_MAX,
        examples=["Welcome to the team."],
    ),
    "InvitationRecord.message": "What the person sees on the page of the invitation; null for nothing.",
    "ReceivedInvitationRecord.message": "What the inviter says to you; null for nothing.",
    "PersonalDataExport.messages": "The messages of invitations that the person has sent, and got after a proof of the"
    " address.",
    "ExportedMessage.message": field("The message.", examples=["Welcome to the team."]),
    "is_sent": "Whether the person has sent it; else it was sent to them.",
    "service_names": field("The names of the services that come with the membership.", examples=[["Shop"]]),
    "inviter": "The member who invited.",
    "invited_by": "The id of the member who invited; null if the account no longer exists.",
    # End users
    "mfa_enabled": "Whether the user has a second factor.",
    "services": "The services that the user has signed in to.",
    "EndUser.services": field("The services that the user has signed in to.", examples=[["shop"]]),
    "last_login_at": "When the user last signed in; null if unknown.",
    "first_login_at": "When the user first signed in.",
    "linked_identities oauth_identities": "The accounts at external providers with which the user signs in.",
    "linked_at": "When it was linked.",
    "provider_user_id": "The id of the user at the provider.",
    "active_count": field("How many sessions are active.", **_COUNT),
    "last_created_at": "When the newest session began; null if there is none.",
    "sessions_revoked": field("How many sessions were ended.", **_COUNT),
    "org": "The slug of the organization of your token; empty without one.",
    "service": "The slug of the service of your token; empty without one.",
    "SecretRotated.service ServiceCreated.service": "The service.",
    "plan": "The name of your plan of the service; null without one.",
    "features": field(
        "The features of your plan of the service.",
        sent="What the plan includes, in words that the service understands.",
        examples=[["reports"]],
    ),
    # Lists, logs and figures
    "pagination": "The position in the whole list.",
    "page": field("The number of the page, from 1.", examples=[1]),
    "limit": field(_SMALL_PAGE, examples=[50]),
    "Latest.limit": field("At most how many to list; more than 10,000 is lowered to 10,000.", examples=[50]),
    "PageInfo.limit Pagination.limit": field("At most how many items the page has.", minimum=1),
    "offset": field("How many to skip.", examples=[0]),
    "total_pages": field("How many pages there are.", **_COUNT),
    "has_next": "Whether there is a next page.",
    "has_prev": "Whether there is a previous page.",
    "search": "Only users whose email address contains this.",
    "EndUsersQuery.service_id": "Only users of this service.",
    "UserSearch.user_id": "Only the user with this id.",
    "logs": "The entries, newest first.",
    "actor": "Who did it.",
    "AuditLogActor.id": field(
        "The id of the user; `api_key:` or `setup_link:` with an id for a key of the organization or the holder of a"
        " setup link; `system` for Gatehouse itself, and where the details name another credential.",
        examples=["system"],
    ),
    "OrganizationOwner.id": "The id of the user, or `unknown` if the account no longer exists.",
    "action": field("What was done.", examples=["organization.updated"]),
    "target_type": field("The type of what was changed.", examples=["organization"]),
    "target_id": "The id of what was changed.",
    "details": "More about it; the fields depend on what happened.",
    "value": field("The name of the type, for programs.", examples=[EventType.USER_INVITED.value]),
    "label": field("The name of the type, for people.", examples=[EventType.USER_INVITED.label]),
    "category": "The group that the type belongs to.",
    "EventTypeItem.description": "What happened when an event of this type is recorded.",
    "date": field("The day, in UTC.", examples=["2026-02-03"]),
    "start_date": field("The first day, in UTC; 30 days ago by default.", examples=["2026-01-04"]),
    "end_date": field("The last day, in UTC; today by default.", examples=["2026-02-03"]),
    "count": field("How many there were.", **_COUNT),
    # The platform
    "reason": field("The reason, which is recorded.", **_REASON, examples=["Requested by the customer."]),
    "OrganizationRejection.reason OrganizationSuspension.reason": field(
        "The reason, which the members can read.", **_REASON
    ),
    "mfa_enabled_at": "When the second factor was turned on; null if it is off.",
    "backup_codes_remaining": field("How many backup codes are unused.", **_COUNT),
    "last_mfa_challenge": "When the user last tried a code; null if not in the last 400 days.",
    "total_users": field("How many accounts there are.", **_COUNT),
    "mfa_enabled_users": field("How many accounts have a second factor.", **_COUNT),
    "mfa_adoption_rate": field("The share of the accounts with a second factor, in percent.", minimum=0, maximum=100),
    "backup_codes_used_7d": field("How many backup codes were used in the last seven days.", **_COUNT),
    "mfa_failures_7d": field("How many wrong codes were sent in the last seven days.", **_COUNT),
    "alerts": "The alerts, newest first.",
    "alert_type": "What was noticed.",
    "detected_at": "When it was noticed.",
    # Personal data
    "memberships": "The organizations that the user is a member of.",
    "login_events": "The newest attempts to sign in of the last 400 days, at most 1,000.",
    "login_events_count": field("How many attempts to sign in there were in the last 400 days.", **_COUNT),
    "ExportedIdentity.own_id": "The id by which the organization's provider itself names the user, where another one"
    " is taken; null elsewhere.",
    "ExportedIdentity.name": "What the organization's provider called the user last; null if it says nothing.",
    "ExportedIdentity.given_name": "The given name that it said last; null if it says none.",
    "ExportedIdentity.family_name": "The family name that it said last; null if it says none.",
    "ExportedIdentity.left_at": "When the user left the organization of the provider, which unlinked the account; null"
    " while it is linked.",
    "mfa_events": "The events of the second factor and of the account's security, at most the newest 10,000.",
    "event_type": field("What happened.", examples=["mfa_enabled"]),
    "risk_score": field("The risk of the sign-in.", minimum=0, maximum=100),
    "risk_factors": field("What the risk consists of: a list of words as a JSON text.", examples=['["new_device"]']),
    "geo_country": "The country of the network address, as a code of ISO 3166; null if unknown.",
    "geo_city": "The city of the network address; null if unknown.",
    # Operation
    "keys": "The keys, each as a JSON Web Key (RFC 7517).",
    "version": field("The version of Gatehouse.", examples=["1.0.0"]),
    "database": "Whether the database answers.",
    "problem": "What the operator should do when the service is not ready, else null.",
    "actors": "The state of each background task, by its name.",
    "messages": "The mails, newest first.",
    "to": "The address of the recipient.",
    "subject": "The subject.",
    "text": "The text part.",
    "html": "The HTML part.",
}
PARTS: Final = (
    descriptions_of_customers.FIELDS,
    descriptions_of_event_data.FIELDS,
    descriptions_of_events.FIELDS,
    descriptions_of_oauth.FIELDS,
    descriptions_of_pages.FIELDS,
    descriptions_of_sales.FIELDS,
    descriptions_of_scim.FIELDS,
    descriptions_of_settings.FIELDS,
    descriptions_of_sign_ins.FIELDS,
    _GENERAL,
)
FIELDS: Final = by_field(PARTS)
