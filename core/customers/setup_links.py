"""Setup links that a vendor makes for a customer, whose IT staff fill in the parts that the link opens.

The holder acts in the internal organization of the customer (`setup_callers.py`), as every holder of a link
does (`core/organizations/link_callers.py`). A link ends with the customer, with the key of the service that made it,
and when its maker may not set the customer up any more. After each part its pages lead back to the vendor.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.customers import setup_callers
from core.customers.setup_callers import CustomerPath, SetupCaller
from core.errors import BadRequest, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.link_callers import CUSTOMER_PARTS, Part
from core.organizations.setup_links import LINKS_MAX, SetupLinkUnknown, TooManySetupLinks
from core.secrets import Secret, hash_token
from core.services import redirect_uris
from core.services.services import Service
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

MINUTES_MIN: Final = 5
MINUTES_MAX: Final = 43_200
MINUTES_BY_DEFAULT: Final = 7 * 24 * 60
# Of a vendor, for all of its customers together.
VENDOR_LINKS_MAX: Final = 1_000
ACTOR_CHARACTERS_MAX: Final = 255


class TooManyCustomerLinks(TooManySetupLinks):
    """The vendor has the maximum number of valid links for its customers."""

    default_message = Wording(
        "Your customers can have at most %(maximum)s valid setup links together. Revoke some that are not in use.",
        maximum=VENDOR_LINKS_MAX,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerSetupLink:
    """A link as the vendor sees it; nothing shows its secret again.

    `actor` is the user of the link, as the vendor has reported it, and `made_by` the person who made it, or the maker
    of the key that did: a key of the service (`made_by_api_key`), or of the organization (`made_by_key`).
    """

    id: UUID
    parts: list[str]
    return_url: str | None
    actor: str | None
    made_by: UUID
    made_by_api_key: UUID | None
    made_by_key: UUID | None
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSetupLink:
    """What a new link is for."""

    parts: Sequence[str]
    minutes: int
    return_url: str | None
    actor: str | None


def list_all(uow: UnitOfWork, path: CustomerPath) -> Sequence[CustomerSetupLink]:
    """List the valid links of a customer, the newest first."""
    setup = setup_callers.enter_to_read(uow, path)
    return uow.customer_setup_links.of_customer(setup.organization.id)


def create(uow: UnitOfWork, path: CustomerPath, new: NewSetupLink) -> tuple[CustomerSetupLink, Secret]:
    """Make a link to parts that the vendor may set up, and return it with its secret, which cannot be read again."""
    parts = _checked_parts(new.parts)
    setup = setup_callers.enter_to_change(uow, path, *parts)
    return_url, actor = all_valid(
        lambda: _checked_return_url(setup.vendor.service, new.return_url), lambda: _checked_actor(new.actor)
    )
    _require_few(uow, setup)
    secret = uow.randomness.token()
    link = CustomerSetupLink(
        id=uow.randomness.new_id(),
        parts=[part.value for part in parts],
        return_url=return_url,
        actor=actor,
        made_by=setup.maker.maker_id,
        made_by_api_key=setup.vendor.api_key_id,
        made_by_key=setup.maker.limits.key_id,
        created_at=uow.now,
        expires_at=uow.now + timedelta(minutes=new.minutes),
        last_used_at=None,
    )
    uow.customer_setup_links.add(setup.organization.id, link, secret_hash=hash_token(secret.reveal()))
    _record(uow, setup, link, "created")
    return link, secret


def revoke(uow: UnitOfWork, path: CustomerPath, link_id: UUID) -> None:
    """End a link at once."""
    setup = setup_callers.enter_to_change(uow, path)
    removed = uow.customer_setup_links.remove(setup.organization.id, link_id)
    if removed is None:
        raise SetupLinkUnknown("This customer has no such setup link.")
    _record(uow, setup, removed, "revoked")


def _checked_parts(words: Sequence[str]) -> Sequence[Part]:
    names = [part.value for part in CUSTOMER_PARTS]
    if not words or not set(words) <= set(names):
        raise BadRequest.of_field(
            "parts", Wording("Name at least one of these parts: %(names)s.", names=", ".join(names))
        )
    return [part for part in CUSTOMER_PARTS if part.value in words]


def _checked_return_url(service: Service, url: str | None) -> str | None:
    """Return where the pages lead back to, if it is an address of the service; raise `BadRequest` for any other."""
    if url is None:
        return None
    redirect_uris.require_web_uri(url, "return_url")
    if len(url) > redirect_uris.URI_CHARACTERS_MAX or _origin(url) not in map(_origin, service.redirect_uris):
        raise BadRequest.of_field(
            "return_url", "This must be an address at the origin of one of the redirect URIs of the service."
        )
    return url


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _checked_actor(text: str | None) -> str | None:
    if text is None:
        return None
    if not 1 <= len(text) <= ACTOR_CHARACTERS_MAX or not text.isprintable():
        raise BadRequest.of_field(
            "actor",
            Wording("1 to %(maximum)s characters, without control characters.", maximum=ACTOR_CHARACTERS_MAX),
        )
    return text


def _require_few(uow: UnitOfWork, setup: SetupCaller) -> None:
    # The vendor's organization is locked, so that no other link is made meanwhile.
    if uow.customer_setup_links.count_of_vendor(setup.vendor.organization.id) >= VENDOR_LINKS_MAX:
        raise TooManyCustomerLinks
    if uow.setup_links.count(setup.organization.id) >= LINKS_MAX:
        raise TooManySetupLinks


def _record(uow: UnitOfWork, setup: SetupCaller, link: CustomerSetupLink, what: str) -> None:
    reported = {"reported_actor": link.actor} if link.actor is not None else {}
    uow.audit(
        AuditAction.ORGANIZATION_UPDATED,
        setup.organization.id,
        organization_id=setup.organization.id,
        setup_link={"id": str(link.id), "parts": link.parts, "action": what, **reported},
    )
