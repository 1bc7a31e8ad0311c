"""Registration, and requesting another verification link; `entrypoints/pages` has the page of the link."""

import msgspec

from core.accounts import email_verification, names, open_registrations, passwords, registration
from core.accounts.passwords import PasswordBreached, PasswordTooCommon
from core.accounts.registration import AddressTaken
from core.accounts.return_targets import RedirectNotRegistered, ReturnRequest
from core.email_addresses import normalize_email
from core.errors import NotFound, all_valid
from core.rate_limits import RateLimit
from entrypoints.shared.accounts.passwords import hashed
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("registration", "Creating an account and verifying its email address.")


class MailedLinkRequest(msgspec.Struct, kw_only=True):
    """The recipient of a mail, and the organization, service and return address that it mentions; it joins nothing."""

    email: str
    org_slug: str | None = None
    service_slug: str | None = None
    redirect_uri: str | None = None

    @property
    def return_request(self) -> ReturnRequest:
        """Where the request comes from and leads back to."""
        return ReturnRequest(
            organization_slug=self.org_slug, service_slug=self.service_slug, redirect_uri=self.redirect_uri
        )


class Registration(SecretBody, MailedLinkRequest, kw_only=True):
    """The new account; `redirect_uri` has to be exactly one that the service registered."""

    password: str
    name: str | None = None


@routes.post(
    "/api/auth/register",
    limits=(RateLimit.REGISTER,),
    refuses=(AddressTaken, RedirectNotRegistered, NotFound, PasswordTooCommon, PasswordBreached),
)
@public
async def register(call: Call, body: Registration) -> Message:
    """Create an account with an email address and a password, and mail the link that verifies the address.

    Anyone can register any address. While it is not verified, each registration is mailed a link of its own, also
    when the answer is 409, and the link that is used makes its password and its name the account's. One with the
    password of another that is open is that one again.
    """
    about = [text for text in (body.email, body.org_slug, body.service_slug) if text is not None]
    email, password, name = all_valid(
        lambda: normalize_email(body.email, call.installation.domain_names.to_ascii),
        lambda: passwords.accepted(body.password, "password", call.installation.password_rules, about),
        lambda: names.checked_or_none(body.name),
    )
    salt = await call.read(open_registrations.salt_of, email)
    password_hash = await hashed(call.installation, password, salt=salt)
    await call.transact(registration.register, email, password_hash, body.return_request, name=name)
    return Message(message=f"Your account is created. Open the link in the mail to {email} to verify the address.")


@routes.post(
    "/api/auth/resend-verification",
    limits=(RateLimit.RESEND_VERIFICATION,),
    refuses=(RedirectNotRegistered, NotFound),
)
@public
async def resend_verification(call: Call, body: MailedLinkRequest) -> Message:
    """Mail another verification link; the answer is the same whether or not an account waits for it."""
    await call.transact(email_verification.resend, body.email, body.return_request)
    return Message(message="If an account waits for this address to be verified, we are sending it a new mail.")
