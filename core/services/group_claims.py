"""The groups of its organization that the tokens and assertions of a service name for a user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.errors import BadRequest
from core.wording import Wording

ALL: Final = "all"
GROUPS_MAX: Final = 100


def require_valid(groups: Sequence[str]) -> None:
    """Raise `BadRequest` for too many groups, and for `all` beside others."""
    if len(groups) > GROUPS_MAX:
        raise BadRequest.of_field("group_claims", Wording("At most %(maximum)s groups, or all.", maximum=GROUPS_MAX))
    if ALL in groups and len(groups) > 1:
        raise BadRequest.of_field("group_claims", "Name groups by their ids, or all alone.")
