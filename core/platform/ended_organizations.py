"""Deleting for good what owners have deleted, once they can no longer restore it (decisions 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.organizations import deletion

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A batch locks its rows for some milliseconds. Those that are left belong to an organization that nothing finds.
BATCH_ROWS_MAX: Final = 500


def delete_next(uow: UnitOfWork) -> bool:
    """Delete a part of the organization whose time was over first, and it when no part is left; False without one.

    What is interrupted goes on with the rows that are left. An organization that another transaction has locked is
    restored or worked on there.
    """
    organization = uow.deleted_organizations.lock_next(at=uow.now)
    if organization is None:
        return False
    # What its vendor has made for one that was a customer is in an organization of its own, which goes with it.
    for organization_id in (*uow.deleted_organizations.internal_of_ended(organization.id), organization.id):
        if uow.deleted_organizations.delete_part(organization_id, rows_max=BATCH_ROWS_MAX):
            return True
    deletion.record_end(uow, organization)
    uow.organizations.delete(organization.id)
    return True
