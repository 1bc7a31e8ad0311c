"""How tokens name a user's groups: by their names, by their ids, or as objects of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any


class GroupsAs(StrEnum):
    """The form of the groups in what a service learns of a user; SAML assertions always have names."""

    NAMES = "names"
    IDS = "ids"
    OBJECTS = "objects"


def told(groups: Sequence[Mapping[str, str]], groups_as: GroupsAs) -> list[Any]:
    """Return groups, given as objects with `id` and `name`, in this form."""
    match groups_as:
        case GroupsAs.NAMES:
            return [one["name"] for one in groups]
        case GroupsAs.IDS:
            return [one["id"] for one in groups]
        case _:
            return list(groups)
