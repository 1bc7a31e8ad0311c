"""Why a sign-in was refused, as its person reads it on the page of their sign-ins."""

from typing import Final

from core.sign_in.reasons import SignInReason
from core.sign_in.risk import RiskFactor
from entrypoints.pages.frame.languages import marked

_PROVIDER_FAILED: Final = marked("Your organization's sign-in did not answer as it should. Its administrators see why.")
_LINK_OVER: Final = marked("The mailed link or code was used already, or it was replaced or too old.")

REASONS: Final = {
    SignInReason.SECOND_FACTOR_ASKED: marked("The first step was right, and the second one has not followed."),
    SignInReason.UNKNOWN_ACCOUNT: marked("No account had this address."),
    SignInReason.WRONG_PASSWORD: marked("The password was wrong."),
    SignInReason.NO_PASSWORD: marked("A password was tried, and your account has none."),
    SignInReason.PASSWORD_CHANGED: marked("The password was changed at the same time."),
    SignInReason.DEACTIVATED: marked("Your account was deactivated."),
    SignInReason.LOCKED: marked("Your account was locked."),
    SignInReason.CLOSED: marked("You had closed your account."),
    SignInReason.EMAIL_NOT_VERIFIED: marked("Your email address was not confirmed yet."),
    SignInReason.ADDRESS_DISOWNED: marked("The organization that your address belongs to had taken it back."),
    SignInReason.MAILED_PROOF_REQUIRED: marked("What you were given waited for your confirmation by mail."),
    SignInReason.TOO_MANY_FAILURES: marked("There had been too many wrong attempts. Wait, and try again."),
    SignInReason.WRONG_PASSKEY: marked("The passkey was not accepted, or its answer came too late."),
    SignInReason.SIGN_COUNT_REGRESSED: marked("The passkey may have been copied. Remove it, and add a new one."),
    SignInReason.UNKNOWN_LINK: marked("The link or code was not one that we had mailed."),
    SignInReason.USED_LINK: _LINK_OVER,
    SignInReason.EXPIRED_LINK: _LINK_OVER,
    SignInReason.ADDRESS_CHANGED: marked("The link had been mailed to an earlier address of yours."),
    SignInReason.LINK_FOR_ELSEWHERE: marked("The link had been requested for another application."),
    SignInReason.WRONG_CODE: marked("The code of the second factor was wrong."),
    SignInReason.TOO_MANY_WRONG_CODES: marked("Five codes of the second factor were wrong."),
    SignInReason.SIGN_IN_OVER: marked("The second factor came too late."),
    SignInReason.MFA_TURNED_OFF: marked("The second factor was turned off at the same time."),
    SignInReason.SECOND_FACTOR_REQUIRED: marked("The organization requires a second factor, and you had none."),
    SignInReason.PASSKEY_REQUIRED: marked("The organization accepts a passkey alone as the second factor."),
    SignInReason.UNKNOWN_ORGANIZATION: marked("There was no such organization."),
    SignInReason.UNKNOWN_SERVICE: marked("There was no such application."),
    SignInReason.ORGANIZATION_NOT_ACTIVE: marked("The organization was not active."),
    SignInReason.NOT_A_MEMBER: marked("You were not a member of the organization."),
    SignInReason.OTHER_WAY: marked("The application is signed in to from its own page alone."),
    SignInReason.CUSTOMER_ASKED: marked("You were asked who you use the application for."),
    SignInReason.CUSTOMER_CLOSED: marked("The application was not open to you for that customer."),
    SignInReason.NO_CUSTOMER: marked("The application is for people of the organizations that use it."),
    SignInReason.SUSPENDED: marked("The organization had suspended your membership."),
    SignInReason.SSO_REQUIRED: marked("The organization requires its own sign-in."),
    SignInReason.CONFINED_ELSEWHERE: marked("You had signed in for another organization alone."),
    SignInReason.DEVICE_REMOVED: marked("The device was removed at the same time."),
    SignInReason.NOT_OF_ORGANIZATION: marked("You did not belong to the organization whose sign-in was used."),
    SignInReason.ADDRESS_NOT_CONFIRMED: marked("Your role takes a code that is mailed to you, once."),
    SignInReason.DOMAIN_NOT_PROVED: marked("The organization had not verified the mail domain of your address."),
    SignInReason.ADDRESS_NOT_VERIFIED_THERE: marked("The other provider had not confirmed your email address."),
    SignInReason.ADDRESS_UNUSABLE_THERE: marked(
        "Your organization's sign-in gave something that is not an email address."
    ),
    SignInReason.LINK_REQUIRED: marked("The other account was not linked yet. Sign in once, to link the two."),
    SignInReason.IDENTITY_UNLINKED: marked("The other account was unlinked at the same time."),
    SignInReason.ORGANIZATION_FULL: marked("The organization had as many members as it may have."),
    SignInReason.CONNECTION_CLOSED: marked("The organization had switched its own sign-in off."),
    SignInReason.CONNECTION_CHANGED: marked("The organization changed its own sign-in at the same time."),
    SignInReason.STATE_UNKNOWN: marked("The answer of the other provider came too late, or twice."),
    SignInReason.ASSERTION_EXPIRED: _PROVIDER_FAILED,
    SignInReason.ASSERTION_FOR_ANOTHER: _PROVIDER_FAILED,
    SignInReason.ASSERTION_OF_ANOTHER: _PROVIDER_FAILED,
    SignInReason.ASSERTION_NOT_CONFIRMED: _PROVIDER_FAILED,
    SignInReason.CERTIFICATES_REPLACED: _PROVIDER_FAILED,
    SignInReason.CERTIFICATE_OUTDATED: _PROVIDER_FAILED,
    SignInReason.METADATA_EXPIRED: _PROVIDER_FAILED,
    SignInReason.SESSION_OVER_THERE: marked("Your session at your organization's sign-in had ended."),
    SignInReason.PROVIDER_FAILED: marked("The other provider did not answer as it should."),
    SignInReason.NOT_MEMBER: marked("The application is for members of its organization, who can add you."),
    SignInReason.NOT_ASSIGNED: marked("You had no access to the application. Its organization can assign it to you."),
    SignInReason.NOT_ADMITTED: marked("You had no access to the application. Its organization can give it to you."),
    SignInReason.REQUEST_UNSUPPORTED: marked("The application asked for something that is not offered."),
    SignInReason.OTHER_SUBJECT: marked("The application asked for another account than yours."),
    SignInReason.NO_AUTHN_CONTEXT: marked("The application asked for a stronger sign-in."),
    SignInReason.INTERACTION_REQUIRED: marked("The application asked in the background, and you had to sign in first."),
    SignInReason.CONSENT_REFUSED: marked("You did not agree to sign in to the application."),
    SignInReason.NOT_RECORDED: marked("It was refused. Why was not recorded."),
}
# What was unusual, by the stored risk factor of a sign-in.
RISKS: Final = {
    RiskFactor.NEW_DEVICE.value: marked("New device"),
    RiskFactor.UNKNOWN_LOCATION.value: marked("New country"),
    RiskFactor.UNUSUAL_TIME.value: marked("Unusual time"),
    RiskFactor.PROXY.value: marked("Through a proxy"),
    RiskFactor.FAILED_ATTEMPT.value: marked("After wrong attempts"),
}
