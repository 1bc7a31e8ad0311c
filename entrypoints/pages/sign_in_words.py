"""What pages say of the outcome of a sign-in, in words."""

from typing import Final

from core.sign_in.sign_ins import SignInOutcome
from entrypoints.pages.languages import marked

# What a badge says of each outcome, with its kind.
OUTCOMES: Final = {
    SignInOutcome.SUCCESS: ("good", marked("Signed in")),
    SignInOutcome.REFUSED: ("bad", marked("Refused")),
    SignInOutcome.SECOND_FACTOR_ASKED: ("info", marked("Not completed")),
}
