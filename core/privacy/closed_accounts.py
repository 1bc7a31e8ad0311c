"""Anonymizes accounts that their users have closed, once they can no longer be reopened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts.users import REOPENABLE_FOR
from core.privacy import anonymization

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def forget_next_closed(uow: UnitOfWork) -> bool:
    """Anonymize the account that was closed first, if its time is over; return whether there was one."""
    subject = uow.anonymization.lock_next_closed(closed_before=uow.now - REOPENABLE_FOR)
    if subject is None:
        return False
    affiliations = uow.anonymization.affiliations(subject.id, owner_id=subject.id)
    anonymization.forget(uow, subject, affiliations, None)
    return True
