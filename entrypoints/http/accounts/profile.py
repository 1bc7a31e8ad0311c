"""The caller's account: reading it, changing its name and its email address, and closing it."""

import msgspec

from core.accounts import closing, email_changes, profile
from core.accounts.closing import BelongsToOrganizations, GovernsPlatform, OwnsDeletedOrganization
from core.accounts.email_changes import NewAddressTaken
from core.accounts.profile import Profile, ProfileForCustomer, ProfileWithRoles
from core.errors import Forbidden
from core.rate_limits import RateLimit
from entrypoints.web.serving.admission.credentials import account_wide, signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("profile", "Your own account.")


class ProfileUpdate(msgspec.Struct, kw_only=True):
    """The fields to change; omitted fields keep their values, and null removes the name."""

    email: str | None = None
    name: str | msgspec.UnsetType | None = msgspec.UNSET


@routes.get("/api/user", refuses=(Forbidden,))
@signed_in
async def read_profile(call: Call) -> Profile | ProfileWithRoles | ProfileForCustomer:
    """Show your account, and your role and capabilities in the organization of your token.

    A token for a customer of its service says which, and your role there.
    """
    return await call.read(profile.read)


@routes.patch("/api/user", limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden, NewAddressTaken))
@account_wide
async def change_profile(call: Call, body: ProfileUpdate) -> Profile | ProfileWithRoles | ProfileForCustomer:
    """Change your name, and ask to change your email address.

    The name is changed at once. The answer shows the new address, not verified. That change is made with the link that
    is sent to it, within 24 hours; until then you sign in with the present address, as before. A later request replaces
    an earlier one, and asking for the present address drops it. The present address gets a notice, and your sessions
    continue.
    """
    if body.email is None and body.name is msgspec.UNSET:
        return await call.read(profile.read)
    return await call.transact(
        email_changes.change_profile,
        email=body.email,
        name=body.name if body.name is not msgspec.UNSET else None,
        names_account=body.name is not msgspec.UNSET,
    )


@routes.delete(
    "/api/user",
    status=204,
    refuses=(Forbidden, BelongsToOrganizations, OwnsDeletedOrganization, GovernsPlatform),
)
@account_wide
async def close_account(call: Call) -> None:
    """Close your account and end all its sessions, this one too; you must not belong to an organization.

    For 14 days signing in opens it again. After that, your personal data are deleted for good.
    """
    await call.transact(closing.close)
