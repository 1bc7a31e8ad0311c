"""Pages of accounts that no link leads to: registrations, mailed links, and the steps of sign-ins."""

from __future__ import annotations

import re

from pyotp.totp import TOTP

from core.mail.mail import MailTemplate
from core.secrets import hash_token
from tests.pages.crawl.ground import NEW_PASSWORD, WRONG, Ground
from tests.pages.crawl.values import HOST, NAME
from tests.world import second_factors
from tests.world.builder import PASSWORD


async def registrations(ground: Ground) -> None:
    """A person registers, has the mail sent again, and opens its link in another browser."""
    visitor = ground.visitor()
    fields = {"email": ground.email("new"), "password": NEW_PASSWORD, "name": NAME}
    await visitor.submit(await visitor.open("/app/register"), "/app/register", fields)
    again = await visitor.open("/app/register/send-again")
    await visitor.submit(again, "/app/register/send-again", email="nobody")
    await visitor.submit(again, "/app/register/send-again", email=ground.email("new"))
    token = await ground.mailed(MailTemplate.VERIFY_EMAIL)
    await ground.look(f"/auth/verify-email?token={token}")
    await ground.look(f"/auth/verify-email?token={token}", visitor=visitor)


async def passwords(ground: Ground) -> None:
    """A person has forgotten the password, and chooses another one."""
    ground.user("forgetful")
    visitor = ground.visitor()
    asked = await visitor.open("/app/forgot-password")
    await visitor.submit(asked, "/app/forgot-password", email=ground.email("forgetful"))
    await ground.look(f"/auth/reset-password?token={await ground.mailed(MailTemplate.RESET_PASSWORD)}")
    await ground.hostile.owner.visitor.open("/app/password-notice?return_to=/app/account")


async def changes_of_address(ground: Ground) -> None:
    """A person asks for another address; links in two mails confirm, drop, undo and lock."""
    for number, press in enumerate((MailTemplate.VERIFY_NEW_EMAIL, MailTemplate.EMAIL_CHANGE_REQUESTED)):
        ground.user(f"moving{number}")
        visitor = ground.visitor()
        await visitor.sign_in(ground.email(f"moving{number}"))
        await ground.world.mails()
        page = await visitor.open("/app/account/email")
        await visitor.submit(page, "/app/account/email", email=ground.email(f"moved{number}"))
        token = await ground.mailed(press)
        path = "/auth/verify-email" if press is MailTemplate.VERIFY_NEW_EMAIL else "/auth/undo-email-change"
        await ground.look(f"{path}?token={token}")
        if press is MailTemplate.VERIFY_NEW_EMAIL:
            await ground.look(f"/auth/undo-email-change?token={await ground.mailed(MailTemplate.EMAIL_CHANGED)}")


async def locks(ground: Ground) -> None:
    """A mail about a new sign-in has a link that locks the account."""
    user_id = ground.user("robbed")
    ground.rows.add(
        "one_time_tokens",
        token_hash=hash_token("lock"),
        purpose="lock_account",
        user_id=user_id,
        email=ground.email("robbed"),
        expires_at=ground.rows.ago(days=-1),
    )
    await ground.look("/auth/lock-account?token=lock")


async def mailed_links(ground: Ground) -> None:
    """A person signs in by a mailed link, in another browser and by its code, to an organization."""
    user_id = ground.user("mailed")
    organization_id = ground.world.organization("mailed", name=NAME)
    ground.world.member(organization_id, user_id)
    visitor = ground.visitor()
    page = await visitor.submit(await visitor.open("/app/sign-in"), "/app/sign-in", email=ground.email("mailed"))
    await visitor.submit(page, "/app/sign-in/password", password="wrong")
    asked = await visitor.submit(page, "/app/sign-in/link")
    await visitor.submit(asked, "/app/sign-in/code", code="wrong")
    token = await ground.mailed(MailTemplate.MAGIC_LINK)
    other = ground.visitor()
    opened = await other.open(f"/auth/magic-link?token={token}")
    await other.submit(opened, "/auth/magic-link")
    await ground.look(f"/auth/magic-link?token={token}")


async def second_factors_of_accounts(ground: Ground) -> None:
    """A person with an app signs in, gives wrong codes, and signs in again for an organization that requires it."""
    person = second_factors.Person(ground.world, ground.user("guarded"), ground.email("guarded"))
    await person.turn_mfa_on()
    visitor = ground.visitor()
    asked = await visitor.sign_in(person.email)
    await visitor.submit(asked, "/app/second-factor", code=person.wrong_code())
    await visitor.submit(asked, "/app/second-factor", code=person.code())
    ground.world.connection.execute(
        "UPDATE sessions SET authenticated_at = %s WHERE user_id = %s", (ground.rows.ago(minutes=11), person.id)
    )
    again = await visitor.open("/app/account/closing")
    await visitor.submit(again, "/app/sign-in-again", password="wrong", code=WRONG)
    # A form that was open for long is sent once more after the sign-in.
    late_id, late = ground.user("late"), ground.visitor()
    await late.sign_in(ground.email("late"))
    form = await late.open("/app/second-factor/set-up")
    ground.world.connection.execute(
        "UPDATE sessions SET authenticated_at = %s WHERE user_id = %s", (ground.rows.ago(minutes=11), late_id)
    )
    await late.submit(await late.submit(form), "/app/sign-in-again", password=PASSWORD)
    lapsed = ground.visitor()
    asked = await lapsed.sign_in(person.email)
    ground.world.connection.execute("UPDATE mfa_challenges SET used_at = created_at")
    await lapsed.submit(asked, "/app/second-factor", code=person.code())


async def required_second_factors(ground: Ground) -> None:
    """Members set a factor up on the way to an organization that requires one: an app, or a passkey."""
    for number, methods in enumerate(("any", "phishing_resistant")):
        user_id = ground.user(f"bare{number}")
        ids = [ground.world.organization(f"vault{number}{one}", name=NAME, mfa_required=True) for one in "ab"]
        for organization_id in ids:
            ground.world.member(organization_id, user_id)
            ground.rows.set("organizations", organization_id, mfa_methods=methods)
        visitor = ground.visitor()
        chosen = await visitor.sign_in(ground.email(f"bare{number}"), path="/app/choose-organization")
        page = await visitor.submit(chosen, org_slug=f"vault{number}a")
        if methods == "any":
            shown = await visitor.submit(page, "/app/second-factor/set-up")
            await visitor.submit(shown, "/app/second-factor/confirm", code=WRONG)
            [secret] = re.findall(r"<code[^>]*>([A-Z2-7\s]+)</code>", shown.text)
            code = TOTP("".join(secret.split())).at(ground.world.clock())
            await visitor.submit(shown, "/app/second-factor/confirm", code=code)
        await visitor.open("/app/second-factor/passkey?return_to=/app/account")


async def required_connections(ground: Ground) -> None:
    """The organization of an address requires its own provider."""
    visitor = ground.visitor()
    await visitor.submit(await visitor.open("/app/sign-in"), "/app/sign-in", email=f"somebody@verified.{HOST}")
    await visitor.open(f"/app/register?email=somebody@verified.{HOST}")
    await visitor.submit(
        await visitor.open("/app/register"), "/app/register", email=f"ann@verified.{HOST}", password=NEW_PASSWORD
    )
