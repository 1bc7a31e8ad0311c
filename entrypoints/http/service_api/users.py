"""The users of a service, for its backend."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.service_api import users
from core.service_api.users import AccountShared, AddressOfAnotherAccount, ServiceUser, ServiceUserUnknown
from core.services.api_keys import Permission
from entrypoints.web.input.decoding import Sliced
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import service_key
from entrypoints.web.serving.routes import Routes

routes = Routes("service users", "The users of a service, as its backend manages them with an API key.")

Email = Annotated[str, msgspec.Meta(description="The email address of the account.")]


class NewServiceUser(msgspec.Struct, kw_only=True):
    """The address of the user."""

    email: Email


class ServiceUserChange(msgspec.Struct, kw_only=True):
    """The new address; without one nothing changes."""

    email: Email | None = None


class ServiceUserList(msgspec.Struct, kw_only=True):
    """A page of users, and their total number."""

    users: list[ServiceUser]
    total: int


@routes.get("/api/service/users")
@service_key(Permission.READ_USERS)
async def list_users(call: Call, query: Sliced) -> ServiceUserList:
    """List the users of your service, the newest accounts first."""
    page = await call.read(users.list_page, limit=query.limit, offset=query.offset)
    return ServiceUserList(users=list(page.users), total=page.total)


@routes.post("/api/service/users")
@service_key(Permission.WRITE_USERS)
async def add_user(call: Call, body: NewServiceUser) -> ServiceUser:
    """Add a user by email address; if there is no account with it, one is created, without a password.

    An existing account is returned as it is, so the call may be repeated. No mail is sent. A new user gets access by
    resetting the password, by an invitation or by an external account with the same address.
    """
    return await call.transact(users.add, body.email)


@routes.get("/api/service/users/:user_id", refuses=(ServiceUserUnknown,))
@service_key(Permission.READ_USERS)
async def show_user(call: Call, user_id: UUID) -> ServiceUser:
    """Show a user of your service."""
    return await call.read(users.show, user_id)


@routes.patch("/api/service/users/:user_id", refuses=(AddressOfAnotherAccount, AccountShared, ServiceUserUnknown))
@service_key(Permission.WRITE_USERS)
async def change_user(call: Call, user_id: UUID, body: ServiceUserChange) -> ServiceUser:
    """Change the email address of a user whose account is yours alone.

    That is an account which your organization created, whose address is not verified, and which belongs to no other
    organization. The new address has to be verified, and the user's sessions end. Another organization that has added
    the address keeps its user: yours moves to a new account, which has another `sub`. You go on to use the same id, and
    each operation takes that of the account, too.
    """
    return await call.transact(users.change, user_id, email=body.email)


@routes.delete("/api/service/users/:user_id", status=204, refuses=(ServiceUserUnknown,))
@service_key(Permission.DELETE_USERS)
async def remove_user(call: Call, user_id: UUID) -> None:
    """Remove a user from your service: subscriptions, sessions and sign-ins to it are deleted.

    An account that is yours alone, as for changing the address, is deleted permanently. Any other account continues to
    exist without your service.
    """
    await call.transact(users.remove, user_id)
