"""What the pages of the platform say of mails: their kinds and their states."""

from typing import Final

from core.mail.mail import MailState, MailTemplate
from core.platform.mails import ListedMailState
from entrypoints.pages.frame.languages import marked

KINDS: Final = {
    MailTemplate.TEST: marked("Test of the mail server"),
    MailTemplate.NEW_SIGN_IN: marked("New sign-in"),
    MailTemplate.MFA_ENABLED: marked("Second factor turned on"),
    MailTemplate.MFA_DISABLED: marked("Second factor turned off"),
    MailTemplate.MFA_FACTOR_ADDED: marked("Second factor added"),
    MailTemplate.MFA_FACTOR_REMOVED: marked("Second factor removed"),
    MailTemplate.MFA_FORCE_DISABLED: marked("Second factor turned off by the platform"),
    MailTemplate.ACCOUNT_EXISTS: marked("Registration with an address that has an account"),
    MailTemplate.VERIFY_EMAIL: marked("Link to verify the address"),
    MailTemplate.VERIFY_NEW_EMAIL: marked("Link to verify a new address"),
    MailTemplate.EMAIL_CHANGE_REQUESTED: marked("Change of address requested"),
    MailTemplate.EMAIL_CHANGED: marked("Address changed"),
    MailTemplate.EMAIL_CHANGED_BY_ORGANIZATION: marked("Address changed by an organization"),
    MailTemplate.TAKEOVER_UNDONE: marked("Account recovered from another person"),
    MailTemplate.MEMBER_TAKEOVER_UNDONE: marked("Account of a member recovered from another person"),
    MailTemplate.RESET_PASSWORD: marked("Link to choose a new password"),
    MailTemplate.CHOOSE_PASSWORD: marked("Link to choose a first password"),
    MailTemplate.PASSWORD_CHANGED: marked("Password changed"),
    MailTemplate.PASSWORD_SET: marked("Password set"),
    MailTemplate.MAGIC_LINK: marked("Sign-in link"),
    MailTemplate.ADDRESS_CODE: marked("Code for an address"),
    MailTemplate.PASSKEY_ADDED: marked("Passkey added"),
    MailTemplate.PASSKEY_REMOVED: marked("Passkey removed"),
    MailTemplate.IDENTITY_LINKED: marked("Account at another provider linked"),
    MailTemplate.INVITATION: marked("Invitation"),
    MailTemplate.INVITATION_ACCEPTED: marked("Invitation accepted"),
    MailTemplate.MEMBERSHIP_ADDED: marked("Membership to confirm"),
    MailTemplate.ACCOUNT_CLOSED: marked("Account closed"),
    MailTemplate.ACCOUNT_LOCKED: marked("Account locked"),
    MailTemplate.WELCOME: marked("Welcome"),
    MailTemplate.TRIAL_ENDING: marked("Trial ends soon"),
    MailTemplate.PAYMENT_ACTION_REQUIRED: marked("Payment to confirm"),
    MailTemplate.SAML_CERTIFICATE_ENDING: marked("SAML certificate ends soon"),
    MailTemplate.CONNECTION_KEY_ENDING: marked("Key of a connection ends soon"),
    MailTemplate.UPSTREAM_METADATA_ENDING: marked("Metadata of a connection end soon"),
    MailTemplate.CONNECTION_CERTIFICATES_REPLACED: marked("Certificates of a connection replaced"),
    MailTemplate.MAIL_SERVER_FAILING: marked("Mail server of an organization fails"),
    MailTemplate.DOMAIN_FAILING: marked("Domain of an organization fails"),
    MailTemplate.WEBHOOK_OFF: marked("Webhook switched off by its receiver"),
    MailTemplate.CREDENTIALS_LEFT: marked("Credentials that a former member has made"),
    MailTemplate.SCIM_KEPT: marked("Members that a directory could not remove"),
    MailTemplate.ORGANIZATION_DELETED: marked("Organization to be deleted"),
    MailTemplate.IMPERSONATION_STARTED: marked("The platform acts as this person"),
    MailTemplate.CUSTOMER_CLAIM: marked("Link to own an organization that a vendor has made"),
    MailTemplate.CUSTOMER_IMPERSONATION_STARTED: marked("The platform acts as a person of the organization"),
}
# The kind of its badge, and what it says.
STATES: Final = {
    MailState.QUEUED: ("info", marked("Waits")),
    MailState.ROUTED: ("info", marked("Waits for the organization's mail server")),
    MailState.SENT: ("good", marked("Sent")),
    MailState.KEPT: ("warning", marked("Kept, never sent")),
    MailState.FAILED: ("bad", marked("Failed")),
    MailState.DISCARDED: ("info", marked("Discarded")),
}
# What it means that mails are in a state, and what to do.
MEANINGS: Final = {
    ListedMailState.QUEUED: marked("They are sent as they fall due; the oldest are first here."),
    ListedMailState.ROUTED: marked(
        "The mail servers of their organizations do not take them at the moment. They are tried for seven days; the"
        " oldest are first here."
    ),
    ListedMailState.SENT: marked("A mail server has taken them. What became of them then is in its log."),
    ListedMailState.KEPT: marked(
        "No mail server was set when they were due, so they are never sent. Set one, and ask people to request new"
        " mails."
    ),
    ListedMailState.FAILED: marked(
        "No further attempt is made by itself. Once the cause is removed, send them again; a link that has expired is"
        " not sent again."
    ),
}
# What the courier and the mail gateway store of a mail that was not sent; a page recognizes these sentences.
ERRORS: Final = (
    marked("The address or the subject cannot be used in a mail."),
    marked("The mail server does not accept addresses with non-ASCII characters."),
    marked("The mail server offers no encryption, so no mail was sent to it."),
    marked("The mail server offers no encryption, so the login was not sent to it."),
    marked("The mail server refused the login (%(code)s)."),
    marked("The mail server did not answer in time."),
    marked("The mail server closed the connection before it had answered."),
    marked("The mail server offers no login (AUTH) of a kind that can be used."),
    marked("The mail server sent no valid SMTP answer."),
    marked("The mail server did not take the mail within %(seconds)s seconds."),
)
