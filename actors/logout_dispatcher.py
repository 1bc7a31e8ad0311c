"""Posts logout tokens to services; the rules are in `core/openid/logout_notices.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import structlog

from actors.dispatching import Dispatcher
from core.attempts import Attempt
from core.errors import ServiceUnavailable
from core.openid import logout_notices
from core.openid.logout_notices import LeasedService, LogoutNotice
from core.sessions.tokens import TokenKind
from ports.doorbells import Bell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.openid.logout_notices import LogoutSender
    from ports.sessions.tokens import TokenSigner
    from ports.unit_of_work import UnitOfWork

SERVICES_AT_ONCE_MAX: Final = 16
JOB_TYPE: Final = "logout_notice"

log = structlog.get_logger(__name__)


class LogoutDispatcher(Dispatcher[LeasedService, LogoutNotice]):
    """An actor that drains."""

    job_type = JOB_TYPE
    bell = Bell.LOGOUTS
    targets_at_once_max = SERVICES_AT_ONCE_MAX

    def __init__(self, *, sender: LogoutSender, tokens: TokenSigner, **connections: Any) -> None:
        super().__init__(**connections)
        self._sender = sender
        self._tokens = tokens

    def lease(self, uow: UnitOfWork, targets_max: int, items_max: int) -> Sequence[LeasedService]:
        return logout_notices.lease(uow, targets_max, items_max)

    def items_of(self, target: LeasedService) -> Sequence[LogoutNotice]:
        return target.notices

    async def send(self, target: LeasedService, item: LogoutNotice) -> Attempt:
        if target.uri is None:
            # The service wants to hear of no logout any more: as good as told.
            return Attempt(status_code=204, body=None, error=None)
        try:
            token = self._tokens.sign(
                item.claims(target.client_id),
                kind=TokenKind.LOGOUT,
                lifetime=logout_notices.TOKEN_LIFETIME,
                now=self._clock(),
                host=item.host,
            )
        except ServiceUnavailable as away:
            return Attempt(status_code=None, body=None, error=away.message)
        return await self._sender.send(target.uri, token)

    def record(self, uow: UnitOfWork, target: LeasedService, item: LogoutNotice, attempt: Attempt) -> object:
        return logout_notices.record(uow, target, item, attempt)

    def release(self, uow: UnitOfWork, target: LeasedService) -> None:
        logout_notices.release(uow, target)

    def report(self, target: LeasedService, item: LogoutNotice, attempt: Attempt) -> None:
        described = {
            "service_id": str(target.id),
            "organization_id": str(target.organization_id),
            "session_id": str(item.session_id),
            "attempt": item.attempt_count + 1,
            "status": attempt.status_code,
        }
        if attempt.is_success:
            log.info("logout_notice.delivered", **described)
        else:
            log.warning("logout_notice.failed", **described, reason=attempt.error)
