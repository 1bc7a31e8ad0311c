"""For everything that Gatehouse issues, the statement that tells whether it still holds."""

from __future__ import annotations

from typing import Final

from core.endings import Issued

_SESSION: Final = "SELECT EXISTS (SELECT FROM sessions WHERE id = %(id)s AND revoked_at IS NULL)"
_OF_SESSION: Final = """
    SELECT EXISTS (SELECT FROM {table} t
                   JOIN   sessions s ON s.id = t.session_id
                   WHERE  t.session_id = %(id)s AND s.revoked_at IS NULL)
"""
_TOKEN: Final = "SELECT EXISTS (SELECT FROM one_time_tokens WHERE token_hash = %(id)s AND used_at IS NULL)"
_ROW: Final = "SELECT EXISTS (SELECT FROM {table} WHERE id = %(id)s)"
_OF_USER: Final = "SELECT EXISTS (SELECT FROM {table} WHERE user_id = %(id)s)"
_SUBSCRIPTION: Final = "SELECT EXISTS (SELECT FROM subscriptions WHERE id = %(id)s AND status = 'active')"
_LINK: Final = "SELECT EXISTS (SELECT FROM service_users WHERE user_id = %(user)s AND service_id = %(id)s)"
_VISIT: Final = "SELECT EXISTS (SELECT FROM customer_users WHERE user_id = %(user)s AND customer_id = %(id)s)"
_SETUP_LINK: Final = """
    SELECT EXISTS (SELECT FROM setup_links l
                   JOIN   memberships m ON m.organization_id = l.organization_id AND m.user_id = l.created_by
                   WHERE  l.id = %(id)s AND m.suspended_at IS NULL)
"""
# Of a link that the member has made for a customer.
_CUSTOMER_SETUP_LINK: Final = """
    SELECT EXISTS (SELECT FROM setup_links l
                   JOIN   organizations i     ON i.id = l.organization_id AND i.status = 'active'
                   JOIN   service_customers c ON c.id = i.internal_of
                   JOIN   memberships m       ON m.organization_id = c.vendor_id AND m.user_id = l.created_by
                   WHERE  l.id = %(id)s AND m.suspended_at IS NULL)
"""
_CUSTOMER_SCIM_TOKEN: Final = """
    SELECT EXISTS (SELECT FROM scim_tokens t
                   JOIN   organizations i ON i.id = t.organization_id AND i.status = 'active'
                   WHERE  t.id = %(id)s)
"""
# The statement that tells whether something still holds; the id is what `issue_everything` has noted.
ALIVE: Final[dict[Issued, str]] = {
    Issued.ACCOUNT_SESSION: _SESSION,
    Issued.ORGANIZATION_SESSION: _SESSION,
    Issued.SERVICE_SESSION: _SESSION,
    Issued.VISITOR_SESSION: _SESSION,
    Issued.CONNECTION_SESSION: _SESSION,
    Issued.CUSTOMER_SESSION: """
        SELECT EXISTS (SELECT FROM sessions s
                       JOIN   service_customers c ON c.id = s.customer_id
                       WHERE  s.id = %(id)s AND s.revoked_at IS NULL)
    """,
    Issued.CUSTOMER_VISIT: _VISIT,
    Issued.SERVICE_ASSIGNMENT: _OF_USER.format(table="service_assignments"),
    Issued.CUSTOMER_ASSIGNMENT: _OF_USER.format(table="customer_assignments"),
    Issued.BROWSER_COOKIE: _OF_SESSION.format(table="browser_sessions"),
    Issued.CLIENT_GRANT: _OF_SESSION.format(table="client_grants"),
    Issued.AUTHORIZATION_CODE: _OF_SESSION.format(table="authorization_codes"),
    Issued.DEVICE_APPROVAL: _OF_SESSION.format(table="device_codes"),
    Issued.SAML_SESSION: _OF_SESSION.format(table="saml_sessions"),
    Issued.SECOND_FACTOR_CHALLENGE: "SELECT EXISTS (SELECT FROM mfa_challenges WHERE id = %(id)s AND used_at IS NULL)",
    Issued.MAILED_SIGN_IN: _TOKEN,
    Issued.MAILED_RESET: _TOKEN,
    Issued.MAILED_CONFIRMATION: _TOKEN,
    Issued.OPEN_REGISTRATION: _ROW.format(table="open_registrations"),
    Issued.REQUESTED_ADDRESS: _TOKEN,
    Issued.PROVIDER_LINKING: _ROW.format(table="upstream_sign_ins"),
    Issued.DEVICE: """
        SELECT EXISTS (SELECT FROM device_tokens t
                       JOIN   devices d ON d.id = t.device_id
                       WHERE  d.id = %(id)s AND d.revoked_at IS NULL)
    """,
    Issued.PASSKEY: _ROW.format(table="passkeys"),
    Issued.SECOND_FACTOR: _OF_USER.format(table="totp_secrets"),
    Issued.BACKUP_CODE: _OF_USER.format(table="backup_codes"),
    Issued.IDENTITY: _ROW.format(table="identities"),
    Issued.CONNECTION_IDENTITY: _ROW.format(table="identities"),
    Issued.MEMBERSHIP: "SELECT EXISTS (SELECT FROM memberships WHERE id = %(id)s AND suspended_at IS NULL)",
    Issued.UNCONFIRMED_MEMBERSHIP: _ROW.format(table="memberships"),
    Issued.SERVICE_GRANT: _OF_USER.format(table="service_grants"),
    Issued.MEMBER_LINK: _LINK,
    Issued.VISITOR_LINK: _LINK,
    Issued.UNCONFIRMED_LINK: _LINK,
    Issued.GIVEN_SUBSCRIPTION: _SUBSCRIPTION,
    Issued.UNCONFIRMED_SUBSCRIPTION: _SUBSCRIPTION,
    Issued.SENT_INVITATION: "SELECT EXISTS (SELECT FROM invitations WHERE id = %(id)s AND status = 'pending')",
    Issued.SETUP_LINK: _SETUP_LINK,
    Issued.SETUP_LINK_BY_KEY: _SETUP_LINK,
    Issued.ORGANIZATION_KEY: """
        SELECT EXISTS (SELECT FROM organization_keys k
                       JOIN   memberships m ON m.organization_id = k.organization_id AND m.user_id = k.created_by
                       WHERE  k.id = %(id)s AND m.suspended_at IS NULL)
    """,
    Issued.API_KEY: _ROW.format(table="api_keys"),
    Issued.API_KEY_BY_KEY: _ROW.format(table="api_keys"),
    Issued.WORKLOAD: _ROW.format(table="workloads"),
    Issued.SCIM_TOKEN: _ROW.format(table="scim_tokens"),
    Issued.SCIM_TOKEN_BY_KEY: _ROW.format(table="scim_tokens"),
    Issued.ADMISSION: "SELECT EXISTS (SELECT FROM memberships WHERE id = %(id)s AND suspended_at IS NULL)",
    Issued.ADMITTED_IDENTITY: _ROW.format(table="identities"),
    Issued.ADMITTED_SESSION: """
        SELECT EXISTS (SELECT FROM sessions s
                       JOIN   service_customers c ON c.id = s.customer_id
                       WHERE  s.id = %(id)s AND s.revoked_at IS NULL)
    """,
    Issued.ADMITTED_VISIT: _VISIT,
    Issued.CUSTOMER_CLAIM: "SELECT EXISTS (SELECT FROM customer_claims WHERE customer_id = %(id)s)",
    Issued.CUSTOMER_SETUP_LINK: _CUSTOMER_SETUP_LINK,
    Issued.CUSTOMER_SCIM_TOKEN: _CUSTOMER_SCIM_TOKEN,
}
