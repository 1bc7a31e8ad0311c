"""Reading the brands of mails."""

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from core.mail.brands import MailBrand


class MailBrands(Protocol):
    """How mails of organizations look."""

    def of(self, organization_ids: Collection[UUID]) -> Mapping[UUID, MailBrand]:
        """Return the brands of the organizations that are active and have set one."""
        ...
