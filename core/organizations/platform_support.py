"""The end of an appointment to the platform's support; appointing and demoting are in `core/platform/support.py`.

Support reads the records of other people, so the appointment ends for good when the account loses its second factor or
passes to another person. Only a platform owner appoints anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.events.actions import PlatformAction

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def end_appointment(uow: UnitOfWork, user_id: UUID, *, reason: str) -> None:
    """End the appointment of a user to the platform's support and record why; nothing happens without one."""
    if uow.users.end_support(user_id):
        uow.audit_platform(PlatformAction.SUPPORT_DEMOTED, user_id, reason=reason)
