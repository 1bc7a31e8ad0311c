"""Reading credentials of all organizations, with the present rights of their makers."""

from collections.abc import Sequence
from typing import Protocol

from core.platform.left_credentials import KeptCredential


class LeftCredentials(Protocol):
    """The credentials whose maker is neither owner nor admin of their organization now."""

    def candidates(self) -> Sequence[KeptCredential]:
        """List the valid ones with a recorded maker, by organization."""
        ...
