"""Port for asking whether a password is known from data breaches."""

from typing import Final, Protocol

# Where one is set. At a sign-in, which nothing is to delay, a question takes less.
SECONDS_MAX: Final = 3.0
HURRIED_SECONDS_MAX: Final = 0.5


class BreachedPasswords(Protocol):
    """Knows passwords that have leaked; a question may be cancelled."""

    async def contains(self, password: str, *, is_hurried: bool) -> bool:
        """Return whether a password has leaked; raise `BreachUnknown` when that cannot be said in time.

        What `is_hurried` is not asked while the list has just failed.
        """
        ...


def seconds_max(*, is_hurried: bool) -> float:
    """Return how long a question may take."""
    return HURRIED_SECONDS_MAX if is_hurried else SECONDS_MAX
