"""The part of the unit of work that belongs to the area `scim`."""

from typing import Protocol

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

    @property
    def scim_tokens(self) -> ScimTokens: ...

    @property
    def scim_users(self) -> ScimUsers: ...

    @property
    def scim_groups(self) -> ScimGroups: ...

    @property
    def directory_groups(self) -> DirectoryGroups: ...

    @property
    def scim_directory(self) -> ScimDirectory: ...

    @property
    def scim_log(self) -> ScimLog: ...
