"""The table of what is measured: one row for each operation, with the most that it may cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.benchmarks.servers import RunningServer

    Setup: TypeAlias = Callable[["Operation", RunningServer], "Operation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One request, sent again and again, and what it may cost at most."""

    name: str
    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    # Processor time per request, as a multiple of the bare server's; without one nothing is promised.
    cpu_ratio_max: float | None = None
    # Makes ready what the request needs and gives the operation as it is to be sent: a row that needs an account makes
    # one there, and answers `replace(operation, headers={"Authorization": …})`.
    setup: Setup | None = None

    def ready(self, server: RunningServer) -> Operation:
        """Give the operation as it is to be sent to this server."""
        return self if self.setup is None else self.setup(self, server)


BARE: Final = Operation(name="bare", path="/health")

OPERATIONS: Final = (
    Operation(name="health", path="/health", cpu_ratio_max=1.25),
    # A `read` with one statement.
    Operation(name="ready", path="/health/ready", cpu_ratio_max=2.0),
    Operation(name="jwks", path="/.well-known/jwks.json"),
)
