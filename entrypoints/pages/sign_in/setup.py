"""The pages of a setup link for upstream connections: the identity provider, and the mail domains that it signs in."""

from typing import Annotated, Any, Final
from uuid import UUID

from quart import Response

from core.errors import BadRequest, Conflict, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations import setup_links
from core.organizations.settings.domain import DomainVerifiedElsewhere
from core.organizations.setup_links import Part, SetupLinkDead
from core.sign_in.upstream import connections, domain_routes
from core.sign_in.upstream.connections import Connection, ConnectionUnknown, ConnectionWishes
from core.sign_in.upstream.domain_routes import RouteUnknown
from core.sign_in.upstream.saml import ServiceProvider
from entrypoints.http.sign_in.upstream_providers import described, tested
from entrypoints.pages.account_pages import problem_of
from entrypoints.pages.organizations.setup import LIMITS, SetupForm, part_page, protected_cookie, setup_cookie
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.pages.sign_in.upstream_connections import CALLBACK
from entrypoints.web.answers import Status, see_other
from entrypoints.web.browsers import FormRefused
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("setup pages", "Filling in settings of an organization with a setup link.", refusal_page)

UPSTREAM: Final = "/app/setup/parts/upstream"
REFUSES: Final = (SetupLinkDead, FormRefused, ConnectionUnknown)


class UpstreamSetupForm(SetupForm, kw_only=True):
    """A new connection, or the fields of one; empty ones change nothing."""

    type: str = ""
    name: str = ""
    issuer: str = ""
    client_id: str = ""
    client_secret: str = ""
    metadata_url: str = ""
    metadata_xml: str = ""

    @property
    def wishes(self) -> ConnectionWishes:
        """The fields to set."""
        names = ("name", "issuer", "client_id", "client_secret", "metadata_url", "metadata_xml")
        return ConnectionWishes(**{name: getattr(self, name).strip() or None for name in names})

    def __repr__(self) -> str:
        return f"{type(self).__name__}(***)"


class MailDomainForm(SetupForm, kw_only=True):
    """The mail domain to route to a connection."""

    domain: str = ""


@routes.get(UPSTREAM, refuses=(SetupLinkDead,))
@public
async def show_upstream(call: Call) -> Page:
    """Show the connections of the organization, and forms for a new one."""
    return await _list_page(call)


@routes.post(UPSTREAM, limits=LIMITS, refuses=(*REFUSES, Conflict))
@public
async def create_connection(call: Call, form: UpstreamSetupForm) -> Page | Annotated[None, Status(303)]:
    """Create a connection; members use `POST /api/organizations/:slug/upstream-providers`."""
    cookie = protected_cookie(call, form)
    try:
        made = await call.transact(
            connections.create_by_link,
            cookie,
            form.type,
            form.wishes,
            described=None,
            allowed=call.installation.settings.outbound_allowed,
        )
    except BadRequest as refusal:
        return await _list_page(call, refusal, form)
    return see_other(f"{UPSTREAM}/{made.id}")


@routes.get(f"{UPSTREAM}/:connection_id", refuses=(SetupLinkDead, ConnectionUnknown))
@public
async def show_connection(call: Call, connection_id: UUID) -> Page:
    """Show a connection, what to enter at its provider, and the mail domains that it signs in."""
    return await _page(call, connection_id)


@routes.post(
    f"{UPSTREAM}/:connection_id", limits=LIMITS, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(*REFUSES, Conflict)
)
@public
async def change_connection(
    call: Call, connection_id: UUID, form: UpstreamSetupForm
) -> Page | Annotated[None, Status(303)]:
    """Change a connection on which the organization does not rely yet."""
    cookie = protected_cookie(call, form)
    # Before anything is fetched for them.
    await call.read(connections.find_by_link, cookie, connection_id)
    wishes = form.wishes
    has_metadata = wishes.metadata_url is not None or wishes.metadata_xml is not None
    try:
        await call.transact(
            connections.change_by_link,
            cookie,
            connection_id,
            wishes,
            described=await described(call, wishes) if has_metadata else None,
            allowed=call.installation.settings.outbound_allowed,
        )
    except (BadRequest, Conflict) as refusal:
        return await _page(call, connection_id, refusal)
    return see_other(f"{UPSTREAM}/{connection_id}")


@routes.post(f"{UPSTREAM}/:connection_id/test", limits=LIMITS, refuses=REFUSES)
@public
async def test_connection(call: Call, connection_id: UUID, form: SetupForm) -> Page:
    """Ask the provider of a connection what it says of itself, and show the result."""
    connection = await call.read(connections.find_by_link, protected_cookie(call, form), connection_id)
    return await _page(call, connection_id, outcome=await tested(call, connection))


@routes.post(f"{UPSTREAM}/:connection_id/domains", limits=LIMITS, refuses=(*REFUSES, Conflict))
@public
async def claim_mail_domain(
    call: Call, connection_id: UUID, form: MailDomainForm
) -> Page | Annotated[None, Status(303)]:
    """Claim a mail domain, whose addresses the connection signs in once it is proved."""
    cookie = protected_cookie(call, form)
    try:
        await call.transact(domain_routes.create_by_link, cookie, form.domain, connection_id)
    except (BadRequest, Conflict) as refusal:
        return await _page(call, connection_id, refusal)
    return see_other(f"{UPSTREAM}/{connection_id}")


@routes.post(
    f"{UPSTREAM}/domains/:route_id/verify", limits=LIMITS, refuses=(*REFUSES, RouteUnknown, DomainVerifiedElsewhere)
)
@public
async def verify_mail_domain(call: Call, route_id: UUID, form: SetupForm) -> Page | Annotated[None, Status(303)]:
    """Ask the name servers of a mail domain for the TXT record now."""
    cookie = protected_cookie(call, form)
    claim = await call.read(domain_routes.find_by_link, cookie, route_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    try:
        await call.transact(domain_routes.verify_by_link, cookie, route_id, records)
    except (BadRequest, DomainVerifiedElsewhere) as refusal:
        return await _page(call, claim.connection_id, refusal)
    return see_other(f"{UPSTREAM}/{claim.connection_id}")


async def _list_page(call: Call, refusal: BadRequest | None = None, typed: UpstreamSetupForm | None = None) -> Response:
    typed = typed or UpstreamSetupForm()
    details = refusal.details if refusal is not None else ()
    setup = await call.read(setup_links.present, setup_cookie(call), Part.UPSTREAM)
    return await part_page(
        call,
        "setup_upstream.html",
        setup,
        status=refusal.code.status if refusal is not None else 200,
        connections=await call.read(connections.list_by_link, setup_cookie(call)),
        problem=problem_of(refusal) if not details else "",
        # Both forms of the page have a field for the name.
        problems={f"{typed.type}-{one.field}": one.message for one in details},
        typed=typed,
        callback=f"{call.installation.settings.base_url}{CALLBACK}",
    )


async def _page(call: Call, connection_id: UUID, refusal: Refusal | None = None, *, outcome: Any = None) -> Response:
    setup = await call.read(setup_links.present, setup_cookie(call), Part.UPSTREAM)
    connection: Connection = await call.read(connections.find_by_link, setup_cookie(call), connection_id)
    base_url = call.installation.settings.base_url
    claimed = await call.read(domain_routes.list_by_link, setup_cookie(call))
    return await part_page(
        call,
        "setup_connection.html",
        setup,
        status=refusal.code.status if refusal is not None else 200,
        connection=connection,
        provider=ServiceProvider.of(base_url, connection.id),
        callback=f"{base_url}{CALLBACK}",
        claimed=[route for route in claimed if route.provider_id == connection.id],
        problem=problem_of(refusal),
        outcome=outcome,
    )
