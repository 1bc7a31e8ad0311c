"""The pages of a setup link for upstream connections: the identity provider, and the mail domains that it signs in."""

from typing import Any, Final
from uuid import UUID

from quart import Response

from core.errors import BadRequest, Conflict, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations import setup_links
from core.organizations.settings.domain import DomainVerifiedElsewhere
from core.organizations.setup_links import Part, SetupLinkDead
from core.sign_in.upstream import connection_keys, connections, domain_routes
from core.sign_in.upstream.connection_keys import NoKeyOfConnection
from core.sign_in.upstream.connections import ConnectionRecord, ConnectionUnknown, ConnectionWishes
from core.sign_in.upstream.domain_routes import RouteUnknown
from core.sign_in.upstream.saml import ServiceProvider
from entrypoints.pages.declaring import setup_pages, shows_again
from entrypoints.pages.organizations.setup import LIMITS, SetupForm, part_page, protected_cookie, setup_cookie
from entrypoints.pages.refusals import problem_of
from entrypoints.pages.rendering import Page, PageOrRedirect
from entrypoints.pages.sign_in.upstream.upstream import CALLBACK
from entrypoints.shared.sign_in.upstream.connection_keys import make_key
from entrypoints.shared.sign_in.upstream.upstream_providers import described, tested
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

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


async def _list_page(call: Call, refusal: BadRequest | None = None, form: UpstreamSetupForm | None = None) -> Response:
    typed = form or UpstreamSetupForm()
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
    connection: ConnectionRecord = await call.read(connections.find_by_link, setup_cookie(call), connection_id)
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


@routes.get(UPSTREAM, refuses=(SetupLinkDead,))
@public
async def show_upstream(call: Call) -> Page:
    """Show the connections of the organization, and forms for a new one."""
    return await _list_page(call)


@routes.post(UPSTREAM, limits=LIMITS, refuses=(*REFUSES, Conflict))
@public
@shows_again(_list_page, BadRequest)
async def create_connection(call: Call, form: UpstreamSetupForm) -> PageOrRedirect:
    """Create a connection; members use `POST /api/organizations/:slug/upstream-providers`."""
    cookie = protected_cookie(call, form)
    made = await call.transact(
        connections.create_by_link,
        cookie,
        form.type,
        form.wishes,
        described=None,
        allowed=call.installation.settings.outbound_allowed,
    )
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
@shows_again(_page, BadRequest, Conflict)
async def change_connection(call: Call, connection_id: UUID, form: UpstreamSetupForm) -> PageOrRedirect:
    """Change a connection on which the organization does not rely yet."""
    cookie = protected_cookie(call, form)
    # Before anything is fetched for them.
    organization_id, _ = await call.read(connections.find_to_test_by_link, cookie, connection_id)
    wishes = form.wishes
    has_metadata = wishes.metadata_url is not None or wishes.metadata_xml is not None
    await call.transact(
        connections.change_by_link,
        cookie,
        connection_id,
        wishes,
        described=await described(call, organization_id, wishes) if has_metadata else None,
        allowed=call.installation.settings.outbound_allowed,
    )
    return see_other(f"{UPSTREAM}/{connection_id}")


@routes.post(f"{UPSTREAM}/:connection_id/test", limits=LIMITS, refuses=REFUSES)
@public
async def test_connection(call: Call, connection_id: UUID, form: SetupForm) -> Page:
    """Ask the provider of a connection what it says of itself, and show the result."""
    asked = await call.read(connections.find_to_test_by_link, protected_cookie(call, form), connection_id)
    return await _page(call, connection_id, outcome=await tested(call, *asked))


@routes.post(f"{UPSTREAM}/:connection_id/key", limits=LIMITS, refuses=(*REFUSES, Conflict, NoKeyOfConnection))
@public
@shows_again(_page, BadRequest, Conflict)
async def replace_key(call: Call, connection_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Replace the key of a connection by SAML on which the organization does not rely yet."""
    cookie = protected_cookie(call, form)
    # Before a key is made for them.
    await call.read(connections.find_by_link, cookie, connection_id)
    made, valid_from = await make_key(call, connection_id)
    await call.transact(connection_keys.rotate_by_link, cookie, connection_id, made, valid_from=valid_from)
    return see_other(f"{UPSTREAM}/{connection_id}")


@routes.post(f"{UPSTREAM}/:connection_id/domains", limits=LIMITS, refuses=(*REFUSES, Conflict))
@public
@shows_again(_page, BadRequest, Conflict)
async def claim_mail_domain(call: Call, connection_id: UUID, form: MailDomainForm) -> PageOrRedirect:
    """Claim a mail domain, whose addresses the connection signs in once it is proved."""
    cookie = protected_cookie(call, form)
    await call.transact(domain_routes.create_by_link, cookie, form.domain, connection_id)
    return see_other(f"{UPSTREAM}/{connection_id}")


@routes.post(
    f"{UPSTREAM}/domains/:route_id/verify", limits=LIMITS, refuses=(*REFUSES, RouteUnknown, DomainVerifiedElsewhere)
)
@public
async def verify_mail_domain(call: Call, route_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Ask the name servers of a mail domain for the TXT record now."""
    cookie = protected_cookie(call, form)
    claim = await call.read(domain_routes.find_by_link, cookie, route_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    try:
        await call.transact(domain_routes.verify_by_link, cookie, route_id, records)
    except (BadRequest, DomainVerifiedElsewhere) as refusal:
        return await _page(call, claim.connection_id, refusal)
    return see_other(f"{UPSTREAM}/{claim.connection_id}")
