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
    "impersonation-stopped": marked("You are yourself again, and no longer act as this person."),
    "job-begun": marked("The job has begun. This page shows how far it is."),
    "job-stopped": marked("The job is stopped. What is done stays done."),
    "branding-saved": marked("The branding is saved. Pages and mails have it from now on."),
    "branding-used-again": marked("This version of the branding is used again."),
    "key-revoked": marked("The key is revoked. Programs that use it are refused from now on."),
    "plan-created": marked("The plan is created."),
    "plan-changed": marked("The plan is saved. Its subscribers have the new features with their next tokens."),
    "plan-deleted": marked("The plan is deleted."),
    "bought": marked("Thank you. The subscription begins as soon as the payment provider reports the payment."),
    "saml-saved": marked("The settings are saved, and count from the next sign-in on."),
    "saml-certificate": marked("The certificate is created, and signs from now on."),
    "saml-deleted": marked("The application is deleted here. Nobody signs in there by SAML any more."),
    "access-granted": marked("The access is saved, and counts from the next request of this person."),
    "access-revoked": marked("The access is taken away. What the role of this person allows stays."),
}
