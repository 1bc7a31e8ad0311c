"""An organization with a directory, for the tests in this folder."""

from __future__ import annotations

import pytest

from tests.world.directory import Directory, insert_directory
from tests.world.team import Team


@pytest.fixture
def directory(team: Team) -> Directory:
    """The directory of an organization with an owner, an admin and a member, and room for many more."""
    team.world.connection.execute("UPDATE organizations SET max_users = 100 WHERE id = %s", (team.organization_id,))
    return insert_directory(team)


@pytest.fixture
def groups(team: Team) -> Directory:
    """The directory of the same organization, with a token that manages groups."""
    team.world.connection.execute("UPDATE organizations SET max_users = 100 WHERE id = %s", (team.organization_id,))
    return insert_directory(team, groups="directory")
