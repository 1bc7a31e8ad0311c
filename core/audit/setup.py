"""Setting up the stream to a SIEM with a setup link (decisions 13.7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.audit import siem, siem_stream
from core.audit.audit_log import AuditLogActor
from core.audit.siem import SiemConfiguration, SiemRequest, SiemUnknown
from core.audit.siem_stream import SiemEvent, SiemTarget
from core.lazy_dataclasses import dataclass
from core.organizations import setup_links
from core.organizations.access import Capability
from core.organizations.setup_links import OpenSetup, Part
from core.outbound import Network

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemSetup:
    """The stream of the organization; None before it was configured."""

    setup: OpenSetup
    configuration: SiemConfiguration | None


def show(uow: UnitOfWork, cookie: str) -> SiemSetup:
    """Return what the holder of a link sees; raise `SetupLinkDead`."""
    setup = setup_links.present(uow, cookie, Part.SIEM)
    stream = uow.siem_streams.find(setup.organization_id)
    return SiemSetup(
        setup=setup,
        configuration=SiemConfiguration.of(uow, setup.organization_id, stream) if stream is not None else None,
    )


def configure(uow: UnitOfWork, cookie: str, wanted: SiemRequest, *, allowed: Iterable[Network]) -> None:
    """Set where the audit log and the sign-ins are streamed to."""
    setup = setup_links.lock(uow, cookie, Part.SIEM)
    siem.change(
        uow,
        setup.organization_id,
        wanted,
        allowed=allowed,
        made_by=setup.created_by,
        may_read_sign_ins=Capability.END_USERS_VIEW in setup.capabilities,
        **setup.recorded,
    )


def show_ends(uow: UnitOfWork, cookie: str) -> tuple[OpenSetup, SiemConfiguration]:
    """Return the stream that the holder of a link is about to delete; raise `SiemUnknown` without one."""
    shown = show(uow, cookie)
    if shown.configuration is None:
        raise SiemUnknown
    return shown.setup, shown.configuration


def remove(uow: UnitOfWork, cookie: str) -> None:
    """Delete the stream with its token and its cursor; raise `SiemUnknown` without one."""
    setup = setup_links.lock(uow, cookie, Part.SIEM)
    siem.drop(uow, setup.organization_id, **setup.recorded)


def prepare_test(uow: UnitOfWork, cookie: str) -> tuple[SiemTarget, SiemEvent]:
    """Return the receiver and an event to try it with, and record the test; raise `SiemUnknown` without a stream."""
    setup = setup_links.present(uow, cookie, Part.SIEM)
    actor = AuditLogActor.of(None, None, None, setup.recorded)
    return siem_stream.test_of(uow, setup.organization_id, actor, **setup.recorded)
