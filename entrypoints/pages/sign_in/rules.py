"""What a page says to those who help: of each rule of signing in, of what it answers, and of what to do next.

Why a rule refuses is the text of its `SignInReason`, which programs read as well.
"""

from collections.abc import Mapping
from typing import Final

from core.platform.sign_in_checks import RuleVerdict, SignInWay
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.tables import PartialTable
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.sign_in.upstream import provider_problems

# The kind of a badge and its text.
VERDICTS: Final[Mapping[RuleVerdict, tuple[str, str]]] = {
    RuleVerdict.PASSES: ("good", marked("Passes")),
    RuleVerdict.REFUSES: ("bad", marked("Refuses")),
    RuleVerdict.ASKS: ("info", marked("Asks for more")),
    RuleVerdict.DEPENDS: ("warning", marked("Depends")),
    RuleVerdict.NOT_REACHED: ("quiet", marked("Not reached")),
    RuleVerdict.NOT_TOLD: ("quiet", marked("Not shown")),
}
# A connection has a name of its own.
WAYS: Final[Mapping[SignInWay, str]] = {
    SignInWay.PASSWORD: marked("Password"),
    SignInWay.LINK: marked("Mailed link or code"),
    SignInWay.PASSKEY: marked("Passkey"),
    SignInWay.CONNECTION: marked("Connection of an organization"),
}
# What one way alone takes.
CREDENTIALS: Final = PartialTable(
    {
        SignInWay.PASSWORD: marked("Password of the account"),
        SignInWay.LINK: marked("Address to which links are mailed"),
        SignInWay.PASSKEY: marked("Passkey of the account"),
    }
)
TITLES: Final[Mapping[Rule, str]] = {
    Rule.FAILURES: marked("Failed sign-ins"),
    Rule.ACCOUNT: marked("Account with this address"),
    Rule.CONNECTION_OPEN: marked("Connection is switched on"),
    Rule.CREDENTIAL: marked("Password, passkey or mail address"),
    Rule.MAIL_LIMIT: marked("Limit of mailed links"),
    Rule.MAIL_DOMAIN: marked("Mail domain of the address"),
    Rule.LINK: marked("Link between account and provider"),
    Rule.SEAT: marked("Room for a new member"),
    Rule.ACTIVATED: marked("Account is neither deactivated nor locked"),
    Rule.REOPENING: marked("Account is not closed"),
    Rule.ADDRESS_VERIFIED: marked("Verified address"),
    Rule.ADDRESS_OWNED: marked("Address belongs to the user"),
    Rule.CONNECTION_KEPT: marked("Connection still exists"),
    Rule.AFFILIATION: marked("User of the connection"),
    Rule.ADDRESS_CONFIRMED: marked("Address confirmed by mail"),
    Rule.SINGLE_SIGN_ON: marked("Required single sign-on"),
    Rule.ORGANIZATION: marked("Organization exists"),
    Rule.MEMBERSHIP: marked("Membership"),
    Rule.ORGANIZATION_ACTIVE: marked("Organization is active"),
    Rule.SERVICE: marked("Service exists"),
    Rule.NOT_SUSPENDED: marked("Active in the directory"),
    Rule.CUSTOMER: marked("Customer of the service"),
    Rule.SECURITY_PROFILE: marked("Security profile of the service"),
    Rule.SAML_ADMISSION: marked("Access to the application"),
    Rule.ACCESS: marked("Who may sign in to the service"),
    Rule.CONFINEMENT: marked("Reach of the sign-in"),
    Rule.SECOND_FACTOR: marked("Second factor of the account"),
    Rule.REQUIRED_SECOND_FACTOR: marked("Second factor that is required"),
}
SETTINGS: Final[Mapping[Rule, str]] = {
    Rule.FAILURES: marked(
        "Ten failed sign-ins for one address from one network, or a hundred from anywhere, within 15 minutes. It ends"
        " by itself; only the platform ends it earlier."
    ),
    Rule.ACCOUNT: marked("The address of the account, or the id of its user."),
    Rule.CONNECTION_OPEN: marked("The switch of the connection, and the state of its organization."),
    Rule.CREDENTIAL: marked("What the user has set up on the page of their account."),
    Rule.MAIL_LIMIT: marked(
        "Five sign-in links for one address within an hour. The links that were mailed remain valid; only the platform"
        " ends the limit earlier."
    ),
    Rule.MAIL_DOMAIN: marked("The verified mail domains of the organization."),
    Rule.LINK: marked("The user signs in to the account once when coming from the provider, which links the two."),
    Rule.SEAT: marked("The number of members that the organization may have."),
    Rule.ACTIVATED: marked("The state of the account, which its user cannot change."),
    Rule.REOPENING: marked("The user closes the account, and opens it again by signing in."),
    Rule.ADDRESS_VERIFIED: marked("The link in the mail that verifies the address, or any mailed link."),
    Rule.ADDRESS_OWNED: marked("The organization of the mail domain, and how the account was changed."),
    Rule.CONNECTION_KEPT: marked("The connection, which is switched on and not deleted."),
    Rule.AFFILIATION: marked("A membership, an access to a service, or a verified mail domain of the organization."),
    Rule.ADDRESS_CONFIRMED: marked("The role of the user: most roles take a code that is mailed once."),
    Rule.SINGLE_SIGN_ON: marked("The requirement of a mail domain to sign in by its connection."),
    Rule.ORGANIZATION: marked("The name of the organization in the address."),
    Rule.MEMBERSHIP: marked("The members of the organization; a service is open to other users too."),
    Rule.ORGANIZATION_ACTIVE: marked("The approval of the organization by the platform."),
    Rule.SERVICE: marked("The services of the organization, by their names for programs."),
    Rule.NOT_SUSPENDED: marked("The directory of the organization, which deactivates its members."),
    Rule.CUSTOMER: marked("The customers of the service, their members, and their assignments."),
    Rule.SECURITY_PROFILE: marked("The security profile of the service."),
    Rule.SAML_ADMISSION: marked("Whether the application is for members alone, and who was given access to it."),
    Rule.ACCESS: marked("Whether the service is for members or for assigned members, and its assignments."),
    Rule.CONFINEMENT: marked("A sign-in by a connection counts for its own organization."),
    Rule.SECOND_FACTOR: marked("The second factor that the user has turned on."),
    Rule.REQUIRED_SECOND_FACTOR: marked("Whether the organization requires a second factor of its members."),
}
# The words of a refusal that mean something else before a sign-in than after it.
_BEFORE: Final = PartialTable(
    {
        SignInReason.WRONG_PASSKEY: marked("The account has no passkey."),
        SignInReason.NO_PASSWORD: marked("The account has no password."),
        SignInReason.DOMAIN_NOT_PROVED: marked("The address lies in no verified mail domain of the organization."),
        SignInReason.SSO_REQUIRED: marked(
            "The organization of the mail domain requires its own single sign-on for this address."
        ),
        SignInReason.LINK_REQUIRED: marked(
            "An account has the address already, and is not linked to the provider yet."
        ),
        SignInReason.SECOND_FACTOR_ASKED: marked("The user is asked for the second factor."),
    }
)
_MAIL_LIMIT: Final = marked("Five sign-in links were mailed within an hour, so no further one is mailed now.")
_AFTER_MAIL_LIMIT: Final = marked(
    "Ask the user to open the newest link that was mailed. Only the platform can end the limit earlier."
)
_AFTER_MAIL_LIMIT_BY_PLATFORM: Final = marked(
    "Ask the user to open the newest link that was mailed, or end the limit below."
)
# What a rule needs from people who help; the second table is for the platform, where it can do more.
_NEXT: Final = PartialTable(
    {
        SignInReason.UNKNOWN_ACCOUNT: marked("Check the spelling, or ask the person to register."),
        SignInReason.TOO_MANY_FAILURES: marked(
            "Wait until then, or use a mailed link or a passkey. Only the platform can end the limit earlier."
        ),
        SignInReason.DEACTIVATED: marked(
            "Ask the administrators of your directory, or the platform, who deactivated it and why."
        ),
        SignInReason.LOCKED: marked(
            "Ask the user to choose a new password with “Forgot your password?” on the sign-in page."
        ),
        SignInReason.CLOSED: marked(
            "Ask the user to sign in to their account by password, passkey or mailed link, which opens it again."
        ),
        SignInReason.NO_PASSWORD: marked(
            "Ask the user to choose one with “Forgot your password?” on the sign-in page, or to use another way."
        ),
        SignInReason.ADDRESS_DISOWNED: marked(
            "Ask the administrators of the mail domain to give the address to the user again."
        ),
        SignInReason.WRONG_PASSKEY: marked(
            "Ask the user to sign in another way, and to add a passkey on the page of their account."
        ),
        SignInReason.CONNECTION_CLOSED: marked(
            "Switch the connection on again, or ask the user to sign in another way."
        ),
        SignInReason.DOMAIN_NOT_PROVED: marked("Verify the mail domain for the organization."),
        SignInReason.ADDRESS_NOT_VERIFIED_THERE: marked(
            "Have the provider verify the address, or send it as the claim or attribute email."
        ),
        SignInReason.ADDRESS_UNUSABLE_THERE: marked(
            "Have the provider send the address, with its @, as the claim or attribute email."
        ),
        SignInReason.LINK_REQUIRED: marked(
            "Ask the user to type the mailed code, or the password, when the page asks for it; this happens once."
        ),
        SignInReason.ORGANIZATION_FULL: marked("Remove a member, or ask the platform for another tier."),
        SignInReason.EMAIL_NOT_VERIFIED: marked(
            "Ask the user to sign in with a mailed link, which verifies the address."
        ),
        SignInReason.MAILED_PROOF_REQUIRED: marked(
            "Ask the user to sign in with a mailed link, which confirms what they were given."
        ),
        SignInReason.NOT_OF_ORGANIZATION: marked(
            "Invite the person, give them access to the service, or verify their mail domain."
        ),
        SignInReason.ADDRESS_NOT_CONFIRMED: marked(
            "Ask the user to enter the code that the sign-in mails to them; this happens once."
        ),
        SignInReason.SSO_REQUIRED: marked(
            "Ask the user to sign in by it. Only the organization of the mail domain can end the requirement."
        ),
        SignInReason.UNKNOWN_ORGANIZATION: marked("Check the name of the organization in the address."),
        SignInReason.NOT_A_MEMBER: marked(
            "Name the service above if they sign in to one. Else invite the person, or ask which account they use."
        ),
        SignInReason.ORGANIZATION_NOT_ACTIVE: marked("Ask the platform to approve or activate the organization."),
        SignInReason.UNKNOWN_SERVICE: marked(
            "Check the name of the service: it is the one for programs, not the one for people."
        ),
        SignInReason.SUSPENDED: marked("Activate the person in your directory, which activates the membership."),
        SignInReason.OTHER_WAY: marked("Ask the user to begin at the service, not at the sign-in page."),
        SignInReason.CUSTOMER_ASKED: marked("Ask the user to choose a customer on the page that follows."),
        SignInReason.CUSTOMER_CLOSED: marked(
            "Ask the organization that uses the service whether it is paused, and whether it assigns the person."
        ),
        SignInReason.NO_CUSTOMER: marked(
            "Ask the person's organization to use the service, or open the service to individuals."
        ),
        SignInReason.NOT_MEMBER: marked(
            "Make the person a member, who then confirms it on the way to the service, or open the service."
        ),
        SignInReason.NOT_ASSIGNED: marked("Assign the service to the person, a role or a group of theirs."),
        SignInReason.NOT_ADMITTED: marked("Make the person a member, or give them access to the service."),
        SignInReason.CONFINED_ELSEWHERE: marked("Ask the user to sign out, and to sign in here in another way."),
        SignInReason.SECOND_FACTOR_ASKED: marked(
            "If the phone is lost, a backup code will do. Else a platform owner turns the second factor off."
        ),
        SignInReason.SECOND_FACTOR_REQUIRED: marked(
            "Ask the user to set up a second factor on the page of their account."
        ),
        SignInReason.PASSKEY_REQUIRED: marked(
            "Ask the user to sign in with a mailed link, and to add a passkey as the page then says."
        ),
    }
)
_NEXT_BY_PLATFORM: Final = PartialTable(
    {
        SignInReason.TOO_MANY_FAILURES: marked(
            "Ask the person whether the attempts were theirs, then end the limit below."
        ),
        SignInReason.DEACTIVATED: marked("Look in the audit log who deactivated it and why, before you change it."),
        SignInReason.LOCKED: marked(
            "Ask the person why it was locked. A new password by mail opens it again, or you do on their page."
        ),
        SignInReason.ORGANIZATION_FULL: marked("Give the organization another tier, or other limits."),
        SignInReason.EMAIL_NOT_VERIFIED: marked(
            "Send the verification again below, or ask the user to sign in with a mailed link."
        ),
        SignInReason.ORGANIZATION_NOT_ACTIVE: marked("Approve or activate the organization."),
    }
)
# The sentences of a problem that name what stands on the page of a setup link.
_PROBLEMS: Final = PartialTable(
    {
        ProviderProblem.WRONG_REDIRECT: marked("The redirect URI of the connection is not registered at the provider."),
        ProviderProblem.FOREIGN_DOMAIN: marked(
            "The provider sent an address outside of your verified mail domains. Verify the mail domain."
        ),
        ProviderProblem.ORGANIZATION_FULL: marked(
            "The organization has as many members as it may have. Remove a member, or ask the platform for another"
            " tier."
        ),
    }
)


# An organization is not told whether an account has an address that it does not know.
UNKNOWN_HERE: Final = marked("Your organization knows no account with this address.")
AFTER_UNKNOWN_HERE: Final = marked("Check the spelling, or invite the person.")


def title_of(rule: Rule, way: SignInWay) -> str:
    """Return the name of a rule; what a way takes has a name for each way."""
    return CREDENTIALS.get(way, TITLES[rule]) if rule is Rule.CREDENTIAL else TITLES[rule]


def because(rule: Rule, reason: SignInReason | None) -> str:
    """Return why a rule refuses, asks or depends; empty when there is nothing to say."""
    if rule is Rule.MAIL_LIMIT:
        return _MAIL_LIMIT
    return _BEFORE.get(reason, reason.text) if reason is not None else ""


def next_step(rule: Rule, reason: SignInReason | None, *, is_platform: bool) -> str:
    """Return what to do about what a rule answers; empty when there is nothing to do."""
    if reason is not None and reason in _NEXT:
        to_all = _NEXT.get(reason, "")
        return _NEXT_BY_PLATFORM.get(reason, to_all) if is_platform else to_all
    if rule is Rule.MAIL_LIMIT:
        return _AFTER_MAIL_LIMIT_BY_PLATFORM if is_platform else _AFTER_MAIL_LIMIT
    return ""


def problem_text(problem: ProviderProblem) -> str:
    """Return what is wrong with a provider, with what to do next."""
    return _PROBLEMS.get(problem, provider_problems.SENTENCES[problem])
