"""The users of the whole platform: searching them, the record of one, verifying its address, and unlocking it."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.email_addresses import is_found_at_beginning
from core.errors import Forbidden
from core.limits import PAGE_ITEMS_MAX
from core.platform import locks, mails, user_records
from core.platform import users as platform_users
from core.platform.mails import NothingToVerify
from core.platform.user_records import UserRecord
from core.platform.users import FOUND_DEFAULT, PlatformUser
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform users", "The users of the whole platform, for platform owners and support.")


TOO_SHORT: Final = (
    "One or two characters are looked for at the beginning of addresses only. Give three or more to find what contains"
    " them."
)


class UserSearch(Query, kw_only=True):
    """Filters: a part of the email address, an id, or both; `limit` is lowered to 100."""

    email: str | None = None
    user_id: UUID | None = None
    limit: Annotated[int, msgspec.Meta(ge=1)] = FOUND_DEFAULT

    def __post_init__(self) -> None:
        self.limit = min(self.limit, PAGE_ITEMS_MAX)


class UserSearchResult(msgspec.Struct, kw_only=True):
    """The users found; `hint` is there only where the part is too short to be found within addresses."""

    users: list[PlatformUser]
    hint: str | msgspec.UnsetType = msgspec.UNSET


@routes.get("/api/platform/users/search", refuses=(Forbidden,))
@platform_support
async def search(call: Call, query: UserSearch) -> UserSearchResult:
    """Find users by a part of their email address, or by their id.

    Users whose address begins with the part come first, then the newest of the others; one or two characters match
    only at the beginning, which `hint` says then. For each user at most 100 organizations are shown, those that they
    joined first. Support finds no platform owner.
    """
    found = await call.transact(platform_users.search, email=query.email, user_id=query.user_id, limit=query.limit)
    is_short = query.user_id is None and is_found_at_beginning((query.email or "").strip())
    return UserSearchResult(users=list(found), hint=TOO_SHORT if is_short else msgspec.UNSET)


class VerificationSent(msgspec.Struct, kw_only=True):
    """Whether a mail leaves; none does above the limit of mails to the address."""

    sent: bool


@routes.get("/api/platform/users/:user_id", refuses=(Forbidden, UserUnknown))
@platform_support
async def show_user(call: Call, user_id: UUID) -> UserRecord:
    """Show the record of a user: ways to sign in, limits, organizations, devices, sessions, sign-ins and mails.

    It holds no secrets and no contents of mails. Each opening by support is recorded in the platform's audit log. There
    support finds no platform owner.
    """
    return await call.transact(user_records.show, user_id)


@routes.post("/api/platform/users/:user_id/resend-verification", refuses=(Forbidden, UserUnknown, NothingToVerify))
@platform_support
async def resend_verification_to_user(call: Call, user_id: UUID) -> VerificationSent:
    """Mail the link again that verifies a user's address; it is the mail that the user can request."""
    return VerificationSent(sent=await call.transact(mails.resend_verification, user_id))


@routes.post("/api/platform/users/:user_id/unlock", status=204, refuses=(Forbidden, UserUnknown))
@platform_support
async def unlock_user(call: Call, user_id: UUID) -> None:
    """Open a locked account again. It has no password until the user chooses one by a link to the address.

    An account that was imported as blocked is opened as it is, by a platform owner alone.
    """
    await call.transact(locks.unlock, user_id)
