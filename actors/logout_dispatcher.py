"""Posts logout tokens to services; the rules are in `core/openid/logout.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Unpack
from uuid import UUID

import structlog

from actors.dispatching import DELIVERIES_AT_ONCE_MAX, Capacity, Connections, Dispatcher
from core.attempts import Attempt
from core.errors import ServiceUnavailable
from core.openid import logout
from core.openid.logout import LeasedService, LogoutNotice
from core.sessions.tokens import TokenKind
from ports.clock import Clock
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from ports.openid.openid import LogoutSender
    from ports.sessions.tokens import TokenSigner
    from ports.unit_of_work import UnitOfWork

SERVICES_AT_ONCE_MAX: Final = 16
SLOW_SERVICES_AT_ONCE_MAX: Final = 48
ATTEMPTS_AT_ONCE_MAX: Final = (SERVICES_AT_ONCE_MAX + SLOW_SERVICES_AT_ONCE_MAX) * DELIVERIES_AT_ONCE_MAX
log = structlog.get_logger(__name__)


class LogoutDispatcher(Dispatcher[LeasedService]):
    """An actor that drains."""

    job_type = "logout_notice"
    work_kind = WorkKind.LOGOUTS
    capacity = Capacity(
        targets_max=SERVICES_AT_ONCE_MAX,
        slow_targets_max=SLOW_SERVICES_AT_ONCE_MAX,
        items_max=DELIVERIES_AT_ONCE_MAX,
    )

    def __init__(
        self, *, sender: LogoutSender, tokens: TokenSigner, clock: Clock, **connections: Unpack[Connections]
    ) -> None:
        super().__init__(**connections)
        self._sender = sender
        self._tokens = tokens
        self._clock = clock

    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[LeasedService]:
        return logout.lease_service(uow, free.targets_max, free.items_max)

    def identity(self, target: LeasedService) -> UUID:
        return target.id

    async def serve(self, target: LeasedService) -> bool:
        release = partial(logout.release_service, service=target)
        return await self._serve_each(target, target.notices, partial(self._deliver, target), release)

    async def _deliver(self, service: LeasedService, notice: LogoutNotice) -> None:
        with self._measured():
            attempt = await self._post(service, notice)
            await self._recorded(partial(logout.record_notice, service=service, notice=notice, attempt=attempt))
            _report(service, notice, attempt)

    async def _post(self, service: LeasedService, notice: LogoutNotice) -> Attempt:
        if service.uri is None:
            # The service no longer has an address for logout tokens: nothing more to do.
            return Attempt(status_code=204, body=None, error=None)
        try:
            token = self._tokens.sign(
                notice.claims(service.client_id),
                kind=TokenKind.LOGOUT,
                lifetime=logout.LOGOUT_TOKEN_LIFETIME,
                now=self._clock(),
                host=notice.host,
                algorithm=service.signature_algorithm,
            )
        except ServiceUnavailable as away:
            return Attempt(status_code=None, body=None, error=away.message)
        return await self._sender.send(service.organization_id, service.uri, token)


def _report(service: LeasedService, notice: LogoutNotice, attempt: Attempt) -> None:
    described = {
        "service_id": str(service.id),
        "organization_id": str(service.organization_id),
        "session_id": str(notice.session_id),
        "attempt": notice.attempt_count + 1,
        "status": attempt.status_code,
    }
    if attempt.is_success:
        log.info("logout_notice.delivered", **described)
    else:
        log.warning("logout_notice.failed", **described, reason=attempt.error)
