"""The pages of the audit logs with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.audit.chain import ChainEnd, ChainState
from entrypoints.pages.audit.audit import ACTION_CHOICES
from entrypoints.pages.audit.browsing import AuditQuery
from entrypoints.pages.audit.log_rows import Comparison, ShownActor, ShownRow
from entrypoints.pages.platform.audit import ACTION_CHOICES as PLATFORM_CHOICES
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/audit"
_PLATFORM_PAGE: Final = "/app/platform/audit"
_ROW: Final = ShownRow(
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
        Comparison(field="redirect_uris", before="", after="https://harbour.example/" + "x" * 300),
        Comparison(field="x" * 60, before=None, after=NAME),
        Comparison(field="name", before=NAME, after=""),
    ],
)
_ROWS: Final = [
    replace(_ROW, id=UUID(int=number), actor=ShownActor(kind=kind, name=NAME, search="system", impersonator=""))
    for number, kind in enumerate(("user", "key", "backend", "directory", "setup_link", "command", "system"))
] + [_ROW]


def _log(page: str, **values: Any) -> dict[str, Any]:
    return {
        "page": page,
        "live": False,
        "is_refused": False,
        "query": AuditQuery(actor=EMAIL, action="service.updated", target=NAME, address=NAME, request=NAME),
        "times": {"since": "2026-02-03 04:05", "until": NAME},
        "problems": {"actor": "", "target": "", "since": "", "until": PROBLEM},
        "actions": [("", "Every action"), *ACTION_CHOICES],
        "rows": _ROWS,
        "chain": None,
        "total": 10_001,
        "is_exact": True,
        "looked_at": 10_000,
        "looked_back_to": NOW,
        "seen_id": UUID(int=2),
        "is_filtered": True,
        "first": page,
        "next": f"{page}?before={ID}",
        "csv": f"{page}/entries.csv",
        "live_page": f"{page}?live=on",
        "still_page": page,
        "again_page": f"{page}?live=on&seen={ID}",
        "feed": f"{page}/feed?position=1",
        "refresh_seconds": 10,
        **values,
    }


_ENTRY: Final = {"row": _ROW, "fits_seal": False, "source": f'{{"details": "{NAME}"}}'}

AUDITLOG_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "console_audit.html": {
        **CONSOLE,
        "log": _log(
            _PAGE,
            chain=ChainState(
                end=ChainEnd(organization_id=UUID(ID), sealed_through=48_201, hash="", sealed_at=NOW), entries=48_203
            ),
        ),
    },
    "console_audit_entry.html": {**CONSOLE, **_ENTRY, "browser_page": _PAGE, "is_platform": False},
    "platform_audit.html": {
        **PLATFORM,
        "problem": "",
        "standing": SimpleNamespace(user_id=ID, is_owner=True),
        "log": _log(
            _PLATFORM_PAGE,
            # Without the address of a feed, so that the script asks for nothing.
            live=True,
            feed="",
            query=AuditQuery(live="on"),
            actions=[("", "Every action"), *PLATFORM_CHOICES],
            is_exact=False,
            total=3,
            problems={"actor": "", "target": "", "since": "", "until": ""},
            times={"since": "", "until": ""},
        ),
    },
    "platform_audit_entry.html": {
        **PLATFORM,
        **_ENTRY,
        "row": replace(_ROW, position=None, comparisons=[], request_id=None, ip_address=None, user_agent=None),
        "browser_page": _PLATFORM_PAGE,
        "is_platform": True,
    },
}
