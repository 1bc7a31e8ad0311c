"""The pages of the audit logs with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.audit.chain import ChainEnd, ChainState
from entrypoints.pages.audit.audit_log import ACTION_CHOICES
from entrypoints.pages.audit.browser import AuditQuery
from entrypoints.pages.platform.audit_log import ACTION_CHOICES as PLATFORM_CHOICES
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.log_row_samples import LOG_ROW, LOG_ROWS
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/audit"
_PLATFORM_PAGE: Final = "/app/platform/audit"


def _log(page: str, **values: Any) -> dict[str, Any]:
    return {
        "page": page,
        "live": False,
        "is_refused": False,
        "query": AuditQuery(actor=EMAIL, action="service.updated", target=NAME, address=NAME, request=NAME),
        "times": {"since": "2026-02-03 04:05", "until": NAME},
        "problems": {"actor": "", "target": "", "since": "", "until": PROBLEM},
        "actions": [("", "Every action"), *ACTION_CHOICES],
        "rows": LOG_ROWS,
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


_ENTRY: Final = {"row": LOG_ROW, "fits_seal": False, "source": f'{{"details": "{NAME}"}}'}

AUDITLOG_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "audit/audit_log.html": {
        **CONSOLE,
        "log": _log(
            _PAGE,
            chain=ChainState(
                end=ChainEnd(organization_id=UUID(ID), sealed_through=48_201, hash="", sealed_at=NOW), entries=48_203
            ),
        ),
    },
    "audit/audit_log_entry.html": {**CONSOLE, **_ENTRY, "browser_page": _PAGE, "is_platform": False},
    "platform/audit_log.html": {
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
    "platform/audit_log_entry.html": {
        **PLATFORM,
        **_ENTRY,
        "row": replace(LOG_ROW, position=None, comparisons=[], request_id=None, ip_address=None, user_agent=None),
        "browser_page": _PLATFORM_PAGE,
        "is_platform": True,
    },
}
