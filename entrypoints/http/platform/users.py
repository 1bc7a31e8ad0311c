"""Searching users of the whole platform."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.errors import Forbidden
from core.limits import PAGE_ITEMS_MAX
from core.platform import users as platform_users
from core.platform.users import FOUND_DEFAULT, PlatformUser
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_support
from entrypoints.web.serving.routes import Routes

routes = Routes("platform users", "Searching the users of the whole platform, for platform owners.")


class UserSearch(Query, kw_only=True):
    """Filters: a part of the email address, an id, or both; `limit` is lowered to 100."""

    email: str | None = None
    user_id: UUID | None = None
    limit: Annotated[int, msgspec.Meta(ge=1)] = FOUND_DEFAULT

    def __post_init__(self) -> None:
        self.limit = min(self.limit, PAGE_ITEMS_MAX)


class UserSearchResult(msgspec.Struct, kw_only=True):
    """The users found."""

    users: list[PlatformUser]


@routes.get("/api/platform/users/search", refuses=(Forbidden,))
@platform_support
async def search(call: Call, query: UserSearch) -> UserSearchResult:
    """Find users by a part of their email address, or by their id.

    Users whose address begins with the part come first, then the newest of the others; one or two characters match
    only at the beginning. For each user at most 100 organizations are shown, those that they joined first.
    """
    found = await call.read(platform_users.search, email=query.email, user_id=query.user_id, limit=query.limit)
    return UserSearchResult(users=list(found))
