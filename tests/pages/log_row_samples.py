"""The rows of an audit log with sample values: every kind of actor, and one with all that a row can say."""

from dataclasses import replace
from typing import Final
from uuid import UUID

from entrypoints.pages.console.audit_entries import Comparison, ShownActor, ShownRow, ShownValue
from tests.pages.sample_values import EMAIL, ID, NAME, NOW

LOG_ROW: Final = ShownRow(
    id=UUID(ID),
    at=NOW,
    what="Changed a service",
    action="service.updated",
    is_failed=True,
    actor=ShownActor(kind="user", name=EMAIL, search=ID, impersonator=EMAIL),
    target_type="Service",
    target=NAME,
    target_id=ID,
    ip_address="2001:db8:1234:5678:9abc:def0:1234:5678",
    user_agent=NAME,
    request_id="f" * 64,
    position=48_201,
    organization=NAME,
    comparisons=[
        Comparison(
            field="redirect_uris",
            words="Redirect addresses",
            before=ShownValue(text=""),
            after=ShownValue(text="https://harbour.example/" + "x" * 300),
        ),
        Comparison(field="x" * 60, words="", before=None, after=ShownValue(text=NAME)),
        Comparison(field="name", words="Name", before=ShownValue(text=NAME), after=ShownValue(text="")),
        Comparison(
            field="plan_id", words="Plan", before=ShownValue(text="", id=ID), after=ShownValue(text=NAME, id=ID)
        ),
        Comparison(field="is_active", words="Active", before=None, after=ShownValue(text="Yes", is_word=True)),
    ],
)
LOG_ROWS: Final = [
    replace(LOG_ROW, id=UUID(int=number), actor=ShownActor(kind=kind, name=NAME, search="system", impersonator=""))
    for number, kind in enumerate(("user", "key", "backend", "directory", "setup_link", "command", "system"))
] + [LOG_ROW]
