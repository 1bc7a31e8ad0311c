"""Reading the addresses of users that an organization knows."""

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID


class KnownAddresses(Protocol):
    """Addresses of users, as far as an organization knows them."""

    def of_each(self, user_ids: Mapping[UUID, Collection[UUID]], /) -> Mapping[UUID, Mapping[UUID, str]]:
        """Return for each organization the present addresses of those of its users that it knows, by their ids.

        It knows its members, the end users of its services, and former ones whose address has not changed since the
        organization removed them. The address of an anonymized account is never returned.
        """
        ...
