"""The limits of the interface: lengths, page sizes, lifetimes."""

from datetime import timedelta

EMAIL_CHARACTERS_MAX = 254
PASSWORD_CHARACTERS_MIN = 8
# An installation may ask for more, up to this.
PASSWORD_CHARACTERS_MIN_MAX = 64
# What NIST SP 800-63B-4 (3.1.1.2) asks for where a password is the only factor.
PASSWORD_CHARACTERS_ALONE_MIN = 15
PASSWORD_CHARACTERS_MAX = 128
NAME_CHARACTERS_MAX = 100
REASON_CHARACTERS_MAX = 1000
USER_AGENT_CHARACTERS_MAX = 400

# How many services and people a tier or an organization may have: more than any has, and it fits the column.
TIER_LIMIT_MAX = 1_000_000
# The price of a plan and of a tier, in the smallest unit of the currency; it fits the column.
PRICE_CENTS_MAX = 99_999_999

# A route that takes more declares it: SCIM, logos, SAML metadata, the billing receiver.
BODY_BYTES_MAX = 64 * 1024
LARGE_BODY_BYTES_MAX = 1024 * 1024
# A SAML message; nothing of it is verified before it is read.
SAML_BODY_BYTES_MAX = 256 * 1024
# A group of a directory, with all of its members.
GROUP_BODY_BYTES_MAX = 4 * 1024 * 1024

PAGE_ITEMS_DEFAULT = 50
PAGE_ITEMS_MAX = 100
# Pages beyond this are empty anyway, and its product with the page size still fits PostgreSQL's bigint.
PAGE_NUMBER_MAX = 10**9
# Totals on pages are exact up to this, and counted no further, so that no number takes long.
COUNTED_MAX = 10_000

ACCESS_TOKEN_LIFETIME_DEFAULT = timedelta(seconds=900)
IMPERSONATION_LIFETIME_MAX = timedelta(hours=1)
# How long the logs of sign-ins and of second factors are shown and kept: a year, and some weeks to compare it with.
# The counts that are made of them stay.
SIGN_INS_KEPT_FOR = timedelta(days=400)
