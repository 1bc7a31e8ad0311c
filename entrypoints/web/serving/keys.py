"""Admitting the keys of organizations beside other credentials, and saying where they open nothing."""

from __future__ import annotations

from typing import Final

from core.errors import Unauthorized
from core.organizations import key_callers
from core.organizations.key_callers import KeyOpensNothingHere, OrganizationKeyInvalid
from core.rate_limits import RateLimit
from entrypoints.web.serving.access_policies import Admission, CredentialKind
from entrypoints.web.serving.calls import Call

KEY_HEADER: Final = "X-Api-Key"
# At routes that take these, the key of an organization is no credential.
_OTHERS: Final = frozenset({CredentialKind.ACCESS_TOKEN, CredentialKind.API_KEY, CredentialKind.SCIM_TOKEN})


def or_key(admit: Admission) -> Admission:
    """Return an admission that takes a key of an organization too, in a request without an `Authorization` header.

    In that header it takes the access token that a workload got for a key. It also does so where no key may call: then
    `access.authorize` refuses.
    """

    async def admit_or_key(call: Call) -> None:
        key = call.request.headers.get(KEY_HEADER)
        if key is None or "Authorization" in call.request.headers:
            call.takes_key = True
            await admit(call)
            return
        _present(call, key)

    return admit_or_key


async def explained(call: Call, kind: CredentialKind, refusal: Unauthorized) -> Unauthorized:
    """Return the refusal of a request, or what tells the holder of a valid key that no key opens the route."""
    key = call.request.headers.get(KEY_HEADER)
    is_used = call.organization_credential is not None or "Authorization" in call.request.headers
    if key is None or is_used or kind not in _OTHERS or not key_callers.presented(key).prefix:
        return refusal
    _present(call, key)
    try:
        await call.read(key_callers.require_none)
    except KeyOpensNothingHere as closed:
        return closed
    except OrganizationKeyInvalid:
        pass
    return refusal


def _present(call: Call, key: str) -> None:
    call.organization_credential = key_callers.presented(key)
    call.limit_key(call.organization_credential.token_hash, RateLimit.ORGANIZATION_KEY)
