"""The pages of a setup link for the connections of an organization.

A page asks for the kind of provider first and then shows its steps alone. A connection is checked before it is saved,
so that the page itself says why it could sign no one in (`provider_problems.py`). It is off until a test sign-in has
succeeded. A refused form shows its values again, except the client secret.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from quart import Response

from core.errors import BadRequest, Conflict, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.organizations.link_callers import Part, SetupLinkDead, present, serve
from core.organizations.settings.domain import DomainVerifiedElsewhere
from core.organizations.setup_links import OpenedSetup
from core.sign_in.upstream import configuring
from core.sign_in.upstream.configuring import ConfiguredConnection
from core.sign_in.upstream.connections import checks, connection_keys, connections
from core.sign_in.upstream.connections.checks import CheckedChange
from core.sign_in.upstream.connections.connection_keys import NoKeyOfConnection
from core.sign_in.upstream.connections.connections import ConnectionFields, ConnectionUnknown
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import RouteInForce, RouteUnknown
from core.sign_in.upstream.trials import enabling, trials
from core.sign_in.upstream.trials.trials import NothingToTry
from entrypoints.pages.console.setup_steps import SetupStep
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    done,
    part_page,
    require_own_form,
    sent,
    steps_of_page,
    steps_of_part,
    verify_holder,
)
from entrypoints.pages.organizations.setup import opened as opened_by_link
from entrypoints.pages.sign_in.upstream.connections import provider_kinds
from entrypoints.pages.sign_in.upstream.connections.connection_fields import (
    NotUsable,
    copies_of,
    described_change,
    redirect_uri,
    required,
    stored,
)
from entrypoints.pages.sign_in.upstream.connections.connection_steps import (
    DOMAIN,
    StepAddresses,
    steps_of,
    steps_without_connection,
)
from entrypoints.pages.sign_in.upstream.connections.connections import ConnectionForm, TokenIssuerForm
from entrypoints.pages.sign_in.upstream.domains.domain_routes import MailDomainClaimForm
from entrypoints.pages.sign_in.upstream.provider_problems import SENTENCES
from entrypoints.pages.sign_in.upstream.trials.trial_judgements import UPSTREAM, page_by_link
from entrypoints.pages.sign_in.upstream.trials.trials import leave
from entrypoints.shared.sign_in.upstream.saml_connections import make_key
from entrypoints.shared.sign_in.upstream.upstream_providers import found_by_check, tested
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.admission.credentials import holding_setup_link
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

setup_routes: Routes = setup_pages()

REFUSES: Final = (SetupLinkDead, FormRefused, ConnectionUnknown)


@setup_routes.get(UPSTREAM, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_upstream(
    call: Call, *, query: PartQuery | None = None, form: ConnectionForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the connections of the organization and the kinds of providers; of one kind, the steps and a form."""
    setup, listed = await opened_by_link(call, Operation.CONNECTIONS_READ, configuring.list_states)
    sent_type = form.type if form is not None else None
    kind = provider_kinds.chosen((form or query or PartQuery()).provider, sent_type)
    shown: dict[str, Any] = {"kinds": provider_kinds.KINDS, "kind": kind}
    if kind is None:
        shown["connections"] = listed
    issuer = provider_kinds.ISSUERS.get(kind.word if kind is not None else "", "")
    return await _part_page(
        call,
        "sign_in/upstream/connections/connections_new.html",
        setup,
        refusal,
        query=query,
        begin=UPSTREAM,
        **shown,
        is_saml=kind is not None and provider_kinds.is_saml(kind),
        typed=form or ConnectionForm(name=setup.holder.organization.name, issuer=issuer),
        copies=redirect_uri(call),
    )


# The step of the page of a connection to which each of its forms belongs; every other one is of the provider.
STEP_OF_FORM: Final = {
    "domains": "domains",
    "verify": "domains",
    "delete": "domains",
    "trial": "test",
    "enabling": "live",
    "token-issuer": "revocation",
}


@setup_routes.get(f"{UPSTREAM}/:connection_id", refuses=(SetupLinkDead, ConnectionUnknown))
@holding_setup_link
async def show_connection(
    call: Call,
    connection_id: UUID,
    *,
    query: PartQuery | None = None,
    form: ProtectedForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a connection, what to enter at its provider, how sign-ins went, and the mail domains that it signs in."""
    setup, found = await opened_by_link(call, Operation.CONNECTIONS_READ, configuring.show, connection_id)
    connection = found.state.connection
    steps = _steps(found)
    sent = form if isinstance(form, ConnectionForm) else None
    query = query or PartQuery()
    is_done = dict(zip(("provider", "domains", "test", "live"), (one.is_done for one in steps), strict=True))
    if setup.holder.made_for is not None:
        # Mail domains of a customer are a part of their own.
        del is_done["domains"]
    chosen = query.step or ("live" if all(is_done.values()) else "")
    if refusal is not None:
        chosen = STEP_OF_FORM.get(call.request.path.rpartition("/")[2], "provider")
    return await _part_page(
        call,
        "sign_in/upstream/configuring_setup_connection.html",
        setup,
        refusal,
        query=query,
        page=f"{UPSTREAM}/{connection.id}",
        **steps_of_page({**is_done, "revocation": bool(connection.token_issuer)}, chosen),
        found=found,
        connection=connection,
        steps=steps,
        kind=provider_kinds.kind_of_connection(connection, sent.provider if sent is not None else query.provider),
        typed=sent or ConnectionForm(**stored(connection)),
        progress=found.state.progress,
        failures=found.failures,
        typed_domain=form.domain if isinstance(form, MailDomainClaimForm) else "",
        claimed=found.domains,
        copies=copies_of(call, connection.id),
        token_issuer=form.token_issuer if isinstance(form, TokenIssuerForm) else connection.token_issuer or "",
    )


@setup_routes.get(f"{UPSTREAM}/:connection_id/delete", refuses=(SetupLinkDead, ConnectionUnknown))
@holding_setup_link
async def ask_to_delete_connection(call: Call, connection_id: UUID, *, refusal: Refusal | None = None) -> Page:
    """Show what ends with a connection, and ask whether it is to be deleted."""
    setup, ends = await opened_by_link(call, Operation.CONNECTIONS_CHANGE, connections.show_ends, connection_id)
    return await _part_page(
        call,
        "sign_in/upstream/connections/connections_deletion.html",
        setup,
        refusal,
        ends=ends,
        page=f"{UPSTREAM}/{connection_id}",
    )


@setup_routes.post(UPSTREAM, limits=LIMITS, refuses=(*REFUSES, Conflict))
@holding_setup_link
@shows_again(show_upstream, BadRequest, Conflict)
async def create_connection(call: Call, form: ConnectionForm) -> PageOrRedirect:
    """Check a connection and create it; members use `POST /api/organizations/:slug/upstream-providers`.

    One by OpenID Connect is refused when the provider cannot be read, or does not accept the client secret.
    """
    require_own_form(call, form)
    given, allowed = form.given, call.installation.settings.outbound_allowed
    finding = None
    if form.type != "saml":
        to_check = await call.read(serve, configuring.prepare_new, form.type, given, allowed=allowed)
        finding = required(await found_by_check(call, to_check))
    made = await sent(call, form, configuring.create, form.type, given, finding, allowed=allowed)
    return done(f"{UPSTREAM}/{made.id}", "connection-made", provider=provider_kinds.known_word(form.provider))


@setup_routes.post(
    f"{UPSTREAM}/:connection_id",
    limits=LIMITS,
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    verify_sender=verify_holder,
    refuses=(*REFUSES, Conflict),
)
@holding_setup_link
@shows_again(show_connection, BadRequest, Conflict)
async def change_connection(call: Call, connection_id: UUID, form: ConnectionForm) -> PageOrRedirect:
    """Check a connection as it is to be, and change it, if the organization does not rely on it yet."""
    require_own_form(call, form)
    given, allowed = form.given, call.installation.settings.outbound_allowed
    # Before anything is fetched for them.
    organization_id, connection = await call.read(serve, connections.find_to_test, connection_id)
    if not connection.is_saml:
        to_check = await call.read(serve, configuring.prepare_change, connection_id, given, allowed=allowed)
        finding = required(await found_by_check(call, to_check))
        checked = CheckedChange(finding=finding, connection=to_check.connection)
    else:
        checked = await described_change(call, organization_id, given)
    await sent(call, form, configuring.change, connection_id, given, checked, allowed=allowed)
    return done(f"{UPSTREAM}/{connection_id}", "connection-saved", provider=provider_kinds.known_word(form.provider))


@setup_routes.post(f"{UPSTREAM}/:connection_id/test", limits=LIMITS, refuses=REFUSES)
@holding_setup_link
async def test_connection(call: Call, connection_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Check the metadata of a connection's provider and our credentials there, and show the result."""
    require_own_form(call, form)
    await tested(call, await call.read(serve, checks.prepare_test, connection_id))
    return done(f"{UPSTREAM}/{connection_id}", "provider-asked", step="provider")


@setup_routes.post(f"{UPSTREAM}/:connection_id/trial", limits=LIMITS, refuses=(*REFUSES, NothingToTry))
@holding_setup_link
@shows_again(show_connection, NothingToTry)
async def begin_trial(call: Call, connection_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Lead the browser to the provider of a connection, switched on or off, for a test that begins no session."""
    require_own_form(call, form)
    target = await call.read(serve, trials.find, connection_id)
    return await leave(call, target, lambda uow: serve(uow, trials.begin, target), page_by_link(connection_id))


@setup_routes.post(f"{UPSTREAM}/:connection_id/enabling", limits=LIMITS, refuses=(*REFUSES, BadRequest, Conflict))
@holding_setup_link
@shows_again(show_connection, BadRequest, Conflict)
async def switch_on(call: Call, connection_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Switch on a connection that was tested; members use `PATCH /api/organizations/:slug/upstream-providers/:id`."""
    allowed = call.installation.settings.outbound_allowed
    await sent(call, form, enabling.switch, connection_id, is_on=True, allowed=allowed)
    return done(f"{UPSTREAM}/{connection_id}", "connection-on")


@setup_routes.post(f"{UPSTREAM}/:connection_id/delete", limits=LIMITS, refuses=(*REFUSES, Conflict))
@holding_setup_link
@shows_again(ask_to_delete_connection, Conflict)
async def delete_connection(call: Call, connection_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Delete a connection by which no one has signed in and on which the organization does not rely."""
    await sent(call, form, connections.delete, connection_id)
    return done(UPSTREAM, "connection-deleted")


@setup_routes.post(f"{UPSTREAM}/:connection_id/key", limits=LIMITS, refuses=(*REFUSES, Conflict, NoKeyOfConnection))
@holding_setup_link
@shows_again(show_connection, BadRequest, Conflict)
async def replace_key(call: Call, connection_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Replace the key of a connection by SAML on which the organization does not rely yet."""
    require_own_form(call, form)
    # Before a key is made for them.
    await call.read(serve, connection_keys.require_rotatable, connection_id)
    made, valid_from = await make_key(call, connection_id)
    await sent(call, form, connection_keys.rotate, connection_id, made, valid_from=valid_from)
    return done(f"{UPSTREAM}/{connection_id}", "key-replaced", step="provider")


@setup_routes.post(f"{UPSTREAM}/:connection_id/token-issuer", limits=LIMITS, refuses=(*REFUSES, BadRequest, Conflict))
@holding_setup_link
@shows_again(show_connection, BadRequest, Conflict)
async def save_token_issuer(call: Call, connection_id: UUID, form: TokenIssuerForm) -> PageOrRedirect:
    """Say whose tokens end sessions by a connection by SAML on which the organization does not rely yet."""
    given, allowed = ConnectionFields(token_issuer=form.token_issuer), call.installation.settings.outbound_allowed
    await sent(call, form, connections.change, connection_id, given, described=None, allowed=allowed)
    return done(f"{UPSTREAM}/{connection_id}", "connection-saved", step="revocation")


@setup_routes.post(f"{UPSTREAM}/:connection_id/domains", limits=LIMITS, refuses=(*REFUSES, Conflict))
@holding_setup_link
@shows_again(show_connection, BadRequest, Conflict)
async def claim_mail_domain(call: Call, connection_id: UUID, form: MailDomainClaimForm) -> PageOrRedirect:
    """Claim a mail domain, whose addresses the connection signs in once it is proved."""
    await sent(call, form, domain_routes.create, form.domain, connection_id, enforced=False)
    return done(f"{UPSTREAM}/{connection_id}", "mail-domain-claimed", step="domains")


@setup_routes.post(
    f"{UPSTREAM}/domains/:route_id/verify", limits=LIMITS, refuses=(*REFUSES, RouteUnknown, DomainVerifiedElsewhere)
)
@holding_setup_link
async def verify_mail_domain(call: Call, route_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Ask the name servers of a mail domain for the TXT record now."""
    require_own_form(call, form)
    claim = await call.read(serve, domain_routes.find_to_verify, route_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    try:
        await sent(call, form, domain_routes.verify, route_id, records)
    except (BadRequest, DomainVerifiedElsewhere) as refusal:
        return await show_connection(call, claim.connection_id, refusal=refusal)
    return done(f"{UPSTREAM}/{claim.connection_id}", "mail-domain-verified")


@setup_routes.post(
    f"{UPSTREAM}/domains/:route_id/delete", limits=LIMITS, refuses=(*REFUSES, RouteUnknown, RouteInForce)
)
@holding_setup_link
async def delete_mail_domain(call: Call, route_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Give up a mail domain that is not verified yet, such as a mistyped one."""
    require_own_form(call, form)
    claim = await call.read(serve, domain_routes.find_to_verify, route_id)
    try:
        await sent(call, form, domain_routes.delete, route_id)
    except RouteInForce as refusal:
        return await show_connection(call, claim.connection_id, refusal=refusal)
    return done(f"{UPSTREAM}/{claim.connection_id}", "mail-domain-removed", step="domains")


@steps_of_part(Part.UPSTREAM)
async def steps_on_overview(call: Call) -> Sequence[SetupStep]:
    """Return the steps of the connection to go on with, for the page of all parts."""
    found = await call.read(serve, configuring.show_next)
    steps = steps_without_connection(UPSTREAM) if found is None else _steps(found)
    is_for_customer = (await call.read(present)).made_for is not None
    return [one for one in steps if not (is_for_customer and one.title == DOMAIN)]


def _steps(found: ConfiguredConnection) -> Sequence[SetupStep]:
    page = f"{UPSTREAM}/{found.state.connection.id}"
    can_go_live = found.can_be_switched_on or found.state.connection.enabled
    return steps_of(
        found.state,
        found.judgement,
        found.domains,
        StepAddresses(
            provider=f"{page}?step=provider",
            domains=f"{page}?step=domains",
            test=f"{page}?step=test",
            live=f"{page}?step=live" if can_go_live else "",
        ),
    )


async def _part_page(call: Call, template: str, setup: OpenedSetup, refusal: Refusal | None, **values: Any) -> Response:
    """Return a page of the part, with what a check of the provider has found."""
    return await part_page(
        call,
        template,
        setup,
        Part.UPSTREAM,
        refusal=refusal,
        right_issuer=refusal.finding.right_issuer if isinstance(refusal, NotUsable) else None,
        sentences=SENTENCES,
        **values,
    )
