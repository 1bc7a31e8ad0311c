"""What the standard names and Gatehouse does not support, answered as the standard says (RFC 7644, 3.11 and 3.12)."""

from core.scim import tokens
from core.scim.refusals import Unsupported
from entrypoints.http.scim.dialect import SCIM, log_refusal
from entrypoints.web.serving.admission.credentials import scim_token
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SCIM, unsupported",
    "Operations of SCIM 2.0 that are optional and not supported: `/Me`, because a token belongs to no user; bulk"
    " requests; and searching by POST.",
    dialect=SCIM,
)


@routes.get("/scim/v2/Me", refuses=(Unsupported,))
@scim_token(log_refusal)
async def show_me(call: Call) -> None:
    """Refuse: a SCIM token belongs to an organization, not to a user."""
    await _refuse(call, "A SCIM token belongs to an organization, not to a user. Use /Users.")


@routes.post("/scim/v2/Me", refuses=(Unsupported,))
@scim_token(log_refusal)
async def create_me(call: Call) -> None:
    """Refuse: a SCIM token belongs to an organization, not to a user."""
    await _refuse(call, "A SCIM token belongs to an organization, not to a user. Use /Users.")


@routes.put("/scim/v2/Me", refuses=(Unsupported,))
@scim_token(log_refusal)
async def replace_me(call: Call) -> None:
    """Refuse: a SCIM token belongs to an organization, not to a user."""
    await _refuse(call, "A SCIM token belongs to an organization, not to a user. Use /Users.")


@routes.patch("/scim/v2/Me", refuses=(Unsupported,))
@scim_token(log_refusal)
async def patch_me(call: Call) -> None:
    """Refuse: a SCIM token belongs to an organization, not to a user."""
    await _refuse(call, "A SCIM token belongs to an organization, not to a user. Use /Users.")


@routes.delete("/scim/v2/Me", refuses=(Unsupported,))
@scim_token(log_refusal)
async def remove_me(call: Call) -> None:
    """Refuse: a SCIM token belongs to an organization, not to a user."""
    await _refuse(call, "A SCIM token belongs to an organization, not to a user. Use /Users.")


@routes.post("/scim/v2/Bulk", refuses=(Unsupported,))
@scim_token(log_refusal)
async def bulk(call: Call) -> None:
    """Refuse: each resource is changed by a request of its own."""
    await _refuse(call, "Bulk requests are not supported. Change each resource by a request of its own.")


@routes.post("/scim/v2/.search", refuses=(Unsupported,))
@scim_token(log_refusal)
async def search(call: Call) -> None:
    """Refuse: lists are read by GET."""
    await _refuse(call, "Searching by POST is not supported. Send the filter with GET /Users or GET /Groups.")


@routes.post("/scim/v2/Users/.search", refuses=(Unsupported,))
@scim_token(log_refusal)
async def search_users(call: Call) -> None:
    """Refuse: lists are read by GET."""
    await _refuse(call, "Searching by POST is not supported. Send the filter with GET /Users.")


@routes.post("/scim/v2/Groups/.search", refuses=(Unsupported,))
@scim_token(log_refusal)
async def search_groups(call: Call) -> None:
    """Refuse: lists are read by GET."""
    await _refuse(call, "Searching by POST is not supported. Send the filter with GET /Groups.")


async def _refuse(call: Call, message: str) -> None:
    await call.step(tokens.authorize)
    raise Unsupported(message)
