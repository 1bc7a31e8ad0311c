"""Locking accounts: one's own, and an organization's own accounts."""

from uuid import UUID

from core.accounts import locks
from core.accounts.locks import NotOwnAccount, PersonUnknown
from core.errors import Forbidden
from core.organizations.access import Operation
from entrypoints.web.serving.admission.credentials import account_wide, in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("profile", "Your own account.")


@routes.post("/api/user/lock", status=204, refuses=(Forbidden,))
@account_wide
async def lock_own_account(call: Call) -> None:
    """Lock your account: void its password, end all its sessions, and refuse every way in.

    Management keys that you have made end as well; API keys, SCIM tokens and client secrets of your organizations stay.
    Your second factors and passkeys stay. The account opens again when you choose a new password by a link that is
    mailed to its address (`POST /api/auth/forgot-password`).
    """
    await call.transact(locks.lock_mine)


@routes.post("/api/organizations/:slug/users/:user_id/lock", status=204, refuses=(PersonUnknown, NotOwnAccount))
@in_organization(Operation.ACCOUNT_LOCK)
async def lock_account_of_organization(call: Call, slug: str, user_id: UUID) -> None:
    """Lock an account of your organization's own: void its password, end what it holds, and refuse every way in.

    It is your organization's own while your directory or service made it, its address lies in a mail domain that your
    organization has verified, and it belongs nowhere else. It opens again when its person chooses a new password by a
    link that is mailed to the address.
    """
    await call.transact(locks.lock_own, slug, user_id)
