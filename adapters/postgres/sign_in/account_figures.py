"""The figures of a person's account: each counts a range of an index by user, up to a maximum."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from adapters.postgres.admissions import IS_MEMBERSHIP
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.sessions.sessions import WITHIN, within_values
from adapters.postgres.transaction import Aggregate
from core.sessions.confinement import Confinement
from core.sign_in.account_figures import AccountFigures

_OF_SERVICES: Final = """
    (%(within)s::uuid IS NULL
     OR (organization_id = %(within)s AND (%(within_service)s::uuid IS NULL OR service_id = %(within_service)s)))
"""
_SHOWN_SESSIONS: Final = f"""
    SELECT
    FROM   sessions s
    WHERE  user_id = %(user_id)s AND {IS_LIVE}
      AND  (%(within)s::uuid IS NULL OR id = %(current_id)s OR {WITHIN})
"""
FIGURES: Final = f"""
    SELECT (SELECT count(*) FROM ({_SHOWN_SESSIONS} LIMIT %(figure_max)s) AS counted) AS sessions,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   service_users
                    WHERE  user_id = %(user_id)s AND last_login_at IS NOT NULL AND {_OF_SERVICES}
                    LIMIT  %(figure_max)s) AS counted) AS applications,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   subscriptions
                    WHERE  user_id = %(user_id)s AND status IN ('active', 'past_due') AND {_OF_SERVICES}
                    LIMIT  %(figure_max)s) AS counted) AS subscriptions,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   memberships
                    WHERE  user_id = %(user_id)s AND {IS_MEMBERSHIP}
                      AND  (%(only_organization_id)s::uuid IS NULL OR organization_id = %(only_organization_id)s)
                    LIMIT  %(figure_max)s) AS counted) AS organizations
"""


class PostgresFiguresOfUser(Aggregate):
    """The port `FiguresOfUser`."""

    def of_user(
        self,
        user_id: UUID,
        *,
        limits: Confinement | None,
        only_organization_id: UUID | None,
        current_id: UUID,
        figure_max: int,
    ) -> AccountFigures:
        return self._only(
            AccountFigures,
            FIGURES,
            {
                "user_id": user_id,
                "only_organization_id": only_organization_id,
                "current_id": current_id,
                "figure_max": figure_max,
                **within_values(limits),
                **live_at(self._transaction.now),
            },
        )
