"""Rules who may come in, each undone by one patch, to show that the comparisons of a small scope find it.

Most of them are undone for the histories too (`undone.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.sessions.callers import IS_CUSTOMER_OPEN, counts
from adapters.postgres.sessions.customer_contexts import IS_ADMITTED, IS_ASSIGNED, IS_OPEN_TO_INDIVIDUALS
from tests.tenants.undone import UNDONE, UndoneRule

if TYPE_CHECKING:
    from collections.abc import Callable


def _of_histories(*rules: str) -> list[UndoneRule]:
    """Return rules that are undone for the histories, by their names."""
    known = {one.rule: one for one in UNDONE}
    return [known[rule] for rule in rules]


def _passes(_original: Any) -> Any:
    return lambda *_args, **_options: None


def _never(_original: Any) -> Any:
    return lambda *_args, **_options: False


def _ever(_original: Any) -> Any:
    return lambda *_args, **_options: True


def _is(value: object) -> Callable[[Any], Any]:
    """Return what makes a property that always has a value."""
    return lambda _original: property(lambda _self: value)


def _also_suspended(_original: Any) -> Any:
    """Return a property by which a connection signs in members that are suspended."""
    return property(lambda at: at.is_in_mail_domain or at.role is not None or at.is_end_user)


def _without(condition: str) -> Callable[[Any], Any]:
    """Return what takes a condition out of a statement."""

    def change(statement: str) -> str:
        assert condition in statement, "the condition is not in the statement any more"
        return statement.replace(condition, "AND true" if condition.startswith("AND ") else "true")

    return change


_ENTITLEMENT: Final = "core.sign_in.entitlement"
_STANDING: Final = f"{_ENTITLEMENT}.ConnectionStanding"
_PLACE: Final = ("adapters.postgres.sign_in.places", "_PLACE")
_REQUEST: Final = ("adapters.postgres.sessions.callers", "OF_SESSION SUBJECT")
_ENDINGS: Final = "adapters.postgres.sessions.customer_endings"
# What core decides.
OF_VALUES: Final = (
    *_of_histories(
        "who has several customers is asked",
        "the first use for a customer is asked",
        "an unconfirmed membership decides nothing",
        "only one whose membership is confirmed is taken",
        "members of customers are no individuals",
        "the connection of a customer opens no other one",
        "the connection of a customer signs in no individual",
        "a powerful role of a rule takes a mailed code",
    ),
    UndoneRule("a connection speaks for its own people alone", _STANDING, "may_sign_in", _is(True)),
    UndoneRule("a connection signs in no suspended member", _STANDING, "may_sign_in", _also_suspended),
    UndoneRule("a connection that is off signs in no person", _ENTITLEMENT, "refusal_of_closed", _passes),
    UndoneRule("the word of a connection opens few roles", _STANDING, "confined_to_role", _is(None)),
    UndoneRule("a role that the word does not open is refused", _ENTITLEMENT, "refusal_by_connection_alone", _passes),
    UndoneRule(
        "a session keeps to the roles of its word", "core.sessions.caller_limits.CallerLimits", "opens_role", _ever
    ),
    *_of_histories(
        "a lock refuses every way in",
        "a service that is closed lets in no stranger",
        "a membership that is not confirmed lets in nobody",
    ),
    UndoneRule(
        "an individual is one whom the service lets in",
        "core.sign_in.admission",
        "customers_of",
        lambda _original: lambda place, **_options: place.customers,
    ),
    UndoneRule(
        "a required connection refuses other ways",
        "core.accounts.single_sign_on.RequiredConnection",
        "holds_for",
        _never,
    ),
)
# What statements read.
OF_ROWS: Final = (
    *_of_histories(
        "a pause of the vendor closes sign-ins",
        "a pause of the customer closes sign-ins",
        "a pause closes what is asked with an access token",
        "a pause closes refreshing",
        "a suspended customer is closed",
        "only the assigned come in",
        "a lost assignment closes what came by it",
        "a suspended member comes in for no customer",
        "who came without a customer may not go on when they belong to one",
        "roles of a service are those that an assignment gives",
        "own roles are those that the vendor has given",
        "the customer of a session never changes",
        "a token for a customer has no role of the vendor",
        "the vendor reads people who are let in",
        "who is not assigned is not let in",
        "what closes a service closes what is asked with an access token",
        "what closes a service closes refreshing",
        "what closes a service for one person ends their sessions at once",
        "who is not assigned has no tile",
        "roles of a service are those that its own organization gives",
    ),
    UndoneRule("a key lets in its own users", *_PLACE, _without("given.user_id = %(user_id)s")),
    UndoneRule("what closes a service ends sessions", _ENDINGS, "BATCH", _without(IS_ADMITTED)),
    UndoneRule(
        "an unconfirmed membership gives no role of a service", *_REQUEST, _without("AND m.confirmed_at IS NOT NULL")
    ),
    UndoneRule(
        "tiles are for the assigned", "adapters.postgres.customers.my_applications", "PAGE", _without(IS_ASSIGNED)
    ),
    UndoneRule(
        "a program lists customers of confirmed members",
        "adapters.postgres.customers.my_applications",
        "CUSTOMERS_OF_USER",
        _without("cm.confirmed_at IS NOT NULL"),
    ),
    UndoneRule("a group lets in its own members", *_PLACE, _without("i.user_id = cm.user_id")),
    UndoneRule("a mail domain whose proof has failed is none", *_PLACE, _without("failing_since > %(failing_after)s")),
    UndoneRule(
        "an unconfirmed membership makes no individual another", *_PLACE, _without("x.confirmed_at IS NOT NULL")
    ),
    UndoneRule("a suspended vendor is closed", *_REQUEST, _without("vo.status = 'active'")),
    UndoneRule("own roles are those of the person", *_REQUEST, _without("own.user_id = cm.user_id")),
    UndoneRule("an older session has nothing unconfirmed", *_REQUEST, _without(counts("cm", "s"))),
    UndoneRule("a lost role ends sessions", _ENDINGS, "END_LOST", _without(IS_CUSTOMER_OPEN)),
    UndoneRule("what closes a customer ends sessions", _ENDINGS, "BATCH", _without(IS_CUSTOMER_OPEN)),
    UndoneRule("what excludes individuals ends sessions", _ENDINGS, "BATCH", _without(IS_OPEN_TO_INDIVIDUALS)),
)
