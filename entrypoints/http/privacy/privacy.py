"""Personal data: exporting it, and anonymizing a user."""

from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden, OrganizationNotActive
from core.privacy import anonymization
from core.privacy import export as privacy_export
from core.privacy.export import PersonalDataExport
from entrypoints.web.serving.admission.credentials import in_person, signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("privacy", "Exporting the personal data of a user, and anonymizing a user permanently.")


class AnonymizedUser(msgspec.Struct, kw_only=True):
    """The user who was anonymized."""

    success: bool
    message: str
    user_id: UUID


@routes.get("/api/privacy/export/:user_id", refuses=(Forbidden, OrganizationNotActive, UserUnknown))
@signed_in
async def export(call: Call, user_id: UUID) -> PersonalDataExport:
    """Export the data of a user: for the user, an owner of one of their organizations, or a platform owner.

    Passwords, secrets and tokens are left out. Of the login events the newest 1,000 are included, and all are counted.
    An owner gets what belongs to the context of their own active organizations, of members who have confirmed their
    membership and of end users, and never of a platform owner. Every export is recorded as `user.exported`.
    """
    return await call.transact(privacy_export.export, user_id)


@routes.delete("/api/privacy/forget/:user_id", refuses=(Forbidden, OrganizationNotActive, UserUnknown))
@in_person
async def forget(call: Call, user_id: UUID) -> AnonymizedUser:
    """Anonymize a user: for a caller who owns every organization of the user, or a platform owner.

    The email address is replaced by a placeholder, every sign-in method is deleted, and network addresses and devices
    are removed from all logs. Memberships, counts and audit entries stay. This cannot be undone. A platform owner has
    to be demoted first.
    """
    await call.transact(anonymization.anonymize, user_id)
    return AnonymizedUser(success=True, message="All personal data of this user is removed.", user_id=user_id)
