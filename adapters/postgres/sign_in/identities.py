"""Identities in their table; the tokens of providers are sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.crypto.vault import Vault
from adapters.postgres.domains_in_force import IN_FORCE, in_force_at
from adapters.postgres.driver.columns import columns, converted, values
from adapters.postgres.transaction import Aggregate
from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sessions.mfa_methods import MfaMethods
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.identities import (
    PLATFORM,
    AssertedGroups,
    AssertedNames,
    Identity,
    IdentityContext,
    ProvenIdentity,
    ProviderTokens,
)
from core.sign_in.provider_tokens import HeldTokens
from core.sign_in.upstream.known_elsewhere import KnownAccount

if TYPE_CHECKING:
    from core.deferred import Deferred

_identity: Final = converted(Identity, provider=Provider)
_ACCESS: Final = {"table": "identities", "column": "access_token_sealed"}
_REFRESH: Final = {"table": "identities", "column": "refresh_token_sealed"}
# The same expressions as in the unique indexes, so that the indexes are used.
_IN_CONTEXT: Final = """
    coalesce(connection_id, '00000000-0000-0000-0000-000000000000'::uuid)
        = coalesce(%(connection_id)s, '00000000-0000-0000-0000-000000000000'::uuid)
    AND coalesce(organization_id, '00000000-0000-0000-0000-000000000000'::uuid)
        = coalesce(%(organization_id)s, '00000000-0000-0000-0000-000000000000'::uuid)
    AND coalesce(service_id, '00000000-0000-0000-0000-000000000000'::uuid)
        = coalesce(%(service_id)s, '00000000-0000-0000-0000-000000000000'::uuid)
"""
# What a session shows: everything, or what is linked in its context, by every connection where none is named.
_SEEN: Final = """
    (%(is_everything)s
     OR (organization_id IS NOT DISTINCT FROM %(organization_id)s
         AND service_id IS NOT DISTINCT FROM %(service_id)s
         AND (%(connection_id)s::uuid IS NULL OR connection_id = %(connection_id)s)))
"""
_OF_USER: Final = f"SELECT {columns(Identity)} FROM identities WHERE user_id = %(user_id)s AND"
_FIND: Final = f"""
    SELECT {columns(Identity)} FROM identities WHERE provider = %(provider)s AND subject = %(subject)s AND
"""
# The identities of users who have left belong to connections, never to a service.
_REMOVE: Final = f"""
    WITH forgotten AS (
        DELETE FROM departed_identities
        WHERE  user_id = %(user_id)s AND %(provider)s = 'upstream'
          AND  (%(is_everything)s
                OR (organization_id = %(organization_id)s AND %(service_id)s::uuid IS NULL
                    AND (%(connection_id)s::uuid IS NULL OR connection_id = %(connection_id)s))))
    DELETE FROM identities WHERE user_id = %(user_id)s AND provider = %(provider)s AND {_SEEN}
"""
_TOKENS: Final = """
    SELECT id, subject, client_id, access_token_sealed, refresh_token_sealed, token_type, token_expires_at, scopes,
           refresh_claimed_until
    FROM   identities
    WHERE  user_id = %(user_id)s AND provider = %(provider)s AND
"""


class PostgresIdentities(Aggregate):
    """The port `Identities`."""

    def find(self, provider: Provider, subject: str, context: IdentityContext) -> Identity | None:
        return self._one(
            _identity, f"{_FIND} {_IN_CONTEXT}", {"provider": provider, "subject": subject, **values(context)}
        )

    def accounts_of(
        self, provider: Provider, subject: str, client_id: str, organization_id: UUID | None, limit: int
    ) -> Sequence[KnownAccount]:
        return self._all(
            KnownAccount,
            """
            SELECT   user_id, bool_or(organization_id IS NULL OR client_id IS NOT NULL) AS is_certain
            FROM     identities
            WHERE    provider = %(provider)s AND subject = %(subject)s AND connection_id IS NULL
              AND    confirmed_at IS NOT NULL
              AND    CASE WHEN %(organization_id)s::uuid IS NULL
                          THEN organization_id IS NULL OR coalesce(client_id, %(client_id)s) = %(client_id)s
                          ELSE organization_id = %(organization_id)s
                               AND coalesce(client_id, %(client_id)s) = %(client_id)s END
            GROUP BY user_id
            ORDER BY user_id
            LIMIT    %(limit)s
            """,
            {
                "provider": provider,
                "subject": subject,
                "client_id": client_id,
                "organization_id": organization_id,
                "limit": limit,
            },
        )

    def users_named(self, own_subject: str, context: IdentityContext, limit: int) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   user_id FROM identities
            WHERE    organization_id = %s AND connection_id = %s AND own_subject = %s
            ORDER BY used_at DESC, id
            LIMIT    %s
            """,
            (context.organization_id, context.connection_id, own_subject, limit),
        )

    def departed(self, subject: str, context: IdentityContext) -> UUID | None:
        return self._value_or_none(
            """
            SELECT user_id FROM departed_identities
            WHERE  organization_id = %s AND connection_id = %s AND subject = %s
            """,
            (context.organization_id, context.connection_id, subject),
        )

    def has_departed(self, user_id: UUID, context: IdentityContext) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM departed_identities
                           WHERE  organization_id = %s AND connection_id = %s AND user_id = %s)
            """,
            (context.organization_id, context.connection_id, user_id),
        )

    def of_user(self, user_id: UUID, context: IdentityContext | None) -> Sequence[Identity]:
        return self._all(
            _identity,
            f"{_OF_USER} {_SEEN} ORDER BY linked_at, id",
            {"user_id": user_id, "is_everything": context is None, **values(context or PLATFORM)},
        )

    def add(
        self, identity: Identity, proven: ProvenIdentity, context: IdentityContext, *, confirmed_at: datetime | None
    ) -> bool:
        if context.connection_id is not None:
            # What is linked now is not to be linked again: neither this identity, nor another one of its user.
            self._connection.execute_later(
                """
                DELETE FROM departed_identities
                WHERE  organization_id = %s AND connection_id = %s AND (subject = %s OR user_id = %s)
                """,
                (context.organization_id, context.connection_id, identity.subject, identity.user_id),
            )
        return self._changes_one(
            """
            INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, service_id,
                                    email, linked_at, used_at, confirmed_at, client_id, access_token_sealed,
                                    refresh_token_sealed, token_type, token_expires_at, scopes, groups,
                                    has_groups_overage, own_subject, name, given_name, family_name)
            VALUES (%(id)s, %(user_id)s, %(provider)s, %(subject)s, %(connection_id)s, %(organization_id)s,
                    %(service_id)s, %(email)s, %(now)s, %(now)s, %(confirmed_at)s, %(client_id)s,
                    %(access_token)s, %(refresh_token)s, %(token_type)s, %(token_expires_at)s, %(scopes)s,
                    %(groups)s, %(has_groups_overage)s, %(own_subject)s, %(name)s, %(given_name)s, %(family_name)s)
            ON CONFLICT DO NOTHING
            """,
            {
                **values(identity),
                "now": self._transaction.now,
                "confirmed_at": confirmed_at,
                "own_subject": proven.own_subject,
                **_groups(proven.groups),
                **_names(proven.names),
                **values(context),
                **self._sealed(identity.id, proven.tokens),
            },
        )

    def use(self, identity: Identity, proven: ProvenIdentity, *, is_confirmed: bool = False) -> bool:
        return self._changes_one(
            """
            UPDATE identities
            SET    email = %(email)s, used_at = %(now)s, client_id = %(client_id)s,
                   access_token_sealed = %(access_token)s,
                   -- Some providers issue a refresh token at the first sign-in only.
                   refresh_token_sealed = CASE WHEN %(refresh_token)s::bytea IS NULL
                                                AND client_id IS NOT DISTINCT FROM %(client_id)s
                                               THEN refresh_token_sealed ELSE %(refresh_token)s END,
                   token_type = %(token_type)s, token_expires_at = %(token_expires_at)s, scopes = %(scopes)s,
                   refresh_claim = NULL, refresh_claimed_until = NULL,
                   -- What a provider does not say changes nothing.
                   groups = coalesce(%(groups)s::text[], groups), has_groups_overage = %(has_groups_overage)s,
                   own_subject = coalesce(%(own_subject)s, own_subject),
                   name = CASE WHEN %(has_names)s THEN %(name)s ELSE name END,
                   given_name = CASE WHEN %(has_names)s THEN %(given_name)s ELSE given_name END,
                   family_name = CASE WHEN %(has_names)s THEN %(family_name)s ELSE family_name END,
                   confirmed_at = coalesce(confirmed_at, CASE WHEN %(is_confirmed)s THEN %(now)s END)
            WHERE  id = %(id)s AND user_id = %(user_id)s
            """,
            {
                "id": identity.id,
                "user_id": identity.user_id,
                "email": proven.address,
                "own_subject": proven.own_subject,
                "is_confirmed": is_confirmed,
                "now": self._transaction.now,
                **_groups(proven.groups),
                **_names(proven.names),
                **self._sealed(identity.id, proven.tokens),
            },
        )

    def remove(self, user_id: UUID, provider: Provider, context: IdentityContext | None) -> None:
        self._connection.execute_later(
            _REMOVE,
            {
                "user_id": user_id,
                "provider": provider,
                "is_everything": context is None,
                **values(context or PLATFORM),
            },
        )

    def standing(self, user_id: UUID, organization_id: UUID, connection_id: UUID) -> ConnectionStanding | None:
        return self.defer_standing(user_id, organization_id, connection_id)()

    def defer_standing(
        self, user_id: UUID, organization_id: UUID, connection_id: UUID
    ) -> Deferred[ConnectionStanding | None]:
        return self._defer_one(
            ConnectionStanding,
            f"""
            SELECT c.enabled AS is_enabled,
                   c.joins_as,
                   i.confirmed_at IS NULL AS is_by_word_alone,
                   m.role,
                   m.suspended_at IS NOT NULL AS is_suspended,
                   EXISTS (SELECT FROM service_users e
                           WHERE  e.organization_id = c.organization_id AND e.user_id = u.id) AS is_end_user,
                   EXISTS (SELECT FROM domain_routes r
                           WHERE  r.organization_id = c.organization_id
                             AND  r.domain = substring(u.email FROM '@([^@]*)$')
                             AND  {IN_FORCE}) AS is_in_mail_domain,
                   o.mfa_required AS organization_requires_mfa,
                   o.mfa_methods = %(resistant)s AS organization_takes_passkeys,
                   EXISTS (SELECT FROM group_rules g WHERE g.organization_id = c.organization_id)
                       OR m.role_source IS NOT NULL AS has_group_rules,
                   coalesce(m.role_source = c.id::text, false) AS is_role_by_groups,
                   r.permissions AS role_permissions,
                   o.internal_of IS NOT NULL AS is_made
            FROM   upstream_connections c
            JOIN   organizations o    ON o.id = c.organization_id
            JOIN   users u            ON u.id = %(user_id)s
            LEFT   JOIN memberships m ON m.organization_id = c.organization_id AND m.user_id = u.id
            LEFT   JOIN identities i  ON i.organization_id = c.organization_id AND i.connection_id = c.id
                                     AND i.user_id = u.id
            LEFT   JOIN organization_roles r ON r.organization_id = c.organization_id AND r.slug = m.role
            WHERE  c.organization_id = %(organization_id)s AND c.id = %(connection_id)s
            """,
            {
                "user_id": user_id,
                "organization_id": organization_id,
                "connection_id": connection_id,
                "resistant": MfaMethods.PHISHING_RESISTANT,
                **in_force_at(self._transaction.now),
            },
        )

    def remove_all(self, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            WITH forgotten AS (DELETE FROM departed_identities WHERE user_id = %(user_id)s)
            DELETE FROM identities WHERE user_id = %(user_id)s
            """,
            {"user_id": user_id},
        )
        self._connection.execute_later("DELETE FROM upstream_sign_ins WHERE user_id = %s", (user_id,))

    def lock_tokens(self, user_id: UUID, provider: Provider, context: IdentityContext) -> HeldTokens | None:
        row = self._row(
            f"{_TOKENS} {_IN_CONTEXT} FOR NO KEY UPDATE",
            {"user_id": user_id, "provider": provider, **values(context)},
        )
        if row is None:
            return None
        return HeldTokens(
            identity_id=row["id"],
            subject=row["subject"],
            tokens=_opened(self._transaction.vault, row),
            refresh_claimed_until=row["refresh_claimed_until"],
        )

    def claim_refresh(self, identity_id: UUID, claim: UUID, *, until: datetime) -> None:
        self._connection.execute_later(
            "UPDATE identities SET refresh_claim = %s, refresh_claimed_until = %s WHERE id = %s",
            (claim, until, identity_id),
        )

    def save_tokens(self, identity_id: UUID, claim: UUID, tokens: ProviderTokens | None) -> bool:
        return self._changes_one(
            """
            UPDATE identities
            SET    client_id = %(client_id)s, access_token_sealed = %(access_token)s,
                   refresh_token_sealed = %(refresh_token)s, token_type = %(token_type)s,
                   token_expires_at = %(token_expires_at)s, scopes = %(scopes)s, refresh_claim = NULL,
                   refresh_claimed_until = NULL
            WHERE  id = %(id)s AND refresh_claim = %(claim)s
            """,
            {"id": identity_id, "claim": claim, **self._sealed(identity_id, tokens)},
        )

    def release_refresh(self, identity_id: UUID, claim: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE identities SET refresh_claim = NULL, refresh_claimed_until = NULL
            WHERE  id = %s AND refresh_claim = %s
            """,
            (identity_id, claim),
        )

    def _sealed(self, identity_id: UUID, tokens: ProviderTokens | None) -> dict[str, Any]:
        """Return the columns of the tokens."""
        if tokens is None:
            return {
                "client_id": None,
                "access_token": None,
                "refresh_token": None,
                "token_type": None,
                "token_expires_at": None,
                "scopes": [],
            }
        seal, refresh = self._transaction.vault.seal, tokens.refresh_token
        return {
            "client_id": tokens.client_id,
            "access_token": seal(tokens.access_token.reveal().encode(), row=identity_id, **_ACCESS),
            "refresh_token": seal(refresh.reveal().encode(), row=identity_id, **_REFRESH) if refresh else None,
            "token_type": tokens.token_type,
            "token_expires_at": tokens.expires_at,
            "scopes": list(tokens.scopes),
        }


def _groups(groups: AssertedGroups | None) -> dict[str, Any]:
    values = groups.values if groups is not None else None
    return {
        "groups": list(values) if values is not None else None,
        "has_groups_overage": groups is not None and groups.is_overage,
    }


def _names(names: AssertedNames | None) -> dict[str, Any]:
    return {"has_names": names is not None, **asdict(names or AssertedNames())}


def _opened(vault: Vault, row: Mapping[str, Any]) -> ProviderTokens | None:
    access, refresh = row["access_token_sealed"], row["refresh_token_sealed"]
    if access is None:
        return None
    return ProviderTokens(
        client_id=row["client_id"],
        access_token=Secret(vault.open(access, row=row["id"], **_ACCESS).decode()),
        refresh_token=Secret(vault.open(refresh, row=row["id"], **_REFRESH).decode()) if refresh else None,
        token_type=row["token_type"],
        expires_at=row["token_expires_at"],
        scopes=row["scopes"],
    )
