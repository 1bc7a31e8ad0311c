"""The vocabulary of the separate log about second factors."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class MfaEvent(StrEnum):
    """A change of a second factor, or an attempt with one."""

    SETUP_INITIATED = "mfa_setup_initiated"
    SETUP_COMPLETED = "mfa_setup_completed"
    SETUP_FAILED = "mfa_setup_failed"
    ENABLED = "mfa_enabled"
    DISABLED = "mfa_disabled"
    FORCE_DISABLED_BY_ADMIN = "mfa_force_disabled_by_admin"
    VERIFY_ATTEMPT = "mfa_verify_attempt"
    VERIFY_SUCCESS = "mfa_verify_success"
    VERIFY_FAILED = "mfa_verify_failed"
    BACKUP_CODES_GENERATED = "backup_codes_generated"
    BACKUP_CODE_USED = "backup_code_used"

    @property
    def is_success(self) -> bool:
        """Whether the attempt succeeded."""
        return self not in {MfaEvent.SETUP_FAILED, MfaEvent.VERIFY_FAILED}


def record_event(uow: UnitOfWork, event: MfaEvent, user_id: UUID, /, **details: Any) -> None:
    """Record an event about a user's second factor."""
    uow.mfa_events.add(user_id, event, is_success=event.is_success, details=details)
