"""The organization whose brand the pages of a request show: the custom domain's, or the one of their context.

A refusal is explained in the language of the sign-in during which it happened.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final
from uuid import UUID

from core.errors import ErrorCode, Refusal
from core.organizations.settings import branding
from core.sign_in import browser_returns
from entrypoints.web.serving.calls import Call

# Nothing more is read for a client that sends too much.
_UNREAD: Final = frozenset({ErrorCode.RATE_LIMIT_EXCEEDED, ErrorCode.UNAUTHORIZED})
_SERVER_ERROR_MIN: Final = 500


async def brand_pages(call: Call, organization_id: UUID) -> None:
    """Let the pages of this request show the brand of an organization, if it is active and has set one."""
    call.brand = await call.read(branding.brand_of, organization_id)


async def brand_refusal(call: Call, refusal: Refusal) -> None:
    """Let the page that explains a refusal show the brand of the organization that the person was signing in to.

    The refusal names it, else the return that the page carried. The return also names the language of the page.
    """
    if refusal.code.status >= _SERVER_ERROR_MIN or refusal.code in _UNREAD:
        return
    # The refusal is what the page is about, whatever else fails.
    with suppress(Refusal):
        kept = await call.read(browser_returns.find, call.return_id) if call.return_id else None
        if kept is not None:
            call.language = call.language or kept.language
        if call.brand is not None or call.custom_host is not None:
            return
        if refusal.organization_id is not None:
            await brand_pages(call, refusal.organization_id)
        elif kept is not None:
            call.brand = kept.brand
