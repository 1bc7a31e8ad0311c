"""What a form of the console has just done, in words; the page that it leads to shows them."""

from typing import Final

from entrypoints.pages.languages import marked

# By the word in the address of the page.
OUTCOMES: Final = {
    "created": marked("The organization is created."),
    "role-changed": marked("The role is changed. It counts from the next request of this person."),
    "invited": marked("The invitations are sent."),
    "sent-again": marked("A new invitation is sent. The earlier link no longer works."),
    "withdrawn": marked("The invitation is withdrawn."),
    "anonymized": marked("The personal data are removed. The account has a placeholder as its address now."),
    "sessions-ended": marked("The sessions have ended. This person has to sign in again."),
    "limit-ended": marked("The limit is ended. The person can try again at once."),
    "verification-sent": marked("The mail that verifies the address is on its way."),
    "removed": marked("The member is removed, and has no access to this organization any more."),
    "owner-appointed": marked("This person is a platform owner from their next request on."),
    "owner-demoted": marked("This person is no platform owner any more."),
    "support-appointed": marked("This person now belongs to the platform's support, from their next request on."),
    "support-demoted": marked("This person no longer belongs to the platform's support."),
    "approved": marked("The organization is approved. Its members can use it from now on."),
    "rejected": marked("The organization is rejected. Its members can read the reason."),
    "suspended": marked("The organization is suspended from now on."),
    "activated": marked("The organization is active again."),
    "limits-changed": marked("The tier and the limits are saved."),
    "deleted": marked("The organization is deleted for good."),
    "limits-lifted": marked("The limits are lifted. Wrong passwords and mails so far no longer count."),
    "factor-off": marked("The second factor is off. This person is told so by mail."),
    "mails-again": marked("The chosen mails are sent again, within seconds."),
    "plan-changed": marked("The plan is changed. It counts from the person's next token on."),
    "subscription-cancelled": marked("The subscription is cancelled."),
}
