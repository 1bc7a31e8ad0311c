"""Setup links of an organization."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.errors import Forbidden
from core.organizations import setup_links
from core.organizations.access import Operation
from core.organizations.setup_links import DAYS_BY_DEFAULT, DAYS_MAX, SetupLink, SetupLinkUnknown, TooManySetupLinks
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "setup links",
    "Links with which a customer's IT staff fill in chosen settings of the organization, without an account.",
)


class SetupLinkCreation(msgspec.Struct, kw_only=True):
    """The parts that the holder of the link may set, and for how many days.

    `saml` needs the service, and `groups` takes the roles that groups may give. What is made with the link gives,
    changes and removes these roles and `member` alone; without any, `member` alone.
    """

    parts: list[str]
    service_slug: str | None = None
    roles: Annotated[list[str], msgspec.Meta(max_length=100)] = msgspec.field(default_factory=list[str])
    expires_in_days: Annotated[int, msgspec.Meta(ge=1, le=DAYS_MAX)] = DAYS_BY_DEFAULT


class CreatedSetupLink(Record, SecretBody, of=SetupLink):
    """The new link with its address, which is shown only once."""

    url: str


class SetupLinkList(msgspec.Struct, kw_only=True):
    """The valid links, the newest first."""

    setup_links: list[SetupLink]
    total: int


@routes.get("/api/organizations/:slug/setup-links")
@in_organization(Operation.SETUP_LINKS_READ)
async def list_setup_links(call: Call, slug: str) -> SetupLinkList:
    """List the valid links."""
    found = list(await call.read(setup_links.list_all, slug))
    return SetupLinkList(setup_links=found, total=len(found))


@routes.post("/api/organizations/:slug/setup-links", refuses=(TooManySetupLinks, Forbidden))
@in_organization(Operation.SETUP_LINK_CREATE)
async def create_setup_link(call: Call, slug: str, body: SetupLinkCreation) -> CreatedSetupLink:
    """Make a link. Keep its address: it is shown only once.

    You need the capabilities that each part takes: for `scim` also `org.members.manage`, for `siem` also
    `audit_logs.view`, for `groups` `org.roles.manage` and a role that allows no less than each of `roles`. The link is
    dead as soon as you may no longer set one of its parts.
    """
    created = await call.transact(
        setup_links.create,
        slug,
        parts=body.parts,
        service_slug=body.service_slug,
        roles=body.roles,
        expires_in_days=body.expires_in_days,
    )
    base_url = call.installation.settings.base_url
    return CreatedSetupLink.of(created.link, url=f"{base_url}/app/setup/{created.secret.reveal()}")


@routes.delete("/api/organizations/:slug/setup-links/:link_id", status=204, refuses=(SetupLinkUnknown,))
@in_organization(Operation.SETUP_LINKS_CHANGE)
async def revoke_setup_link(call: Call, slug: str, link_id: UUID) -> None:
    """Revoke a link, which ends what was begun with it at once."""
    await call.transact(setup_links.revoke, slug, link_id)
