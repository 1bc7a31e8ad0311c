"""Key pairs with a certificate of their own, with which Gatehouse signs XML: one is active, the last one is published.

The services' identity providers have them (`core/saml/certificates.py`), and so have SAML connections
(`core/sign_in/upstream/connections/connection_keys.py`). A key pair is made outside the transaction, because that takes
a tenth of a second of a processor. The private key is sealed at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(days=3 * 365)
# After a change, metadata contain the previous certificate this long.
OVERLAP: Final = timedelta(days=7)
WARNING: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlCertificate:
    """A certificate; `published_until` is set when another one has replaced it."""

    id: UUID
    public_key: str
    valid_from: datetime
    valid_until: datetime
    is_active: bool
    created_at: datetime
    published_until: datetime | None = None

    @classmethod
    def of(cls, made: MadeCertificate, certificate_id: UUID, *, valid_from: datetime, at: datetime) -> SamlCertificate:
        """Return a certificate that was just made, as the active one."""
        return cls(
            id=certificate_id,
            public_key=made.certificate_pem,
            valid_from=valid_from,
            valid_until=valid_from + LIFETIME,
            is_active=True,
            created_at=at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCertificate:
    """A new key pair with its self-signed certificate; both as PEM."""

    certificate_pem: str
    private_pem: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSigningKey:
    """A private key with its certificate, for signing, or for opening what was encrypted to it."""

    certificate_id: UUID
    certificate_pem: str = field(repr=False)
    private_pem: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A certificate or metadata of a service or connection, by its name, that end soon; and the owner to warn."""

    organization_id: UUID
    organization_name: str
    name: str
    ends_at: datetime
    owner_email: str | None


def warn(uow: UnitOfWork, ending: Sequence[Ending], template: MailTemplate, *, kind: str) -> int:
    """Mail the owners of what ends, which the mail names by its kind; return how many end."""
    for one in ending:
        if one.owner_email is not None:
            named: dict[str, Any] = {kind: one.name}
            mail.send(
                uow,
                one.owner_email,
                template,
                organization_id=one.organization_id,
                organization=one.organization_name,
                at=one.ends_at.strftime("%Y-%m-%d"),
                **named,
            )
    return len(ending)
