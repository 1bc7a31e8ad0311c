"""What the actions of the audit logs, and what they are done to, are called on pages: each has a text here."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from core.events.actions import AuditAction, PlatformAction
from entrypoints.pages.frame.languages import marked

ACTIONS: Final[Mapping[AuditAction, str]] = {
    AuditAction.USER_INVITED: marked("Invited a person"),
    AuditAction.USER_JOINED: marked("Became a member"),
    AuditAction.USER_REMOVED: marked("Removed a member"),
    AuditAction.USER_ROLE_UPDATED: marked("Changed the role of a member"),
    AuditAction.USER_UPDATED: marked("Changed the data of a member"),
    AuditAction.USER_DEACTIVATED: marked("Deactivated a member"),
    AuditAction.USER_REACTIVATED: marked("Activated a member again"),
    AuditAction.USER_ANONYMIZED: marked("Removed the personal data of a person for good"),
    AuditAction.USER_IMPERSONATED: marked("The platform began to act as a person, for a customer of a service"),
    AuditAction.USER_EXPORTED: marked("Exported the personal data of a person"),
    AuditAction.ACCOUNT_LOCKED: marked("Locked an account"),
    AuditAction.SESSION_REVOKED: marked("The identity provider ended the sessions of a person"),
    AuditAction.CUSTOMER_OFFERED: marked("Offered a service to an organization"),
    AuditAction.CUSTOMER_ACCEPTED: marked("An organization became a customer"),
    AuditAction.CUSTOMER_DECLINED: marked("An organization declined the offer of a service"),
    AuditAction.CUSTOMER_PAUSED: marked("Paused the use of a service by a customer"),
    AuditAction.CUSTOMER_RESUMED: marked("Lifted the pause of a customer"),
    AuditAction.CUSTOMER_OWNER_NAMED: marked("Mailed a link that makes its reader the owner of a customer"),
    AuditAction.CUSTOMER_CLAIMED: marked("A person became the owner of a customer"),
    AuditAction.CUSTOMER_CHANGED: marked("Changed what is noted about a customer"),
    AuditAction.CUSTOMER_ENDED: marked("Ended the use of a service by a customer, or an offer"),
    AuditAction.CUSTOMER_USER_ADDED: marked("A person of a customer was added"),
    AuditAction.CUSTOMER_USER_CHANGED: marked("A person of a customer changed"),
    AuditAction.CUSTOMER_USER_REMOVED: marked("A person of a customer was removed"),
    AuditAction.PRODUCT_ACCESS_ACCEPTED: marked("Began to use a product"),
    AuditAction.PRODUCT_ACCESS_DECLINED: marked("Declined a product"),
    AuditAction.PRODUCT_ACCESS_PAUSED: marked("Paused a product"),
    AuditAction.PRODUCT_ACCESS_RESUMED: marked("Lifted the pause of a product"),
    AuditAction.PRODUCT_ACCESS_ENDED: marked("Ended the use of a product"),
    AuditAction.PRODUCT_ACCESS_UPDATED: marked("Changed who may use a product"),
    AuditAction.SERVICE_CREATED: marked("Created a service"),
    AuditAction.SERVICE_UPDATED: marked("Changed a service"),
    AuditAction.SERVICE_ACCESS_CHANGED: marked("Changed who may sign in to a service"),
    AuditAction.SERVICE_DELETED: marked("Deleted a service"),
    AuditAction.SERVICE_OAUTH_CREDENTIALS_UPDATED: marked("Changed the credentials for an identity provider"),
    AuditAction.ORGANIZATION_UPDATED: marked("Changed the settings of the organization"),
    AuditAction.ORGANIZATION_DELETED: marked("Deleted the organization"),
    AuditAction.ORGANIZATION_RESTORED: marked("Restored the organization"),
    AuditAction.ORGANIZATION_CLAIMED: marked("Became the owner of the organization, which a vendor had made"),
    AuditAction.ORGANIZATION_SMTP_CONFIGURED: marked("Set the mail server"),
    AuditAction.ORGANIZATION_SMTP_REMOVED: marked("Removed the mail server"),
    AuditAction.ORGANIZATION_SMTP_TESTED: marked("Tested the mail server"),
    AuditAction.PLAN_CREATED: marked("Created a plan"),
    AuditAction.PLAN_UPDATED: marked("Changed a plan"),
    AuditAction.PLAN_DELETED: marked("Deleted a plan"),
    AuditAction.SUBSCRIPTION_CREATED: marked("Began a subscription"),
    AuditAction.SUBSCRIPTION_UPDATED: marked("Changed a subscription"),
    AuditAction.SUBSCRIPTION_CANCELED: marked("Cancelled a subscription"),
    AuditAction.INVITATION_ACCEPTED: marked("Accepted an invitation"),
    AuditAction.INVITATION_DECLINED: marked("Declined an invitation"),
    AuditAction.INVITATION_EXPIRED: marked("An invitation expired without an answer"),
    AuditAction.INVITATION_REVOKED: marked("Withdrew an invitation"),
    AuditAction.SECURITY_MFA_ENABLED: marked("Turned the second factor on"),
    AuditAction.SECURITY_MFA_DISABLED: marked("Turned the second factor off"),
    AuditAction.SECURITY_PASSWORD_CHANGED: marked("Changed the password"),
    AuditAction.API_KEY_CREATED: marked("Created an API key"),
    AuditAction.API_KEY_DELETED: marked("Deleted an API key"),
    AuditAction.WORKLOAD_CREATED: marked("Let a workload authenticate"),
    AuditAction.WORKLOAD_DELETED: marked("Deleted a workload"),
    AuditAction.ORGANIZATION_KEY_CREATED: marked("Created a management key"),
    AuditAction.ORGANIZATION_KEY_DELETED: marked("Deleted a management key"),
    AuditAction.DOMAIN_SET: marked("Set the organization's own domain"),
    AuditAction.DOMAIN_VERIFIED: marked("Verified the organization's own domain"),
    AuditAction.DOMAIN_DELETED: marked("Removed the organization's own domain"),
    AuditAction.BRANDING_UPDATED: marked("Changed the branding"),
    AuditAction.SAML_CONFIGURATION_UPDATED: marked("Changed the SAML settings of a service"),
    AuditAction.SAML_CERTIFICATE_CREATED: marked("Created a SAML certificate for a service"),
    AuditAction.SCIM_TOKEN_CREATED: marked("Created a token for a directory"),
    AuditAction.GROUP_CREATED: marked("Created a group of the directory"),
    AuditAction.GROUP_CHANGED: marked("Changed a group of the directory"),
    AuditAction.GROUP_DELETED: marked("Deleted a group of the directory"),
    AuditAction.SCIM_TOKEN_REVOKED: marked("Revoked a token of a directory"),
    AuditAction.SCIM_KEPT: marked("Kept members that a directory tried to remove"),
    AuditAction.SIEM_CONFIGURED: marked("Set the receiver of the audit log (SIEM)"),
    AuditAction.SIEM_REMOVED: marked("Removed the receiver of the audit log (SIEM)"),
    AuditAction.SIEM_TESTED: marked("Tested the receiver of the audit log (SIEM)"),
    AuditAction.AUDIT_LOG_EXPORTED: marked("Exported the audit log"),
    AuditAction.BILLING_PORTAL_OPENED: marked("Opened the billing portal"),
    AuditAction.WEBHOOK_TESTED: marked("Tested a webhook"),
    AuditAction.WEBHOOK_REDELIVERED: marked("Sent deliveries of a webhook again"),
    AuditAction.UPSTREAM_CONNECTION_CREATED: marked("Created a connection to an identity provider"),
    AuditAction.UPSTREAM_CONNECTION_UPDATED: marked("Changed a connection to an identity provider"),
    AuditAction.UPSTREAM_CONNECTION_DELETED: marked("Deleted a connection to an identity provider"),
    AuditAction.CONNECTION_CERTIFICATES_REPLACED: marked("Took over new certificates of an identity provider"),
    AuditAction.DOMAIN_ROUTE_CREATED: marked("Claimed a mail domain"),
    AuditAction.DOMAIN_ROUTE_UPDATED: marked("Changed where a mail domain signs in"),
    AuditAction.DOMAIN_ROUTE_VERIFIED: marked("Verified a mail domain"),
    AuditAction.DOMAIN_ROUTE_DELETED: marked("Gave up a mail domain"),
}
PLATFORM_ACTIONS: Final[Mapping[PlatformAction, str]] = {
    PlatformAction.ORGANIZATION_APPROVED: marked("Approved an organization"),
    PlatformAction.ORGANIZATION_REJECTED: marked("Rejected an organization"),
    PlatformAction.ORGANIZATION_SUSPENDED: marked("Suspended an organization"),
    PlatformAction.ORGANIZATION_ACTIVATED: marked("Activated an organization again"),
    PlatformAction.ORGANIZATION_TIER_CHANGED: marked("Changed the tier of an organization"),
    PlatformAction.ORGANIZATION_DELETED: marked("Deleted an organization"),
    PlatformAction.TIER_CREATED: marked("Created a tier"),
    PlatformAction.TIER_CHANGED: marked("Changed a tier"),
    PlatformAction.TIER_DELETED: marked("Deleted a tier"),
    PlatformAction.MFA_FORCE_DISABLED: marked("Turned off the second factor of a user"),
    PlatformAction.OWNER_PROMOTED: marked("Made a user a platform owner"),
    PlatformAction.OWNER_DEMOTED: marked("Demoted a platform owner"),
    PlatformAction.IMPERSONATION_STARTED: marked("Began to act as a user"),
    PlatformAction.IMPERSONATION_STOPPED: marked("Stopped acting as a user"),
    PlatformAction.IMPERSONATION_ACTED: marked("Did something while acting as a user"),
    PlatformAction.USER_ANONYMIZED: marked("Removed the personal data of a user for good"),
    PlatformAction.PERSON_ANONYMIZED: marked("Removed the personal data of a user, as the security log has it"),
    PlatformAction.USER_EXPORTED: marked("Exported the personal data of a user"),
    PlatformAction.SUPPORT_APPOINTED: marked("Appointed a person to the support"),
    PlatformAction.SUPPORT_DEMOTED: marked("Ended the support role of a person"),
    PlatformAction.USER_LOCKED: marked("Locked the account of a user"),
    PlatformAction.USER_UNLOCKED: marked("Unlocked the account of a user"),
    PlatformAction.USER_OPENED: marked("Opened the record of a user"),
    PlatformAction.LIST_NARROWED: marked("Narrowed a list to a person, an address, an id or a network"),
    PlatformAction.USER_SESSIONS_ENDED: marked("Ended the sessions of a user"),
    PlatformAction.USER_LIMITS_LIFTED: marked("Lifted the limits of a user"),
    PlatformAction.ADDRESS_LIMITS_LIFTED: marked("Lifted the limits of an address without an account"),
    PlatformAction.USER_VERIFICATION_SENT: marked("Sent the verification mail again"),
    PlatformAction.MAIL_RETRIED: marked("Let a mail be sent again"),
    PlatformAction.SIGNING_KEY_ROTATED: marked("Made a new signing key"),
    PlatformAction.SECRETS_REWRAPPED: marked("Encrypted the stored secrets with the newest master key"),
}
# What is said of an entry whose detail `change` has this value: the log has no action of its own for it.
CHANGES: Final[Mapping[str, str]] = {
    "access_granted": marked("Gave access to a service"),
    "access_revoked": marked("Withdrew access to a service"),
    "client_secret_rotated": marked("Made a new client secret for a service"),
    "client_secret_withdrawn": marked("Withdrew the client secret of a service"),
    "customer_changed": marked("Changed a customer of a service"),
    "group_rule_withdrawn": marked("Withdrew a rule of groups"),
    "group_rules_changed": marked("Changed the rules of groups"),
    "organization_created": marked("Created the organization"),
    "role_created": marked("Created a role"),
    "role_deleted": marked("Deleted a role"),
    "role_updated": marked("Changed a role"),
    "saml_configured": marked("Changed the SAML settings of a service"),
    "saml_deleted": marked("Deleted the SAML settings of a service"),
    "saml_fallen_back": marked("Put back the SAML settings of a service"),
    "saml_disabled": marked("Turned off SAML for a service"),
    "saml_metadata_imported": marked("Imported the SAML metadata of a service"),
    "webhook_created": marked("Created a webhook"),
    "webhook_deactivated": marked("A webhook was turned off, because its receiver is gone"),
    "webhook_deleted": marked("Deleted a webhook"),
    "webhook_switched_off": marked("Turned off a webhook"),
    "webhook_secret_rotated": marked("Made a new secret for a webhook"),
    "webhook_updated": marked("Changed a webhook"),
}
# The same by what was done to a setup link, and by the states of the organization before and after.
SETUP_LINKS: Final[Mapping[str, str]] = {
    "created": marked("Created a setup link"),
    "revoked": marked("Withdrew a setup link"),
}
ADOPTED: Final[Mapping[str, str]] = {
    "adopted": marked("Adopted"),
    "removed": marked("Removed by the organization"),
}
RULES: Final[Mapping[str, str]] = {
    "changed": marked("Changed the rule"),
    "created": marked("Made the rule"),
    "deleted": marked("Deleted the rule"),
}
STATUSES: Final[Mapping[tuple[str, str], str]] = {
    ("pending", "active"): marked("Approved the organization"),
    ("pending", "rejected"): marked("Rejected the organization"),
    ("pending", "suspended"): marked("Suspended the organization"),
    ("active", "suspended"): marked("Suspended the organization"),
    ("suspended", "active"): marked("Activated the organization again"),
}


class OrganizationPart(NamedTuple):
    """A part of an organization: the details with its id and its name, and what it is called."""

    id_detail: str
    name_detail: str
    words: str


# What entries are about whose target is the organization.
PARTS: Final = (
    OrganizationPart("webhook_id", "webhook_name", marked("Webhook")),
    OrganizationPart("provider_id", "provider_name", marked("Connection to the identity provider")),
    OrganizationPart("route_id", "domain", marked("Mail domain")),
    OrganizationPart("role_slug", "role_name", marked("Role")),
    OrganizationPart("scim_token_id", "scim_token_name", marked("Token of the directory")),
)
# What is said of an action whose detail of this name is false: it was asked for, and did not happen.
UNDONE: Final[Mapping[str, tuple[str, str]]] = {
    PlatformAction.USER_VERIFICATION_SENT.value: (
        "sent",
        marked("The verification mail was asked for again, but a limit held it back"),
    ),
}
# By the words of both logs.
TARGET_TYPES: Final[Mapping[str, str]] = {
    "user": marked("Person"),
    "service": marked("Service"),
    "organization": marked("Organization"),
    "plan": marked("Plan"),
    "subscription": marked("Subscription"),
    "invitation": marked("Invitation"),
    "api_key": marked("Key"),
    "key": marked("Key"),
    "domain": marked("Domain"),
    "branding": marked("Branding"),
    "group": marked("Group"),
    "customer": marked("Customer of a service"),
    "address": marked("Address without an account"),
    "mail": marked("Mail"),
    "list": marked("List"),
    "tier": marked("Tier"),
    "workload": marked("Workload"),
}
