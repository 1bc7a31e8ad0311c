"""Looking up how an address signs in, for programs and for the pages of the sign-in."""

from core.errors import BadRequest, RateLimitExceeded
from core.sign_in import lookup_email
from core.sign_in.lookup_email import EmailLookupResult
from entrypoints.web.serving.calls import Call


async def look_up(
    call: Call,
    email: str,
    *,
    organization_slug: str | None,
    service_slug: str | None,
    base_url: str,
    is_checked: bool = False,
) -> EmailLookupResult:
    """Return how the domain of an address signs in to an organization and its service.

    Raise `RateLimitExceeded` when the network has looked up too many domains at services with customers, and with
    `is_checked` `NotFound` for an organization that does not exist.
    """
    found = await call.read(
        lookup_email.by_domain,
        email,
        organization_slug=organization_slug,
        service_slug=service_slug,
        is_checked=is_checked,
    )
    if found.concerns_customers:
        await call.transact(lookup_email.count, found.domain)
    return lookup_email.result_of(found, base_url=base_url)


async def connection_for(
    call: Call, email: str, organization_slug: str | None, service_slug: str | None
) -> EmailLookupResult | None:
    """Return the connection of an address's domain; None where it has none, or where it does not sign in.

    At a custom domain one signs in that opens something of its organization. None as well when the network has asked
    too often: the pages have other ways to sign in.
    """
    host = call.custom_host
    organization = host.organization_slug if host is not None else organization_slug
    try:
        found = await look_up(call, email, base_url="", organization_slug=organization, service_slug=service_slug)
    except (BadRequest, RateLimitExceeded):
        return None
    return found if found.connection_id is not None else None
