"""The people of the platform, an owner and one of its support, and the browsers of those who have a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.secrets import hash_token
from tests.seeds import Numbers
from tests.world.builder import PASSWORD
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor

if TYPE_CHECKING:
    from tests.tenants.neighbourhood import Neighbourhood

NETWORK = "127.0.0.1"
numbers = Numbers()


@dataclass(frozen=True)
class Staff:
    """The access tokens of a platform owner and of a person of support."""

    owner_token: str
    support_token: str


async def staff_of(hood: Neighbourhood) -> Staff:
    """Return the people of the platform; the first step that needs them makes them."""
    if hood.staff is None:
        world, number = hood.world, next(numbers)
        root, helper = f"root{number}@platform.example", f"helper{number}@platform.example"
        world.user(root, is_platform_owner=True)
        world.user(helper)
        tokens = [(await world.sign_in(email, PASSWORD, address=NETWORK)).access_token for email in (root, helper)]
        hood.staff = Staff(*tokens)
        world.connection.execute(
            "UPDATE users SET is_platform_support = true, mfa_enabled_at = %s WHERE email = %s", (world.clock(), helper)
        )
        world.connection.execute(
            "UPDATE sessions SET amr = '{pwd,otp,mfa}' WHERE id = %s", (claims_of(hood.staff.support_token)["sid"],)
        )
    return hood.staff


def browser_of(hood: Neighbourhood, token: str, *, impersonates: str | None = None) -> Visitor:
    """Return a browser in which the session of a token is signed in, and acts in another one that impersonates."""
    visitor = Visitor(hood.world.client, address=NETWORK)
    visitor.cookies["gatehouse_session"] = _secret(hood, token)
    if impersonates is not None:
        visitor.cookies["gatehouse_impersonation"] = _secret(hood, impersonates)
    return visitor


def _secret(hood: Neighbourhood, token: str) -> str:
    session_id = claims_of(token)["sid"]
    secret = f"browser-of-{session_id}"
    hood.world.connection.execute(
        """
        INSERT INTO browser_sessions (session_id, secret_hash, stays_signed_in) VALUES (%s, %s, false)
        ON CONFLICT DO NOTHING
        """,
        (session_id, hash_token(secret)),
    )
    return secret
