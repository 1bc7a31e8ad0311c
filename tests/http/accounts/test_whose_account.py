"""Any order of what people do with accounts, addresses and invitations: nothing ends up with the wrong person.

Two people and an attacker own mailboxes, and each reads only their own. The attacker sends any request, and opens every
link that she receives. The others open only what they have caused, or what asks for their consent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any, ClassVar, Final
from uuid import UUID

import pytest
import trio
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from pyotp.totp import TOTP

from core.mail.mail import MailTemplate
from tests.application import Answer
from tests.world.builder import hash_password
from tests.world.mailboxes import Mailboxes, OpenedPage, ReceivedMail
from tests.world.signing_in import claims_of
from tests.world.world import World

PASSWORD: Final = "a long enough password of {}"
# A person opens these without having caused them: they ask for consent, or defend the account.
EXPECTED_BY_ALL: Final = {
    MailTemplate.INVITATION,
    MailTemplate.INVITATION_ACCEPTED,
    MailTemplate.RESET_PASSWORD,
    MailTemplate.CHOOSE_PASSWORD,
    MailTemplate.MAGIC_LINK,
    MailTemplate.MEMBERSHIP_ADDED,
    # Its page asks for the password of the registration, which only the person who made it knows.
    MailTemplate.VERIFY_EMAIL,
    MailTemplate.EMAIL_CHANGED,
    MailTemplate.EMAIL_CHANGE_REQUESTED,
}
ADA, BOB, EVE = 0, 1, 2
# The organization of a person who owns none.
NOWHERE: Final = UUID(int=0)


@dataclass
class Actor:
    """A person: their mailboxes, and what they hold and remember."""

    name: str
    addresses: list[str]
    tokens: list[str] = field(default_factory=list[str])
    preauth_tokens: list[str] = field(default_factory=list[str])
    totp_secrets: list[str] = field(default_factory=list[str])
    requested: set[tuple[MailTemplate, str]] = field(default_factory=set[tuple[MailTemplate, str]])
    organization_id: UUID = NOWHERE
    slug: str = ""

    @property
    def password(self) -> str:
        """The password that this person types everywhere."""
        return PASSWORD.format(self.name)


people = st.sampled_from([EVE, ADA, EVE, BOB])
addresses = st.integers(0, 4)
choices = st.integers(0, 20)


class Neighbourhood(RuleBasedStateMachine):
    """Ada has no account at first; Bob and Eve have one each, and each owns an organization."""

    world: ClassVar[World]
    numbers: ClassVar[count[int]] = count()

    def __init__(self) -> None:
        super().__init__()
        number = next(self.numbers)
        self.mailboxes = Mailboxes(self.world)
        self.people = [
            Actor("ada", [f"ada{number}@example.com", f"ada{number}@home.example"]),
            Actor("bob", [f"bob{number}@example.com"]),
            Actor("eve", [f"eve{number}@example.com", f"eve{number}@evil.example"]),
        ]
        self.addresses = [address for person in self.people for address in person.addresses]
        self.invitations: list[tuple[Actor, UUID, str]] = []
        # Which accounts were made members of which organizations with the consent of the person who owns them.
        self.consents: set[tuple[UUID, UUID]] = set()
        for person in self.people[BOB:]:
            person.slug = f"{person.name}-{number}"
            person.organization_id = self.world.organization(person.slug, name=person.slug)
            user_id = self.world.user(person.addresses[0], password_hash=hash_password(person.password))
            self.world.member(person.organization_id, user_id, "owner")
            self.consents.add((user_id, person.organization_id))
            self.sign_in(self.people.index(person), self.addresses.index(person.addresses[0]))

    # What everyone does.

    @rule(by=people, address=addresses)
    def register(self, by: int, address: int) -> None:
        person, email = self.people[by], self.addresses[address]
        if by != EVE and email not in person.addresses:
            return
        self.run(self.post, "/api/auth/register", {"email": email, "password": person.password})

    @rule(by=people, address=addresses)
    def ask_for_another_link(self, by: int, address: int) -> None:
        self.run(self.post, "/api/auth/resend-verification", {"email": self.addresses[address]})

    @rule(by=people, address=addresses)
    def forget_password(self, by: int, address: int) -> None:
        self.run(self.post, "/api/auth/forgot-password", {"email": self.addresses[address]})

    @rule(by=people, address=addresses)
    def sign_in(self, by: int, address: int) -> None:
        person = self.people[by]
        body = {"email": self.addresses[address], "password": person.password}
        self.keep(person, self.run(self.post, "/api/auth/login", body))

    @rule(by=people, token=choices, code=choices)
    def complete_sign_in(self, by: int, token: int, code: int) -> None:
        person = self.people[by]
        if not person.preauth_tokens or not person.totp_secrets:
            return
        secret = person.totp_secrets[code % len(person.totp_secrets)]
        preauth_token = person.preauth_tokens[token % len(person.preauth_tokens)]
        body = {"preauth_token": preauth_token, "code": self.code(secret)}
        self.keep(person, self.run(self.post, "/api/auth/mfa/verify", body))

    @rule(by=people, token=choices, address=addresses)
    def wish_for_address(self, by: int, token: int, address: int) -> None:
        person, email = self.people[by], self.addresses[address]
        if not person.tokens or (by != EVE and email not in person.addresses):
            return
        bearer = person.tokens[token % len(person.tokens)]
        answer = self.run(self.request, "PATCH", "/api/user", {"email": email}, bearer)
        if answer.status == 200:
            person.requested.add((MailTemplate.VERIFY_NEW_EMAIL, email))

    @rule(by=st.sampled_from([EVE, ADA]), token=choices, which=st.integers(0, 1))
    def move_to_another_address_of_theirs(self, by: int, token: int, which: int) -> None:
        person = self.people[by]
        self.wish_for_address(by, token, self.addresses.index(person.addresses[which]))
        received = [
            one for one in self.mailboxes.of(person.addresses[which]) if one.template is MailTemplate.VERIFY_NEW_EMAIL
        ]
        if received:
            self.press(person, received[-1], 0)

    @rule(by=people, token=choices)
    def enable_second_factor(self, by: int, token: int) -> None:
        person = self.people[by]
        # Without her second factor an honest person could not sign in again below, which proves nothing.
        if by != EVE or not person.tokens:
            return
        bearer = person.tokens[token % len(person.tokens)]
        answer = self.run(self.request, "POST", "/api/user/mfa/setup", None, bearer)
        if answer.status != 200:
            return
        code = {"code": self.code(answer.json["secret"])}
        if self.run(self.request, "POST", "/api/user/mfa/verify", code, bearer).status == 200:
            person.totp_secrets.append(answer.json["secret"])

    @rule(by=people, mail=choices, button=choices)
    def open_mail(self, by: int, mail: int, button: int) -> None:
        person = self.people[by]
        received = [one for one in self.mailboxes.of(*person.addresses) if self.would_open(person, one)]
        if received:
            self.press(person, received[-1 - mail % len(received)], button)

    @rule(by=people, button=choices)
    def open_last_mail(self, by: int, button: int) -> None:
        self.open_mail(by, 0, button)

    @rule(by=people, token=choices)
    def end_other_sessions(self, by: int, token: int) -> None:
        person = self.people[by]
        if person.tokens:
            bearer = person.tokens[token % len(person.tokens)]
            self.run(self.request, "DELETE", "/api/user/sessions", None, bearer)

    @rule(by=people, token=choices)
    def leave(self, by: int, token: int) -> None:
        person = self.people[by]
        if not person.tokens:
            return
        bearer = person.tokens[token % len(person.tokens)]
        for host in self.people[BOB:]:
            if host is not person:
                answer = self.run(self.request, "POST", f"/api/organizations/{host.slug}/leave", None, bearer)
                if answer.status == 204:
                    self.consents.discard((UUID(claims_of(bearer)["sub"]), host.organization_id))

    @rule(by=people, token=choices, host=st.sampled_from([BOB, EVE]))
    def select_organization(self, by: int, token: int, host: int) -> None:
        person, organization = self.people[by], self.people[host]
        if not person.tokens:
            return
        bearer = person.tokens[token % len(person.tokens)]
        answer = self.run(self.request, "POST", f"/api/organizations/{organization.slug}/select", None, bearer)
        if answer.status == 200:
            self.consents.add((UUID(claims_of(bearer)["sub"]), organization.organization_id))

    # What owners do.

    @rule(by=st.sampled_from([BOB, EVE]), token=choices, address=addresses)
    def invite(self, by: int, token: int, address: int) -> None:
        person, email = self.people[by], self.addresses[address]
        if not person.tokens:
            return
        bearer = person.tokens[token % len(person.tokens)]
        path = f"/api/organizations/{person.slug}/invitations"
        answer = self.run(self.request, "POST", path, {"email": email, "role": "member"}, bearer)
        if answer.status == 200:
            self.invitations.append((person, UUID(answer.json["invitation"]["id"]), answer.json["token"]))

    @rule(by=st.sampled_from([BOB, EVE]), token=choices, address=addresses)
    def invite_and_accept_on_behalf(self, by: int, token: int, address: int) -> None:
        before = len(self.invitations)
        self.invite(by, token, address)
        if len(self.invitations) > before:
            self.accept_on_behalf(token, before)

    @rule(token=choices, invitation=choices)
    def accept_on_behalf(self, token: int, invitation: int) -> None:
        if not self.invitations:
            return
        host, invitation_id, _ = self.invitations[invitation % len(self.invitations)]
        if host.tokens:
            bearer = host.tokens[token % len(host.tokens)]
            path = f"/api/organizations/{host.slug}/invitations/{invitation_id}/accept"
            self.run(self.request, "POST", path, None, bearer)

    @rule(invitation=choices)
    def accept_with_the_token_that_the_inviter_sees(self, invitation: int) -> None:
        if self.invitations:
            _, _, token = self.invitations[invitation % len(self.invitations)]
            self.run(self.post, "/api/invitations/accept", {"token": token})

    @rule(token=choices, address=addresses, is_forgetting=st.booleans())
    def read_or_forget_a_person(self, token: int, address: int, is_forgetting: bool) -> None:
        eve, email = self.people[EVE], self.addresses[address]
        found = self.world.rows("SELECT id FROM users WHERE email = %s", email)
        if not found or not eve.tokens:
            return
        bearer = eve.tokens[token % len(eve.tokens)]
        action = ("DELETE", "forget") if is_forgetting else ("GET", "export")
        answer = self.run(self.request, action[0], f"/api/privacy/{action[1]}/{found[0][0]}", None, bearer)

        has_agreed = self.owner_of(email) is eve or (found[0][0], eve.organization_id) in self.consents
        assert answer.status >= 400 or has_agreed, f"{action[1]} of {email} without consent"

    # What must hold after each of these.

    @invariant()
    def every_live_token_is_for_an_account_whose_address_its_holder_owns(self) -> None:
        for person in self.people:
            for token in list(person.tokens):
                answer = self.run(self.request, "GET", "/api/user", None, token)
                if answer.status == 401:
                    person.tokens.remove(token)
                if answer.status != 200:
                    continue
                [(email, is_verified)] = self.world.rows(
                    "SELECT email, email_verified_at IS NOT NULL FROM users WHERE id = %s", answer.json["id"]
                )
                assert is_verified, f"{person.name} has a session of {email}, which is not proved"
                assert email in person.addresses, f"{person.name} has a session of {email}"

    @invariant()
    def every_confirmed_membership_was_agreed_to(self) -> None:
        for host in self.people[BOB:]:
            rows = self.world.rows(
                """
                SELECT u.id, u.email
                FROM   memberships m
                JOIN   users u ON u.id = m.user_id
                WHERE  m.organization_id = %s AND m.confirmed_at IS NOT NULL
                """,
                host.organization_id,
            )
            for user_id, email in rows:
                has_agreed = (user_id, host.organization_id) in self.consents
                assert has_agreed, f"{email} never agreed to join {host.slug}"

    def teardown(self) -> None:
        """Every honest person gets into an account of each of their addresses, by mail and a new password."""
        for person in self.people[:EVE]:
            for email in person.addresses:
                self.recover(person, email)

    def recover(self, person: Actor, email: str) -> None:
        """Get into the account of an address as its owner does, and register it if there is none."""
        before = len(self.mailboxes.of(email))
        self.run(self.post, "/api/auth/forgot-password", {"email": email})
        if len(self.mailboxes.of(email)) == before:
            body = {"email": email, "password": person.password}
            assert self.run(self.post, "/api/auth/register", body).status < 300
        [received] = self.mailboxes.of(email)[before:]
        self.press(person, received, 0)
        answer = self.run(self.post, "/api/auth/login", {"email": email, "password": person.password})
        assert answer.status == 200, answer.text
        assert "access_token" in answer.json, f"{email} is asked for a second factor that its owner does not have"

    # How it is done.

    def run(self, function: Callable[..., Awaitable[Answer]], *args: Any) -> Answer:
        """Send a request from the thread of the test, and deliver the mails that it causes."""
        return trio.from_thread.run(function, *args)

    async def request(self, method: str, path: str, body: Any, token: str | None) -> Answer:
        """Send a request, and deliver the mails that it causes."""
        client, address = self.world.client, next(self.world.addresses)
        answer = await client.request(method, path, body=body, token=token, address=address)
        assert answer.status < 500, answer.text
        await self.mailboxes.collect()
        return answer

    async def post(self, path: str, body: Any) -> Answer:
        """Send a POST without signing in."""
        return await self.request("POST", path, body, None)

    def would_open(self, person: Actor, received: ReceivedMail) -> bool:
        """Return whether this person opens a mail: Eve opens all."""
        is_expected = received.template in EXPECTED_BY_ALL or (received.template, received.to) in person.requested
        return bool(received.links) and (is_expected or person is self.people[EVE])

    def press(self, person: Actor, received: ReceivedMail, button: int) -> None:
        """Open the link of a mail, and press a button of its page."""
        page = trio.from_thread.run(self.mailboxes.open, received.links[button % len(received.links)])
        if page.forms and (person is self.people[EVE] or self.is_understood(person, received, page)):
            form = page.forms[button % len(page.forms)]
            names = ("password", "new_password", "repeated")
            typed = {name: person.password for name in names if name in form.fields}
            answer = trio.from_thread.run(lambda: self.mailboxes.send(form, **typed))
            leads_to = answer.headers.get("Location", "")
            # A person who accepts with a password goes on to the organization, or to a second factor.
            has_accepted = form.action == "/app/invitations/accept" and answer.status == 303
            if answer.status < 300 or has_accepted:
                self.remember_consent(received)
            elif leads_to.startswith("/auth/reset-password"):
                self.press(person, replace(received, links=[leads_to]), 0)
        trio.from_thread.run(self.mailboxes.collect)

    def is_understood(self, person: Actor, received: ReceivedMail, page: OpenedPage) -> bool:
        """Return whether a change of address is the person's own: the page names the address that is left."""
        is_change = received.template is MailTemplate.VERIFY_NEW_EMAIL
        return not is_change or any(email in page.text for email in person.addresses if email != received.to)

    def remember_consent(self, received: ReceivedMail) -> None:
        """Remember that a person has answered an organization's mail; declining makes no membership anyway."""
        for host in self.people[BOB:]:
            if host.slug in received.values.values():
                self.consents |= {
                    (user_id, host.organization_id)
                    for (user_id,) in self.world.rows("SELECT id FROM users WHERE email = %s", received.to)
                }

    def keep(self, person: Actor, answer: Answer) -> None:
        """Keep the tokens of an answer."""
        if answer.status == 200 and "access_token" in answer.json:
            person.tokens.append(answer.json["access_token"])
        elif answer.status == 200:
            person.preauth_tokens.append(answer.json["preauth_token"])

    def owner_of(self, email: str) -> Actor:
        """Return the person who owns a mailbox."""
        return next(person for person in self.people if email in person.addresses)

    def code(self, secret: str) -> str:
        """Return the current code of a second factor; each one is made in a later time step than the one before."""
        self.world.clock.advance(timedelta(seconds=30))
        return TOTP(secret).at(self.world.clock())


@pytest.mark.hypothesis
@pytest.mark.parametrize("examples", [1, pytest.param(40, marks=pytest.mark.long)])
async def test_nothing_ends_up_with_the_wrong_person(world: World, examples: int) -> None:
    class Story(Neighbourhood):
        pass

    Story.world = world
    checks = settings(
        max_examples=examples,
        stateful_step_count=50,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
        # Shrinking would take longer than a test may.
        phases=[Phase.reuse, Phase.generate],
    )

    await trio.to_thread.run_sync(lambda: run_state_machine_as_test(Story, settings=checks))
