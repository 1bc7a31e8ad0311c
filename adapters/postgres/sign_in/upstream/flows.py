"""Sign-ins through other providers that are under way, in the table `upstream_sign_ins`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.sign_in.upstream.revocation.provider_sessions import known_session, stored_session
from adapters.postgres.transaction import Aggregate
from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sign_in.identities import AssertedGroups, AssertedNames, IdentityContext, ProvenIdentity, ProviderTokens
from core.sign_in.upstream.flows import AtDomain, ReturnAddress, UpstreamSignIn

_SIGN_IN: Final = """
    id, provider, connection_id, organization_id, service_id, client_id, user_id, target, return_to, return_id,
    expires_at, domain_id, domain_browser_hash,
    (SELECT d.domain FROM custom_domains d WHERE d.id = s.domain_id) AS domain_name
"""
_PROVEN: Final = {"table": "upstream_sign_ins", "column": "proven_sealed"}


class PostgresUpstreamSignIns(Aggregate):
    """The port `UpstreamSignIns`."""

    def add(
        self, sign_in: UpstreamSignIn, state_hash: bytes, *, browser_hash: bytes | None, proven: ProvenIdentity | None
    ) -> None:
        sealed = self._sealed(sign_in.id, proven) if proven is not None else None
        context, way = sign_in.context, sign_in.way
        self._connection.execute_later(
            """
            INSERT INTO upstream_sign_ins (id, state_hash, browser_hash, provider, connection_id, organization_id,
                                           service_id, client_id, user_id, target, return_to, return_id,
                                           domain_id, domain_browser_hash, proven_sealed, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                sign_in.id,
                state_hash,
                browser_hash,
                sign_in.provider,
                context.connection_id,
                context.organization_id,
                context.service_id,
                sign_in.client_id,
                sign_in.user_id,
                way.target,
                way.return_to,
                way.return_id,
                sign_in.domain.domain_id if sign_in.domain is not None else None,
                sign_in.domain.browser_hash if sign_in.domain is not None else None,
                sealed,
                sign_in.expires_at,
            ),
        )

    def use(self, state_hash: bytes, provider: Provider, *, browser_hash: bytes | None) -> UpstreamSignIn | None:
        row = self._used(state_hash, browser_hash, provider, is_proven=False)
        return _sign_in(row) if row is not None else None

    def enter(
        self, ticket_hash: bytes, *, state_hash: bytes, browser_hash: bytes, expires_at: datetime
    ) -> UpstreamSignIn | None:
        row = self._row(
            f"""
            UPDATE upstream_sign_ins s
            SET    state_hash = %(state_hash)s, browser_hash = %(browser_hash)s, expires_at = %(expires_at)s
            WHERE  state_hash = %(ticket_hash)s AND browser_hash IS NULL AND domain_browser_hash IS NOT NULL
              AND  used_at IS NULL AND expires_at > %(now)s
            RETURNING {_SIGN_IN}
            """,
            {
                "now": self._transaction.now,
                "ticket_hash": ticket_hash,
                "state_hash": state_hash,
                "browser_hash": browser_hash,
                "expires_at": expires_at,
            },
        )
        return _sign_in(row) if row is not None else None

    def keep_answer(
        self, state_hash: bytes, connection_id: UUID, proven: ProvenIdentity, *, continue_hash: bytes
    ) -> bool:
        # The text that is sealed is bound to its row, so that has to be known before.
        row_id = self._value_or_none(
            """
            SELECT id FROM upstream_sign_ins
            WHERE  state_hash = %s AND connection_id = %s AND proven_sealed IS NULL AND used_at IS NULL
              AND  browser_hash IS NOT NULL AND expires_at > %s
            FOR UPDATE
            """,
            (state_hash, connection_id, self._transaction.now),
        )
        if row_id is None:
            return False
        self._connection.execute_later(
            "UPDATE upstream_sign_ins SET state_hash = %s, proven_sealed = %s WHERE id = %s AND state_hash = %s",
            (continue_hash, self._sealed(row_id, proven), row_id, state_hash),
        )
        return True

    def is_kept(self, organization_id: UUID, sign_in_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM upstream_sign_ins
                           WHERE  organization_id = %s AND id = %s AND ended_at IS NULL)
            """,
            (organization_id, sign_in_id),
        )

    def use_proven(self, state_hash: bytes, *, browser_hash: bytes) -> tuple[UpstreamSignIn, ProvenIdentity] | None:
        row = self._used(state_hash, browser_hash, None, is_proven=True)
        if row is None:
            return None
        opened = self._transaction.vault.open(row["proven_sealed"], row=row["id"], **_PROVEN)
        return _sign_in(row), _proven(json.loads(opened))

    def set_code(self, state_hash: bytes, code_hash: bytes, *, expires_at: datetime) -> None:
        self._connection.execute_later(
            "UPDATE upstream_sign_ins SET code_hash = %s, expires_at = %s WHERE state_hash = %s",
            (code_hash, expires_at, state_hash),
        )

    def lock_code(self, state_hash: bytes, *, browser_hash: bytes, tries_max: int) -> bytes | None:
        return self._value_or_none(
            """
            SELECT code_hash FROM upstream_sign_ins
            WHERE  state_hash = %s AND browser_hash = %s AND code_hash IS NOT NULL AND wrong_codes < %s
              AND  used_at IS NULL AND expires_at > %s
            FOR UPDATE
            """,
            (state_hash, browser_hash, tries_max, self._transaction.now),
        )

    def count_wrong_code(self, state_hash: bytes) -> None:
        self._connection.execute_later(
            "UPDATE upstream_sign_ins SET wrong_codes = wrong_codes + 1 WHERE state_hash = %s", (state_hash,)
        )

    def _sealed(self, row_id: UUID, proven: ProvenIdentity) -> bytes:
        return self._transaction.vault.seal(json.dumps(_stored(proven)).encode(), row=row_id, **_PROVEN)

    def _used(
        self, state_hash: bytes, browser_hash: bytes | None, provider: Provider | None, *, is_proven: bool
    ) -> Mapping[str, Any] | None:
        return self._row(
            f"""
            UPDATE upstream_sign_ins s
            SET    used_at = %(now)s
            WHERE  state_hash = %(state_hash)s AND browser_hash IS NOT DISTINCT FROM %(browser_hash)s
              AND  (%(provider)s::text IS NULL OR provider = %(provider)s) AND used_at IS NULL
              AND  expires_at > %(now)s AND (proven_sealed IS NOT NULL) = %(is_proven)s
              AND  CASE WHEN domain_browser_hash IS NULL THEN domain_id END IS NOT DISTINCT FROM %(domain_id)s::uuid
            RETURNING {_SIGN_IN}, proven_sealed
            """,
            {
                "now": self._transaction.now,
                "domain_id": self._transaction.origin.domain_id,
                "state_hash": state_hash,
                "browser_hash": browser_hash,
                "provider": provider,
                "is_proven": is_proven,
            },
        )


def _sign_in(row: Mapping[str, Any]) -> UpstreamSignIn:
    return UpstreamSignIn(
        id=row["id"],
        provider=Provider(row["provider"]),
        context=IdentityContext(
            connection_id=row["connection_id"], organization_id=row["organization_id"], service_id=row["service_id"]
        ),
        client_id=row["client_id"],
        user_id=row["user_id"],
        way=ReturnAddress(target=row["target"], return_to=row["return_to"], return_id=row["return_id"]),
        expires_at=row["expires_at"],
        domain=AtDomain(domain_id=row["domain_id"], name=row["domain_name"], browser_hash=row["domain_browser_hash"])
        if row["domain_id"] is not None
        else None,
    )


def _stored(proven: ProvenIdentity) -> dict[str, Any]:
    tokens = proven.tokens
    return {
        "provider": proven.provider,
        "subject": proven.subject,
        "email": proven.email,
        "is_email_verified": proven.is_email_verified,
        # Left out without them, because the version before does not know them.
        **(
            {"provider_session": stored_session(proven.provider_session)} if proven.provider_session is not None else {}
        ),
        **({"session_ends_at": proven.session_ends_at.isoformat()} if proven.session_ends_at is not None else {}),
        **({"groups": proven.groups.values} if proven.groups is not None else {}),
        **({"own_subject": proven.own_subject} if proven.own_subject is not None else {}),
        **({"denies_email": True} if proven.denies_email else {}),
        **({"names": asdict(proven.names)} if proven.names is not None else {}),
        "tokens": None
        if tokens is None
        else {
            "client_id": tokens.client_id,
            "access_token": tokens.access_token.reveal(),
            "refresh_token": tokens.refresh_token.reveal() if tokens.refresh_token is not None else None,
            "token_type": tokens.token_type,
            "expires_at": tokens.expires_at.isoformat() if tokens.expires_at is not None else None,
            "scopes": list(tokens.scopes),
        },
    }


def _proven(stored: dict[str, Any]) -> ProvenIdentity:
    tokens = stored.pop("tokens")
    known = stored.pop("provider_session", None)
    ends_at = stored.pop("session_ends_at", None)
    groups = AssertedGroups(values=stored.pop("groups")) if "groups" in stored else None
    names = AssertedNames(**stored.pop("names")) if "names" in stored else None
    return ProvenIdentity(
        provider=Provider(stored.pop("provider")),
        groups=groups,
        names=names,
        provider_session=known_session(known) if known is not None else None,
        tokens=_tokens(**tokens) if tokens is not None else None,
        session_ends_at=datetime.fromisoformat(ends_at) if ends_at is not None else None,
        **stored,
    )


def _tokens(*, access_token: str, refresh_token: str | None, expires_at: str | None, **others: Any) -> ProviderTokens:
    return ProviderTokens(
        access_token=Secret(access_token),
        refresh_token=Secret(refresh_token) if refresh_token is not None else None,
        expires_at=datetime.fromisoformat(expires_at) if expires_at is not None else None,
        **others,
    )
