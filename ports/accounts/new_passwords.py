"""Port for asking whether a password is known from data breaches."""

from typing import Final, Protocol

# The limit where a password is set, and the one at a sign-in, which must not be delayed.
SECONDS_MAX: Final = 3.0
HURRIED_SECONDS_MAX: Final = 0.5


class BreachedPasswords(Protocol):
    """Knows passwords that have leaked; a check may be cancelled."""

    async def contains(self, password: str, *, is_hurried: bool) -> bool:
        """Return whether a password has leaked; raise `BreachUnknown` when there is no answer in time.

        With `is_hurried`, raise at once when the list has failed a moment ago.
        """
        ...


def seconds_max(*, is_hurried: bool) -> float:
    """Return how long a check may take."""
    return HURRIED_SECONDS_MAX if is_hurried else SECONDS_MAX
