"""How long the metadata of a SAML connection count: until their own end (`validUntil`), if they have one.

Metadata that have ended are refused where they are set and at each sign-in. The owner is warned before: early for a
text, which a person has to set again; for an address only when the metadata were not renewed there in time.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core import key_certificates
from core.key_certificates import WARNING
from core.mail.mail import MailTemplate
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord
from core.sign_in.upstream.saml import SamlDescription

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Providers that renew their metadata do so long before that.
WARNING_OF_ADDRESS: Final = timedelta(days=3)


def differs(connection: ConnectionRecord, described: SamlDescription) -> bool:
    """Return whether metadata that were read again differ from what is stored of them."""
    stored = connection.metadata_valid_until, connection.signs_requests
    return stored != (described.valid_until, described.wants_signed_requests)


def follow(uow: UnitOfWork, organization_id: UUID, connection_id: UUID, described: SamlDescription) -> None:
    """Store the content of metadata that were read again."""
    uow.upstream_connections.save_described(
        organization_id,
        connection_id,
        valid_until=described.valid_until,
        signs_requests=described.wants_signed_requests,
    )


def warn(uow: UnitOfWork, limit: int) -> int:
    """Mail the owners of at most `limit` connections whose metadata end soon, once for each end; return how many."""
    ending = uow.upstream_connections.claim_ending_metadata(
        text_before=uow.now + WARNING, address_before=uow.now + WARNING_OF_ADDRESS, limit=limit
    )
    return key_certificates.warn(uow, ending, MailTemplate.UPSTREAM_METADATA_ENDING, kind="connection")
