"""The users of a service, and the people of its customers, for its backend."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.customers import people
from core.customers.customers import OF_KEY, CustomerUnknown
from core.customers.people import CustomerPerson, CustomerPersonUnknown, PeopleSought
from core.limits import COUNTED_MAX
from core.service_api import customers, users
from core.service_api.users import AccountShared, AddressOfAnotherAccount
from core.services.api_keys import Permission
from core.services.services import ROLES_MAX
from core.services.user_metadata import ServiceUser, ServiceUserUnknown
from entrypoints.http.customers.customers import SEARCH_CHARACTERS_MAX
from entrypoints.web.input.decoding import Paged, Sliced
from entrypoints.web.input.metadata import MetadataFields, patch_of
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("service users", "The users of a service, as its backend manages them with an API key.")
customer_routes = Routes(
    "service customer users",
    "The people of the customers of a service: who has signed in for a customer, and who may where the customer shares"
    " its directory. The backend of the service reads them, and gives them roles of its own, with an API key.",
)

Email = Annotated[str, msgspec.Meta(description="The email address of the account.")]


class NewServiceUser(msgspec.Struct, kw_only=True):
    """The address of the user."""

    email: Email


class ServiceUserChange(msgspec.Struct, kw_only=True):
    """The new address, and what to note about the user; omitted fields keep their values."""

    email: Email | None = None
    metadata: MetadataFields | msgspec.UnsetType = msgspec.UNSET


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
    """Change the metadata of a user, and the email address of one whose account is yours alone.

    `metadata` sets the names in it, null removes one, and `"metadata": null` all; people of customers who have signed
    in have metadata too. An account is yours alone if your organization created it, its address is not verified, and it
    belongs to no other organization. The new address has to be verified, and the user's sessions end. Another
    organization that has added the address keeps its user: yours moves to a new account, which has another `sub`. You
    keep using the same id, and each operation accepts the id of the new account, too.
    """
    return await call.transact(users.change, user_id, email=body.email, metadata=patch_of(body.metadata))


@routes.delete("/api/service/users/:user_id", status=204, refuses=(ServiceUserUnknown,))
@service_key(Permission.DELETE_USERS)
async def remove_user(call: Call, user_id: UUID) -> None:
    """Remove a user from your service: subscriptions, sessions and sign-ins to it are deleted.

    An account that is yours alone, as for changing the address, is deleted permanently. Any other account continues to
    exist without your service.
    """
    await call.transact(users.remove, user_id)


class CustomerUsersQuery(Paged, kw_only=True):
    """A text to search for, a role, and a page of the list."""

    q: Annotated[
        str,
        msgspec.Meta(max_length=SEARCH_CHARACTERS_MAX, description="Finds people whose address or name contains it."),
    ] = ""
    role: Annotated[
        str | None,
        msgspec.Meta(description="Finds people who have this role of the service, given by you or by the customer."),
    ] = None
    after: Annotated[
        UUID | None,
        msgspec.Meta(
            description="The id of the last person of the page before, for a program that reads many people: it names"
            " this instead of the page."
        ),
    ] = None

    @property
    def sought(self) -> PeopleSought:
        """Which people these are."""
        return PeopleSought(
            search=self.q, role=self.role, after=self.after, limit=self.limit, offset=(self.page - 1) * self.limit
        )


class CustomerUserList(msgspec.Struct, kw_only=True):
    """A page of the people of a customer, and their total number."""

    users: list[CustomerPerson]
    total: Annotated[
        int,
        msgspec.Meta(
            description=f"How many there are: exactly up to {COUNTED_MAX}, and one more where there are more."
        ),
    ]


class CustomerUserRoles(msgspec.Struct, kw_only=True):
    """The roles that you give."""

    roles: Annotated[
        list[str],
        msgspec.Meta(
            max_length=ROLES_MAX,
            description="Names of roles of the service, which replace those that you gave before; an empty list takes"
            " them away.",
        ),
    ]


@customer_routes.get("/api/service/customers/:customer_id/users", refuses=(CustomerUnknown,))
@service_key(Permission.READ_CUSTOMERS)
async def list_customer_users(call: Call, customer_id: UUID, query: CustomerUsersQuery) -> CustomerUserList:
    """List the people of a customer, by their ids, which are the `sub` of their tokens.

    They are the people who have signed in for the customer and, where it shares its directory, all who may. People who
    have not confirmed that they belong to it, are suspended, or may not use the service for it are left out.
    """
    page = await call.read(customers.list_people, customer_id, query.sought)
    return CustomerUserList(users=list(page.users), total=page.total)


@customer_routes.put(
    "/api/service/customers/:customer_id/users/:user_id", refuses=(CustomerUnknown, CustomerPersonUnknown)
)
@service_key(Permission.WRITE_CUSTOMERS)
async def set_customer_user_roles(
    call: Call, customer_id: UUID, user_id: UUID, body: CustomerUserRoles
) -> CustomerPerson:
    """Give a person who has signed in for a customer roles of your own, for this customer alone.

    They add to the roles that the customer assigns, in `service_roles` of tokens for this customer, from the next token
    on. They give no access by themselves, and end when the person leaves the customer. Members of a customer who have
    not signed in for it are unknown here.
    """
    return await call.transact(people.set_roles, OF_KEY, customer_id, user_id, body.roles)
