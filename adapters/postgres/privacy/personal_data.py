"""Where personal data of a person are: the statements that find, change and delete them.

Every statement finds its rows by an index, so that a log of millions of rows is not read for one address. The indexes
`*_addresses` contain the addresses that the entries of the logs mention. The logs may be spread over machines by their
organization: all of them are searched for the person's rows, because the person may have left the organization. Each
change then concerns rows of one organization.
"""

from __future__ import annotations

from typing import Final, LiteralString

# All credentials, challenges and tokens of a person. Sessions are deleted before the devices to which they refer.
CREDENTIALS: Final[tuple[LiteralString, ...]] = (
    # Ended before they are deleted, so that the services of live ones get logout tokens.
    """
    UPDATE sessions
    SET    revoked_at = %(now)s
    WHERE  user_id = %(user_id)s AND revoked_at IS NULL AND expires_at > %(now)s
    """,
    "DELETE FROM sessions WHERE user_id = %(user_id)s",
    "DELETE FROM device_tokens WHERE device_id IN (SELECT id FROM devices WHERE user_id = %(user_id)s)",
    "DELETE FROM devices WHERE user_id = %(user_id)s",
    "DELETE FROM sign_in_habits WHERE user_id = %(user_id)s",
    "DELETE FROM mfa_challenges WHERE user_id = %(user_id)s AND used_at IS NULL",
    "DELETE FROM totp_secrets WHERE user_id = %(user_id)s",
    "DELETE FROM backup_codes WHERE user_id = %(user_id)s",
    "DELETE FROM passkeys WHERE user_id = %(user_id)s",
    """
    WITH forgotten AS (DELETE FROM departed_identities WHERE user_id = %(user_id)s)
    DELETE FROM identities WHERE user_id = %(user_id)s
    """,
    "DELETE FROM upstream_sign_ins WHERE user_id = %(user_id)s",
    "DELETE FROM trial_sign_ins WHERE user_id = %(user_id)s",
    "DELETE FROM passkey_challenges WHERE user_id = %(user_id)s",
    "DELETE FROM one_time_tokens WHERE user_id = %(user_id)s",
    "DELETE FROM open_registrations WHERE user_id = %(user_id)s",
    # Its addresses may say anything about the buyer.
    "DELETE FROM billing_checkouts WHERE user_id = %(user_id)s",
    "UPDATE billing_customers SET name = NULL, email = NULL WHERE user_id = %(user_id)s",
    "DELETE FROM known_addresses WHERE user_id = %(user_id)s",
    "DELETE FROM scim_profiles WHERE user_id = %(user_id)s",
    "DELETE FROM directory_group_members WHERE user_id = %(user_id)s",
    "DELETE FROM service_user_metadata WHERE user_id = %(user_id)s",
)
# The log has who set which address for questions. It is read before it is rewritten.
_SUPPORT_ADDRESSES: Final = """
    WHERE lower(support_email) = ANY (%(addresses)s) AND organization_id = ANY (%(mentioning)s)
"""
_MENTION: Final = "data::text LIKE '%%@%%' AND addresses_in(data) && %(addresses)s::text[]"
# Statements that find rows of logs, with the organization and the id of each, and that change an organization's rows.
ADDRESSES_IN_LOGS: Final[tuple[tuple[LiteralString, tuple[LiteralString, ...]], ...]] = (
    # A receiver may have answered with what it was sent. What was sent is in the events, which are rewritten below. The
    # ids go into an array, so that deliveries are found by an index whatever the planner estimates.
    (
        f"""
        SELECT organization_id, id FROM events WHERE actor_user_id = %(user_id)s
        UNION
        SELECT organization_id, id FROM events WHERE {_MENTION}
        """,
        (
            """
            UPDATE webhook_deliveries
            SET    response_body = NULL
            WHERE  organization_id = %(organization_id)s AND event_id = ANY (%(ids)s) AND response_body IS NOT NULL
            """,
            """
            UPDATE webhook_attempts
            SET    response_body = NULL
            WHERE  organization_id = %(organization_id)s AND response_body IS NOT NULL
            AND    delivery_id = ANY (ARRAY(
                SELECT id
                FROM   webhook_deliveries
                WHERE  organization_id = %(organization_id)s AND event_id = ANY (%(ids)s)))
            """,
        ),
    ),
    # The rows of what vendors were told of their customers' people are found by the address beside the name.
    (
        f"""
        SELECT organization_id, id
        FROM   events
        WHERE  type IN ('customer.user_added', 'customer.user_changed') AND data ->> 'user_id' = %(user_id)s::text
        AND    {_MENTION}
        """,
        (
            """
            UPDATE events
            SET    data = data || '{"name": null}'
            WHERE  organization_id = %(organization_id)s AND id = ANY (%(ids)s)
            """,
        ),
    ),
    (
        "SELECT organization_id, id FROM mails WHERE recipient = ANY (%(addresses)s)",
        ("DELETE FROM mails WHERE organization_id = %(organization_id)s AND id = ANY (%(ids)s)",),
    ),
    (
        "SELECT organization_id, id FROM scim_log_entries WHERE user_name = ANY (%(addresses)s)",
        (
            """
            UPDATE scim_log_entries
            SET    user_name = NULL
            WHERE  organization_id = %(organization_id)s AND id = ANY (%(ids)s)
            """,
        ),
    ),
    # An invitation can be declined without signing in; then only the invitation shows whose request that was.
    (
        "SELECT organization_id, id::text FROM invitations WHERE email = ANY (%(addresses)s)",
        (
            """
            UPDATE audit_entries
            SET    ip_address = %(ip_address)s, user_agent = CASE WHEN user_agent IS NOT NULL THEN %(user_agent)s END
            WHERE  organization_id = %(organization_id)s AND target_type = 'invitation' AND target_id = ANY (%(ids)s)
              AND  actor_user_id IS NULL AND ip_address IS NOT NULL
            """,
            # After the entries: an entry that was being sealed has its seal by now, and one that was not gets no salt
            # of it.
            """
            UPDATE audit_seals s
            SET    salts = s.salts - '{ip_address,user_agent}'::text[]
            FROM   audit_entries a
            WHERE  a.organization_id = %(organization_id)s AND a.target_type = 'invitation'
              AND  a.target_id = ANY (%(ids)s) AND a.actor_user_id IS NULL AND a.ip_address IS NOT NULL
              AND  s.organization_id = a.organization_id AND s.position = a.position
            """,
        ),
    ),
)
# After the logs, which name what some of these find.
ADDRESSES: Final[tuple[LiteralString, ...]] = (
    "DELETE FROM sign_in_failures WHERE email_hash = ANY (%(marks)s)",
    "UPDATE billing_customers SET name = NULL, email = NULL WHERE email = ANY (%(addresses)s)",
    """
    UPDATE bulk_job_rows
    SET    label = %(placeholder)s, seen = '', problem = NULL
    WHERE  lower(label) = ANY (%(addresses)s)
    """,
    "UPDATE bulk_job_rows SET label = %(placeholder)s, problem = NULL WHERE subject_id = %(user_id)s",
    # Until the worker finds that their session is over.
    """
    UPDATE bulk_jobs
    SET    ip_address = NULL, user_agent = NULL, details = details - 'message'
    WHERE  maker_id = %(user_id)s
    """,
    "DELETE FROM trial_sign_ins WHERE lower(email) = ANY (%(addresses)s)",
    # A provider may name the address in another claim.
    """
    DELETE FROM trial_sign_ins
    WHERE  organization_id = ANY (ARRAY(SELECT organization_id FROM memberships WHERE user_id = %(user_id)s))
    AND    addresses_in(claims) && %(addresses)s::text[]
    """,
    f"""
    WITH earlier AS (UPDATE branding_versions SET support_email = NULL {_SUPPORT_ADDRESSES})
    UPDATE brandings SET support_email = NULL {_SUPPORT_ADDRESSES}
    """,
    # Links to become the owner of a customer, open or used.
    "DELETE FROM customer_claims WHERE email = ANY (%(addresses)s)",
    # With what the person has written to others.
    """
    WITH written AS (
        UPDATE invitations
        SET    message = NULL
        WHERE  invited_by = %(user_id)s AND message IS NOT NULL AND email <> ALL (%(addresses)s))
    UPDATE invitations
    SET    email = %(placeholder)s,
           status = CASE status WHEN 'pending' THEN 'cancelled' ELSE status END,
           answered_at = CASE status WHEN 'pending' THEN %(at)s ELSE answered_at END,
           token_sealed = NULL, message = NULL, name = NULL
    WHERE  email = ANY (%(addresses)s)
    """,
)
# Texts in the audit logs of organizations. The salts of the changed details are deleted too, so that no value can be
# guessed by its digest, and the chain stays verifiable (`core/audit/chain.py`).
DETAILS: Final = """
    SELECT organization_id, id, details FROM audit_entries
    WHERE  details::text LIKE '%%@%%' AND addresses_in(details) && %(addresses)s::text[]
"""
CHANGE_DETAILS: Final = "UPDATE audit_entries SET details = %s WHERE organization_id = %s AND id = %s"
FORGET_DETAILS: Final = """
    UPDATE audit_seals s
    SET    salts = s.salts - %s::text[]
    FROM   audit_entries e
    WHERE  e.organization_id = %s AND e.id = %s AND s.organization_id = e.organization_id AND s.position = e.position
"""
# Texts in other logs; each row is found by the addresses in it or by its user. The columns are the text and the key of
# the row.
WORDS: Final[tuple[tuple[LiteralString, LiteralString], ...]] = (
    (
        """
        SELECT data, organization_id, id FROM events
        WHERE  data::text LIKE '%%@%%' AND addresses_in(data) && %(addresses)s::text[]
        """,
        "UPDATE events SET data = %s WHERE organization_id = %s AND id = %s",
    ),
    (
        """
        SELECT details, id FROM platform_audit_entries
        WHERE  details::text LIKE '%%@%%' AND addresses_in(details) && %(addresses)s::text[]
        """,
        "UPDATE platform_audit_entries SET details = %s WHERE id = %s",
    ),
    (
        "SELECT details, id FROM mfa_events WHERE user_id = %(user_id)s AND details::text LIKE '%%@%%'",
        "UPDATE mfa_events SET details = %s WHERE id = %s",
    ),
    # What organizations note about themselves, their customers, and others who use their services.
    (
        """
        SELECT metadata, id FROM organizations
        WHERE  metadata::text LIKE '%%@%%' AND addresses_in(metadata) && %(addresses)s::text[]
        """,
        "UPDATE organizations SET metadata = %s WHERE id = %s",
    ),
    (
        """
        SELECT metadata, vendor_id, id FROM service_customers
        WHERE  metadata::text LIKE '%%@%%' AND addresses_in(metadata) && %(addresses)s::text[]
        """,
        "UPDATE service_customers SET metadata = %s WHERE vendor_id = %s AND id = %s",
    ),
    (
        """
        SELECT metadata, organization_id, service_id, user_id FROM service_user_metadata
        WHERE  metadata::text LIKE '%%@%%' AND addresses_in(metadata) && %(addresses)s::text[]
        """,
        """
        UPDATE service_user_metadata SET metadata = %s WHERE organization_id = %s AND service_id = %s AND user_id = %s
        """,
    ),
)
# Names and texts that people have typed. Few of them mention an address at all, and an index finds these.
ORGANIZATIONS: Final = """
    SELECT id, name, rejection_reason, suspension_reason
    FROM   organizations
    WHERE  name LIKE '%%@%%' OR rejection_reason LIKE '%%@%%' OR suspension_reason LIKE '%%@%%'
"""
ROLES: Final = """
    SELECT organization_id, slug, name, description
    FROM   organization_roles
    WHERE  name LIKE '%%@%%' OR description LIKE '%%@%%'
"""
# Mails to others that still have their contents, and may name the person as the inviter.
INVITING: Final = "SELECT DISTINCT organization_id FROM invitations WHERE invited_by = %(user_id)s"
INVITATION_MAILS: Final = """
    SELECT organization_id, id, values_sealed
    FROM   mails
    WHERE  organization_id = ANY (%s) AND template = 'invitation' AND values_sealed IS NOT NULL
"""
# What happened without a request has no origin, and gets none.
_ORIGIN: Final = """
    ip_address = CASE WHEN ip_address IS NOT NULL THEN %(ip_address)s END,
    user_agent = CASE WHEN user_agent IS NOT NULL THEN %(user_agent)s END
"""
# The origins of actions, and the actor's address; as above, statements that find rows, and that change an
# organization's.
ORIGINS_IN_LOGS: Final[tuple[tuple[LiteralString, tuple[LiteralString, ...]], ...]] = (
    (
        "SELECT organization_id, id FROM login_events WHERE user_id = %(user_id)s",
        (
            f"""
            UPDATE login_events
            SET    {_ORIGIN}, geo_country = NULL, geo_city = NULL
            WHERE  organization_id = %(organization_id)s AND user_id = %(user_id)s AND id = ANY (%(ids)s)
            """,
        ),
    ),
    (
        # What the person did, and what the person did as another one.
        """
        SELECT organization_id, id FROM audit_entries WHERE actor_user_id = %(user_id)s
        UNION
        SELECT organization_id, id FROM audit_entries
        WHERE  details ? 'impersonator_id' AND details ->> 'impersonator_id' = %(user_id)s::text
        """,
        (
            f"UPDATE audit_entries SET {_ORIGIN} WHERE organization_id = %(organization_id)s AND id = ANY (%(ids)s)",
            # After the entries, for the reason given above.
            """
            UPDATE audit_seals s
            SET    salts = s.salts - '{ip_address,user_agent}'::text[]
            FROM   audit_entries e
            WHERE  e.organization_id = %(organization_id)s AND e.id = ANY (%(ids)s)
              AND  s.organization_id = e.organization_id AND s.position = e.position
            """,
        ),
    ),
    (
        "SELECT organization_id, id FROM events WHERE actor_user_id = %(user_id)s AND actor_email IS NOT NULL",
        (
            """
            UPDATE events
            SET    actor_email = %(placeholder)s
            WHERE  organization_id = %(organization_id)s AND actor_user_id = %(user_id)s AND actor_email IS NOT NULL
              AND  id = ANY (%(ids)s)
            """,
        ),
    ),
)
ORIGINS: Final[tuple[tuple[LiteralString, LiteralString], ...]] = (
    (
        # The person's own events, and what the person did to others as a platform owner; likewise in the next log.
        """
        SELECT id FROM mfa_events WHERE user_id = %(user_id)s
        UNION
        SELECT id FROM mfa_events
        WHERE  event_type = %(forced)s AND details ->> 'disabled_by' = %(user_id)s::text
        """,
        f"UPDATE mfa_events SET {_ORIGIN} WHERE id = ANY (%(ids)s)",
    ),
    (
        "SELECT id FROM platform_audit_entries WHERE actor_user_id = %(user_id)s",
        f"UPDATE platform_audit_entries SET {_ORIGIN} WHERE id = ANY (%(ids)s)",
    ),
)
