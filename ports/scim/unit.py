"""The part of the unit of work that belongs to the area `scim`."""

from typing import Final, Protocol

from core.scim.tokens import ScimCaller
from ports.scim.scim import DirectoryGroups, ScimDirectory, ScimGroups, ScimLog, ScimTokens, ScimUsers


class ScimUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def scim_caller(self) -> ScimCaller:
        """The directory that calls with a SCIM token, loaded once; raise `ScimTokenInvalid`."""
        ...

    scim_tokens: Final[ScimTokens]
    scim_users: Final[ScimUsers]
    scim_groups: Final[ScimGroups]
    directory_groups: Final[DirectoryGroups]
    scim_directory: Final[ScimDirectory]
    scim_log: Final[ScimLog]
