"""Credentials of all organizations, with what their makers may do now."""

from collections.abc import Sequence
from typing import Protocol

from core.platform.left_credentials import KeptCredential


class LeftCredentials(Protocol):
    """The credentials whose maker is neither owner nor admin of their organization now."""

    def candidates(self) -> Sequence[KeptCredential]:
        """List the valid ones, by organization; without those of which no maker was recorded."""
        ...
