"""The page of the claims of a service: the list of them, and what the tokens of a person would say."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.customers import claims
from core.customers.claims import PersonNotShown, PreviewRequest
from core.customers.customers import CustomerUnknown
from core.errors import BadRequest, Refusal
from core.ids import id_or_none
from core.limits import EMAIL_CHARACTERS_MAX
from core.organizations.access import Operation
from core.services import management
from core.services.management import ServiceChanged
from core.services.services import Service, ServiceUnknown
from core.sessions.claim_sources import METADATA_SOURCES, SOURCES, OwnClaim
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.console.pickers import chosen_person, picker
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.shared.openid.previews import payloads_of
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

CLAIMS: Final = "/app/organizations/:org_slug/services/:service_slug/claims"
# What tokens say of roles and groups besides the claims of the product.
_ROLES_AND_GROUPS: Final = ("role", "customer_role", "service_roles", "groups", "groups_overage")
# What stands behind a claim that access tokens have.
_IN_ACCESS_TOKENS: Final = "access"


class ClaimsQuery(DoneQuery, kw_only=True):
    """Whose tokens to show, by the address, and for which customer, and what was searched for to choose from."""

    email: Annotated[
        str,
        msgspec.Meta(description="The address of the person whose tokens to show.", max_length=EMAIL_CHARACTERS_MAX),
    ] = ""
    find_email: Annotated[
        str, msgspec.Meta(description="An address, or a part of one.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""
    customer: Annotated[
        str, msgspec.Meta(description="The id of the customer for which the person comes.", max_length=100)
    ] = ""
    find_customer: Annotated[str, msgspec.Meta(description="A part of a customer's name.", max_length=254)] = ""


class ClaimsForm(ProtectedForm, kw_only=True):
    """The claims by lines, and the version of the service that the page has shown."""

    claims: str = ""
    seen_version: str = ""

    @property
    def own(self) -> list[OwnClaim]:
        """The claims that are meant."""
        lines = [line.split() for line in self.claims.splitlines()]
        if any(len(words) not in {2, 3} or words[2:] not in ([], [_IN_ACCESS_TOKENS]) for words in lines if words):
            raise BadRequest.of_field(
                "claims", "Each line has a claim, a blank and its source, and access behind it for access tokens."
            )
        return [OwnClaim(claim=words[0], source=words[1], in_access_token=len(words) > 2) for words in lines if words]


@routes.get(CLAIMS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_READ)
async def show_claims(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: ClaimsQuery | None = None,
    form: ClaimsForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the claims of a service, and what the tokens of a person would say."""
    query = query or ClaimsQuery()
    at, service = await opened_service(call, org_slug, service_slug, Operation.SERVICE_READ, management.read)
    lacks_preview, page = at.lacks(Operation.CLAIMS_PREVIEW), f"{page_of_service(org_slug, service_slug)}/claims"
    preview, problem, found = None, None, None
    email = chosen_person(query.email, query.find_email)
    if lacks_preview is None:
        found = await call.read(
            claims.preview_choices,
            org_slug,
            service_slug,
            find_person=query.find_email,
            find_customer=query.find_customer,
        )
    if email and found is not None:
        try:
            preview = await _preview(call, org_slug, service_slug, email, query)
        except (PersonNotShown, CustomerUnknown) as refused:
            problem = refused.message
    return service_page(
        call,
        "customers/claims.html",
        at,
        program=Program(
            "services_change_service",
            org_slug,
            service_slug,
            body={"claims": [{"claim": "seats", "from": "organization.metadata.seats", "in_access_token": True}]},
        ),
        done=query.done,
        refusal=refusal,
        claims=service.claims,
        typed=form.claims if form is not None else _lines(service),
        sources=[*SOURCES, *(f"{prefix}…" for prefix in METADATA_SOURCES)],
        person=picker("email", ("", found and found.people), chosen=email, searched=query.find_email, keeps=True),
        customer=picker(
            "customer",
            ("", found and found.customers),
            chosen=query.customer.strip(),
            searched=query.find_customer,
            keeps=True,
        ),
        preview=preview,
        preview_problem=problem,
        lacks_change=at.lacks_lasting(Operation.SERVICE_UPDATE),
        lacks_preview=lacks_preview,
        claims_page=page,
    )


@routes.post(CLAIMS, refuses=(ServiceUnknown, ServiceChanged, BadRequest))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_claims, BadRequest, ServiceChanged)
async def set_claims(call: Call, org_slug: str, service_slug: str, form: ClaimsForm) -> PageOrRedirect:
    """Set the claims of a service; programs use `PATCH …/services/:service_slug` with `claims`."""
    await call.transact(
        management.change,
        org_slug,
        service_slug,
        {"claims": form.own},
        outside=outside(call),
        seen=form.seen_version,
    )
    return after(f"{page_of_service(org_slug, service_slug)}/claims", "service-saved")


async def _preview(call: Call, org_slug: str, service_slug: str, email: str, query: ClaimsQuery) -> dict[str, Any]:
    """Return what the tokens of a person would say, as texts."""
    customer_id: UUID | None = None
    if query.customer.strip():
        customer_id = id_or_none(query.customer.strip())
        if customer_id is None:
            raise CustomerUnknown
    request = PreviewRequest(email=email, customer_id=customer_id)
    found = await call.read(claims.preview, org_slug, service_slug, request)
    payloads = payloads_of(call, found)
    tokens = {"ID token": payloads.id_token, "Access token": payloads.access_token, "Userinfo": found.user_info}
    said = tokens | {"SAML": dict(found.attributes) if found.attributes is not None else None}
    return {
        "roles_and_groups": _roles_and_groups(tokens),
        "payloads": {name: _text(one) for name, one in said.items() if one is not None},
        "values": [(one, _text(value) if value is not None else "") for one, value in found.values],
        "size_bytes": payloads.size_bytes,
        "warnings": payloads.warnings,
    }


def _roles_and_groups(tokens: Mapping[str, Mapping[str, Any] | None]) -> list[tuple[str, str, list[str]]]:
    """Return what tokens say of roles and groups: each claim, its value, and which of them have it."""
    rows: list[tuple[str, str, list[str]]] = []
    for claim in _ROLES_AND_GROUPS:
        having = {name: payload[claim] for name, payload in tokens.items() if payload is not None and claim in payload}
        if having:
            rows.append((claim, _text(next(iter(having.values()))), list(having)))
    return rows


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _lines(service: Service) -> str:
    return "\n".join(
        f"{one.claim} {one.source}{f' {_IN_ACCESS_TOKENS}' if one.in_access_token else ''}" for one in service.claims
    )
