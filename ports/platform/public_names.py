"""Port for the names that appear in mails and on pages."""

from collections.abc import Sequence
from typing import Protocol

from core.platform.public_names import PublicName


class PublicNames(Protocol):
    """Names of all organizations, for operators."""

    def dotted(self) -> Sequence[PublicName]:
        """List the names of services, plans and connections with a dot or `://`, in any Unicode form of these."""
        ...
