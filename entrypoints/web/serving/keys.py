"""Admitting the keys of organizations beside other credentials."""

from __future__ import annotations

from typing import Final

from core.organizations import key_callers
from core.rate_limits import RateLimit
from entrypoints.web.serving.access_policies import Admission
from entrypoints.web.serving.calls import Call

KEY_HEADER: Final = "X-Api-Key"


def or_key(admit: Admission) -> Admission:
    """Return an admission that takes a key of an organization too, in a request without an `Authorization` header.

    In that header it takes an access token that stands for a key, as a workload gets one.
    It also does where no key may call: then `access.authorize` says so.
    """

    async def admit_or_key(call: Call) -> None:
        key = call.request.headers.get(KEY_HEADER)
        if key is None or "Authorization" in call.request.headers:
            call.takes_key = True
            await admit(call)
            return
        call.organization_credential = key_callers.presented(key)
        call.limit_key(call.organization_credential.token_hash, RateLimit.ORGANIZATION_KEY)

    return admit_or_key
