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
    "test-sent": marked("The test is on its way. Load this page again in a moment to see what came back."),
    "delivery-again": marked("The delivery is sent again. Load this page again in a moment to see what came back."),
    "deliveries-again": marked("The deliveries are sent again, within seconds."),
    "webhook-changed": marked("The webhook is saved."),
    "webhook-paused": marked("The webhook is paused. It receives nothing until you activate it."),
    "webhook-active": marked("The webhook is active. What waited is sent now."),
    "webhook-deleted": marked("The webhook and its deliveries are deleted."),
    "token-revoked": marked("The token is revoked. What uses it cannot call any more."),
    "stream-saved": marked("The receiver is saved. Send a test event to see whether it answers."),
    "stream-paused": marked("The stream is paused. It goes on where it was when you resume it."),
    "stream-resumed": marked("The stream goes on where it was."),
    "stream-restarted": marked("The entries are sent again from the time that you have given."),
    "stream-deleted": marked("The receiver is deleted. Nothing is sent any more."),
}
