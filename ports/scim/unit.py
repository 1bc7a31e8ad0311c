"""The part of the unit of work that belongs to the area `scim`."""

from typing import Final, Protocol

from core.scim.tokens import ScimCaller
from ports.scim.directory import ScimDirectory
from ports.scim.directory_groups import DirectoryGroups
from ports.scim.groups import ScimGroups
from ports.scim.log import ScimLog
from ports.scim.tokens import ScimTokens
from ports.scim.users import ScimUsers


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
