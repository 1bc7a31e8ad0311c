"""Deleting what was written to the logs of an organization or a webhook while it was being deleted.

Their deletion deletes what is there, by triggers on `organizations` and `webhooks`, which leave a row of
`ended_log_owners`. No foreign key refuses what other transactions write beside it, so the logs are looked at once more
when all of these have ended.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.organizations.organizations import OrganizationParts
from adapters.postgres.transaction import Aggregate

# In the place of a webhook, for the whole organization.
_WHOLE: Final = UUID(int=0)
_ROWS_AT_ONCE_MAX: Final = 500
FIND: Final = """
    SELECT   organization_id, webhook_id
    FROM     ended_log_owners
    WHERE    ended_at <= %s
    ORDER BY ended_at
    LIMIT    %s
    FOR UPDATE SKIP LOCKED
"""
_OF_WEBHOOK: Final = (
    "DELETE FROM webhook_deliveries WHERE organization_id = %s AND webhook_id = %s",
    "DELETE FROM webhook_attempts WHERE organization_id = %s AND webhook_id = %s",
)


class EndedLogOwners(Aggregate):
    """The owners whose logs are looked at once more."""

    def delete(self, ended_until: datetime, limit: int) -> int:
        owners: list[tuple[UUID, UUID]] = self._connection.execute(FIND, (ended_until, limit)).fetchall()
        parts = OrganizationParts(self._transaction)
        for organization_id, webhook_id in owners:
            if webhook_id == _WHOLE:
                while parts.delete_of_logs(organization_id, rows_max=_ROWS_AT_ONCE_MAX):
                    pass
            else:
                for statement in _OF_WEBHOOK:
                    self._connection.execute_later(statement, (organization_id, webhook_id))
            self._connection.execute_later(
                "DELETE FROM ended_log_owners WHERE (organization_id, webhook_id) = (%s, %s)",
                (organization_id, webhook_id),
            )
        self._connection.flush()
        return len(owners)
