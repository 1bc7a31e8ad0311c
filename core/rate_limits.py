"""Rate limits (ops/docs/limits.md), and the arithmetic of a token bucket.

The HTTP layer keeps the buckets, because it knows who sends a request. The arithmetic needs no clock: a bucket never
grants more than its burst plus rate times time.
"""

from enum import Enum
from math import ceil

from core.lazy_dataclasses import dataclass


class RateLimit(Enum):
    """A documented limit: the seconds after which one more request is allowed, and how many are allowed at once."""

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
    # For an organization: asking a provider that it names whether a connection works.
    CONNECTION_CHECK = (6.0, 10)
    # For an organization: asking why a user cannot sign in, for its members and end users together.
    EXPLANATION = (2.0, 30)
    # A whole company may arrive from one address in the morning.
    SAML = (0.02, 200)
    # For a network: credentials that do not verify. It never refuses those that do.
    REFUSED_CREDENTIAL = (1 / 6, 60)
    # Counted for each user who is signed in, on all addresses together; an impersonation counts for the impersonator.
    SIGNED_IN = (0.05, 100)
    # For a connection: the revocations that its identity provider asks for.
    GLOBAL_REVOCATION = (1.0, 60)
    # For a connection: the logout tokens of its provider; a whole company may sign out in the evening.
    BACKCHANNEL_LOGOUT = (0.1, 600)
    # For an API key, not an address.
    API_KEY = (0.01, 200)
    # For a key of an organization.
    ORGANIZATION_KEY = (1 / 60, 60)
    # For an authenticated client of OAuth.
    CLIENT = (0.01, 200)
    # For a network: noted refusals of clients. Further ones are answered, and not noted.
    NOTED_REFUSAL = (0.1, 60)
    # For a SCIM token: the first synchronization of a directory takes two requests for each user.
    SCIM_TOKEN = (0.004, 500)

    seconds_per_request: float
    burst: int

    def __new__(cls, seconds_per_request: float, burst: int) -> "RateLimit":
        # Limits with equal numbers stay two limits; without a distinct value the second would be an alias.
        member = object.__new__(cls)
        member._value_ = len(cls.__members__)
        member.seconds_per_request = seconds_per_request
        member.burst = burst
        return member

    @property
    def seconds_to_refill(self) -> float:
        """The time after which a bucket is full again and can be dropped."""
        return self.seconds_per_request * self.burst

    def share(self, processes: int) -> "Share":
        """Return what each of so many processes grants of this limit.

        It is rounded up to whole requests in the time in which a bucket fills, so that all processes together grant
        less than one request for each of them beyond the limit. That time stays the same: a bucket that is half empty
        is half empty also when the number of processes has changed.
        """
        burst = ceil(self.burst / processes)
        return Share(seconds_per_request=self.seconds_to_refill / burst, burst=burst)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The part of a limit that one process grants."""

    seconds_per_request: float
    burst: int

    @property
    def seconds_to_refill(self) -> float:
        """The time after which a bucket is full again, as in the limit itself."""
        return self.seconds_per_request * self.burst


# More than floats lose over years of seconds, and negligible beside the seconds of one request.
ROUNDING_SECONDS = 1e-5

# Every route below these paths draws from the group's bucket as well as from its own.
SIGN_IN_PATHS = ("/auth/", "/api/auth/")


@dataclass(frozen=True, slots=True)
class Bucket:
    """The time, in seconds, at which the bucket is full again; a time in the past means that it is full now.

    This number is the whole state: the time left until then stands for the requests that are not yet refilled.
    """

    full_at: float

    def take(self, limit: RateLimit | Share, now: float) -> "Bucket | None":
        """Return the bucket after one more request, or None when it is empty."""
        full_at = max(self.full_at, now) + limit.seconds_per_request
        return Bucket(full_at) if full_at - now <= limit.seconds_to_refill + ROUNDING_SECONDS else None

    def retry_after_seconds(self, limit: RateLimit | Share, now: float) -> int:
        """Return after how many whole seconds the next request will be granted; at least one."""
        seconds = self.full_at + limit.seconds_per_request - limit.seconds_to_refill - now
        return max(1, ceil(seconds - ROUNDING_SECONDS / 2))
