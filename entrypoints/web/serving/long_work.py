"""Work for a request of a directory that takes long: it waits for the token to be verified, and runs on a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

from entrypoints.web.serving.admission.credentials import require_scim_token
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import GatehouseRequest

# Of characters to parse, or of values to read: some thousand calls of functions for each thousand.
SHORT_MAX: Final = 2_000

Result = TypeVar("Result")


async def run(call: Call, length: int, work: Callable[[], Result]) -> Result:
    """Return what the work returns; a short one runs at once. Raise `ScimTokenInvalid` or `ServiceUnavailable`."""
    if length <= SHORT_MAX:
        return work()
    if call.sender is None:
        await require_scim_token(call, {})
    return await cast("GatehouseRequest", call.request).large_bodies.run(str(call.sender), work)
