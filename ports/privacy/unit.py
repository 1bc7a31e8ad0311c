"""What a transaction offers of the area `privacy`."""

from typing import Protocol

from ports.privacy.anonymization import Anonymization
from ports.privacy.export import PrivacyExport


class PrivacyUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def privacy_export(self) -> PrivacyExport: ...

    @property
    def anonymization(self) -> Anonymization: ...
