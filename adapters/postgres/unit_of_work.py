"""The unit of work over one connection: its aggregates, its callers, and the methods that record what happened."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from adapters.postgres.aggregates import Aggregates
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.positions import Position
from adapters.postgres.replicas import Reading
from adapters.postgres.request_callers import RequestCallers
from adapters.postgres.sessions.callers import PostgresCallers
from adapters.postgres.transaction import Tools, Transaction
from core.audit.audit_log import IMPERSONATION_SESSION, IMPERSONATOR, KEY_WORKLOAD, ORGANIZATION_KEY, SETUP_LINK
from core.customers.relation_log import CustomerSide, Relation
from core.events.actions import AlikeTargets, AuditAction, PlatformAction
from core.events.events import EventType
from core.organizations.key_callers import TokenOfKey
from core.organizations.link_callers import SetupVisit
from core.prefixed_tokens import PrefixedToken
from core.sessions.origins import Origin
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from ports.credentials.passkeys import WebAuthn


class Elsewhere(Aggregates):
    """The aggregates over a connection to a replica; `ReadsElsewhere` offers the ones that may be read there."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction


class TransactionRequired(Exception):
    """A use case that runs as a step writes more than one statement, so it runs again in a transaction."""


class PostgresUnitOfWork(RequestCallers):
    """The port `UnitOfWork`; lives as long as its transaction."""

    def __init__(  # noqa: PLR0913 - one for each kind of credential
        self,
        connection: Connection,
        origin: Origin,
        tools: Tools,
        *,
        session_id: UUID | None = None,
        client_id: UUID | None = None,
        api_key: PrefixedToken | None = None,
        scim_token: PrefixedToken | None = None,
        organization_credential: PrefixedToken | TokenOfKey | SetupVisit | None = None,
        identified: Callable[[str | None, Hashable | None], None] | None = None,
        reading: Reading | None = None,
        is_step: bool = False,
    ) -> None:
        transaction = Transaction(
            connection=connection,
            now=tools.clock(),
            origin=origin,
            vault=tools.vault,
            randomness=tools.randomness,
            is_settled=tools.is_settled,
            session_id=session_id,
            api_key=api_key,
            scim_token=scim_token,
            session_kinds=tools.session_kinds,
            impersonation_in=_impersonation,
            notes_position=reading is not None,
        )
        super().__init__(
            transaction,
            client_id=client_id,
            organization_credential=organization_credential,
            identified=identified,
        )
        # None where everything is read from the primary.
        self._reading = reading
        self._is_step = is_step
        self._elsewhere: Elsewhere | None = None
        self.randomness = tools.randomness
        self.pepper = tools.pepper
        self.domain_names = tools.domain_names
        self.locations = tools.locations
        self.totp = tools.totp
        self._webauthn = tools.webauthn
        self.has_rate_limits = tools.has_rate_limits
        self._relation: Relation | None = None

    @property
    def webauthn(self) -> WebAuthn:
        host = self.origin.custom_host
        return self._webauthn() if host is None else self._webauthn().of_host(host.name)

    def require_transaction(self) -> None:
        if self._is_step:
            raise TransactionRequired

    @property
    def elsewhere(self) -> Aggregates:
        reading, position = self._reading, self._transaction.position
        if reading is None or position is None:
            return self
        if self._elsewhere is None:
            connection = reading.connection_at(Position.of(position))
            if connection is None:
                # Asked once for a unit of work, so that all of it is read in one place.
                self._reading = None
                return self
            self._elsewhere = Elsewhere(replace(self._transaction, connection=connection))
        return self._elsewhere

    def commit_without_waiting(self) -> None:
        """Let this transaction be over before it is on the disk; a crash of the server may lose it."""
        self._transaction.connection.execute_later("SET LOCAL synchronous_commit = off")

    @property
    def made_due(self) -> set[WorkKind]:
        """The work whose actors get a message after the commit."""
        return self._transaction.made_due

    def record(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        audit_only: Mapping[str, Any] | None = None,
        event_only: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        self.audit(
            action,
            target_id,
            organization_id=organization_id,
            actor_user_id=actor_user_id,
            **details,
            **(audit_only or {}),
        )
        self.publish(
            action.event,
            organization_id=organization_id,
            actor_user_id=actor_user_id,
            actor_email=actor_email,
            **details,
            **(event_only or {}),
        )

    def record_each(self, action: AuditAction, targets: Sequence[tuple[UUID, UUID]], /, **details: Any) -> None:
        self.record_alike(action, [AlikeTargets(targets=targets, details=details)])

    def record_alike(self, action: AuditAction, alike: Sequence[AlikeTargets], /) -> None:
        credential = self._credential()
        named = [AlikeTargets(targets=one.targets, details=dict(one.details) | credential) for one in alike]
        self.audit_entries.add_alike(action, named)
        self.events.add_alike(action.event, f"{action.target_type.value}_id", named)

    def record_elsewhere(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        audit_only: Mapping[str, Any] | None = None,
        event_only: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        self.audit_elsewhere(action, target_id, organization_id=organization_id, **(details | dict(audit_only or {})))
        data = details | dict(event_only or {})
        self.events.add(action.event, (organization_id,), actor_user_id=None, actor_email=None, data=data)

    def audit_elsewhere(
        self, action: AuditAction, target_id: UUID | str, /, *, organization_id: UUID, **details: Any
    ) -> None:
        self.audit_entries.add(
            action,
            target_id,
            organization_id=organization_id,
            actor_user_id=None,
            success=True,
            details=details,
            has_origin=False,
        )

    def record_each_elsewhere(
        self,
        action: AuditAction,
        happenings: Sequence[tuple[UUID, UUID, Mapping[str, Any], Mapping[str, Any]]],
        /,
    ) -> None:
        self.audit_entries.add_each_without_origin(
            action, [(organization_id, target_id, details) for organization_id, target_id, details, _ in happenings]
        )
        self.events.add_each(
            action.event,
            [
                (organization_id, dict(details) | dict(event_only))
                for organization_id, _, details, event_only in happenings
            ],
        )

    def audit(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        success: bool = True,
        **details: Any,
    ) -> None:
        if self._session_id is not None:
            actor_user_id = actor_user_id or self.caller.account.id
        made_for = self._made_for(organization_id)
        if made_for is not None:
            # Both sides see what was done for a customer in their own logs; no one sees the internal organization's.
            target_id = made_for.customer_id if target_id == organization_id else target_id
            self._audit_at_customer(action, target_id, made_for, details, success=success)
            organization_id = made_for.vendor_id
            details |= made_for.seen_by_vendor
        details |= self._credential()
        self.audit_entries.add(
            action,
            target_id,
            organization_id=organization_id,
            actor_user_id=actor_user_id,
            success=success,
            details=details,
        )

    def _audit_at_customer(
        self, action: AuditAction, target_id: UUID | str, made_for: Relation, details: dict[str, Any], *, success: bool
    ) -> None:
        """Record what the vendor did for a customer in the customer's log, which names the vendor and no person."""
        assert made_for.customer_organization_id is not None, "something is set up for an offer"
        self.audit_entries.add(
            action,
            target_id,
            organization_id=made_for.customer_organization_id,
            actor_user_id=None,
            success=success,
            details=details | made_for.seen_by_customer | {"by": CustomerSide.VENDOR},
            has_origin=False,
        )

    def _made_for(self, organization_id: UUID | None) -> Relation | None:
        """Return the customer for which the caller acts in an internal organization; None in any other."""
        setup, link = self._setup_caller, self._link_caller
        if setup is not None and organization_id == setup.organization.id:
            return setup.relation
        if link is None or link.made_for is None or organization_id != link.organization.id:
            return None
        self._relation = self._relation or self.service_customers.relation_of(link.organization.id)
        return self._relation

    def _credential(self) -> dict[str, Any]:
        """Return the detail that names the key or token of a caller who is no user."""
        if self._api_key is not None:
            return {"api_key_id": str(self.service_caller.key_id)}
        if self._key_caller is not None:
            workload_id = self._key_caller.workload_id
            workload = {KEY_WORKLOAD: str(workload_id)} if workload_id is not None else {}
            named = {"organization_key_name": self._key_caller.key_name}
            return {ORGANIZATION_KEY: str(self._key_caller.key_id)} | named | workload
        if self._link_caller is not None:
            return {SETUP_LINK: str(self._link_caller.link_id)}
        return {"scim_token_id": str(self.scim_caller.token_id)} if self._scim_token is not None else {}

    def audit_platform(
        self, action: PlatformAction, target_id: UUID | str, /, *, organization_id: UUID | None = None, **details: Any
    ) -> UUID:
        return self.platform_audit_entries.add(
            action,
            target_id,
            actor_user_id=self._platform_actor(),
            organization_id=organization_id,
            details=details,
        )

    def _platform_actor(self) -> UUID | None:
        return self.caller.limits.impersonator_id or self.caller.account.id if self._session_id is not None else None

    def publish(
        self,
        event: EventType,
        /,
        *,
        organization_id: UUID | None = None,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        **data: Any,
    ) -> None:
        if self._made_for(organization_id) is not None:
            # The events about the setup of a customer, for both sides, are in `setup_news.py`.
            return
        if actor_user_id is None and self._session_id is not None:
            actor_user_id, actor_email = self.caller.account.id, self.caller.account.email
        if self._key_caller is not None or self._link_caller is not None:
            data |= self._credential()
        self.events.add(event, (organization_id,), actor_user_id=actor_user_id, actor_email=actor_email, data=data)

    def tell_vendor(self, event: EventType, internal_id: UUID, /, **data: Any) -> None:
        made_for = self._made_for(internal_id)
        if made_for is not None:
            self.publish(event, organization_id=made_for.vendor_id, **data, **made_for.seen_by_vendor)
            return
        made_for = self.service_customers.relation_of(internal_id)
        if made_for is not None:
            # The vendor must not learn who causes it: a person of the customer, or of another organization.
            self.events.add(
                event,
                (made_for.vendor_id,),
                actor_user_id=None,
                actor_email=None,
                data={**data, **made_for.seen_by_vendor},
            )

    def audit_at_customer(
        self, action: AuditAction, target_id: UUID, internal_id: UUID, /, *, is_of_vendor: bool = False, **details: Any
    ) -> None:
        made_for = self._made_for(internal_id) or self.service_customers.relation_of(internal_id)
        if made_for is None:
            return
        assert made_for.customer_organization_id is not None, "something is set up for an offer"
        self.audit_elsewhere(
            action,
            target_id,
            organization_id=made_for.customer_organization_id,
            **(details | made_for.seen_by_customer | {"by": CustomerSide.VENDOR}),
        )
        if is_of_vendor:
            self.audit_elsewhere(
                action,
                target_id,
                organization_id=made_for.vendor_id,
                **(details | made_for.seen_by_vendor | self._credential()),
            )

    def publish_of_users(
        self,
        event: EventType,
        organization_id: UUID,
        happenings: Sequence[tuple[UUID, str, Mapping[str, Any]]],
        /,
    ) -> None:
        self.events.add_of_users(event, organization_id, happenings)

    def publish_to_each(
        self,
        event: EventType,
        organization_ids: Sequence[UUID | None],
        /,
        *,
        actor_user_id: UUID | None,
        actor_email: str | None,
        **data: Any,
    ) -> None:
        self.events.add(event, organization_ids, actor_user_id=actor_user_id, actor_email=actor_email, data=data)


def _impersonation(transaction: Transaction) -> dict[str, str]:
    if transaction.session_id is None:
        return {}
    # A transaction that records something has read its caller, unless it is about the session itself.
    caller = transaction.caller or PostgresCallers(transaction).of_session(transaction.session_id)
    if caller is None or caller.limits.impersonator_id is None:
        return {}
    return {IMPERSONATOR: str(caller.limits.impersonator_id), IMPERSONATION_SESSION: str(transaction.session_id)}
