"""The pages of an organization's connections: a new one, one with its settings, its key, and the deletion.

A new one asks for the kind of provider first, and then shows its steps alone, as the pages of a setup link do; the
provider is asked before anything is saved. Trying a connection is in `trials.py`, switching it on and off in
`enabling.py`.
"""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Conflict, Forbidden, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.secrets import Secret
from core.sign_in.upstream import configuring
from core.sign_in.upstream.configuring import ConfiguredConnection
from core.sign_in.upstream.connections import checks, connection_keys, connections
from core.sign_in.upstream.connections.checks import CheckedChange
from core.sign_in.upstream.connections.connection_fields import MAPPED
from core.sign_in.upstream.connections.connection_keys import NoKeyOfConnection
from core.sign_in.upstream.connections.connections import ConnectionChangedSince, ConnectionFields, ConnectionUnknown
from core.sign_in.upstream.revocation import moves
from core.sign_in.upstream.saml import EMAIL_ADDRESS, PERSISTENT, UNSPECIFIED, SamlDescription
from core.wording import Wording
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.console.setup_steps import current_of
from entrypoints.pages.frame.forms import no_secret, text_of_file, typed_secret
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.organizations.setup import KindQuery
from entrypoints.pages.sign_in.upstream.connections import provider_kinds
from entrypoints.pages.sign_in.upstream.connections.connection_fields import (
    NotUsable,
    copies_of,
    described_change,
    redirect_uri,
    required,
    seen_at,
    stored,
)
from entrypoints.pages.sign_in.upstream.connections.connection_steps import (
    addresses_in_console,
    page_of_connection,
    steps_of,
)
from entrypoints.pages.sign_in.upstream.provider_problems import TO_MEMBERS
from entrypoints.shared.sign_in.upstream.saml_connections import make_key
from entrypoints.shared.sign_in.upstream.upstream_providers import found_by_check, tested
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()
CONNECTIONS: Final = "/app/organizations/:org_slug/sign-in/connections"
CONNECTION: Final = f"{CONNECTIONS}/:connection_id"
_FIELDS: Final = ("name", "issuer", "client_id", "metadata_url", "metadata_xml")
NO_MEMBERS: Final = marked("None: they use the services without becoming members")
NAME_ID_FORMATS: Final = (
    ("", marked("Whichever the identity provider chooses")),
    (PERSISTENT, marked("A persistent id")),
    (EMAIL_ADDRESS, marked("The email address")),
    (UNSPECIFIED, marked("Unspecified")),
)


class ConnectionForm(ProtectedForm, kw_only=True):
    """A new connection, or where one leads; empty fields change nothing. `seen` is the state that a page has shown.

    A file with metadata replaces the text, and an address that was stored before.
    """

    seen: str = ""
    type: str = ""
    provider: str = ""
    name: str = ""
    issuer: str = ""
    client_id: str = ""
    client_secret: Secret = msgspec.field(default_factory=no_secret)
    metadata_url: str = ""
    metadata_xml: str = ""
    metadata_file: bytes = b""
    ends_links: str = ""

    def __post_init__(self) -> None:
        if self.metadata_file:
            self.metadata_url, self.metadata_xml = "", text_of_file(self.metadata_file)
            self.metadata_file = b""

    @property
    def given(self) -> ConnectionFields:
        """The fields to set."""
        secret = typed_secret(self.client_secret)
        return ConnectionFields(
            **{name: getattr(self, name).strip() or None for name in _FIELDS},
            client_secret=secret.reveal() if secret is not None else None,
        )


class OptionsForm(ProtectedForm, kw_only=True):
    """What else a connection has: each field is set as it is typed."""

    seen: str = ""
    name: str = ""
    scopes: str = ""
    claim_of_id: str = ""
    claim_of_email: str = ""
    claim_of_groups: str = ""
    claim_of_name: str = ""
    claim_of_given_name: str = ""
    claim_of_family_name: str = ""
    joins_as: str = ""
    trust_mfa: str = ""
    ends_links: str = ""
    # Each is of one protocol alone; None where the page has no such field.
    name_id_format: str | None = None
    signs_out_at_provider: str = ""

    @property
    def given(self) -> ConnectionFields:
        """The fields to set."""
        mapped = {name: getattr(self, f"claim_of_{name}").strip() for name in sorted(MAPPED)}
        return ConnectionFields(
            name=self.name.strip() or None,
            scopes=self.scopes.split() or None,
            attribute_mapping={name: claim for name, claim in mapped.items() if claim},
            joins_as=self.joins_as,
            trust_mfa=self.trust_mfa == "on",
            name_id_format=self.name_id_format,
            signs_out_at_provider=self.signs_out_at_provider == "yes" if self.signs_out_at_provider else None,
        )


class SeenForm(ProtectedForm, kw_only=True):
    """What is done to a connection, and the state that the page has shown."""

    seen: str = ""


class TokenIssuerForm(SeenForm, kw_only=True):
    """Whose tokens end sessions by a connection by SAML; an empty one takes none."""

    token_issuer: str = ""


class ConnectionDeletionForm(SeenForm, kw_only=True):
    """The deletion of a connection, and what the audit log is to keep about it."""

    note: str = ""


async def _new_page(
    call: Call, org_slug: str, *, word: str = "", form: ConnectionForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Return the page of a new connection; without a kind, the choice of one."""
    standing, _ = await opened(call, org_slug, Operation.CONNECTION_CONFIGURE, connections.list_all)
    kind = provider_kinds.chosen(word, None) if form is None else provider_kinds.chosen(form.provider, form.type)
    is_saml = kind is not None and provider_kinds.is_saml(kind)
    name = standing.organization.name
    issuer = provider_kinds.ISSUERS.get(kind.word, "") if kind is not None else ""
    example = {"type": "saml" if is_saml else "oidc", "name": name}
    if not is_saml:
        example |= {"issuer": issuer or "https://idp.example.com", "client_id": "…", "client_secret": "…"}
    return console_page(
        call,
        "sign_in/upstream/connections/connections_new.html",
        standing,
        program=Program("upstream_connections_create_upstream_provider", org_slug, body=example),
        refusal=refusal,
        kinds=provider_kinds.KINDS,
        kind=kind,
        is_saml=is_saml,
        typed=form or ConnectionForm(name=name, issuer=issuer),
        problems=problems_of(refusal),
        right_issuer=refusal.finding.right_issuer if isinstance(refusal, NotUsable) else None,
        copies=redirect_uri(call),
        page=f"{page_of(org_slug)}/sign-in",
        begin=f"{page_of(org_slug)}/sign-in/connections/new",
    )


@routes.get(f"{CONNECTIONS}/new")
@in_console(Operation.CONNECTION_CONFIGURE)
async def begin_new_connection(call: Call, org_slug: str, query: KindQuery) -> Page:
    """Show the kinds of identity providers; of one kind, its steps and a form."""
    page = await _new_page(call, org_slug, word=query.provider)
    await recent_for_form(call)
    return page


@routes.post(f"{CONNECTIONS}/new", refuses=(BadRequest, Conflict))
@in_console(Operation.CONNECTION_CONFIGURE)
@shows_again(_new_page, BadRequest)
async def save_new_connection(call: Call, org_slug: str, form: ConnectionForm) -> PageOrRedirect:
    """Ask the provider, and save a connection that is switched off; programs use `POST …/upstream-providers`."""
    given, allowed = form.given, call.installation.settings.outbound_allowed
    kind = "saml" if form.type == "saml" else "oidc"
    # Before anything is asked for them.
    await call.read(connections.require_may_change, org_slug)
    finding = None
    if kind != "saml":
        to_check = await call.read(configuring.prepare_new, org_slug, kind, given, allowed=allowed)
        finding = required(await found_by_check(call, to_check))
    made = await call.transact(configuring.create, org_slug, kind, given, finding, allowed=allowed)
    return after(
        page_of_connection(org_slug, made.id), "connection-made", provider=provider_kinds.known_word(form.provider)
    )


class ConnectionQuery(KindQuery, kw_only=True):
    """The kind of provider whose steps the page shows, and what was just done."""

    done: Annotated[str, msgspec.Meta(description="What was just done, as a word.")] = ""


async def _page(
    call: Call,
    org_slug: str,
    connection_id: UUID,
    *,
    query: ConnectionQuery | None = None,
    form: ProtectedForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, found = await opened(call, org_slug, Operation.CONNECTIONS_READ, configuring.show, connection_id)
    connection = found.state.connection
    ends = await call.read(moves.of_connection, org_slug, connection_id)
    sent = form if isinstance(form, ConnectionForm) else None
    word = sent.provider if sent is not None else query.provider if query is not None else ""
    options = form if isinstance(form, OptionsForm) else _options(found)
    steps = steps_of(found.state, found.judgement, found.domains, addresses_in_console(org_slug, found))
    return console_page(
        call,
        "sign_in/upstream/connections/connections_one.html",
        standing,
        program=Program(
            "upstream_connections_change_upstream_provider",
            org_slug,
            connection_id,
            body={"name": connection.name, "joins_as": connection.joins_as or "", "trust_mfa": connection.trust_mfa},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        problems=problems_of(refusal),
        right_issuer=refusal.finding.right_issuer if isinstance(refusal, NotUsable) else None,
        found=found,
        connection=connection,
        ends=ends,
        sends_options=isinstance(form, OptionsForm),
        steps=steps,
        current=current_of(steps),
        seen=connection.updated_at.isoformat(),
        kind=provider_kinds.kind_of_connection(connection, word),
        typed=sent or ConnectionForm(**stored(connection)),
        options=options,
        token_issuer=form.token_issuer if isinstance(form, TokenIssuerForm) else connection.token_issuer or "",
        roles=_roles(found),
        name_formats=NAME_ID_FORMATS,
        copies=copies_of(call, connection.id),
        sentences=TO_MEMBERS,
        lacks_configuring=standing.lacks(Operation.CONNECTION_CONFIGURE),
        page=page_of_connection(org_slug, connection_id),
        overview=f"{page_of(org_slug)}/sign-in",
    )


@routes.get(CONNECTION, refuses=(ConnectionUnknown,))
@in_console(Operation.CONNECTIONS_READ)
async def show_connection_settings(call: Call, org_slug: str, connection_id: UUID, query: ConnectionQuery) -> Page:
    """Show a connection: its state, the steps at its provider, what it does, its mail domains, and what failed."""
    page = await _page(call, org_slug, connection_id, query=query)
    await recent_for_form(call, if_acting=False)
    return page


@routes.post(
    CONNECTION, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(BadRequest, ConnectionUnknown, Conflict, Forbidden)
)
@in_console(Operation.CONNECTION_CONFIGURE)
@shows_again(_page, BadRequest, ConnectionChangedSince)
async def change_provider(call: Call, org_slug: str, connection_id: UUID, form: ConnectionForm) -> PageOrRedirect:
    """Ask the provider, and change where a connection leads; programs use `PATCH …/upstream-providers/:id`."""
    given, allowed, seen = form.given, call.installation.settings.outbound_allowed, seen_at(form.seen)
    organization_id = await call.read(connections.require_may_change, org_slug)
    connection = await call.read(connections.show, org_slug, connection_id)
    if not connection.is_saml:
        to_check = await call.read(
            configuring.prepare_change, org_slug, connection_id, given, allowed=allowed, seen=seen
        )
        finding = required(await found_by_check(call, to_check))
        checked = CheckedChange(finding=finding, connection=to_check.connection)
    else:
        checked = await described_change(call, organization_id, given)
    await _require_said(call, org_slug, connection_id, form, checked.described)
    return await _changed(call, org_slug, connection_id, given, form.seen, checked, provider=form.provider)


@routes.post(f"{CONNECTION}/change", refuses=(BadRequest, ConnectionUnknown, Conflict, Forbidden))
@in_console(Operation.CONNECTION_CONFIGURE)
@shows_again(_page, BadRequest, Forbidden, ConnectionChangedSince)
async def change_options(call: Call, org_slug: str, connection_id: UUID, form: OptionsForm) -> PageOrRedirect:
    """Change what a connection asks for and gives; programs use `PATCH …/upstream-providers/:id`."""
    await call.read(connections.require_may_change, org_slug)
    await call.read(connections.show, org_slug, connection_id)
    await recent(call, page=page_of_connection(org_slug, connection_id))
    await _require_said(call, org_slug, connection_id, form)
    return await _changed(call, org_slug, connection_id, form.given, form.seen)


@routes.post(f"{CONNECTION}/token-issuer", refuses=(BadRequest, ConnectionUnknown, Conflict, Forbidden))
@in_console(Operation.CONNECTION_CONFIGURE)
@shows_again(_page, BadRequest, ConnectionChangedSince)
async def change_token_issuer(call: Call, org_slug: str, connection_id: UUID, form: TokenIssuerForm) -> PageOrRedirect:
    """Say whose tokens end sessions by a connection by SAML; programs use `PATCH …/upstream-providers/:id`."""
    await call.read(connections.require_may_change, org_slug)
    await recent(call, page=page_of_connection(org_slug, connection_id))
    return await _changed(call, org_slug, connection_id, ConnectionFields(token_issuer=form.token_issuer), form.seen)


@routes.post(f"{CONNECTION}/ask", refuses=(ConnectionUnknown,))
@in_console(Operation.CONNECTIONS_CHANGE)
async def ask_provider(call: Call, org_slug: str, connection_id: UUID) -> PageOrRedirect:
    """Check the provider's present metadata; programs use `POST …/upstream-providers/:id/test`."""
    await tested(call, await call.read(checks.prepare_test, org_slug, connection_id))
    return after(page_of_connection(org_slug, connection_id), "provider-asked")


@routes.post(f"{CONNECTION}/rotate-key-pair", refuses=(ConnectionUnknown, NoKeyOfConnection))
@in_console(Operation.CONNECTION_CONFIGURE)
async def replace_connection_key(call: Call, org_slug: str, connection_id: UUID) -> PageOrRedirect:
    """Replace the key of a connection by SAML; programs use `POST …/upstream-providers/:id/rotate-key-pair`."""
    await call.read(connection_keys.require_rotatable, org_slug, connection_id)
    await recent(call, page=page_of_connection(org_slug, connection_id))
    made, valid_from = await make_key(call, connection_id)
    await call.transact(connection_keys.rotate, org_slug, connection_id, made, valid_from=valid_from)
    return after(page_of_connection(org_slug, connection_id), "key-replaced")


async def _deletion_page(
    call: Call,
    org_slug: str,
    connection_id: UUID,
    *,
    form: ConnectionDeletionForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, ends = await opened(call, org_slug, Operation.CONNECTIONS_CHANGE, connections.show_ends, connection_id)
    return console_page(
        call,
        "sign_in/upstream/connections/connections_deletion.html",
        standing,
        program=Program("upstream_connections_delete_upstream_provider", org_slug, connection_id),
        refusal=refusal,
        ends=ends,
        seen=ends.connection.updated_at.isoformat(),
        note=form.note if form is not None else "",
        page=page_of_connection(org_slug, connection_id),
    )


@routes.get(f"{CONNECTION}/delete", refuses=(ConnectionUnknown,))
@in_console(Operation.CONNECTIONS_CHANGE)
async def ask_to_delete_connection(call: Call, org_slug: str, connection_id: UUID) -> Page:
    """Show what ends with a connection, in numbers."""
    page = await _deletion_page(call, org_slug, connection_id)
    await recent_for_form(call)
    return page


@routes.post(f"{CONNECTION}/delete", refuses=(BadRequest, ConnectionUnknown, ConnectionChangedSince))
@in_console(Operation.CONNECTIONS_CHANGE)
@shows_again(_deletion_page, BadRequest, ConnectionChangedSince)
async def delete_connection(
    call: Call, org_slug: str, connection_id: UUID, form: ConnectionDeletionForm
) -> PageOrRedirect:
    """Delete a connection; programs use `DELETE /api/organizations/:slug/upstream-providers/:provider_id`."""
    await call.read(connections.show_ends, org_slug, connection_id)
    await recent(call, page=f"{page_of_connection(org_slug, connection_id)}/delete")
    await call.transact(connections.delete, org_slug, connection_id, seen=seen_at(form.seen), note=form.note)
    return after(f"{page_of(org_slug)}/sign-in", "connection-deleted")


async def _changed(
    call: Call,
    org_slug: str,
    connection_id: UUID,
    given: ConnectionFields,
    seen: str,
    checked: CheckedChange | None = None,
    *,
    provider: str = "",
) -> PageOrRedirect:
    """Change a connection as the page has shown it, and lead back there; `checked` is what a check of it has found."""
    allowed = call.installation.settings.outbound_allowed
    await call.transact(
        configuring.change, org_slug, connection_id, given, checked, allowed=allowed, seen=seen_at(seen)
    )
    word = provider_kinds.known_word(provider)
    return after(page_of_connection(org_slug, connection_id), "connection-saved", provider=word)


async def _require_said(
    call: Call,
    org_slug: str,
    connection_id: UUID,
    form: ConnectionForm | OptionsForm,
    described: SamlDescription | None = None,
) -> None:
    """Raise `BadRequest` of the field `ends_links` for a change that ends links, unless the member has said so."""
    allowed = call.installation.settings.outbound_allowed
    ends = await call.read(
        moves.preview_change, org_slug, connection_id, form.given, described=described, allowed=allowed
    )
    if ends.ends_links and form.ends_links != "on":
        text = Wording(
            "This change unlinks %(accounts)s accounts. Tick the box below if you want that, and save again.",
            accounts=ends.identities_unlinked,
        )
        raise BadRequest.of_field("ends_links", text)


def _options(found: ConfiguredConnection) -> OptionsForm:
    connection = found.state.connection
    return OptionsForm(
        name=connection.name,
        scopes=" ".join(connection.scopes),
        **{f"claim_of_{name}": connection.attribute_mapping.get(name, "") for name in MAPPED},
        joins_as=connection.joins_as or "",
        trust_mfa="on" if connection.trust_mfa else "",
        name_id_format=connection.name_id_format or "",
        signs_out_at_provider="yes" if connection.signs_out_at_provider else "no",
    )


def _roles(found: ConfiguredConnection) -> list[tuple[str, str]]:
    """Return the choices of a role; a custom role that was deleted is still one while the connection names it."""
    named = found.state.connection.joins_as
    roles = [*found.roles, *([named] if named and named not in found.roles else [])]
    return [("", NO_MEMBERS), *((role, role) for role in roles)]
