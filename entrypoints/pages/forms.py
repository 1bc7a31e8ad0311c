"""The input of pages: the links in mails, and the forms that people submit."""

from typing import Annotated

import msgspec

from entrypoints.web.decoding import Query
from entrypoints.web.hidden import SecretBody


class MailedLink(SecretBody, Query, kw_only=True):
    """The query of a link in a mail."""

    token: Annotated[str, msgspec.Meta(description="The token of the link.", examples=["$LINK_TOKEN"])]


class MailedLinkForm(SecretBody, kw_only=True):
    """The form of a page that a mailed link opens."""

    token: str = ""
