"""Invitations in their table. The token of a pending one is encrypted, and erased by the statement that ends it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.invitations.invitations import (
    UNKNOWN_INVITER,
    DueInvitation,
    Invitation,
    InvitationDetails,
    InvitationStatus,
    Inviter,
    SentInvitation,
    Waiting,
)
from core.invitations.own_invitations import ReceivedInvitation
from core.organizations.organizations import OrganizationStatus
from core.secrets import Secret

_SEALED_COLUMN: Final = {"table": "invitations", "column": "token_sealed"}

# Of an invitation `i`; a service that was deleted is left out, and one made later under its slug has another id.
SERVICES: Final = """
    ARRAY(SELECT   s.slug
          FROM     services s
          WHERE    s.organization_id = i.organization_id AND s.id = ANY (i.service_ids)
          ORDER BY s.slug) AS services
"""
_SERVICE_NAMES: Final = """
    ARRAY(SELECT   s.name
          FROM     services s
          WHERE    s.organization_id = i.organization_id AND s.id = ANY (i.service_ids)
          ORDER BY lower(s.name), s.slug) AS service_names
"""
_COLUMNS: Final = f"""
    i.id, i.organization_id, i.email, i.role, i.invited_by, i.status, i.token_hash, i.expires_at, i.created_at,
    i.message, i.name, {SERVICES}
"""
_INVITATION: Final = f"SELECT {_COLUMNS} FROM invitations i"
_OF_PAGE: Final = f"""
    SELECT    {_COLUMNS}, u.email AS inviter_email, u.created_at AS inviter_created_at
    FROM      page
    JOIN      invitations i ON i.id = page.id AND i.organization_id = %(organization_id)s
    LEFT JOIN users u       ON u.id = i.invited_by
    ORDER BY  i.created_at DESC, i.id DESC
"""


def _page(of: LiteralString) -> LiteralString:
    # The ids of a page come from an index alone, so that skipped rows are never fetched.
    return f"""
        WITH page AS MATERIALIZED (
            SELECT   id
            FROM     invitations
            WHERE    {of}
            ORDER BY created_at DESC, id DESC
            LIMIT    %(limit)s OFFSET %(offset)s)
        {_OF_PAGE}
    """


# Two statements, with and without a status, because one plan for both would use no index well.
PAGE_OF_ALL: Final = _page("organization_id = %(organization_id)s")
PAGE_OF_STATUS: Final = _page("organization_id = %(organization_id)s AND status = %(status)s")
# The next pending invitations that are past their expiry.
DUE: Final = """
    SELECT   i.id, i.expires_at
    FROM     invitations i
    WHERE    i.status = 'pending' AND i.expires_at <= %(now)s
    AND      (SELECT o.status = 'active' FROM organizations o WHERE o.id = i.organization_id)
    ORDER BY i.expires_at, i.id
    LIMIT    %(limit)s
"""
DUE_AFTER: Final = """
    SELECT   i.id, i.expires_at
    FROM     invitations i
    WHERE    i.status = 'pending' AND i.expires_at <= %(now)s AND (i.expires_at, i.id) > (%(after)s, %(after_id)s)
    AND      (SELECT o.status = 'active' FROM organizations o WHERE o.id = i.organization_id)
    ORDER BY i.expires_at, i.id
    LIMIT    %(limit)s
"""
# Waiting for a locked organization would keep the invitations locked meanwhile, so locked organizations are skipped.
EXPIRE: Final = """
    WITH due AS MATERIALIZED (
        SELECT i.id, i.organization_id
        FROM   invitations i
        JOIN   organizations o ON o.id = i.organization_id
        WHERE  i.id = ANY (%s) AND i.status = 'pending' AND o.status = 'active'
        FOR UPDATE OF i SKIP LOCKED
        FOR KEY SHARE OF o SKIP LOCKED)
    UPDATE    invitations
    SET       status = 'expired', token_sealed = NULL
    FROM      due
    WHERE     invitations.id = due.id AND invitations.organization_id = due.organization_id
    RETURNING invitations.organization_id, invitations.id
"""
# One that was deleted meanwhile is left out, and a link that the person has already stays as it is.
GIVE_SERVICES: Final = """
    WITH given AS MATERIALIZED (
             SELECT   s.id, s.organization_id, s.slug
             FROM     invitations i
             JOIN     services s ON s.organization_id = i.organization_id AND s.id = ANY (i.service_ids)
             WHERE    i.organization_id = %(organization_id)s AND i.id = %(invitation_id)s
             ORDER BY s.id
             FOR      KEY SHARE OF s),
         linked AS (
             INSERT INTO service_users (service_id, organization_id, user_id, origin, first_login_at)
             SELECT id, organization_id, %(user_id)s, 'membership', %(at)s
             FROM   given
             ON CONFLICT (service_id, user_id) DO NOTHING)
    SELECT slug FROM given ORDER BY slug
"""


class PostgresInvitations(Aggregate):
    """The port `Invitations`."""

    def add(
        self, invitation: Invitation, token: Secret, *, proof_hash: bytes, service_ids: Sequence[UUID] = ()
    ) -> bool:
        return self._changes_one(
            """
            INSERT INTO invitations (id, organization_id, email, role, invited_by, status, token_hash, token_sealed,
                                     proof_hash, created_at, expires_at, service_ids, message, name)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (organization_id, email) WHERE status = 'pending' DO NOTHING
            """,
            (
                invitation.id,
                invitation.organization_id,
                invitation.email,
                invitation.role,
                invitation.invited_by,
                invitation.status,
                bytes.fromhex(invitation.token),
                self._transaction.vault.seal(token.reveal().encode(), row=invitation.id, **_SEALED_COLUMN),
                proof_hash,
                invitation.created_at,
                invitation.expires_at,
                list(service_ids),
                invitation.message,
                invitation.name,
            ),
        )

    def find(self, organization_id: UUID, invitation_id: UUID) -> Invitation | None:
        return self._one(
            _invitation,
            f"{_INVITATION} WHERE i.organization_id = %s AND i.id = %s",
            (organization_id, invitation_id),
        )

    def pending(self, organization_id: UUID, email: str) -> Invitation | None:
        return self._one(
            _invitation,
            f"{_INVITATION} WHERE i.organization_id = %s AND i.email = %s AND i.status = 'pending'",
            (organization_id, email),
        )

    def waiting(self, organization_id: UUID) -> Waiting:
        return self._only(
            Waiting,
            """
            SELECT count(*) AS count, min(expires_at) AS first_expires_at
            FROM   invitations
            WHERE  organization_id = %s AND status = 'pending' AND expires_at > %s
            """,
            (organization_id, self._transaction.now),
        )

    def has_member(self, organization_id: UUID, email: str) -> bool:
        return self._finds_any(
            """
            SELECT
            FROM   users u
            JOIN   memberships m ON m.user_id = u.id AND m.organization_id = %s
            WHERE  u.email = %s
            """,
            (organization_id, email),
        )

    def page(
        self, organization_id: UUID, status: InvitationStatus | None, *, limit: int, offset: int
    ) -> Sequence[SentInvitation]:
        return self._all(
            _item,
            PAGE_OF_ALL if status is None else PAGE_OF_STATUS,
            {"organization_id": organization_id, "status": status, "limit": limit, "offset": offset},
        )

    def by_token(self, token_hash: bytes) -> InvitationDetails | None:
        return self._one(
            _presented,
            f"""
            SELECT    {_COLUMNS}, {_SERVICE_NAMES}, i.proof_hash,
                      o.slug AS organization_slug, o.name AS organization_name, o.status AS organization_status,
                      CASE WHEN u.email_verified_at IS NOT NULL THEN u.email END AS inviter_email
            FROM      invitations i
            JOIN      organizations o ON o.id = i.organization_id AND o.status <> 'deleting'
            LEFT JOIN users u         ON u.id = i.invited_by
            WHERE     i.token_hash = %s
            """,
            (token_hash,),
        )

    def pending_for(self, email: str, limit: int, *, within: UUID | None = None) -> Sequence[ReceivedInvitation]:
        return self._all(
            self._of_mine,
            f"""
            SELECT   i.id, i.email, i.role, i.token_sealed, i.expires_at, i.created_at, i.message, {_SERVICE_NAMES},
                     o.slug AS organization_slug, o.name AS organization_name
            FROM     invitations i
            JOIN     organizations o ON o.id = i.organization_id
            WHERE    i.email = %s AND i.status = 'pending' AND i.expires_at > %s AND o.status = 'active'
              AND    (%s::uuid IS NULL OR i.organization_id = %s)
            ORDER BY i.created_at DESC, i.id DESC
            LIMIT    %s
            """,
            (email, self._transaction.now, within, within, limit),
        )

    def settle(self, organization_id: UUID, invitation_id: UUID, status: InvitationStatus) -> bool:
        return self._changes_one(
            """
            UPDATE invitations
            SET    status = %(status)s, answered_at = %(answered_at)s, token_sealed = NULL,
                   -- Of no use once there is an answer.
                   name = CASE WHEN %(answered_at)s::timestamptz IS NULL THEN name END
            WHERE  organization_id = %(organization_id)s AND id = %(id)s AND status = ANY (%(before)s)
            """,
            {
                "status": status,
                "answered_at": None if status is InvitationStatus.EXPIRED else self._transaction.now,
                "organization_id": organization_id,
                "id": invitation_id,
                "before": [before.value for before in status.follows],
            },
        )

    def give_services(self, invitation: Invitation, user_id: UUID, *, at: datetime) -> Sequence[str]:
        return self._values(
            GIVE_SERVICES,
            {
                "organization_id": invitation.organization_id,
                "invitation_id": invitation.id,
                "user_id": user_id,
                "at": at,
            },
        )

    def withdraw(
        self,
        organization_id: UUID | None,
        inviter_ids: Sequence[UUID],
        *,
        except_roles: Sequence[str],
        keeps_services: bool,
    ) -> Sequence[tuple[UUID, UUID]]:
        return self._connection.execute(
            """
            UPDATE    invitations
            SET       status = 'cancelled', answered_at = %(now)s, token_sealed = NULL
            WHERE     invited_by = ANY (%(inviter_ids)s) AND status = 'pending'
              AND     (role <> ALL (%(except_roles)s) OR (NOT %(keeps_services)s AND service_ids <> '{}'))
              AND     (%(organization_id)s::uuid IS NULL OR organization_id = %(organization_id)s)
            RETURNING organization_id, id
            """,
            {
                "now": self._transaction.now,
                "organization_id": organization_id,
                "inviter_ids": list(inviter_ids),
                "except_roles": list(except_roles),
                "keeps_services": keeps_services,
            },
        ).fetchall()

    def withdraw_of_role(
        self, organization_id: UUID, role: str, *, except_roles: Sequence[str], keeps_services: bool
    ) -> Sequence[tuple[UUID, UUID]]:
        return self._connection.execute(
            """
            UPDATE    invitations i
            SET       status = 'cancelled', answered_at = %(now)s, token_sealed = NULL
            FROM      memberships m
            WHERE     i.organization_id = %(organization_id)s AND i.status = 'pending'
              AND     (i.role <> ALL (%(except_roles)s) OR (NOT %(keeps_services)s AND i.service_ids <> '{}'))
              AND     m.organization_id = i.organization_id AND m.user_id = i.invited_by AND m.role = %(role)s
            RETURNING i.organization_id, i.id
            """,
            {
                "now": self._transaction.now,
                "organization_id": organization_id,
                "role": role,
                "except_roles": list(except_roles),
                "keeps_services": keeps_services,
            },
        ).fetchall()

    def due(self, after: DueInvitation | None, limit: int) -> Sequence[DueInvitation]:
        values: dict[str, Any] = {"now": self._transaction.now, "limit": limit}
        if after is not None:
            values |= {"after": after.expires_at, "after_id": after.id}
        return self._all(DueInvitation, DUE if after is None else DUE_AFTER, values)

    def expire(self, invitation_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        return self._connection.execute(EXPIRE, (list(invitation_ids),)).fetchall()

    def _of_mine(self, *, id: UUID, token_sealed: bytes, **columns: Any) -> ReceivedInvitation:  # noqa: A002 - a column
        token = self._transaction.vault.open(token_sealed, row=id, **_SEALED_COLUMN)
        return ReceivedInvitation(id=id, token=Secret(token.decode()), **columns)


def _invitation(*, status: str, token_hash: bytes, **columns: Any) -> Invitation:
    return Invitation(status=InvitationStatus(status), token=token_hash.hex(), **columns)


def _item(*, inviter_email: str | None, inviter_created_at: datetime, **columns: Any) -> SentInvitation:
    invitation = _invitation(**columns)
    if inviter_email is None:
        return SentInvitation(invitation=invitation, inviter=UNKNOWN_INVITER)
    inviter = Inviter(id=str(invitation.invited_by), email=inviter_email, created_at=inviter_created_at)
    return SentInvitation(invitation=invitation, inviter=inviter)


def _presented(
    *,
    proof_hash: bytes,
    organization_slug: str,
    organization_name: str,
    organization_status: str,
    inviter_email: str | None,
    service_names: list[str],
    **columns: Any,
) -> InvitationDetails:
    return InvitationDetails(
        invitation=_invitation(**columns),
        proof_hash=proof_hash,
        organization_slug=organization_slug,
        organization_name=organization_name,
        organization_status=OrganizationStatus(organization_status),
        inviter_email=inviter_email,
        service_names=service_names,
    )
