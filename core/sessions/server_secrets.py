"""Secrets of the installation itself, made at its first start and the same in every replica ever after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PEPPER: Final = "pepper"


def pepper(uow: UnitOfWork, fresh: bytes) -> bytes:
    """Give the key of the installation's keyed hashes; the fresh one becomes it at the first start."""
    return uow.server_secrets.ensure(PEPPER, fresh)
