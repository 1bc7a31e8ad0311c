"""The caller's account: reading it, and changing its email address."""

import msgspec

from core.accounts import email_changes, profile
from core.accounts.email_changes import NewAddressTaken
from core.accounts.profile import Profile
from core.errors import Forbidden
from core.rate_limits import RateLimit
from entrypoints.web.calls import Call
from entrypoints.web.credentials import account_wide, signed_in
from entrypoints.web.routes import Routes

routes = Routes("profile", "Your own account.")


class ProfileChange(msgspec.Struct, kw_only=True):
    """The fields to change; omitted fields keep their values."""

    email: str | None = None


@routes.get("/api/user", refuses=(Forbidden,))
@signed_in
async def read_profile(call: Call) -> Profile:
    """Show your account, and your role and capabilities in the organization of your token."""
    return await call.read(profile.read)


@routes.patch("/api/user", limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden, NewAddressTaken))
@account_wide
async def change_profile(call: Call, body: ProfileChange) -> Profile:
    """Change your email address.

    The new address takes effect at once and has to be verified with the link that is sent to it; your sessions
    continue. The old address gets a notice with a link that can undo the change for seven days.
    """
    if body.email is None:
        return await call.read(profile.read)
    return await call.transact(email_changes.change, body.email)
