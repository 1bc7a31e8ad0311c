"""What the tokens of a person would say."""

from typing import Annotated, Any, Self
from uuid import UUID

import msgspec

from core.customers import claims
from core.customers.claims import PersonNotShown, PreviewedTokens, PreviewRequest
from core.customers.customers import CustomerUnknown
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.http.services.services import ServiceClaim
from entrypoints.shared.openid.previews import payloads_of
from entrypoints.web.input.decoding import Query
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import on_service
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "services",
    "What tokens and assertions say of a person, from where each claim of the product comes, and how large they are.",
)

PREVIEW = "/api/organizations/:org_slug/services/:service_slug/claims/preview"


class ClaimsPreviewQuery(Query, kw_only=True):
    """Whose tokens to show, for a customer or none, and with which scopes."""

    user_id: Annotated[UUID, msgspec.Meta(description="The id of the person.")]
    customer: UUID | None = None
    scope: Annotated[
        str | None, msgspec.Meta(description="The scopes that are asked for; all that there are by default.")
    ] = None

    def request(self, given: list[ServiceClaim] | None = None) -> PreviewRequest:
        """Return the request for a preview, with the given claims in place of the service's if there are any."""
        return PreviewRequest(
            user_id=self.user_id,
            customer_id=self.customer,
            scope=self.scope,
            claims=[one.own for one in given] if given is not None else None,
        )


class ClaimsToPreview(msgspec.Struct, kw_only=True):
    """A list of claims, before it is saved."""

    claims: list[ServiceClaim]


class PreviewedClaim(msgspec.Struct, kw_only=True, rename={"source": "from"}):
    """A claim of the product, its source, and what it says; null where the source has no value."""

    claim: str
    source: str
    value: Any


class TokenPreview(SecretBody, kw_only=True):
    """The payloads of tokens and assertions that are not issued; `bytes` is the size of the larger token."""

    id_token: dict[str, Any] | None
    access_token: dict[str, Any]
    userinfo: dict[str, Any] | None
    saml: dict[str, Any] | None
    claims: list[PreviewedClaim]
    bytes: int
    warnings: list[str]

    @classmethod
    def of(cls, call: Call, preview: PreviewedTokens) -> Self:
        """Return a preview with its payloads."""
        payloads = payloads_of(call, preview)
        return cls(
            id_token=dict(payloads.id_token) if payloads.id_token is not None else None,
            access_token=dict(payloads.access_token),
            userinfo=preview.user_info,
            saml=dict(preview.attributes) if preview.attributes is not None else None,
            claims=[PreviewedClaim(claim=one.claim, source=one.source, value=value) for one, value in preview.values],
            bytes=payloads.size_bytes,
            warnings=[str(one) for one in payloads.warnings],
        )


@routes.get(PREVIEW, refuses=(ServiceUnknown, PersonNotShown, CustomerUnknown))
@on_service(Operation.CLAIMS_PREVIEW)
async def preview_claims(call: Call, org_slug: str, service_slug: str, query: ClaimsPreviewQuery) -> TokenPreview:
    """Show the claims that the tokens of a person would have, and the source of each claim of the product.

    For members of your organization, people who have signed in to the service and, with `customer`, the people of the
    customer that you see. Nothing is issued and nothing is stored.
    """
    return TokenPreview.of(call, await call.read(claims.preview, org_slug, service_slug, query.request()))


@routes.post(PREVIEW, refuses=(ServiceUnknown, PersonNotShown, CustomerUnknown))
@on_service(Operation.CLAIMS_PREVIEW)
async def preview_given_claims(
    call: Call, org_slug: str, service_slug: str, query: ClaimsPreviewQuery, body: ClaimsToPreview
) -> TokenPreview:
    """Show the same with another list of claims, before it is saved."""
    return TokenPreview.of(call, await call.read(claims.preview, org_slug, service_slug, query.request(body.claims)))
