"""Asks again for the proofs of custom domains and of mail domains, so that one that is gone is shown within a day.

`core/organizations/domain_proofs.py` decides what an answer means. The name servers are asked outside of transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar, Unpack

import structlog
import trio

from actors.periods import PeriodicActor, PeriodicConnections
from core.errors import ServiceUnavailable
from core.organizations.domain_proofs import ProofStatus
from core.organizations.settings import domain
from core.organizations.settings.domain import DomainClaim
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import RouteClaim

if TYPE_CHECKING:
    from ports.resolver import Resolver
    from ports.unit_of_work import UnitOfWork

Claim = TypeVar("Claim", DomainClaim, RouteClaim)

DOMAINS_AT_ONCE_MAX: Final = 16

log = structlog.get_logger(__name__)


class DomainChecker(PeriodicActor):
    """An actor; a check that is not recorded is made again after an hour, so it needs no draining."""

    job_type = "domain_check"
    period_seconds = 300.0
    in_turn = True

    def __init__(self, *, resolver: Resolver, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._resolver = resolver

    async def work(self) -> None:
        await self._check_each(domain.claim_checks, domain.record_check)
        await self._check_each(domain_routes.claim_checks, domain_routes.record_check)

    async def _check_each(
        self,
        claim_checks: Callable[[UnitOfWork, int], Sequence[Claim]],
        record_check: Callable[[UnitOfWork, Claim, Sequence[str] | None], ProofStatus | None],
    ) -> None:
        while due := await self._database.transact(claim_checks, DOMAINS_AT_ONCE_MAX):
            async with trio.open_nursery() as nursery:
                for claim in due:
                    nursery.start_soon(self._check, claim, record_check)

    async def _check(
        self, claim: Claim, record_check: Callable[[UnitOfWork, Claim, Sequence[str] | None], ProofStatus | None]
    ) -> None:
        records = await self._resolver.txt_records(claim.proof.record_name)
        try:
            status = await self._database.transact(record_check, claim, records)
        except ServiceUnavailable as away:
            log.info("domain.check_postponed", organization_id=str(claim.organization_id), reason=away.message)
            return
        if status is not None:
            log.info("domain.checked", organization_id=str(claim.organization_id), status=status.value)
