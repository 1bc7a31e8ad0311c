"""The templates of the mails: for every `MailTemplate`, a text whose first line is the subject, and an HTML part."""
