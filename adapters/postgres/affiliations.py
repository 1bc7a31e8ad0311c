"""How users belong to an organization: since when, under which name, and by which id.

A link to a service is confirmed by the first sign-in since it was made. A user whose account the organization has
created belongs to it from the beginning of the present membership or link. Memberships and links are read with the
accounts; the log is read afterwards, in the organization's part, only for users who need it.

The names are those of the directory: SCIM, which names members; else the connection of the organization that the person
last signed in by. A name that was derived from an address came from no directory: only the answers of SCIM contain it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import taken
from adapters.postgres.log_times import kept_values
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.lazy_dataclasses import dataclass

# Without a row for a user who does not belong to the organization. Only links that were used count.
STANDING: Final = """
    SELECT u.id AS user_id, m.confirmed_at, l.linked_at, l.used_at
    FROM   users u
    LEFT   JOIN memberships m ON m.organization_id = %(organization_id)s AND m.user_id = u.id
    CROSS  JOIN LATERAL (
               SELECT count(*) AS links, min(first_login_at) FILTER (WHERE last_login_at IS NOT NULL) AS linked_at,
                      min(last_login_at) AS used_at
               FROM   service_users
               WHERE  organization_id = %(organization_id)s AND user_id = u.id) AS l
    WHERE  u.id = %(user_id)s AND (m.id IS NOT NULL OR l.links > 0)
"""
# For each row of a page `e`, with the columns of a standing.
_OF_ROW: Final = STANDING.replace("%(user_id)s", "e.user_id")
OF_ROW: Final = f"LEFT JOIN LATERAL ({_OF_ROW}) AS standing ON true"
OF_ROW_COLUMNS: Final = """
    standing.user_id AS standing_user_id, standing.confirmed_at AS standing_confirmed_at,
    standing.linked_at AS standing_linked_at, standing.used_at AS standing_used_at
"""
FIRST_SIGN_INS: Final = """
    SELECT linked.user_id, first.created_at
    FROM   unnest(%(user_ids)s::uuid[], %(linked)s::timestamptz[], %(from_ids)s::uuid[])
               AS linked (user_id, at, from_id)
    CROSS  JOIN LATERAL (SELECT   e.created_at
                         FROM     login_events e
                         WHERE    e.organization_id = %(organization_id)s AND e.user_id = linked.user_id
                         AND      e.organization_id <> e.user_id AND e.success AND e.created_at >= linked.at
                         AND      e.id >= linked.from_id AND e.id < %(now_id)s
                         ORDER BY e.id
                         LIMIT    1) AS first
"""
# The names from a SCIM directory, of a row `p` of `scim_profiles`.
TOLD_GIVEN_NAME: Final = "nullif(nullif(p.given_name, p.made_given_name), '')"
TOLD_FAMILY_NAME: Final = "nullif(nullif(p.family_name, p.made_family_name), '')"
_OF_SCIM: Final = f"""
    coalesce(nullif(p.display_name, ''), nullif(p.formatted_name, ''), {TOLD_GIVEN_NAME}, {TOLD_FAMILY_NAME})
"""
_LAST_SAID: Final = """
    SELECT   name, given_name, family_name
    FROM     identities
    WHERE    user_id = {user_id} AND organization_id = {organization_id} AND connection_id IS NOT NULL
      AND    coalesce(name, given_name, family_name) IS NOT NULL
    ORDER BY used_at DESC, id
    LIMIT    1
"""
# Joins the names from a connection, as `said`, where `p`, which is joined before, has none.
SAID: Final = f"LEFT JOIN LATERAL ({_LAST_SAID}) said ON {_OF_SCIM} IS NULL"
NAMES: Final = f"""
    p.display_name, coalesce(p.formatted_name, said.name) AS formatted_name,
    coalesce({TOLD_GIVEN_NAME}, said.given_name) AS given_name,
    coalesce({TOLD_FAMILY_NAME}, said.family_name) AS family_name
"""
# As `PersonNames` of `core/accounts/names.py` decides it.
DIRECTORY_NAME: Final = f"""
    coalesce(
        (SELECT coalesce(nullif(display_name, ''), nullif(formatted_name, ''),
                         nullif(concat_ws(' ', nullif(nullif(given_name, made_given_name), ''),
                                          nullif(nullif(family_name, made_family_name), '')), ''))
         FROM   scim_profiles
         WHERE  organization_id = {{organization_id}} AND user_id = {{user_id}}),
        (SELECT coalesce(name, concat_ws(' ', given_name, family_name)) FROM ({_LAST_SAID}) said))
"""
# The account that an id means to an organization: `organization_id` and `id`, by their names or in this order, twice.
ACCOUNT: Final[LiteralString] = """
    coalesce((SELECT user_id FROM known_account_ids WHERE organization_id = %s AND known_id = %s), %s)
"""
NAMED_ACCOUNT: Final[LiteralString] = """
    coalesce((SELECT user_id FROM known_account_ids WHERE organization_id = %(organization_id)s AND known_id = %(id)s),
             %(id)s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What an organization has with a user: when they confirmed the membership, and their first link that was used.

    `used_at` is the first of the last sign-ins by the links; it counts where the log does not have the first one.
    """

    user_id: UUID
    confirmed_at: datetime | None
    linked_at: datetime | None
    used_at: datetime | None

    @property
    def asks_log(self) -> bool:
        """Whether a sign-in may have come before the confirmation."""
        return self.linked_at is not None and (self.confirmed_at is None or self.linked_at < self.confirmed_at)


class Affiliations(Aggregate):
    """Reads since when users whose standing is known have to do with an organization."""

    def since(self, organization_id: UUID, standings: Iterable[Standing]) -> Mapping[UUID, datetime | None]:
        """Return the moment for each of these users; None for one who has confirmed nothing."""
        known = {standing.user_id: standing for standing in standings}
        asked = {user_id: one.linked_at for user_id, one in known.items() if one.asks_log}
        first = self._first_sign_ins(organization_id, asked)
        return {
            user_id: min(
                (moment for moment in (one.confirmed_at, first.get(user_id) or one.used_at) if moment is not None),
                default=None,
            )
            for user_id, one in known.items()
        }

    def of_rows(
        self, organization_id: UUID, rows: Sequence[dict[str, Any]]
    ) -> Sequence[tuple[dict[str, Any], datetime | None]]:
        """Return the rows of a page without the columns of a standing, each with the moment of its user."""
        standings = [taken(row, "standing_") for row in rows]
        since = self.since(organization_id, [Standing(**one) for one in standings if one["user_id"] is not None])
        return [(row, since.get(one["user_id"])) for row, one in zip(rows, standings, strict=True)]

    def _first_sign_ins(self, organization_id: UUID, linked: Mapping[UUID, datetime | None]) -> Mapping[UUID, datetime]:
        if not linked:
            return {}
        kept = kept_values(self._transaction.now)
        values: dict[str, Any] = {
            "organization_id": organization_id,
            "user_ids": list(linked),
            "linked": list(linked.values()),
            "from_ids": [max(kept["kept_id"], first_id_since(at)) for at in linked.values() if at is not None],
            "now_id": kept["now_id"],
        }
        return {row["user_id"]: row["created_at"] for row in self._rows(FIRST_SIGN_INS, values)}
