"""Sign-ins that wait for a second factor, in the table `mfa_challenges`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.sign_in.upstream.revocation.provider_sessions import stored_session
from adapters.postgres.transaction import Aggregate
from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sessions.caller_limits import Confinement
from core.sign_in.identities import ProviderSession
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.proofs import Destination, IdentityProof

_ID_TOKEN: Final = {"table": "mfa_challenges", "column": "id_token_sealed"}
_FIND: Final = """
    SELECT id, user_id, context, attempts, created_at, expires_at, passkey_challenge, passkey_expires_at,
           id_token_sealed
    FROM   mfa_challenges
    WHERE  id = %s AND user_id = %s
"""
_LIMITS: Final = ("organization_id", "service_id", "connection_id")


class PostgresMfaChallenges(Aggregate):
    """The port `MfaChallenges`."""

    def add(self, challenge: MfaChallenge) -> None:
        proof, destination = challenge.proof, challenge.destination
        context = {
            "provider": proof.provider,
            "amr": proof.amr,
            "organization": destination.organization_slug,
            "service": destination.service_slug,
            **_stored(proof.confinement),
            "provider_session": _without_token(proof.provider_session) if proof.provider_session is not None else None,
            **({"bounded_until": proof.bounded_until.isoformat()} if proof.bounded_until is not None else {}),
            **({"customer": destination.customer} if destination.customer is not None else {}),
            **({"asks_for_customer": True} if destination.asks_for_customer else {}),
            **(
                {"customer_token_hash": challenge.customer_token_hash.hex()}
                if challenge.customer_token_hash is not None
                else {}
            ),
            **({"trusts_device": True} if challenge.trusts_device else {}),
            "event_owner_id": str(challenge.event_owner_id),
            # What proves the address counts for a customer that is chosen later.
            **({"proves_address": True} if proof.proves_address and challenge.customer_token_hash is not None else {}),
        }
        self._connection.execute_later(
            """
            INSERT INTO mfa_challenges (id, user_id, context, attempts, created_at, expires_at, domain_id,
                                        id_token_sealed)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                challenge.id,
                proof.user_id,
                Jsonb(context),
                challenge.attempts,
                challenge.created_at,
                challenge.expires_at,
                self._transaction.origin.domain_id,
                self._sealed(challenge.id, proof.provider_session),
            ),
        )

    def lock(self, challenge_id: UUID, *, user_id: UUID, awaits_customer: bool = False) -> MfaChallenge | None:
        return self._one(
            self._challenge,
            f"""
            {_FIND} AND used_at IS NULL AND expires_at > %s
            AND    domain_id IS NOT DISTINCT FROM %s
            AND    (context ? 'customer_token_hash') = %s
            FOR UPDATE
            """,
            (challenge_id, user_id, self._transaction.now, self._transaction.origin.domain_id, awaits_customer),
        )

    def user_of(self, challenge_id: UUID) -> UUID | None:
        return self._value_or_none("SELECT user_id FROM mfa_challenges WHERE id = %s", (challenge_id,))

    def find(self, challenge_id: UUID, *, user_id: UUID) -> MfaChallenge | None:
        return self._one(self._challenge, _FIND, (challenge_id, user_id))

    def ask_passkey(self, challenge_id: UUID, asked: bytes, *, expires_at: datetime) -> None:
        self._connection.execute_later(
            "UPDATE mfa_challenges SET passkey_challenge = %s, passkey_expires_at = %s WHERE id = %s",
            (asked, expires_at, challenge_id),
        )

    def end_passkey(self, challenge_id: UUID) -> None:
        self._connection.execute_later(
            "UPDATE mfa_challenges SET passkey_challenge = NULL, passkey_expires_at = NULL WHERE id = %s",
            (challenge_id,),
        )

    def count_wrong_code(self, challenge_id: UUID) -> None:
        self._connection.execute_later(
            "UPDATE mfa_challenges SET attempts = attempts + 1 WHERE id = %s", (challenge_id,)
        )

    def use(self, challenge_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE mfa_challenges
            SET    used_at = %s, context = context - 'provider_session', id_token_sealed = NULL
            WHERE  id = %s
            """,
            (self._transaction.now, challenge_id),
        )

    def _sealed(self, challenge_id: UUID, known: ProviderSession | None) -> bytes | None:
        if known is None or known.id_token is None:
            return None
        return self._transaction.vault.seal(known.id_token.reveal().encode(), row=challenge_id, **_ID_TOKEN)

    def _challenge(self, *, id_token_sealed: bytes | None, **columns: Any) -> MfaChallenge:
        token = None
        if id_token_sealed is not None:
            token = Secret(self._transaction.vault.open(id_token_sealed, row=columns["id"], **_ID_TOKEN).decode())
        return _challenge(token=token, **columns)


def _challenge(*, user_id: UUID, context: dict[str, Any], token: Secret | None, **columns: Any) -> MfaChallenge:
    return MfaChallenge(
        proof=IdentityProof(
            user_id=user_id,
            provider=Provider(context["provider"]),
            amr=tuple(context["amr"]),
            proves_address=context.get("proves_address", False),
            confinement=_confinement(context),
            provider_session=_provider_session(context.get("provider_session"), token),
            bounded_until=datetime.fromisoformat(context["bounded_until"]) if "bounded_until" in context else None,
        ),
        destination=Destination(
            organization_slug=context["organization"],
            service_slug=context["service"],
            customer=context.get("customer"),
            asks_for_customer=context.get("asks_for_customer", False),
        ),
        customer_token_hash=bytes.fromhex(context["customer_token_hash"]) if "customer_token_hash" in context else None,
        trusts_device=context.get("trusts_device", False),
        event_owner_id=UUID(context["event_owner_id"]) if "event_owner_id" in context else None,
        **columns,
    )


def _stored(confinement: Confinement | None) -> dict[str, Any]:
    if confinement is None:
        return {}
    limits = {name: getattr(confinement, name) for name in (*_LIMITS, "role")}
    stored: dict[str, Any] = {name: str(value) for name, value in limits.items() if value is not None}
    return {"confinement": stored | ({"lacks_connection": True} if confinement.lacks_connection else {})}


def _without_token(known: ProviderSession) -> dict[str, Any]:
    return stored_session(replace(known, id_token=None))


def _provider_session(stored: dict[str, Any] | None, token: Secret | None) -> ProviderSession | None:
    return ProviderSession(**stored, id_token=token) if stored is not None else None


def _confinement(context: dict[str, Any]) -> Confinement | None:
    stored = context.get("confinement")
    if stored is None:
        return None
    limits = {name: UUID(stored.pop(name)) for name in _LIMITS if name in stored}
    return Confinement(**limits, **stored)
