"""What is kept of a person: having it, and having it forgotten."""

from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden, OrganizationNotActive
from core.privacy import anonymization
from core.privacy import export as privacy_export
from core.privacy.export import ExportPackage
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_person, signed_in
from entrypoints.web.routes import Routes

routes = Routes("privacy", "What is kept of a person, and forgetting it for good.")


class Forgotten(msgspec.Struct, kw_only=True):
    """Who was forgotten."""

    success: bool
    message: str
    user_id: UUID


@routes.get("/api/privacy/export/:user_id", refuses=(Forbidden, OrganizationNotActive, UserUnknown))
@signed_in
async def export(call: Call, user_id: UUID) -> ExportPackage:
    """Export what is kept of a person: for themselves, an owner of an organization of theirs, or a platform owner.

    Passwords, secrets and tokens are not in it. Of the login events it has the newest 1,000, and counts all of them. An
    owner gets what concerns their own active organizations, and sign-ins to none; not what concerns others.
    """
    return await call.read(privacy_export.export, user_id)


@routes.delete("/api/privacy/forget/:user_id", refuses=(Forbidden, OrganizationNotActive, UserUnknown))
@in_person
async def forget(call: Call, user_id: UUID) -> Forgotten:
    """Forget a person for good: for the owner of every organization that they belong to, or for a platform owner.

    The email address is replaced by a placeholder, every way to sign in is deleted, and from where and with what they
    acted is removed from all logs. Memberships, counts and audit entries stay. This cannot be undone. A platform owner
    has to be demoted first.
    """
    await call.transact(anonymization.forget, user_id)
    return Forgotten(success=True, message="Everything personal of this person is removed.", user_id=user_id)
