"""What people do in the consoles and in their own account, each with the page or form that does it, for the search.

Each is a `Section` whose name says what is done; it stands in no navigation. It asks for what its form asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.organizations.access import Operation, RequiredStanding
from core.organizations.standing import Standing
from core.platform.console import PlatformStanding
from entrypoints.pages.console.sections import Section, lacks, lacks_on_platform
from entrypoints.pages.frame.languages import marked

OF_ORGANIZATION: Final = (
    Section(
        "/people/invited#invite-form",
        marked("Invite people"),
        marked("add new members colleagues users team"),
        Operation.INVITATIONS_CHANGE,
    ),
    Section(
        "/services/new",
        marked("Create a service"),
        marked("add new application app client register OpenID OAuth SAML"),
        Operation.SERVICE_CREATE,
    ),
    Section(
        "/sign-in/connections/new",
        marked("Connect an identity provider"),
        marked("add new connection SSO single sign-on Okta Entra Google SAML OpenID"),
        Operation.CONNECTION_CONFIGURE,
    ),
    Section(
        "/sign-in/mail-domains#new-form",
        marked("Add a mail domain"),
        marked("new verify enforce TXT"),
        Operation.DOMAIN_ROUTES_CHANGE,
    ),
    Section(
        "/sign-in/second-factors",
        marked("Require a second factor"),
        marked("MFA 2FA two-factor enforce passkeys"),
        Operation.SIGN_IN_RULES_CHANGE,
    ),
    Section("/roles#new-form", marked("Create a role"), marked("add new permissions"), Operation.ROLES_CHANGE),
    Section(
        "/webhooks/new",
        marked("Create a webhook"),
        marked("add new endpoint receive events"),
        Operation.WEBHOOK_CONFIGURE,
    ),
    Section(
        "/keys#new-form", marked("Create an API key"), marked("add new token secret program"), Operation.KEY_CREATE
    ),
    Section(
        "/provisioning",
        marked("Connect a directory"),
        marked("create SCIM token provisioning Okta Entra"),
        Operation.SCIM_TOKEN_CREATE,
    ),
    Section(
        "/setup-links#new-form",
        marked("Create a setup link"),
        marked("send new IT admin delegate"),
        Operation.SETUP_LINK_CREATE,
    ),
    Section(
        "/siem",
        marked("Send the audit log to a SIEM"),
        marked("stream connect receiver Splunk Datadog Elastic"),
        Operation.SIEM_CONFIGURE,
    ),
    Section("/branding", marked("Change the logo and the colors"), marked("brand look"), Operation.BRANDING_CHANGE),
    Section("/domain", marked("Use your own domain"), marked("custom DNS CNAME"), Operation.DOMAIN_CHANGE),
    Section("/mail", marked("Set up a mail server"), marked("SMTP sender email"), Operation.MAIL_SERVER_SET),
    Section(
        "/why",
        marked("Find out why someone cannot sign in"),
        marked("help locked out problem"),
        Operation.SIGN_INS_EXPLAIN,
    ),
    Section("/settings", marked("Rename the organization"), marked("change name"), Operation.ORGANIZATION_UPDATE),
    Section(
        "/settings/ownership",
        marked("Transfer the ownership"),
        marked("owner hand over"),
        Operation.OWNERSHIP_TRANSFER,
    ),
    Section("/settings#ending", marked("Leave the organization"), asks=Operation.ORGANIZATION_LEAVE),
    Section(
        "/settings/delete", marked("Delete the organization"), marked("remove close"), Operation.ORGANIZATION_DELETE
    ),
)
OF_PLATFORM: Final = (
    Section(
        "/organizations?status=pending",
        marked("Approve organizations"),
        marked("waiting pending reject requests"),
        RequiredStanding.OWNER,
    ),
    Section("/tiers#new-form", marked("Create a tier"), marked("add new limits price"), RequiredStanding.OWNER),
    Section("/owners", marked("Appoint an owner or support"), marked("add new admin staff"), RequiredStanding.OWNER),
    Section("/why", marked("Find out why someone cannot sign in"), marked("help locked out problem")),
)
OF_ACCOUNT: Final = (
    Section("/name", marked("Change your name"), marked("rename display name")),
    Section("/email", marked("Change your email address"), marked("mail new address")),
    Section("/password", marked("Change your password"), marked("new set")),
    Section("/second-factor", marked("Set up a second factor"), marked("MFA 2FA authenticator app")),
    Section("/passkeys/new", marked("Add a passkey"), marked("new create security key fingerprint WebAuthn")),
    Section("/sessions", marked("Sign out elsewhere"), marked("end sessions everywhere browsers")),
    Section("/lock", marked("Lock your account"), marked("stolen hacked taken over")),
    Section("/data", marked("Download your data"), marked("export privacy")),
    Section("/closing", marked("Close your account"), marked("delete remove")),
)
# Its page is the reader's list of organizations, outside of every console.
CREATE_ORGANIZATION: Final = Section(
    "/app/organizations#create-form", marked("Create an organization"), marked("add new company tenant team")
)


def actions_of(standing: Standing) -> Sequence[Section]:
    """Return what the reader may do in an organization."""
    return [
        one
        for one in OF_ORGANIZATION
        if isinstance(one.asks, Operation)
        and standing.organization.status in one.asks.statuses
        and lacks(standing, one) is None
    ]


def actions_of_platform(standing: PlatformStanding) -> Sequence[Section]:
    """Return what the reader may do on the platform."""
    return [one for one in OF_PLATFORM if lacks_on_platform(standing, one) is None]
