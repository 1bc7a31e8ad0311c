"""How often one client may ask: the table of operations 8, and the arithmetic of a token bucket.

The buckets themselves are kept by the HTTP layer, which knows the client's address; here is only what is true without
a clock: a bucket never grants more than its burst plus rate times time.
"""

from dataclasses import dataclass
from enum import Enum
from math import ceil


class RateLimit(Enum):
    """A documented limit: so many seconds for one request to be earned back, and how many may come at once."""

    SIGN_IN_GROUP = (1.0, 20)
    DEVICE_FLOW = (5.0, 10)
    MFA_SETUP = (300.0, 5)
    MFA_VERIFICATION = (1.0, 3)
    BILLING_RECEIVER = (0.06, 100)
    REGISTER = (6.0, 10)
    LOGIN = (6.0, 10)
    FORGOT_PASSWORD = (12.0, 5)
    RESEND_VERIFICATION = (20.0, 3)
    MFA_SETUP_ENDPOINT = (60.0, 5)
    MAGIC_LINK_REQUEST = (12.0, 5)
    PASSKEY_SIGN_IN = (6.0, 10)
    IMPERSONATION = (6.0, 10)
    EMAIL_CHANGE = (6.0, 10)
    INVITATION_ANSWER = (1.0, 30)

    seconds_per_request: float
    burst: int

    def __new__(cls, seconds_per_request: float, burst: int) -> "RateLimit":
        # Limits of equal numbers are still two limits; without a value of its own the second would be an alias.
        member = object.__new__(cls)
        member._value_ = len(cls.__members__)
        member.seconds_per_request = seconds_per_request
        member.burst = burst
        return member

    @property
    def seconds_to_refill(self) -> float:
        """After this long a bucket is full again and need not be remembered."""
        return self.seconds_per_request * self.burst


# What floats lose in years of seconds, with much to spare, and still nothing beside the price of a request.
ROUNDING_SECONDS = 1e-5

# Every route below these paths draws from the group's bucket besides its own (operations 8).
SIGN_IN_PATHS = ("/auth/", "/api/auth/")


@dataclass(frozen=True, slots=True)
class Bucket:
    """The moment, in seconds, at which the bucket would be full again; the past means it is full now.

    One number holds the whole state: the distance to that moment is what has been used and not yet earned back.
    """

    full_at: float

    def take(self, limit: RateLimit, now: float) -> "Bucket | None":
        """Take one request out of the bucket, or nothing when it is empty."""
        full_at = max(self.full_at, now) + limit.seconds_per_request
        return Bucket(full_at) if full_at - now <= limit.seconds_to_refill + ROUNDING_SECONDS else None

    def retry_after_seconds(self, limit: RateLimit, now: float) -> int:
        """Say after how many whole seconds the next request will be granted; at least one."""
        seconds = self.full_at + limit.seconds_per_request - limit.seconds_to_refill - now
        return max(1, ceil(seconds - ROUNDING_SECONDS / 2))
