"""The condition of a filter as SQL: fragments of this module joined as the condition says, and values apart from them.

Every fragment is a literal, and so is what joins them, which the type checker verifies (`LiteralString`): no value and
no name of a request gets into the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, LiteralString, TypeAlias
from uuid import UUID

from adapters.postgres import affiliations
from core.scim.filters import Operator
from core.scim.user_filters import Always, Both, Column, Compared, Condition, Either, Given, Opposite
from core.tables import PartialTable

Fragment: TypeAlias = "tuple[LiteralString, list[Any]]"

# What a member is by, in a statement with memberships `m`, users `u`, profiles `p` and known ids `k`. A userName
# without an at sign is a name of the directory, any other one the address.
_NAME: Final = "CASE WHEN p.user_name NOT LIKE '%%@%%' THEN lower(p.user_name) ELSE u.email END"
_ID: Final = "coalesce(k.known_id, m.user_id)"
# That an operator has deactivated an account is shown of confirmed members only.
IS_ACTIVE: Final = """
    (m.suspended_at IS NULL
     AND (u.deactivated_at IS NULL OR coalesce(u.deactivated_by_organization_id <> m.organization_id,
                                               m.confirmed_at IS NULL AND u.anonymized_at IS NULL)))
"""
UPDATED_AT: Final = "coalesce(p.updated_at, m.created_at)"
_EXPRESSIONS: Final[Mapping[Column, LiteralString]] = {
    Column.ID: _ID,
    Column.EXTERNAL_ID: "p.external_id",
    Column.USER_NAME: _NAME,
    Column.EMAIL: "u.email",
    Column.DISPLAY_NAME: "lower(p.display_name)",
    Column.IS_PRIMARY: "coalesce(p.is_primary, true)",
    Column.IS_ACTIVE: IS_ACTIVE,
    Column.CREATED_AT: "m.created_at",
    Column.UPDATED_AT: UPDATED_AT,
}
_SIGNS: Final[PartialTable[Operator, LiteralString]] = PartialTable(
    {
        Operator.EQ: "=",
        Operator.NE: "IS DISTINCT FROM",
        Operator.GT: ">",
        Operator.GE: ">=",
        Operator.LT: "<",
        Operator.LE: "<=",
    }
)
# By an index each, which the expression of a userName would not use.
_IS_ADDRESS: Final = "u.email = %s AND (p.user_name LIKE '%%@%%') IS NOT FALSE"
_IS_NAME: Final = "lower(p.user_name) = %s AND p.user_name NOT LIKE '%%@%%'"
_IS_ACCOUNT: Final[LiteralString] = f"m.user_id = {affiliations.ACCOUNT}"


def written(condition: Condition, organization_id: UUID) -> Fragment:
    """Return a condition on members of an organization as SQL, and its values in the order of their places."""
    match condition:
        case Compared():
            return _compared(condition, organization_id)
        case Given():
            return f"{_EXPRESSIONS[condition.column]} IS NOT NULL", []
        case Always():
            return ("true" if condition.is_true else "false"), []
        case Opposite():
            # An attribute without a value matches nothing, so that the opposite matches: NULL counts as false.
            inner, values = written(condition.inner, organization_id)
            return f"({inner}) IS NOT TRUE", values
        case Both():
            return _joined(condition.left, " AND ", condition.right, organization_id)
        case Either():
            return _joined(condition.left, " OR ", condition.right, organization_id)


def is_simple(condition: Condition) -> bool:
    """Return whether a condition is one of a few texts, worth keeping a prepared statement for."""
    return isinstance(condition, Compared)


def _joined(left: Condition, word: LiteralString, right: Condition, organization_id: UUID) -> Fragment:
    left_text, left_values = written(left, organization_id)
    right_text, right_values = written(right, organization_id)
    return f"({left_text}{word}{right_text})", [*left_values, *right_values]


def _compared(compared: Compared, organization_id: UUID) -> Fragment:
    value = compared.value
    if compared.column is Column.USER_NAME and compared.operator is Operator.EQ:
        assert isinstance(value, str), "a userName is compared with something else than a text"
        return f"({_IS_ADDRESS if '@' in value else _IS_NAME})", [value]
    if compared.column is Column.ID and isinstance(value, UUID):
        # By an index, and also by the id of the account.
        is_it = f"({_IS_ACCOUNT})" if compared.operator is Operator.EQ else f"({_IS_ACCOUNT}) IS NOT TRUE"
        return is_it, [organization_id, value, value]
    expression = f"{_ID}::text" if compared.column is Column.ID else _EXPRESSIONS[compared.column]
    sign = _SIGNS.get(compared.operator)
    if sign is not None:
        return f"{expression} {sign} {_placeholder(value)}", [value]
    return _part(expression, compared.operator, value)


def _part(expression: LiteralString, operator: Operator, value: Any) -> Fragment:
    # Not LIKE, for which the wildcards in the value would have to be escaped.
    match operator:
        case Operator.CO:
            return f"position(%s::text in {expression}) > 0", [value]
        case Operator.SW:
            return f"starts_with({expression}, %s::text)", [value]
        case _:
            return f"right({expression}, length(%s::text)) = %s::text", [value, value]


def _placeholder(value: Any) -> LiteralString:
    return "%s::text" if isinstance(value, str) else "%s"
