"""What a transaction offers of the area `privacy`."""

from typing import Final, Protocol

from ports.privacy.anonymization import Anonymization
from ports.privacy.export import PrivacyExport


class PrivacyUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    privacy_export: Final[PrivacyExport]
    anonymization: Final[Anonymization]
