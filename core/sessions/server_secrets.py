"""Secrets of the installation itself, generated at its first start and shared by all replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PEPPER: Final = "pepper"


def pepper(uow: UnitOfWork, fresh: bytes) -> bytes:
    """Return the key of the installation's keyed hashes; the fresh one is stored at the first start."""
    return uow.server_secrets.ensure(PEPPER, fresh)
