"""Deletes organizations for good that their owners have deleted, once they can no longer restore them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.organizations import deletion

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A batch locks its rows for some milliseconds. No lookup finds the organization of the remaining rows.
BATCH_ROWS_MAX: Final = 500


def delete_next(uow: UnitOfWork) -> bool:
    """Delete a part of the organization whose time was over first, at last the organization; False without one.

    An interrupted deletion goes on with the remaining rows. An organization that another transaction has locked is
    being restored or deleted there.
    """
    organization = uow.deleted_organizations.lock_next(at=uow.now)
    if organization is None:
        return False
    # What a vendor has made for it as a customer is in an internal organization, which goes with it.
    for organization_id in (*uow.deleted_organizations.internal_of_ended(organization.id), organization.id):
        if uow.deleted_organizations.delete_part(organization_id, rows_max=BATCH_ROWS_MAX):
            return True
    deletion.record_end(uow, organization)
    uow.organizations.delete(organization.id)
    return True
