"""Locking any account; `users.py` unlocks one."""

from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.platform import locks
from entrypoints.web.serving.admission.credentials import platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform users", "The users of the whole platform, for platform owners and support.")


@routes.post("/api/platform/users/:user_id/lock", status=204, refuses=(Forbidden, UserUnknown))
@platform_support
async def lock_user(call: Call, user_id: UUID) -> None:
    """Lock an account: void its password, end what it holds, and refuse every way in.

    Second factors and passkeys stay. It opens again with a new password, which the user chooses by a link that is
    mailed to the address, or with `POST …/unlock`. Support locks no platform owner.
    """
    await call.transact(locks.lock, user_id)
