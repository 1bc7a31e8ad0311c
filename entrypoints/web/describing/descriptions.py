"""What the fields of the interface mean, and what they take, for the reference and the OpenAPI document.

A word has one meaning in the whole interface, so a field is described once, by its name. Where a field of one schema
says more or takes something else, `Schema.field` comes first; `Schema` is the name in the OpenAPI document, the name
of the class of a query, or the id of an operation for a parameter of its path. A field that is not described here, and
a line that describes no field, fail `tests/web/describing/test_descriptions.py`.

Besides the description, a line may have keywords of JSON Schema that the type does not state because the rule is
decided in core; and as `sent`, what a request has to know of the value.
"""

from typing import Any, Final

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
    descriptions_of_factors,
    descriptions_of_oauth,
    descriptions_of_pages,
    descriptions_of_sales,
    descriptions_of_saml,
    descriptions_of_scim,
    descriptions_of_settings,
    descriptions_of_sign_ins,
    descriptions_of_support,
    descriptions_of_upstream,
)

# The keyword of a line for what only those who send the field need to know.
SENT: Final = "sent"


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


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

_OTHERS: Final = (
    descriptions_of_customers.FIELDS
    | descriptions_of_event_data.FIELDS
    | descriptions_of_events.FIELDS
    | descriptions_of_factors.FIELDS
    | descriptions_of_oauth.FIELDS
    | descriptions_of_pages.FIELDS
    | descriptions_of_sales.FIELDS
    | descriptions_of_saml.FIELDS
    | descriptions_of_scim.FIELDS
    | descriptions_of_settings.FIELDS
    | descriptions_of_sign_ins.FIELDS
    | descriptions_of_support.FIELDS
    | descriptions_of_upstream.FIELDS
)
FIELDS: Final[dict[str, dict[str, Any]]] = _OTHERS | {
    # Errors
    "error": _field("What went wrong, and what to do next, for people.", examples=["There is no such organization."]),
    "error_code": _field("What went wrong, for programs."),
    "request_id": _field(
        "The id of this request, as in the header `X-Request-Id` and in the log of Gatehouse.",
        examples=["5f0c8c9d2f6b4b6a9d53c1a7c1f0e2ab"],
    ),
    "Error.timestamp": _field("When the request was refused."),
    "Error.details": _field("Every invalid field. It is missing when the problem is not about single fields."),
    "field": _field("The path of the field in the body, or its name in the query.", examples=["email"]),
    "FieldError.message": _field("What is wrong with the field.", examples=["This is not a valid email address."]),
    # Ids, names and times
    "id": _field("The unique id."),
    "user_id": _field("The id of the user."),
    "org_id": _field("The id of the organization."),
    "PlatformAuditLogEntryRecord.org_id": _field("The id of the organization; null if the action concerned none."),
    "organization_id": _field("The id of the organization."),
    "service_id": _field("The id of the service."),
    "RecentLogin.service_id": _field("The id of the service that was signed in to; null for Gatehouse itself."),
    "device_id": _field("The id of the device on which the session began; null if it is unknown."),
    "session_id": _field("The id of the session."),
    "invitation_id": _field("The id of the invitation."),
    "message_id": _field("The id of the mail."),
    "audit_log_id": _field("The id of the entry in the platform's audit log."),
    "connection_id": _field("The id of the connection to the identity provider."),
    "slug": _field("The short name that paths contain. It never changes.", **_SLUG, examples=["acme"]),
    "org_slug": _field("The slug of the organization.", **_SLUG, examples=["acme"]),
    "organization_slug": _field("The slug of the organization.", **_SLUG, examples=["acme"]),
    "service_slug": _field("The slug of the service.", **_SLUG, examples=["shop"]),
    "role_slug": _field("The slug of the role.", **_SLUG, examples=["auditor"]),
    "name": _field("The name for people.", **_NAME, examples=["Example"]),
    "OrganizationCreation.name": _field(
        "The name for people.", **_NAME | {"minLength": NAME_CHARACTERS_MIN}, examples=["Acme Ltd"]
    ),
    "OrganizationUpdate.name": _field(
        "The name for people.", **_NAME | {"minLength": NAME_CHARACTERS_MIN}, examples=["Acme Ltd"]
    ),
    "NewPlan.name": _field("The name for people.", sent=_SENT_NAME, **_NAME, examples=["Example"]),
    "NewService.name": _field("The name for people.", sent=_SENT_NAME, **_NAME, examples=["Example"]),
    "PlanChange.name": _field("The name for people.", sent=_SENT_NAME, **_NAME, examples=["Example"]),
    "ServiceChange.name": _field("The name for people.", sent=_SENT_NAME, **_NAME, examples=["Example"]),
    "Tier.name": _field("The name for programs.", examples=["professional"]),
    "TierSummary.name": _field("The name for programs.", examples=["professional"]),
    "assets_asset.name": _field("The name of the file, as the pages contain it.", examples=["gatehouse.css"]),
    "display_name": _field("The name for people.", examples=["Professional"]),
    "service_name": _field("The name of the service."),
    "description": _field("A description for people.", maxLength=DESCRIPTION_CHARACTERS_MAX, examples=["Reads logs."]),
    "created_at": _field("When it was created."),
    "Role.created_at": _field("When the role was created; null for a built-in role."),
    "updated_at": _field("When it was last changed."),
    "Role.updated_at": _field("When the role was last changed; null for a built-in role."),
    "timestamp": _field("When it happened."),
    "joined_at": _field("When the user became a member."),
    "expires_at": _field("When it expires."),
    "last_used_at": _field("When it was last used."),
    "PasskeyItem.last_used_at": _field("When it was last used to sign in; null if never."),
    "ChangedPasskeyItem.last_used_at": _field("When it was last used to sign in; null if never."),
    # People and addresses
    "email": _field("The email address.", **_EMAIL),
    "AuditLogActor.email": _field("The email address; a placeholder if the account no longer exists."),
    "LinkedIdentity.email": _field("The email address that the provider gave; null if none.", **_EMAIL),
    **{
        f"{schema}.name": _field("What the person is called; null when no name is known.", examples=["Ada Lovelace"])
        for schema in ("Profile", "MemberUser", "EndUser", "EndUserDetails", "PlatformUser", "PersonalDataExport")
    },
    **{
        f"{schema}.name": _field(
            "What the person is called.", **_NAME, examples=["Ada Lovelace"], **{SENT: _SENT_PERSON}
        )
        for schema in ("Registration", "ProfileUpdate")
    },
    "ProfileUpdate.email": _field("The new email address.", **_EMAIL),
    "PasskeySignInStart.email": _field("The email address of the account; without it, any passkey fits."),
    "MailedLinkRequest.email": _field("The email address to send the link to.", examples=["ada@example.com"]),
    "Login.email": _field("The email address of the account.", examples=["ada@example.com"]),
    "MfaAlert.email": _field("The email address of the user."),
    "PersonalDataExport.email": _field("The email address."),
    "MailboxMessage.language": _field("The tag (BCP 47) of the language in which it is written.", examples=["en"]),
    "PersonalDataExport.language": _field(
        "The tag (BCP 47) of the language that the person has chosen or registered with; null when it is not known.",
        examples=["de"],
    ),
    "UserSearch.email": _field("A part of the email address."),
    "email_verified": _field("Whether the user has proved that the address is theirs."),
    "is_platform_owner": _field("Whether the user manages the whole platform."),
    "user": _field("The user."),
    "owner": _field("The owner of the organization."),
    "PlatformOrganization.owner": _field("The owner of the organization; null while it has none."),
    "PlatformOrganization.unclaimed": _field(
        "Whether a vendor has made the organization for a customer, and no person owns it yet."
    ),
    "impersonated_user": _field("The user that the session impersonates."),
    "users": _field("The users."),
    "hint": _field("Why a search may have found less than expected; only where it has."),
    "ip_address": _field("The network address of the request; null if unknown.", **_ADDRESS),
    "last_ip": _field("The network address of the last request; empty if unknown.", **_ADDRESS),
    "user_agent": _field("The browser or program, as it names itself; null if unknown.", **_USER_AGENT),
    # Signing in
    "password": _field("The password.", format="password", examples=["correct horse battery staple"]),
    "Registration.password": _field(f"The password of the new account. {_ACCEPTED}", **_PASSWORD),
    "new_password": _field(f"The new password. {_ACCEPTED}", **_PASSWORD),
    "PasswordResetForm.new_password": _field("The new password."),
    "repeated": _field("The new password again."),
    "current_password": _field("The present password.", format="password", examples=["incorrect horse"]),
    "redirect_uri": _field(
        "Where the page of the mailed link leads back to: exactly an address that the service has registered.",
        format="uri",
        examples=["https://app.example.com/welcome"],
    ),
    "access_token": _field("The JWT to send as `Authorization: Bearer …`.", **_JWT),
    "PendingSecondFactor.access_token": _field(
        "The same as `preauth_token`, which no other path than `POST /api/auth/mfa/verify` accepts.", **_JWT
    ),
    "refresh_token": _field("The token that `POST /api/auth/refresh` exchanges for new tokens, once.", **_TOKEN),
    "PendingSecondFactor.refresh_token": _field("Empty: there is no session yet.", const=""),
    "expires_in": _field("After how many seconds the access token expires.", minimum=0, examples=[900]),
    "token_type": _field("How the access token is sent.", const="Bearer"),
    "password_notice": _field(
        "`breached` when the password is known from a data breach: ask the user to change it. Otherwise it is missing."
    ),
    "device_token": _field("The token that recognizes this device: send it as `X-Device-Token`.", **_TOKEN),
    "SignInTokens.method": _field(
        "The second factor that was used, if one was.", enum=["totp", "backup_code", "passkey"]
    ),
    "PendingSecondFactor.mfa_required": _field("Always true: no session has begun yet.", const=True),
    "preauth_token": _field("The token that `POST /api/auth/mfa/verify` takes with the second factor.", **_JWT),
    "PasskeyFactorStart.preauth_token": _field("The pre-auth token, unless it is sent as a bearer token.", **_JWT),
    "MfaVerification.preauth_token": _field("The pre-auth token, unless it is sent as a bearer token.", **_JWT),
    "trust_device": _field("Whether this device remembers the second factor for a while."),
    "token": _field("The token of the mailed link, which can be used once.", **_UUID_TOKEN),
    "CreatedInvitation.token": _field("The token of the invitation, which is shown here only.", **_UUID_TOKEN),
    "InvitationRecord.token": _field("The SHA-256 of the token.", examples=["9f86d081884c7d659a2feaa0c55ad015"]),
    "ReceivedInvitationRecord.token": _field("The token to accept or decline the invitation with.", **_UUID_TOKEN),
    "InvitationAcceptance.token": _field("The token of the invitation.", **_UUID_TOKEN),
    "InvitationDecline.token": _field("The token of the invitation.", **_UUID_TOKEN),
    "MagicLinkSignIn.token": _field(
        "The token of the link, or the code that its page shows; without `challenge_id` and `code`.", **_UUID_TOKEN
    ),
    "MagicLinkSignIn.challenge_id": _field("What the request for the mail has answered; with `code`."),
    "MagicLinkSignIn.code": _field("The six digits in the mail.", examples=["123456"]),
    "MagicLinkRequested.challenge_id": _field(
        "What `POST /api/auth/magic-link/verify` takes with the code of the mail; keep it to this client."
    ),
    "proof": _field("The proof that only the mailed link contains: it verifies the address.", **_UUID_TOKEN),
    "domain": _field("The domain of the email address.", examples=["example.com"]),
    "auth_method": _field("How the addresses of the domain sign in."),
    "provider_name": _field("The name of the identity provider."),
    "EmailLookupResult.organization": _field("The slug of the organization that the domain belongs to."),
    "sso_required": _field("Whether the organization requires its own single sign-on."),
    "login_url": _field("Where to sign in.", format="uri"),
    "message": _field("What was done, for people."),
    "success": _field("Whether it succeeded."),
    # Sessions and devices
    "SessionList.sessions": _field("The active sessions, the most recently used first."),
    "EndUserDetails.sessions": _field("The sessions of the user in this organization."),
    "total": _field("How many there are in total.", **_COUNT),
    "is_current": _field("Whether this request comes from it."),
    "provider": _field("The sign-in method, such as `password`.", examples=["password"]),
    "devices": _field("The devices, the most recently used first."),
    "device_type": _field("What kind of device it is."),
    "browser": _field("The browser; empty if unknown.", examples=["Firefox"]),
    "browser_version": _field("The version of the browser; empty if unknown.", examples=["140.0"]),
    "os": _field("The operating system; empty if unknown.", examples=["Linux"]),
    "os_version": _field("The version of the operating system; empty if unknown."),
    "trusted": _field("Whether the device remembers the second factor."),
    "last_location": _field("Where the last sign-in from the device came from."),
    "city": _field("The city; empty if unknown.", examples=["London"]),
    "country": _field("The country as a code of ISO 3166; empty if unknown.", examples=["GB"]),
    "DeviceDetails.risk_score": _field("The risk of the last sign-in from the device.", minimum=0, maximum=1),
    "PasskeyRegistration.name": _field("The name of the passkey; by default the name of the browser.", **_NAME),
    # Organizations and members
    "organization": _field("The organization."),
    "organizations": _field("The organizations."),
    "OrganizationUpdate.mfa_required": _field("Whether members need a second factor."),
    "mfa_required": _field("Whether members need a second factor."),
    "mfa_methods": _field("Which second factors count where members need one."),
    "device_trust_days": _field("For how many days a trusted device remembers the second factor; 0 means never."),
    "status": _field("The state."),
    "MembershipSummary.status": _field("`inactive` while the membership is deactivated, which takes all access."),
    "MembershipRecord.status": _field("`inactive` while the membership is deactivated, which takes all access."),
    "GroupMemberItem.status": _field("`inactive` while the membership is deactivated, which takes all access."),
    "Grantee.status": _field("`inactive` while the membership is deactivated, which takes all access."),
    "Health.status": _field("Always `healthy`: the service responds."),
    "OrganizationsQuery.status": _field("Only organizations in this state."),
    "InvitationsWanted.status": _field("Only invitations in this state."),
    "tier": _field("The tier."),
    "tier_id": _field("The id of the tier."),
    "OrganizationApproval.tier_id": _field("The id of the tier to begin in; by default the present one."),
    "OrganizationsQuery.tier_id": _field("Only organizations of this tier."),
    "max_services": _field("The organization's own limit of services; null for the tier's limit.", minimum=0),
    "max_users": _field("The organization's own limit of members; null for the tier's limit.", minimum=0),
    "MemberLimits.max_users": _field("How many members the organization can have; null for no limit.", minimum=0),
    "default_max_services": _field("How many services an organization can have; null for no limit.", minimum=0),
    "default_max_users": _field("How many members an organization can have; null for no limit.", minimum=0),
    "price_cents": _field(
        "The price per month in cents.", sent="The price of a period, in cents of the currency.", minimum=0
    ),
    "approved_at": _field("When it was approved; null if it was not."),
    "approved_by": _field("The id of the platform owner who approved it; null if it was approved automatically."),
    "rejected_at": _field("When it was rejected; null if it was not."),
    "rejection_reason": _field("Why it was rejected; null if it was not."),
    "deletes_at": _field(
        "When it is deleted permanently, unless its owner restores it before; null if its owner has not deleted it."
    ),
    "suspended_at": _field("When it was suspended; null if it is not suspended."),
    "suspension_reason": _field("Why it was suspended; null if no reason was given."),
    "membership": _field("The membership of the user."),
    "membership_count": _field("How many members the organization has.", **_COUNT),
    "service_count": _field("How many services the organization has.", **_COUNT),
    "members": _field("The members."),
    "limits": _field("The limit of the number of members."),
    "source": _field("Where the limit is set."),
    "CurrentOwner.role": _field("The role of the new owner."),
    "role": _field("The role: `owner`, `admin`, `member`, or the slug of a custom role.", **_SLUG, examples=["admin"]),
    "MemberUpdate.role": _field("The new role: `admin`, `member`, or the slug of a custom role.", examples=["admin"]),
    "InvitationCreation.role": _field("`member`, `admin`, or the slug of a custom role.", examples=["member"]),
    "MembersQuery.role": _field("Only members with this role; a custom one by its slug."),
    "Profile.role": _field("Your role in the organization of your token; null without one."),
    "new_owner_user_id": _field("The id of the member who becomes the owner."),
    "old_owner": _field("The previous owner."),
    "new_owner": _field("The new owner."),
    "new_role": _field("The role that the previous owner has now."),
    "roles": _field("The roles, the built-in ones first."),
    "permissions": _field("The capabilities of the role.", **_PERMISSIONS),
    "Profile.permissions": _field("Your capabilities in the organization of your token.", **_PERMISSIONS),
    "is_built_in": _field("Whether the role is built in, and so cannot be changed."),
    "grants": _field("The grants."),
    "relation": _field("What the member may do with the service."),
    "granted_by": _field("The id of the member who granted it; null if the account no longer exists."),
    "invitation": _field("The invitation."),
    "InvitationCreation.services": _field(
        "The slugs of services of the organization that the person is linked to with the membership, at most 20."
        " They require `end_users.manage`.",
        examples=[["shop"]],
    ),
    "InvitationRecord.services": _field(
        "The slugs of the services that the person is linked to with the membership.", examples=[["shop"]]
    ),
    "InvitationCreation.message": _field(
        "What the person sees on the page of the invitation: plain text without web addresses. No mail has it.",
        maxLength=MESSAGE_CHARACTERS_MAX,
        examples=["Welcome to the team."],
    ),
    "InvitationRecord.message": _field("What the person sees on the page of the invitation; null for nothing."),
    "ReceivedInvitationRecord.message": _field("What the inviter says to you; null for nothing."),
    "PersonalDataExport.messages": _field(
        "The messages of invitations that the person has sent, and got after a proof of the address."
    ),
    "ExportedMessage.message": _field("The message.", examples=["Welcome to the team."]),
    "is_sent": _field("Whether the person has sent it; else it was sent to them."),
    "service_names": _field("The names of the services that come with the membership.", examples=[["Shop"]]),
    "inviter": _field("The member who invited."),
    "invited_by": _field("The id of the member who invited; null if the account no longer exists."),
    # End users
    "mfa_enabled": _field("Whether the user has a second factor."),
    "services": _field("The services that the user has signed in to."),
    "EndUser.services": _field("The services that the user has signed in to.", examples=[["shop"]]),
    "last_login_at": _field("When the user last signed in; null if unknown."),
    "first_login_at": _field("When the user first signed in."),
    "linked_identities": _field("The accounts at external providers with which the user signs in."),
    "linked_at": _field("When it was linked."),
    "provider_user_id": _field("The id of the user at the provider."),
    "active_count": _field("How many sessions are active.", **_COUNT),
    "last_created_at": _field("When the newest session began; null if there is none."),
    "sessions_revoked": _field("How many sessions were ended.", **_COUNT),
    "org": _field("The slug of the organization of your token; empty without one."),
    "service": _field("The slug of the service of your token; empty without one."),
    "SecretRotated.service": _field("The service."),
    "ServiceCreated.service": _field("The service."),
    "plan": _field("The name of your plan of the service; null without one."),
    "features": _field(
        "The features of your plan of the service.",
        sent="What the plan includes, in words that the service understands.",
        examples=[["reports"]],
    ),
    # Lists, logs and figures
    "pagination": _field("The position in the whole list."),
    "page": _field("The number of the page, from 1.", examples=[1]),
    "limit": _field(_SMALL_PAGE, examples=[50]),
    "Latest.limit": _field("At most how many to list; more than 10,000 is lowered to 10,000.", examples=[50]),
    "PageInfo.limit": _field("At most how many items the page has.", minimum=1),
    "Pagination.limit": _field("At most how many items the page has.", minimum=1),
    "offset": _field("How many to skip.", examples=[0]),
    "total_pages": _field("How many pages there are.", **_COUNT),
    "has_next": _field("Whether there is a next page."),
    "has_prev": _field("Whether there is a previous page."),
    "search": _field("Only users whose email address contains this."),
    "EndUsersQuery.service_id": _field("Only users of this service."),
    "UserSearch.user_id": _field("Only the user with this id."),
    "logs": _field("The entries, newest first."),
    "actor": _field("Who did it."),
    "AuditLogActor.id": _field(
        "The id of the user; `api_key:` or `setup_link:` with an id for a key of the organization or the holder of a"
        " setup link; `system` for Gatehouse itself, and where the details name another credential.",
        examples=["system"],
    ),
    "OrganizationOwner.id": _field("The id of the user, or `unknown` if the account no longer exists."),
    "OrganizationOwner.email": _field("The email address; a placeholder if the account no longer exists."),
    "action": _field("What was done.", examples=["organization.updated"]),
    "target_type": _field("The type of what was changed.", examples=["organization"]),
    "target_id": _field("The id of what was changed."),
    "details": _field("More about it; the fields depend on what happened."),
    "value": _field("The name of the type, for programs.", examples=[EventType.USER_INVITED.value]),
    "label": _field("The name of the type, for people.", examples=[EventType.USER_INVITED.label]),
    "category": _field("The group that the type belongs to."),
    "EventTypeItem.description": _field("What happened when an event of this type is recorded."),
    "date": _field("The day, in UTC.", examples=["2026-02-03"]),
    "start_date": _field("The first day, in UTC; 30 days ago by default.", examples=["2026-01-04"]),
    "end_date": _field("The last day, in UTC; today by default.", examples=["2026-02-03"]),
    "count": _field("How many there were.", **_COUNT),
    # The platform
    "reason": _field("The reason, which is recorded.", **_REASON, examples=["Requested by the customer."]),
    "OrganizationRejection.reason": _field("The reason, which the members can read.", **_REASON),
    "OrganizationSuspension.reason": _field("The reason, which the members can read.", **_REASON),
    "mfa_enabled_at": _field("When the second factor was turned on; null if it is off."),
    "backup_codes_remaining": _field("How many backup codes are unused.", **_COUNT),
    "last_mfa_challenge": _field("When the user last tried a code; null if not in the last 400 days."),
    "total_users": _field("How many accounts there are.", **_COUNT),
    "mfa_enabled_users": _field("How many accounts have a second factor.", **_COUNT),
    "mfa_adoption_rate": _field("The share of the accounts with a second factor, in percent.", minimum=0, maximum=100),
    "backup_codes_used_7d": _field("How many backup codes were used in the last seven days.", **_COUNT),
    "mfa_failures_7d": _field("How many wrong codes were sent in the last seven days.", **_COUNT),
    "alerts": _field("The alerts, newest first."),
    "alert_type": _field("What was noticed."),
    "detected_at": _field("When it was noticed."),
    # Personal data
    "memberships": _field("The organizations that the user is a member of."),
    "login_events": _field("The newest attempts to sign in of the last 400 days, at most 1,000."),
    "login_events_count": _field("How many attempts to sign in there were in the last 400 days.", **_COUNT),
    "oauth_identities": _field("The accounts at external providers with which the user signs in."),
    "ExportedIdentity.own_id": _field(
        "The id by which the organization's provider itself names the user, where another one is taken; null elsewhere."
    ),
    "ExportedIdentity.name": _field("What the organization's provider called the user last; null if it says nothing."),
    "ExportedIdentity.given_name": _field("The given name that it said last; null if it says none."),
    "ExportedIdentity.family_name": _field("The family name that it said last; null if it says none."),
    "ExportedIdentity.left_at": _field(
        "When the user left the organization of the provider, which unlinked the account; null while it is linked."
    ),
    "mfa_events": _field("The events of the second factor and of the account's security, at most the newest 10,000."),
    "event_type": _field("What happened.", examples=["mfa_enabled"]),
    "risk_score": _field("The risk of the sign-in.", minimum=0, maximum=100),
    "risk_factors": _field("What the risk consists of: a list of words as a JSON text.", examples=['["new_device"]']),
    "geo_country": _field("The country of the network address, as a code of ISO 3166; null if unknown."),
    "geo_city": _field("The city of the network address; null if unknown."),
    # Operation
    "keys": _field("The keys, each as a JSON Web Key (RFC 7517)."),
    "version": _field("The version of Gatehouse.", examples=["1.0.0"]),
    "database": _field("Whether the database answers."),
    "problem": _field("What the operator should do when the service is not ready, else null."),
    "actors": _field("The state of each background task, by its name."),
    "messages": _field("The mails, newest first."),
    "to": _field("The address of the recipient."),
    "subject": _field("The subject."),
    "text": _field("The text part."),
    "html": _field("The HTML part."),
}
