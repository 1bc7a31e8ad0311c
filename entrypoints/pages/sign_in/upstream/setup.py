"""The pages of a setup link for upstream connections: the identity provider, and the mail domains that it signs in.

A page asks for the kind of provider first and then shows its steps alone. A connection is checked before it is saved,
so that what cannot sign anybody in is told before the page is left; `provider_problems.py` says what. It is off until a
test sign-in has succeeded, as one of the console. What was typed is shown again, but for the client secret.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from quart import Response

from core.errors import BadRequest, Conflict, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations import setup_links
from core.organizations.settings.domain import DomainVerifiedElsewhere
from core.organizations.setup_links import OpenSetup, Part, SetupLinkDead
from core.secrets import Secret
from core.sign_in.upstream import checks, connection_keys, connections, deletion, domain_routes, enabling, trials
from core.sign_in.upstream import setup as connection_setup
from core.sign_in.upstream.checks import CheckedChange
from core.sign_in.upstream.connection_keys import NoKeyOfConnection
from core.sign_in.upstream.connections import ConnectionUnknown, ConnectionWishes
from core.sign_in.upstream.domain_routes import RouteInForce, RouteUnknown
from core.sign_in.upstream.setup import SetupConnection
from core.sign_in.upstream.trials import NothingToTry
from entrypoints.pages.console.setup_steps import SetupStep, current_of, kind_of
from entrypoints.pages.frame import refusals
from entrypoints.pages.frame.forms import no_secret, typed_secret
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    KindQuery,
    SetupForm,
    part_page,
    protected_cookie,
    setup_cookie,
    steps_of_part,
    verify_holder,
)
from entrypoints.pages.sign_in.upstream import provider_kinds
from entrypoints.pages.sign_in.upstream.connection_steps import StepAddresses, steps_of, steps_without_connection
from entrypoints.pages.sign_in.upstream.connection_wishes import (
    NotUsable,
    copies_of,
    described_change,
    redirect_uri,
    required,
    stored,
)
from entrypoints.pages.sign_in.upstream.provider_problems import SENTENCES
from entrypoints.pages.sign_in.upstream.trial_judgements import UPSTREAM, page_by_link
from entrypoints.pages.sign_in.upstream.trials import leave
from entrypoints.shared.sign_in.upstream.connection_keys import make_key
from entrypoints.shared.sign_in.upstream.upstream_providers import found_by_check, tested
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

REFUSES: Final = (SetupLinkDead, FormRefused, ConnectionUnknown)


class UpstreamSetupForm(SetupForm, kw_only=True):
    """A new connection, or the fields of one; empty ones change nothing."""

    type: str = ""
    provider: str = ""
    name: str = ""
    issuer: str = ""
    client_id: str = ""
    client_secret: Secret = msgspec.field(default_factory=no_secret)
    metadata_url: str = ""
    metadata_xml: str = ""

    @property
    def wishes(self) -> ConnectionWishes:
        """The fields to set."""
        names = ("name", "issuer", "client_id", "metadata_url", "metadata_xml")
        secret = typed_secret(self.client_secret)
        return ConnectionWishes(
            **{name: getattr(self, name).strip() or None for name in names},
            client_secret=secret.reveal() if secret is not None else None,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(***)"


class TokenIssuerSetupForm(SetupForm, kw_only=True):
    """Whose tokens end sessions by a connection by SAML; an empty one takes none."""

    token_issuer: str = ""


class MailDomainForm(SetupForm, kw_only=True):
    """The mail domain to route to a connection."""

    domain: str = ""


@routes.get(UPSTREAM, refuses=(SetupLinkDead,))
@public
async def show_upstream(
    call: Call, *, query: KindQuery | None = None, form: UpstreamSetupForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the connections of the organization and the kinds of providers; of one kind, the steps and a form."""
    setup = await call.read(setup_links.present, setup_cookie(call), Part.UPSTREAM)
    kind = kind_of(provider_kinds.ALL, (form or query or KindQuery()).provider)
    if kind is None and form is not None:
        kind = provider_kinds.SAML if form.type == "saml" else provider_kinds.OPENID
    shown: dict[str, Any] = {"kinds": provider_kinds.KINDS, "kind": kind}
    if kind is None:
        shown["connections"] = [one.state for one in await call.read(connection_setup.list_all, setup_cookie(call))]
    typed = form or UpstreamSetupForm(name=setup.organization_name, issuer=provider_kinds.ISSUERS.get(_word(kind), ""))
    return await _part_page(
        call,
        "sign_in/upstream/setup.html" if kind is None else "sign_in/upstream/setup_new.html",
        setup,
        refusal,
        **shown,
        is_saml=kind is not None and provider_kinds.is_saml(kind),
        typed=typed,
        copies=redirect_uri(call),
    )


@routes.get(f"{UPSTREAM}/:connection_id", refuses=(SetupLinkDead, ConnectionUnknown))
@public
async def show_connection(
    call: Call,
    connection_id: UUID,
    *,
    query: KindQuery | None = None,
    form: SetupForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a connection, what to enter at its provider, how sign-ins went, and the mail domains that it signs in."""
    cookie = setup_cookie(call)
    shown = await call.read(connection_setup.show, cookie, connection_id)
    found, connection = shown.found, shown.found.state.connection
    steps = _steps(found)
    sent = form if isinstance(form, UpstreamSetupForm) else None
    word = sent.provider if sent is not None else query.provider if query is not None else ""
    return await _part_page(
        call,
        "sign_in/upstream/setup_connection.html",
        shown.setup,
        refusal,
        found=found,
        connection=connection,
        steps=steps,
        current=current_of(steps),
        kind=provider_kinds.kind_of_connection(connection, word),
        typed=sent or UpstreamSetupForm(**stored(connection)),
        progress=found.state.progress,
        failures=shown.failures,
        typed_domain=form.domain if isinstance(form, MailDomainForm) else "",
        claimed=found.domains,
        copies=copies_of(call, connection.id),
        token_issuer=form.token_issuer if isinstance(form, TokenIssuerSetupForm) else connection.token_issuer or "",
    )


@routes.get(f"{UPSTREAM}/:connection_id/delete", refuses=(SetupLinkDead, ConnectionUnknown))
@public
async def ask_to_delete_connection(call: Call, connection_id: UUID, *, refusal: Refusal | None = None) -> Page:
    """Show what ends with a connection, and ask whether it is to be deleted."""
    setup = await call.read(setup_links.present, setup_cookie(call), Part.UPSTREAM)
    ends = await call.read(deletion.show_by_link, setup_cookie(call), connection_id)
    return await _part_page(call, "sign_in/upstream/setup_deletion.html", setup, refusal, ends=ends)


@routes.post(UPSTREAM, limits=LIMITS, refuses=(*REFUSES, Conflict))
@public
@shows_again(show_upstream, BadRequest, Conflict)
async def create_connection(call: Call, form: UpstreamSetupForm) -> PageOrRedirect:
    """Check a connection and create it; members use `POST /api/organizations/:slug/upstream-providers`.

    One by OpenID Connect is refused when the provider cannot be read, or does not accept the client secret.
    """
    cookie, wishes = protected_cookie(call, form), form.wishes
    allowed = call.installation.settings.outbound_allowed
    finding = None
    if form.type != "saml":
        to_check = await call.read(checks.prepare_new, cookie, form.type, wishes, allowed=allowed)
        finding = required(await found_by_check(call, to_check))
    made = await call.transact(checks.create, cookie, form.type, wishes, finding, allowed=allowed)
    return see_other(_address(made.id, form.provider))


@routes.post(
    f"{UPSTREAM}/:connection_id",
    limits=LIMITS,
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    verify_sender=verify_holder,
    refuses=(*REFUSES, Conflict),
)
@public
@shows_again(show_connection, BadRequest, Conflict)
async def change_connection(call: Call, connection_id: UUID, form: UpstreamSetupForm) -> PageOrRedirect:
    """Check a connection as it is to be, and change it, if the organization does not rely on it yet."""
    cookie, wishes = protected_cookie(call, form), form.wishes
    allowed = call.installation.settings.outbound_allowed
    # Before anything is fetched for them.
    organization_id, connection = await call.read(connections.find_to_test_by_link, cookie, connection_id)
    if not connection.is_saml:
        to_check = await call.read(checks.prepare_change, cookie, connection_id, wishes, allowed=allowed)
        finding = required(await found_by_check(call, to_check))
        checked = CheckedChange(finding=finding, connection=to_check.connection)
    else:
        checked = await described_change(call, organization_id, wishes)
    await call.transact(checks.change, cookie, connection_id, wishes, checked, allowed=allowed)
    return see_other(_address(connection_id, form.provider))


@routes.post(f"{UPSTREAM}/:connection_id/test", limits=LIMITS, refuses=REFUSES)
@public
async def test_connection(call: Call, connection_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Ask the provider of a connection what it says of itself and of our credentials, and show the result."""
    to_check = await call.read(checks.prepare_test, protected_cookie(call, form), connection_id)
    await tested(call, to_check)
    return see_other(f"{UPSTREAM}/{connection_id}")


@routes.post(f"{UPSTREAM}/:connection_id/trial", limits=LIMITS, refuses=(*REFUSES, NothingToTry))
@public
@shows_again(show_connection, NothingToTry)
async def begin_trial(call: Call, connection_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Lead the browser to the provider of a connection, switched on or off, for a sign-in that signs nobody in."""
    cookie = protected_cookie(call, form)
    target = await call.read(trials.find_by_link, cookie, connection_id)
    page = page_by_link(connection_id)
    return await leave(call, target, lambda uow: trials.begin_by_link(uow, cookie, target), page)


@routes.post(f"{UPSTREAM}/:connection_id/enabling", limits=LIMITS, refuses=(*REFUSES, BadRequest, Conflict))
@public
@shows_again(show_connection, BadRequest, Conflict)
async def switch_on(call: Call, connection_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Switch on a connection that was tested; members use `PATCH /api/organizations/:slug/upstream-providers/:id`."""
    allowed = call.installation.settings.outbound_allowed
    await call.transact(enabling.switch_on_by_link, protected_cookie(call, form), connection_id, allowed=allowed)
    return see_other(f"{UPSTREAM}/{connection_id}#live")


@routes.post(f"{UPSTREAM}/:connection_id/delete", limits=LIMITS, refuses=(*REFUSES, Conflict))
@public
@shows_again(ask_to_delete_connection, Conflict)
async def delete_connection(call: Call, connection_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Delete a connection that nobody has signed in by and on which the organization does not rely."""
    await call.transact(connections.delete_by_link, protected_cookie(call, form), connection_id)
    return see_other(UPSTREAM)


@routes.post(f"{UPSTREAM}/:connection_id/key", limits=LIMITS, refuses=(*REFUSES, Conflict, NoKeyOfConnection))
@public
@shows_again(show_connection, BadRequest, Conflict)
async def replace_key(call: Call, connection_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Replace the key of a connection by SAML on which the organization does not rely yet."""
    cookie = protected_cookie(call, form)
    # Before a key is made for them.
    await call.read(connections.find_by_link, cookie, connection_id)
    made, valid_from = await make_key(call, connection_id)
    await call.transact(connection_keys.rotate_by_link, cookie, connection_id, made, valid_from=valid_from)
    return see_other(f"{UPSTREAM}/{connection_id}")


@routes.post(f"{UPSTREAM}/:connection_id/token-issuer", limits=LIMITS, refuses=(*REFUSES, BadRequest, Conflict))
@public
@shows_again(show_connection, BadRequest, Conflict)
async def save_token_issuer(call: Call, connection_id: UUID, form: TokenIssuerSetupForm) -> PageOrRedirect:
    """Say whose tokens end sessions by a connection by SAML on which the organization does not rely yet."""
    cookie, allowed = protected_cookie(call, form), call.installation.settings.outbound_allowed
    wishes = ConnectionWishes(token_issuer=form.token_issuer)
    await call.transact(connections.change_by_link, cookie, connection_id, wishes, described=None, allowed=allowed)
    return see_other(f"{UPSTREAM}/{connection_id}#revocation")


@routes.post(f"{UPSTREAM}/:connection_id/domains", limits=LIMITS, refuses=(*REFUSES, Conflict))
@public
@shows_again(show_connection, BadRequest, Conflict)
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
        return await show_connection(call, claim.connection_id, refusal=refusal)
    return see_other(f"{UPSTREAM}/{claim.connection_id}")


@routes.post(f"{UPSTREAM}/domains/:route_id/delete", limits=LIMITS, refuses=(*REFUSES, RouteUnknown, RouteInForce))
@public
async def delete_mail_domain(call: Call, route_id: UUID, form: SetupForm) -> PageOrRedirect:
    """Give up a mail domain that is not verified yet, such as a mistyped one."""
    cookie = protected_cookie(call, form)
    claim = await call.read(domain_routes.find_by_link, cookie, route_id)
    try:
        await call.transact(domain_routes.delete_by_link, cookie, route_id)
    except RouteInForce as refusal:
        return await show_connection(call, claim.connection_id, refusal=refusal)
    return see_other(f"{UPSTREAM}/{claim.connection_id}")


@steps_of_part(Part.UPSTREAM)
async def steps_on_overview(call: Call) -> Sequence[SetupStep]:
    """Return the steps of the connection to go on with, for the page of all parts."""
    found = await call.read(connection_setup.find_next, setup_cookie(call))
    return steps_without_connection(UPSTREAM) if found is None else _steps(found)


def _steps(found: SetupConnection) -> Sequence[SetupStep]:
    page = f"{UPSTREAM}/{found.state.connection.id}"
    can_go_live = found.can_be_switched_on or found.state.connection.enabled
    return steps_of(
        found.state,
        found.judgement,
        found.domains,
        StepAddresses(
            provider=f"{page}#provider",
            domains=f"{page}#domains",
            test=f"{page}#test",
            live=f"{page}#live" if can_go_live else "",
        ),
    )


async def _part_page(call: Call, template: str, setup: OpenSetup, refusal: Refusal | None, **values: Any) -> Response:
    """Return a page with the problems of a form: those of fields at their fields, every other one above."""
    return await part_page(
        call,
        template,
        setup,
        status=refusal.code.status if refusal is not None else 200,
        problem=refusals.problem_of(refusal),
        problems=refusals.problems_of(refusal),
        right_issuer=refusal.finding.right_issuer if isinstance(refusal, NotUsable) else None,
        sentences=SENTENCES,
        **values,
    )


def _word(kind: Any) -> str:
    return kind.word if kind is not None else ""


def _address(connection_id: UUID, word: str) -> str:
    known = kind_of(provider_kinds.ALL, word)
    return f"{UPSTREAM}/{connection_id}" + (f"?provider={known.word}" if known is not None else "")
