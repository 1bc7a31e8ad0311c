"""Listing the sign-ins of a user, with why they were refused."""

from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.organizations.access import Operation
from core.sign_in import sign_ins
from core.sign_in.sign_ins import SignInsPage, SignInsUnknown
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import in_organization, platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("sign-ins", "Who has signed in or tried to, and why they were refused.")


@routes.get("/api/organizations/:slug/users/:user_id/sign-ins", refuses=(SignInsUnknown,))
@in_organization(Operation.SIGN_INS_READ)
async def list_sign_ins(call: Call, slug: str, user_id: UUID, query: Paged) -> SignInsPage:
    """List the sign-ins of a member or end user that concern your organization, the newest first.

    These are sign-ins to the organization and its services, by its connections and under its domain, since the user has
    confirmed the membership or signed in to a service. What they do elsewhere is not listed.
    """
    return await call.read(sign_ins.list_page, slug, user_id, page=query.page, limit=query.limit)


@routes.get("/api/platform/users/:user_id/sign-ins", refuses=(Forbidden, UserUnknown))
@platform_support
async def list_platform_sign_ins(call: Call, user_id: UUID, query: Paged) -> SignInsPage:
    """List all sign-ins of a user, the newest first. The platform's audit log records that support has opened them."""
    return await call.transact(sign_ins.list_platform_page, user_id, page=query.page, limit=query.limit)
