"""The people of the hostile world: accounts in each state, and everything that one of them has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from core.credentials.mfa import MfaEvent
from core.credentials.user_agents import DeviceType
from core.mail.mail import MailState, MailTemplate
from core.secrets import hash_token
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import RiskFactor
from tests.pages.crawl.rows import Rows, Sealed
from tests.pages.crawl.values import EMAIL, HOST, NAME, RIGHT_TO_LEFT, UNBROKEN
from tests.world.builder import PASSWORD_HASH
from tests.world.visitor import Visitor
from tests.world.world import World

WITH_SECOND_FACTOR = ["pwd", "hwk", "mfa"]
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    f"<script>alert(1)</script>{UNBROKEN}",
    None,
)
# Mails that are kept have their text, and come from the ways; discarded ones are in no list.
STATES_OF_MAILS = [state for state in MailState if state not in {MailState.KEPT, MailState.DISCARDED}]
METHODS = ("password", "passkey", "magic_link", "codehost", "websuite", "officesuite", "upstream", "saml", "removed")


@dataclass(frozen=True)
class Person:
    """An account with a session, and the browser of that."""

    id: UUID
    email: str
    session_id: UUID
    visitor: Visitor


def insert_person(world: World, rows: Rows, email: str, **columns: Any) -> Person:
    """Insert an account that is signed in with a second factor."""
    user_id = insert_account(rows, email, **columns)
    session_id, visitor = insert_session(rows, user_id), Visitor(world.client)
    visitor.cookies["gatehouse_session"] = open_in_browser(rows, session_id)
    return Person(user_id, email, session_id, visitor)


def insert_account(rows: Rows, email: str, **columns: Any) -> UUID:
    """Insert an account with a password and a proved address."""
    now = rows.clock()
    defaults = {"password_hash": PASSWORD_HASH, "email_verified_at": now, "name": NAME}
    return rows.add("users", email=email, **{**defaults, **columns})


def insert_session(rows: Rows, user_id: UUID, **columns: Any) -> UUID:
    """Insert a session of an account."""
    return rows.add(
        "sessions",
        user_id=user_id,
        **{
            "provider": "password",
            "amr": WITH_SECOND_FACTOR,
            "expires_at": rows.clock() + timedelta(days=30),
            "ip_address": "2001:db8::ffff:ffff",
            "user_agent": AGENTS[0],
            **columns,
        },
    )


def open_in_browser(rows: Rows, session_id: UUID) -> str:
    """Let a browser keep a session; return the secret of its cookie."""
    secret = f"browser-of-{session_id}"
    rows.add("browser_sessions", session_id=session_id, secret_hash=hash_token(secret))
    return secret


def insert_states(rows: Rows) -> dict[str, UUID]:
    """Insert an account in each state that pages show, besides the accounts of persons."""
    now = rows.clock()
    states: dict[str, dict[str, Any]] = {
        "unproved": {"email_verified_at": None},
        "deactivated": {"deactivated_at": now},
        "closed": {"closed_at": now},
        "anonymized": {"anonymized_at": now, "deactivated_at": now, "email_verified_at": None, "password_hash": None},
        "disowned": {"disowned_at": now},
        "locked": {"locked_at": now, "password_hash": None},
        "nameless": {"name": None},
        "support": {"is_platform_support": True, "mfa_enabled_at": now},
        "owning": {"is_platform_owner": True},
        "protected": {"mfa_enabled_at": now, "name": RIGHT_TO_LEFT},
    }
    return {state: insert_account(rows, f"{state}.{'x' * 50}@{HOST}", **of) for state, of in states.items()}


def insert_belongings(rows: Rows, person: Person) -> None:
    """Insert what a person has: ways to sign in, devices, sessions, and what their logs show."""
    mine = rows.of(user_id=person.id)
    mine.add("passkeys", name=NAME, transports=["usb"], backup_eligible=True, second_factor_at=rows.clock())
    mine.add("passkeys", name=UNBROKEN, transports=["internal"], last_used_at=rows.clock())
    mine.add("totp_secrets", secret_sealed=Sealed("J" * 32), enabled_at=rows.clock())
    mine.add("backup_codes")
    rows.set("users", person.id, mfa_enabled_at=rows.clock(), has_passkey_factor=True)
    for number, kind in enumerate(DeviceType):
        device_id = mine.add(
            "devices",
            name=(NAME, UNBROKEN, "Firefox on Linux", RIGHT_TO_LEFT)[number],
            device_type=kind,
            user_agent=AGENTS[1],
            last_ip="2001:db8::ffff",
            last_city=NAME,
            last_country="GB",
            risk_score=80,
        )
        rows.add("device_tokens", device_id=device_id, expires_at=rows.ago(days=-30), mfa_trusted_at=rows.clock())
    for provider in ("codehost", "officesuite"):
        mine.add("identities", provider=provider, subject=f"4711<b>{UNBROKEN}", email=EMAIL)
    for event in MfaEvent:
        mine.add("mfa_events", event_type=event.value, success=event.is_success, ip_address="203.0.113.7")
    mine.add("one_time_tokens", purpose="change_email", email=f"new.{EMAIL}", expires_at=rows.ago(days=-1))


def insert_sign_ins(rows: Rows, person: Person, **places: Any) -> None:
    """Insert a sign-in of a person by each method, and one for each reason of a refusal."""
    mine = rows.of(user_id=person.id, **places)
    attempts = [(method, None) for method in METHODS] + [("password", reason.value) for reason in SignInReason]
    for number, (method, reason) in enumerate(attempts):
        rows.clock.advance(timedelta(seconds=1))
        mine.add(
            "login_events",
            provider=method,
            success=reason is None,
            reason=reason,
            ip_address="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            user_agent=AGENTS[number % 3],
            risk_score=number,
            risk_factors=[factor.value for factor in RiskFactor] if number % 2 else [],
            geo_country="GB",
            geo_city=NAME,
            request_id="a" * 64,
        )


def insert_mails(rows: Rows, recipient: str) -> None:
    """Insert a mail of each kind to a person, and such mails in each state."""
    for number, template in enumerate(MailTemplate):
        state = STATES_OF_MAILS[number % len(STATES_OF_MAILS)]
        rows.add(
            "mails",
            recipient=recipient,
            template=template.value,
            state=state.value,
            attempts=number,
            due_at=rows.ago(hours=-1),
            last_error=f"550 5.1.1 <b>{UNBROKEN}" if number % 2 else None,
        )
