"""The vocabulary of events: `<subject>.<what happened>`, with a label and a description for people.

An event is one row written in the transaction of the change (`uow.publish`). Webhook deliveries, SIEM batches and some
metrics derive from these rows; none of that is here. The vocabulary of the audit log is in `core/events/actions.py`.
"""

from datetime import datetime
from enum import Enum
from typing import Any
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.secrets import Secret


class EventType(Enum):
    """An event that can be subscribed to."""

    USER_LOGIN_SUCCESS = ("user.login.success", "Signed in", "A user signed in.")
    USER_LOGIN_FAILED = ("user.login.failed", "Sign-in failed", "A sign-in was refused.")
    USER_LOGOUT = ("user.logout", "Signed out", "A user ended a session.")
    USER_SIGNUP_SUCCESS = ("user.signup.success", "Signed up", "An account was created.")
    USER_MFA_ENABLED = ("user.mfa.enabled", "MFA enabled", "A user turned multi-factor authentication on.")
    USER_MFA_DISABLED = ("user.mfa.disabled", "MFA disabled", "Multi-factor authentication was turned off for a user.")
    USER_MFA_VERIFY_SUCCESS = ("user.mfa.verify.success", "MFA passed", "A user gave a correct second factor.")
    USER_MFA_VERIFY_FAILED = ("user.mfa.verify.failed", "MFA failed", "A user gave a wrong second factor.")
    USER_INVITED = ("user.invited", "User invited", "Someone was invited to the organization.")
    USER_JOINED = ("user.joined", "User joined", "A user became a member of the organization.")
    USER_REMOVED = ("user.removed", "User removed", "A member was removed from the organization.")
    USER_ROLE_UPDATED = ("user.role_updated", "Role changed", "A member's role was changed.")
    USER_UPDATED = (
        "user.updated",
        "User changed",
        "A member changed their own name, or the organization's directory changed the data of a member.",
    )
    USER_DEACTIVATED = ("user.deactivated", "User deactivated", "The organization's directory deactivated a member.")
    USER_REACTIVATED = (
        "user.reactivated",
        "User reactivated",
        "The organization's directory activated a member again.",
    )
    USER_ANONYMIZED = ("user.anonymized", "User anonymized", "A user's personal data were removed for good.")
    USER_IMPERSONATED = (
        "user.impersonated",
        "User impersonated",
        "The operator of the platform began to act as a user, for a customer of a service, to help.",
    )
    USER_EXPORTED = ("user.exported", "Data exported", "The personal data of a user were exported.")
    GROUP_CREATED = ("group.created", "Group created", "The organization's directory created a group.")
    GROUP_CHANGED = ("group.changed", "Group changed", "A group of the directory got another name or other members.")
    GROUP_DELETED = ("group.deleted", "Group deleted", "The organization's directory deleted a group.")
    CUSTOMER_OFFERED = ("customer.offered", "Service offered", "A service was offered to another organization.")
    CUSTOMER_ACCEPTED = (
        "customer.accepted",
        "Customer accepted",
        "An organization became a customer of a service: it accepted an offer, began by itself, or the vendor made it.",
    )
    CUSTOMER_DECLINED = ("customer.declined", "Offer declined", "An organization declined the offer of a service.")
    CUSTOMER_PAUSED = ("customer.paused", "Customer paused", "The use of a service by a customer was paused.")
    CUSTOMER_RESUMED = ("customer.resumed", "Customer resumed", "A pause of a customer was lifted.")
    CUSTOMER_ENDED = (
        "customer.ended",
        "Customer ended",
        "The use of a service by a customer ended, or an offer was withdrawn.",
    )
    CUSTOMER_OWNER_NAMED = (
        "customer.owner_named",
        "Owner of a customer named",
        "A link was mailed that makes its reader the owner of an organization that the vendor has made.",
    )
    CUSTOMER_CLAIMED = (
        "customer.claimed",
        "Customer claimed",
        "A person became the owner of an organization that the vendor has made for a customer.",
    )
    CUSTOMER_CHANGED = (
        "customer.changed",
        "Customer changed",
        "The vendor changed what it notes about a customer of a service.",
    )
    CUSTOMER_CONNECTION_CHANGED = (
        "customer.connection_changed",
        "Connection of a customer changed",
        "A connection that the vendor has made for a customer was configured, was tested, fails, or was removed.",
    )
    CUSTOMER_DOMAIN_PROVED = (
        "customer.domain_proved",
        "Mail domain of a customer proved",
        "A mail domain was proved for a customer, so that its addresses sign in by a connection of the customer.",
    )
    CUSTOMER_DOMAIN_LOST = (
        "customer.domain_lost",
        "Mail domain of a customer lost",
        "The proof of a customer's mail domain is missing, it was removed, or another organization proved the domain.",
    )
    CUSTOMER_DIRECTORY_CHANGED = (
        "customer.directory_changed",
        "Directory of a customer changed",
        "A SCIM token was made for a customer, its directory called for the first time, or the token was revoked.",
    )
    CUSTOMER_USER_ADDED = (
        "customer.user_added",
        "Person of a customer added",
        "A person may use a service for a customer, which shares its directory.",
    )
    CUSTOMER_USER_CHANGED = (
        "customer.user_changed",
        "Person of a customer changed",
        "The name, the address, the role or the service's roles of a person who uses a service for a customer changed.",
    )
    CUSTOMER_USER_REMOVED = (
        "customer.user_removed",
        "Person of a customer removed",
        "A person may use a service for a customer no longer.",
    )
    PRODUCT_ACCESS_ACCEPTED = (
        "product_access.accepted",
        "Product accepted",
        "The organization began to use a product of another organization.",
    )
    PRODUCT_ACCESS_DECLINED = (
        "product_access.declined",
        "Product declined",
        "The organization declined the offer of a product.",
    )
    PRODUCT_ACCESS_PAUSED = ("product_access.paused", "Product paused", "The use of a product was paused.")
    PRODUCT_ACCESS_RESUMED = ("product_access.resumed", "Product resumed", "A pause of a product was lifted.")
    PRODUCT_ACCESS_ENDED = ("product_access.ended", "Product ended", "The use of a product ended.")
    PRODUCT_ACCESS_UPDATED = (
        "product_access.updated",
        "Product access changed",
        "Who may use a product, or what its vendor learns, was changed.",
    )
    ACCOUNT_LOCKED = (
        "account.locked",
        "Account locked",
        "An account was locked: by its person, by the organization that created it, or by the platform.",
    )
    SESSION_REVOKED = ("session.revoked", "Session revoked", "A session was ended other than by signing out.")
    INVITATION_ACCEPTED = ("invitation.accepted", "Invitation accepted", "An invitation was accepted.")
    INVITATION_DECLINED = ("invitation.declined", "Invitation declined", "An invitation was declined.")
    INVITATION_EXPIRED = ("invitation.expired", "Invitation expired", "An invitation expired without an answer.")
    INVITATION_REVOKED = ("invitation.revoked", "Invitation revoked", "An invitation was withdrawn.")
    ORGANIZATION_UPDATED = ("organization.updated", "Organization changed", "The organization's settings were changed.")
    ORGANIZATION_DELETED = (
        "organization.deleted",
        "Organization deleted",
        "The owner deleted the organization; it can be restored for a while.",
    )
    ORGANIZATION_RESTORED = (
        "organization.restored",
        "Organization restored",
        "The owner restored the organization that they had deleted.",
    )
    ORGANIZATION_CLAIMED = (
        "organization.claimed",
        "Organization claimed",
        "A person became the owner of an organization that the vendor of a product had made.",
    )
    ORGANIZATION_OWNER_CHANGED = ("organization.owner.changed", "Owner changed", "The ownership was transferred.")
    ORGANIZATION_SMTP_CONFIGURED = ("organization.smtp.configured", "Mail server set", "A mail server was set.")
    ORGANIZATION_SMTP_REMOVED = ("organization.smtp.removed", "Mail server removed", "The mail server was removed.")
    ORGANIZATION_SMTP_TESTED = (
        "organization.smtp.tested",
        "Mail server tested",
        "A test mail was sent through the organization's mail server.",
    )
    SERVICE_CREATED = ("service.created", "Service created", "A service was created.")
    SERVICE_UPDATED = ("service.updated", "Service changed", "A service was changed.")
    SERVICE_ACCESS_CHANGED = (
        "service.access_changed",
        "Service access changed",
        "The rules of who in the organization may sign in to a service, or with which roles, were changed.",
    )
    SERVICE_DELETED = ("service.deleted", "Service deleted", "A service was deleted.")
    SERVICE_OAUTH_CREDENTIALS_UPDATED = (
        "service.oauth_credentials.updated",
        "OAuth credentials changed",
        "The credentials for an external identity provider were changed.",
    )
    PLAN_CREATED = ("plan.created", "Plan created", "A plan was created.")
    PLAN_UPDATED = ("plan.updated", "Plan changed", "A plan was changed.")
    PLAN_DELETED = ("plan.deleted", "Plan deleted", "A plan was deleted.")
    SUBSCRIPTION_CREATED = ("subscription.created", "Subscription created", "A subscription began.")
    SUBSCRIPTION_UPDATED = ("subscription.updated", "Subscription changed", "A subscription was changed.")
    SUBSCRIPTION_CANCELED = ("subscription.canceled", "Subscription cancelled", "A subscription was cancelled.")
    SECURITY_MFA_ENABLED = ("security.mfa.enabled", "MFA enabled", "A member turned multi-factor authentication on.")
    SECURITY_MFA_DISABLED = (
        "security.mfa.disabled",
        "MFA disabled",
        "Multi-factor authentication was turned off for a member.",
    )
    SECURITY_PASSWORD_CHANGED = ("security.password.changed", "Password changed", "A member's password was changed.")
    API_KEY_CREATED = ("api_key.created", "API key created", "An API key was created.")
    API_KEY_DELETED = ("api_key.deleted", "API key deleted", "An API key was deleted.")
    WORKLOAD_CREATED = (
        "workload.created",
        "Workload allowed",
        "A program may authenticate by tokens of its own platform, without a secret.",
    )
    WORKLOAD_DELETED = ("workload.deleted", "Workload deleted", "A program may not authenticate that way any more.")
    ORGANIZATION_KEY_CREATED = (
        "organization_key.created",
        "Management key created",
        "A key for the management interface was created.",
    )
    ORGANIZATION_KEY_DELETED = (
        "organization_key.deleted",
        "Management key deleted",
        "A key for the management interface was deleted, or ended with the membership of its maker.",
    )
    DOMAIN_SET = ("domain.set", "Domain set", "A custom domain was set.")
    DOMAIN_VERIFIED = ("domain.verified", "Domain verified", "A custom domain was verified.")
    DOMAIN_DELETED = ("domain.deleted", "Domain removed", "A custom domain was removed.")
    BRANDING_UPDATED = ("branding.updated", "Branding changed", "The organization's branding was changed.")
    UPSTREAM_CONNECTION_CREATED = (
        "upstream_connection.created",
        "Connection created",
        "A connection to an identity provider was created.",
    )
    UPSTREAM_CONNECTION_UPDATED = (
        "upstream_connection.updated",
        "Connection changed",
        "A connection to an identity provider was changed.",
    )
    UPSTREAM_CONNECTION_DELETED = (
        "upstream_connection.deleted",
        "Connection deleted",
        "A connection to an identity provider was deleted.",
    )
    CONNECTION_CERTIFICATES_REPLACED = (
        "connection.certificates_replaced",
        "Certificates of a connection replaced",
        "An identity provider has published other certificates, which verify its sign-ins from now on.",
    )
    DOMAIN_ROUTE_CREATED = ("domain_route.created", "Domain route created", "A mail domain was claimed.")
    DOMAIN_ROUTE_UPDATED = (
        "domain_route.updated",
        "Domain route changed",
        "Where a mail domain signs in, or whether that is enforced, was changed.",
    )
    DOMAIN_ROUTE_VERIFIED = ("domain_route.verified", "Domain route verified", "A mail domain was verified.")
    DOMAIN_ROUTE_DELETED = ("domain_route.deleted", "Domain route deleted", "A claim to a mail domain was given up.")
    SAML_CONFIGURATION_UPDATED = (
        "saml_configuration.updated",
        "SAML changed",
        "The SAML configuration of a service was changed.",
    )
    SAML_CERTIFICATE_CREATED = (
        "saml_certificate.created",
        "SAML certificate created",
        "A new certificate signs for a service by SAML.",
    )
    SCIM_TOKEN_CREATED = ("scim_token.created", "SCIM token created", "A token for a directory was created.")
    SCIM_TOKEN_REVOKED = ("scim_token.revoked", "SCIM token revoked", "A token for a directory was revoked.")
    SCIM_KEPT = (
        "scim.kept",
        "Members kept",
        "A directory took members out of the organization whose role its token cannot take, and they stayed.",
    )
    SIEM_CONFIGURED = ("siem.configured", "SIEM set", "The receiver of the audit log was set.")
    SIEM_REMOVED = ("siem.removed", "SIEM removed", "The receiver of the audit log was removed.")
    SIEM_TESTED = ("siem.tested", "SIEM tested", "A test event was sent to the receiver of the audit log.")
    AUDIT_LOG_EXPORTED = ("audit_log.exported", "Audit log exported", "The audit log was exported.")
    BILLING_PORTAL_OPENED = ("billing.portal_opened", "Billing portal opened", "The billing portal was opened.")
    WEBHOOK_TEST = ("webhook.test", "Webhook test", "The event of a test delivery.")
    WEBHOOK_TESTED = ("webhook.tested", "Webhook tested", "A test delivery was requested.")
    WEBHOOK_REDELIVERED = ("webhook.redelivered", "Webhook redelivered", "Deliveries were queued again.")

    label: str
    description: str

    def __new__(cls, value: str, label: str, description: str) -> "EventType":
        member = object.__new__(cls)
        member._value_ = value
        member.label = label
        member.description = description
        return member

    @property
    def category(self) -> str:
        """The heading of the event in lists, by the first word of its name."""
        return _CATEGORIES[str(self.value).partition(".")[0]]

    @property
    def item(self) -> "EventTypeItem":
        """The event as an item of a list from which people choose."""
        return EventTypeItem(value=self.value, label=self.label, category=self.category, description=self.description)


_CATEGORIES = {
    "user": "User management",
    "account": "Security",
    "session": "Security",
    "security": "Security",
    "group": "Provisioning",
    "customer": "Customers",
    "product_access": "Products",
    "invitation": "Invitations",
    "organization": "Organization management",
    "service": "Service management",
    "plan": "Plans",
    "subscription": "Subscriptions",
    "api_key": "API keys",
    "workload": "API keys",
    "organization_key": "API keys",
    "domain": "Domains and branding",
    "branding": "Domains and branding",
    "upstream_connection": "Organization management",
    "connection": "Organization management",
    "domain_route": "Domains and branding",
    "saml_configuration": "Single sign-on",
    "saml_certificate": "Single sign-on",
    "scim": "Provisioning",
    "scim_token": "Provisioning",
    "siem": "Audit log",
    "audit_log": "Audit log",
    "billing": "Billing",
    "webhook": "Webhooks",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTypeItem:
    """An event type of the audit log or of webhook subscriptions, with its label and description."""

    value: str
    label: str
    category: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened: the organization it belongs to, the actor, and the data that receivers get."""

    id: UUID
    type: EventType
    organization_id: UUID | None
    actor_user_id: UUID | None
    actor_email: str | None
    data: dict[str, Any]
    occurred_at: datetime

    def __post_init__(self) -> None:
        assert not any(isinstance(value, Secret) for value in self.data.values()), (
            "a value in the event's data is a secret"
        )
