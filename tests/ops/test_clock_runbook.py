"""The steps of ops/runbooks/clock.md after a wrong time, on rows that were written with it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from adapters.postgres.driver.connection import Connection
from tests.documents import ROOT
from tests.leftovers import IDS, put_owners

RUNBOOK: Final = ROOT / "ops/runbooks/clock.md"
FUTURE: Final = datetime(2099, 1, 1, tzinfo=UTC)
MAIL: Final = """
    INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, leased_until, created_at)
    VALUES (gen_random_uuid(), %(organization)s, '', 'test', 'queued', 1, %(at)s, %(at)s, %(at)s)
"""


def test_what_waits_for_the_future_begins_now_and_its_sessions_end(connection: Connection) -> None:
    put_owners(connection, FUTURE)
    connection.execute(MAIL, {**IDS, "at": FUTURE})
    connection.execute(
        "INSERT INTO mail_dues (organization_id, queued_at) VALUES (%(organization)s, %(at)s)", {**IDS, "at": FUTURE}
    )
    blocks = re.findall(r"```sql\n(.*?)```", RUNBOOK.read_text(), re.DOTALL)

    for statement in ";".join(blocks).split(";"):
        if statement.strip():
            connection.execute(statement.encode())

    assert len(blocks) == 2
    assert connection.execute("SELECT due_at <= now(), leased_until FROM mails").fetchall() == [(True, None)]
    assert connection.execute("SELECT queued_at <= now() FROM mail_dues").fetchall() == [(True,)]
    assert connection.execute("SELECT revoked_at IS NOT NULL FROM sessions").fetchall() == [(True,)]
