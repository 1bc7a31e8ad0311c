"""What vendors have made for an organization, as its owner reads, adopts and removes it."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

import msgspec

from core.customers import made_for_us
from core.customers.made_for_us import (
    Adopted,
    GroupMissing,
    LinkNotAdopted,
    MadeThingUnknown,
    MailDomainNotProved,
    RuleOfConnection,
    ThingForUs,
    ThingKind,
    TokenExpired,
)
from core.customers.products import SignInTooOld
from core.organizations.access import Operation
from core.organizations.organizations import MadeThrough
from core.scim.tokens import TooManyTokens
from core.sign_in.upstream.connections.connections import TooManyConnections
from entrypoints.http.customers.products import ProductService, ProductVendor
from entrypoints.web.input.decoding import Sliced
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "made for us",
    "What vendors have made for your organization: connections, mail domains, SCIM tokens, rules for groups, and setup"
    " links. They have power at the vendor's service alone, and end with its use. The owner of the organization adopts"
    " or removes each, within ten minutes of a sign-in.",
)

MadeBy = Annotated[
    MadeThrough | None,
    msgspec.Meta(
        description="How the vendor has made it: by a `member`, by its `program`, or by a `setup_link`; null"
        " if that was not recorded."
    ),
]


class MadeThingRecord(msgspec.Struct, kw_only=True):
    """Something that a vendor has made for the organization."""

    id: UUID
    kind: ThingKind
    vendor: ProductVendor
    service: ProductService
    name: Annotated[
        str,
        msgspec.Meta(
            description="The name of the connection or token, the mail domain, the group of the rule, or the parts of"
            " the setup link."
        ),
    ]
    made_at: datetime
    made_by: MadeBy

    @classmethod
    def of(cls, thing: ThingForUs) -> Self:
        """Return a thing as the owner sees it."""
        return cls(
            id=thing.id,
            kind=thing.kind,
            vendor=ProductVendor(slug=thing.vendor_slug, name=thing.vendor_name),
            service=ProductService(slug=thing.service_slug, name=thing.service_name),
            name=thing.name,
            made_at=thing.made_at,
            made_by=MadeThrough(thing.made_by) if thing.made_by is not None else None,
        )


class MadeThingList(msgspec.Struct, kw_only=True):
    """A part of what vendors have made, and how much there is."""

    things: list[MadeThingRecord]
    total: int


class AdoptedThing(SecretBody, kw_only=True):
    """What the organization has now; `token` is the secret of an adopted SCIM token, which is shown only here."""

    id: Annotated[
        UUID,
        msgspec.Meta(
            description="The id of what the organization has now: its connection, which keeps its id; its own domain"
            " route; its new SCIM token; or the group to which the product is assigned."
        ),
    ]
    kind: ThingKind
    token: Annotated[
        str | None, msgspec.Meta(description="The secret of a SCIM token, shown only here; null for other kinds.")
    ]

    @classmethod
    def of(cls, adopted: Adopted) -> Self:
        """Return the outcome for a thing."""
        token = adopted.secret.reveal() if adopted.secret is not None else None
        return cls(id=adopted.id, kind=adopted.kind, token=token)


@routes.get("/api/organizations/:org_slug/made-for-us")
@in_organization(Operation.MADE_FOR_US_READ)
async def list_made_things(call: Call, org_slug: str, query: Sliced) -> MadeThingList:
    """List what vendors have made for the organization, by vendor, service and kind. Setup links are those in force."""
    page = await call.read(made_for_us.list_page, org_slug, limit=query.limit, offset=query.offset)
    return MadeThingList(things=[MadeThingRecord.of(one) for one in page.things], total=page.total)


@routes.post(
    "/api/organizations/:org_slug/made-for-us/:thing_id/adopt",
    refuses=(
        MadeThingUnknown,
        SignInTooOld,
        MailDomainNotProved,
        TooManyConnections,
        TooManyTokens,
        TokenExpired,
        GroupMissing,
        RuleOfConnection,
        LinkNotAdopted,
    ),
)
@in_organization(Operation.MADE_FOR_US_ADOPT)
async def adopt_made_thing(call: Call, org_slug: str, thing_id: UUID) -> AdoptedThing:
    """Make a thing the organization's own: the vendor can no longer read or change it, and it outlives your use.

    For a connection, your organization must have proved the mail domains that lead to it, and at least one. It keeps
    its id, so that nothing changes at its provider. Its identities are unlinked, its sessions end, and so do the
    vendor's mail domains and rules for it. It is switched off: enter another client secret of the provider, test it by
    a real sign-in, and enable it. A mail domain needs your own proof, and becomes your domain route. A SCIM token gets
    another secret, and your directory then changes members of your organization. A rule for a group assigns the product
    to the group of your directory with the same name. Adopting makes no members, and ends no one's access.
    """
    return AdoptedThing.of(await call.transact(made_for_us.adopt, org_slug, thing_id))


@routes.delete(
    "/api/organizations/:org_slug/made-for-us/:thing_id", status=204, refuses=(MadeThingUnknown, SignInTooOld)
)
@in_organization(Operation.MADE_FOR_US_REMOVE)
async def remove_made_thing(call: Call, org_slug: str, thing_id: UUID) -> None:
    """Remove a thing that a vendor has made. The vendor gets an event, and may make another one if you allow it."""
    await call.transact(made_for_us.remove, org_slug, thing_id)
