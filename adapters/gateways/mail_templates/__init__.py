"""The words of the letters: a text whose first line is the subject, and a page, for every `MailTemplate`."""
