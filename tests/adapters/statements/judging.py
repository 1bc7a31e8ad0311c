"""Whether a statement names the organization of every tenant's row that it reads or writes.

The rule. Each mention of a table of tenants in a statement has to be *bound* to an organization:

- by a condition, which every row has to meet, that compares its `organization_id` (of `organizations` the id) with a
  parameter or a constant, also with several (`= ANY`, `IN`);
- or that compares its column with one of a mention which is itself bound, when both identify a row of the same table
  of tenants: an organization, or a service, a webhook and so on, by its id. A key of a person or of the platform, such
  as `user_id`, leads nowhere;
- or that compares a column which is a unique key by itself and the hash of a secret with a parameter;
- a row that is inserted, by the value of such a column; a row that ON CONFLICT changes, by the columns of the conflict
  or by the condition of the change.

The id of a row alone binds nothing, because the caller may have chosen it. Neither does a condition below OR, unless
each of its sides does, below NOT or in CASE; in an outer join, the condition binds the optional side alone.

What a mention is bound by may be in another part of the statement: conditions reach through the columns of CTEs and
sub-selects, and EXISTS and IN reach the mentions around them. So each comparison is a rule, "this mention is bound if
those are", and the rules are followed until nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

import sqlglot
from sqlglot import expressions as exp

from adapters.postgres.driver.statements import _numbered
from tests.adapters.statements.tenants import ORGANIZATIONS, Schema
from tests.plans import table_of

# What sqlglot does not know, and what stands for it here: operators that bind as little, and nothing for what does not
# matter here.
_UNKNOWN: Final = (
    (re.compile(r"\bUSING\s+~[<>]~"), ""),
    (re.compile(r"\bON\s+COMMIT\s+DROP\b"), ""),
    (re.compile(r"~([<>]=?)~"), r"\1"),
    (re.compile(r"\^@"), "~~"),
)


# What a statement of the same transaction has made.
TEMPORARY_TABLES: Final = frozenset({"imported_users", "written_by_readiness"})


# Null for every organization that people see.
INTERNAL: Final = "internal_of"


class NotUnderstoodError(Exception):
    """A statement of a kind that the check does not know; extend the check."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a mention of a table.

    It is uncertain where the value may be another one, as of `coalesce`, or one of many rows, as of `max`: what is
    compared with such a value does not bind its mention.
    """

    mention: int
    name: str
    is_certain: bool = True


# What a value can be: columns, each of which has to be bound where all are possible; none of them for a parameter or a
# constant. None for what says nothing, such as the result of a function over columns.
Value = frozenset[Column] | None
GIVEN: Final[Value] = frozenset[Column]()


@dataclass(frozen=True, slots=True)
class Rule:
    """A mention is bound if all of these are."""

    mention: int
    by: frozenset[int]


@dataclass(slots=True)
class Source:
    """What stands in a FROM: the columns that it has, and the mentions that a condition on them filters."""

    columns: Mapping[str, Value]
    mentions: frozenset[int] = frozenset()


@dataclass(slots=True)
class Scope:
    """The names in a SELECT, UPDATE, DELETE or INSERT, and around it."""

    sources: dict[str, Source] = field(default_factory=dict)
    around: Scope | None = None
    # How many names of CTEs are visible; each a function that reads it anew.
    tables: dict[str, Callable[[], Source]] = field(default_factory=dict)

    def table(self, name: str) -> Callable[[], Source] | None:
        if name in self.tables:
            return self.tables[name]
        return self.around.table(name) if self.around is not None else None

    def source(self, name: str) -> Source | None:
        if name in self.sources:
            return self.sources[name]
        return self.around.source(name) if self.around is not None else None


@cache
def parsed(text: str) -> exp.Expr:
    """Return the syntax of a statement as the adapters write it."""
    numbered = _numbered(text)[0].decode()
    for unknown, known in _UNKNOWN:
        numbered = unknown.sub(known, numbered)
    [statement] = sqlglot.parse(numbered, read="postgres")
    assert statement is not None, "an empty statement was sent"
    return statement


def unbound_tables(
    text: str, schema: Schema, *, excepted: Iterable[str] = (), if_given: bool = False
) -> frozenset[str]:
    """Return the tables of tenants that a statement mentions without binding them to an organization.

    The mentions of an excepted table count as bound. With `if_given` so do those that are bound only when a
    parameter is given, `%s IS NULL OR organization_id = %s`. Raise `NotUnderstoodError` or
    `ParseError` for other statements.
    """
    return Judgement(schema, if_given=if_given).unbound_tables(parsed(text), frozenset(excepted))


class Judgement:
    """The mentions in one statement, and the rules that bind them."""

    def __init__(self, schema: Schema, *, if_given: bool) -> None:
        self._schema = schema
        self._if_given = if_given
        self._mentioned: list[str] = []
        # Written rows, which no condition outside of the CTE that writes them can filter.
        self._sealed: set[int] = set()
        # What an outer join may leave out.
        self._optional: set[int] = set()

    def unbound_tables(self, statement: exp.Expr, excepted: frozenset[str]) -> frozenset[str]:
        if isinstance(statement, exp.Set):
            return frozenset()
        rules, _ = self._query(statement, Scope())
        bound = {number for number, table in enumerate(self._mentioned) if table in excepted}
        while more := {rule.mention for rule in rules if rule.mention not in bound and rule.by <= bound}:
            bound |= more
        return frozenset(
            table
            for number, table in enumerate(self._mentioned)
            if number not in bound and table in self._schema.of_tenants
        )

    # Statements -------------------------------------------------------------------------------------------------------

    def _query(self, query: exp.Expr, around: Scope) -> tuple[list[Rule], Source]:  # noqa: PLR0911 - a kind each
        """Return the rules of a statement or sub-select, those for mentions around it included, and its rows."""
        match query:
            case exp.Subquery() | exp.Paren():
                scope = Scope(around=around)
                rules = self._with(query, scope)
                inner, rows = self._query(query.this, scope)
                return [*rules, *inner], rows
            case exp.SetOperation():
                return self._set_operation(query, around)
            case exp.Select():
                return self._select(query, around)
            case exp.Values():
                return [], self._values(query, around)
            case exp.Insert():
                return self._insert(query, around)
            case exp.Update() | exp.Delete():
                return self._change(query, around)
            case exp.Create(kind="TABLE", expression=exp.Query() as filling):
                return self._query(filling, around)
            case exp.Create(kind="TABLE", expression=None):
                return [], Source({})
            case exp.Copy(this=exp.Schema() | exp.Table() as copied):
                _, mentions = self._from(copied.this if isinstance(copied, exp.Schema) else copied, Scope())
                return [], Source({}, mentions)
            case _:
                raise NotUnderstoodError(f"{type(query).__name__}: {query.sql('postgres')}")

    def _with(self, query: exp.Expr, scope: Scope) -> list[Rule]:
        rules = list[Rule]()
        clause = query.args.get("with_")
        if clause is None:
            return rules
        for table in clause.expressions:
            if isinstance(table.this, exp.Insert | exp.Update | exp.Delete):
                # It is executed once, whatever reads its rows.
                first = len(self._mentioned)
                written, rows = self._query(table.this, scope)
                rules += written
                self._sealed.update(range(first, len(self._mentioned)))
                source = _renamed(Source(rows.columns), table.args["alias"])
                scope.tables[table.alias] = lambda source=source: source
                continue
            is_read = any(
                isinstance(one, exp.Table) and one.name == table.alias and not one.db
                for one in query.find_all(exp.Table)
                if one.find_ancestor(exp.CTE) is not table
            )
            # Each mention of the table is judged for itself: a condition on one does not filter the other.
            scope.tables[table.alias] = self._reader(
                table, scope, rules, is_recursive=bool(clause.args.get("recursive"))
            )
            if not is_read:
                scope.tables[table.alias]()
        return rules

    def _reader(self, table: exp.CTE, scope: Scope, rules: list[Rule], *, is_recursive: bool) -> Callable[[], Source]:
        outer = Scope(around=scope.around, tables=dict(scope.tables))

        def read() -> Source:
            within = Scope(around=outer)
            body = table.this
            if is_recursive and isinstance(body, exp.SetOperation):
                beginning, base = self._query(body.left, within)
                rules.extend(beginning)
                within.tables[table.alias] = lambda: _renamed(Source(base.columns), table.args["alias"])
            found, rows = self._query(body, within)
            rules.extend(found)
            return _renamed(rows, table.args["alias"])

        return read

    def _set_operation(self, query: exp.SetOperation, around: Scope) -> tuple[list[Rule], Source]:
        scope = Scope(around=around)
        rules = self._with(query, scope)
        left_rules, left = self._query(query.left, scope)
        right_rules, right = self._query(query.right, scope)
        merged = {
            name: _both(value, other)
            for (name, value), other in zip(left.columns.items(), right.columns.values(), strict=False)
        }
        return [*rules, *left_rules, *right_rules], Source(merged, left.mentions | right.mentions)

    def _values(self, query: exp.Values, around: Scope) -> Source:
        columns = dict[str, Value]()
        for row in query.expressions:
            cells = row.expressions if isinstance(row, exp.Tuple) else [row]
            for place, cell in enumerate(cells):
                _, value = self._value(cell, around)
                name = f"column{place + 1}"
                columns[name] = _uncertain(_both(columns[name], value)) if name in columns else value
        return _renamed(Source(columns), query.args.get("alias"))

    def _select(self, query: exp.Select, around: Scope) -> tuple[list[Rule], Source]:
        scope = Scope(around=around)
        rules = self._with(query, scope)
        own = frozenset[int]()
        if (clause := query.args.get("from_")) is not None:
            found, own = self._from(clause.this, scope)
            rules += found
        found, own = self._joins(query, scope, own)
        rules += found
        for part in ("where", "having"):
            if (condition := query.args.get(part)) is not None:
                rules += self._condition(condition.this, scope)
        columns = dict[str, Value]()
        for projection in query.expressions:
            found, more = self._projected(projection, scope)
            rules += found
            columns |= more
        for part in ("group", "order", "limit", "offset", "distinct", "qualify"):
            if (clause := query.args.get(part)) is not None:
                rules += self._nested(clause, scope)
        has_window = any(projection.find(exp.Window) is not None for projection in query.expressions)
        if has_window or query.args.get("limit") is not None or query.args.get("offset") is not None:
            # It looks also at rows that a condition outside takes away.
            columns = {name: _uncertain(value) for name, value in columns.items()}
        return rules, Source(columns, own)

    def _change(self, query: exp.Update | exp.Delete, around: Scope) -> tuple[list[Rule], Source]:
        scope = Scope(around=around)
        rules = self._with(query, scope)
        target, mentions = self._from(query.this, scope)
        rules += target
        others = [query.args["from_"].this] if query.args.get("from_") is not None else query.args.get("using") or []
        own = mentions
        for other in others:
            found, more = self._from(other, scope)
            rules += found
            own |= more
        if (clause := query.args.get("from_")) is not None:
            found, own = self._joins(clause, scope, own)
            rules += found
        found, own = self._joins(query, scope, own)
        rules += found
        if (condition := query.args.get("where")) is not None:
            rules += self._condition(condition.this, scope)
        for assignment in query.expressions:
            rules += self._nested(assignment, scope)
        return self._returning(query, scope, rules)

    def _insert(self, query: exp.Insert, around: Scope) -> tuple[list[Rule], Source]:
        scope = Scope(around=around)
        rules = self._with(query, scope)
        schema_or_table = query.this
        table = schema_or_table.this if isinstance(schema_or_table, exp.Schema) else schema_or_table
        names = [one.name for one in schema_or_table.expressions] if isinstance(schema_or_table, exp.Schema) else []
        found, [mention] = self._from(table, scope)
        rules += found
        written = Source({}, frozenset())
        if query.expression is not None:
            found, written = self._query(query.expression, Scope(around=around, tables=scope.tables))
            rules += found
        # Without names, the order of the columns decides.
        names = names or self._columns_of(table.name)
        inserted = dict(zip(names, written.columns.values(), strict=False))
        for name, value in inserted.items():
            rules += self._compared(Column(mention, name), value)
        if (conflict := query.args.get("conflict")) is not None and conflict.expressions:
            rules += self._conflict(conflict, table, mention, inserted, scope)
        return self._returning(query, scope, rules)

    def _conflict(
        self, conflict: exp.OnConflict, table: exp.Table, mention: int, inserted: Mapping[str, Value], scope: Scope
    ) -> list[Rule]:
        existing = self._mention(table.name)
        within = Scope(around=scope.around, tables=scope.tables)
        within.sources[table.alias_or_name] = self._source_of(table.name, existing)
        within.sources["excluded"] = Source({name: frozenset({Column(mention, name)}) for name in inserted})
        rules = list[Rule]()
        keys = self._schema.tables[table.name].keys if table.name in self._schema.tables else {}
        constraint = conflict.args.get("constraint")
        names = keys[constraint.name] if constraint is not None else [one.name for one in _conflict_columns(conflict)]
        for name in names:
            # The id of the new row says nothing about whose the present one is.
            if name != "id":
                rules += self._compared(Column(existing, name), frozenset({Column(mention, name)}))
        if (condition := conflict.args.get("where")) is not None:
            rules += self._condition(condition.this, within)
        for assignment in conflict.expressions:
            rules += self._nested(assignment, within)
        return rules

    def _returning(self, query: exp.Expr, scope: Scope, rules: list[Rule]) -> tuple[list[Rule], Source]:
        columns = dict[str, Value]()
        if (returning := query.args.get("returning")) is not None:
            for projection in returning.expressions:
                found, more = self._projected(projection, scope)
                rules += found
                columns |= more
        return rules, Source(columns)

    # FROM -------------------------------------------------------------------------------------------------------------

    def _from(self, node: exp.Expr, scope: Scope) -> tuple[list[Rule], frozenset[int]]:
        """Add a source to the scope; return its rules, and the mentions that a condition of the scope filters."""
        rules = list[Rule]()
        match node:
            case exp.Table(this=exp.Identifier()):
                rules, source = self._named(node, scope)
                source = _renamed(source, node.args.get("alias"))
            case exp.Paren() | exp.Subquery() if _is_join(node):
                rules, own = self._from(node.this, scope)
                found, own = self._joins(node, scope, own)
                return [*rules, *found], own
            case exp.Lateral():
                rules, source = self._lateral(node.this, scope)
                source = _renamed(source, node.args.get("alias"))
            case exp.Subquery():
                # Only LATERAL sees its neighbours.
                rules, source = self._query(node, Scope(around=scope.around, tables=scope.tables))
                source = _renamed(source, node.args.get("alias"))
            case exp.Values():
                source = self._values(node, scope)
            case _:
                rules, source = self._function(node, scope)
        scope.sources[node.alias_or_name or f"#{len(scope.sources)}"] = source
        found, own = self._joins(node, scope, source.mentions)
        return [*rules, *found], own

    def _named(self, node: exp.Table, scope: Scope) -> tuple[list[Rule], Source]:
        """Return the rows of a CTE, of a view, or of a table."""
        read = scope.table(node.name) if not node.db else None
        if read is not None:
            return [], read()
        if node.name in self._schema.views:
            return self._query(parsed(self._schema.views[node.name]), Scope())
        table = table_of(node.name)
        return [], self._source_of(table, self._mention(table))

    def _lateral(self, node: exp.Expr, scope: Scope) -> tuple[list[Rule], Source]:
        if isinstance(node, exp.Subquery | exp.Query):
            return self._query(node, scope)
        return self._function(node, scope)

    def _function(self, node: exp.Expr, scope: Scope) -> tuple[list[Rule], Source]:
        """Return the rows of a function: each of its columns is what its arguments are."""
        rules, value = list[Rule](), GIVEN
        function = node.this if isinstance(node, exp.Table) else node
        arguments = [
            part
            for part in function.iter_expressions()
            if not isinstance(part, exp.TableAlias | exp.Identifier) and part is not node.args.get("alias")
        ]
        for argument in arguments:
            found, one = self._value(argument, scope)
            rules += found
            value = _uncertain(_both(value, one))
        alias = node.args.get("alias")
        names = _alias_columns(alias) or ([alias.name] if alias is not None else [function.name.lower()])
        return rules, Source(dict.fromkeys([*names, "ordinality"], value))

    def _joins(self, node: exp.Expr, scope: Scope, own: frozenset[int]) -> tuple[list[Rule], frozenset[int]]:
        rules = list[Rule]()
        for join in node.args.get("joins") or []:
            before = set(scope.sources)
            found, joined = self._from(join.this, scope)
            rules += found
            first = len(self._mentioned)
            conditions = list[Rule]()
            if (condition := join.args.get("on")) is not None:
                conditions += self._condition(condition, scope)
            for name in join.args.get("using") or []:
                conditions += self._using(name.name, before, scope)
            filtered = _filtered(join.side, own, joined)
            self._optional |= (joined if join.side in ("LEFT", "FULL") else set()) | (
                own if join.side in ("RIGHT", "FULL") else set()
            )
            rules += [rule for rule in conditions if rule.mention in filtered or rule.mention >= first]
            # A condition of the WHERE on the optional side leaves no row without it.
            own |= joined
        return rules, own

    def _using(self, name: str, before: set[str], scope: Scope) -> list[Rule]:
        [joined] = [source for key, source in scope.sources.items() if key not in before]
        found = [scope.sources[key].columns[name] for key in before if name in scope.sources[key].columns]
        return [rule for value in found for rule in self._equal(value, joined.columns.get(name))]

    # Conditions -------------------------------------------------------------------------------------------------------

    def _condition(self, node: exp.Expr, scope: Scope) -> list[Rule]:
        """Return the rules of a condition that every row has to meet."""
        match node:
            case exp.Paren():
                return self._condition(node.this, scope)
            case exp.And():
                return [*self._condition(node.left, scope), *self._condition(node.right, scope)]
            case exp.Or():
                return self._either(node, scope)
            case exp.EQ() | exp.NullSafeEQ():
                return self._comparison(node.left, node.right, scope)
            case exp.In():
                return self._in(node, scope)
            case exp.Exists():
                rules, _ = self._query(node.this, scope)
                return rules
            case exp.Is() if isinstance(node.expression, exp.Null) and node.this.name != INTERNAL:
                # The rows of no organization; of what is optional, no row at all.
                rules = self._comparison(node.this, node.expression, scope)
                return [rule for rule in rules if rule.mention not in self._optional]
            case _:
                return self._nested(node, scope)

    def _either(self, node: exp.Or, scope: Scope) -> list[Rule]:
        """Return what holds on each side: a mention is bound if a rule of each binds it."""
        first = len(self._mentioned)
        if self._if_given and _is_absence(node.left):
            return self._condition(node.right, scope)
        left, right = self._condition(node.left, scope), self._condition(node.right, scope)
        rules = [rule for rule in [*left, *right] if rule.mention >= first]
        for rule in left:
            if rule.mention < first:
                rules += [Rule(rule.mention, rule.by | one.by) for one in right if one.mention == rule.mention]
        return rules

    def _in(self, node: exp.In, scope: Scope) -> list[Rule]:
        if (query := node.args.get("query")) is not None:
            return self._comparison(node.this, query, scope)
        if node.args.get("unnest") is not None or node.args.get("field") is not None:
            return self._nested(node, scope)
        sides = _parts_of(node.this)
        rules = list[Rule]()
        values: list[Value] = [GIVEN for _ in sides]
        for one in node.expressions:
            cells = _parts_of(one)
            if len(cells) != len(sides):
                return self._nested(node, scope)
            for place, cell in enumerate(cells):
                found, value = self._value(cell, scope)
                rules += found
                values[place] = _both(values[place], value)
        for side, value in zip(sides, values, strict=True):
            found, left = self._value(side, scope)
            rules += [*found, *self._equal(left, value)]
        return rules

    def _comparison(self, left: exp.Expr, right: exp.Expr, scope: Scope) -> list[Rule]:
        left_rules, left_values = self._cells(left, scope)
        right_rules, right_values = self._cells(right, scope)
        rules = [*left_rules, *right_rules]
        if len(left_values) == 1 and len(right_values) != 1:
            return rules
        for one, other in zip(left_values, right_values, strict=False):
            rules += self._equal(one, other)
        return rules

    def _cells(self, node: exp.Expr, scope: Scope) -> tuple[list[Rule], list[Value]]:
        """Return the values of one side of a comparison: several of a row or of a sub-select."""
        match node:
            case exp.Any():
                return self._cells(node.this, scope)
            case exp.Tuple():
                found = [self._value(one, scope) for one in node.expressions]
                return [rule for rules, _ in found for rule in rules], [value for _, value in found]
            case exp.Paren() | exp.Subquery() if isinstance(node.this, exp.Query):
                rules, rows = self._query(node, scope)
                return rules, list(rows.columns.values())
            case exp.Query():
                rules, rows = self._query(node, scope)
                return rules, list(rows.columns.values())
            case exp.Paren():
                return self._cells(node.this, scope)
            case _:
                rules, value = self._value(node, scope)
                return rules, [value]

    def _nested(self, node: exp.Expr, scope: Scope) -> list[Rule]:
        """Return the rules of the sub-selects in an expression, which filter no rows outside of them."""
        rules = list[Rule]()
        for query in _queries_in(node):
            first = len(self._mentioned)
            found, _ = self._query(query, scope)
            rules += [rule for rule in found if rule.mention >= first]
        return rules

    def _equal(self, left: Value, right: Value) -> list[Rule]:
        rules = list[Rule]()
        for column in left or ():
            rules += self._compared(column, right)
        for column in right or ():
            rules += self._compared(column, left)
        return rules

    def _compared(self, column: Column, value: Value) -> list[Rule]:
        """Return the rule that a column which equals a value binds its mention, if it does."""
        table = self._mentioned[column.mention]
        is_binding = column.is_certain and column.mention not in self._sealed and table in self._schema.tables
        if value is None or not is_binding:
            return []
        identified = self._schema.identified(table, column.name)
        if not value:
            is_named = identified == ORGANIZATIONS or self._schema.is_proved(table, column.name)
            return [Rule(column.mention, frozenset())] if is_named else []
        others = {self._schema.identified(self._mentioned[other.mention], other.name) for other in value}
        if identified is None or others != {identified}:
            return []
        return [Rule(column.mention, frozenset(other.mention for other in value))]

    # Values -----------------------------------------------------------------------------------------------------------

    def _projected(self, node: exp.Expr, scope: Scope) -> tuple[list[Rule], dict[str, Value]]:
        if isinstance(node, exp.Star):
            return [], {name: value for source in scope.sources.values() for name, value in source.columns.items()}
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            source = scope.source(node.table)
            return [], dict(source.columns) if source is not None else {}
        rules, value = self._value(node.unalias(), scope)
        return rules, {node.alias_or_name or f"#{id(node)}": value}

    def _value(self, node: exp.Expr, scope: Scope) -> tuple[list[Rule], Value]:  # noqa: PLR0911 - likewise
        """Return what an expression can be, and the rules of the sub-selects in it."""
        match node:
            case exp.Column():
                return [], self._column(node, scope)
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                first = len(self._mentioned)
                rules, rows = self._query(node, scope)
                value = next(iter(rows.columns.values()), None)
                return [rule for rule in rules if rule.mention >= first], value
            case exp.Case():
                branches = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
                conditions = [branch.this for branch in node.args["ifs"]]
                rules, value = self._one_of([branch for branch in branches if branch is not None], scope)
                return [*rules, *(rule for one in conditions for rule in self._nested(one, scope))], value
            case exp.Coalesce():
                return self._one_of([node.this, *node.expressions], scope)
            case exp.Array() if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Query):
                return self._value(node.expressions[0], scope)
            case exp.Array():
                return self._one_of(node.expressions, scope)
            case exp.Min() | exp.Max() | exp.ArrayAgg() | exp.Distinct() | exp.Explode() | exp.Unnest():
                rules, value = self._value(node.this or node.expressions[0], scope)
                return rules, _uncertain(value)
            case exp.Paren() | exp.Cast() | exp.Any() | exp.Filter() | exp.Order():
                return self._value(node.this, scope)
            case _:
                rules = self._nested(node, scope)
                is_given = node.find(exp.Column, exp.Query) is None
                return rules, GIVEN if is_given else None

    def _one_of(self, nodes: Sequence[exp.Expr], scope: Scope) -> tuple[list[Rule], Value]:
        """Return the values of which an expression has one; certain only if all are of one mention, or NULL."""
        rules, value, is_certain = list[Rule](), GIVEN, True
        for node in nodes:
            found, one = self._value(node, scope)
            rules += found
            value = _both(value, one)
            is_certain = is_certain and (bool(one) or isinstance(node, exp.Null))
        if value and (not is_certain or len({column.mention for column in value}) > 1):
            value = _uncertain(value)
        return rules, value

    def _column(self, node: exp.Column, scope: Scope) -> Value:
        if node.table:
            source = scope.source(node.table)
            return source.columns.get(node.name) if source is not None else None
        around: Scope | None = scope
        while around is not None:
            for source in around.sources.values():
                if node.name in source.columns:
                    return source.columns[node.name]
            around = around.around
        return None

    # Tables -----------------------------------------------------------------------------------------------------------

    def _mention(self, table: str) -> int:
        is_known = table in self._schema.tables or table.startswith("pg_") or table in TEMPORARY_TABLES
        if not is_known:
            raise NotUnderstoodError(f"{table} is no table of the schema")
        self._mentioned.append(table)
        return len(self._mentioned) - 1

    def _columns_of(self, table: str) -> list[str]:
        known = self._schema.tables.get(table)
        return known.columns if known is not None else []

    def _source_of(self, table: str, mention: int) -> Source:
        columns = {name: frozenset({Column(mention, name)}) for name in self._columns_of(table)}
        return Source(columns, frozenset({mention}))


def _is_join(node: exp.Expr) -> bool:
    """Return whether parentheses hold a table with its joins rather than a SELECT."""
    return isinstance(node, exp.Paren | exp.Subquery) and (isinstance(node.this, exp.Table) or _is_join(node.this))


def _is_absence(node: exp.Expr) -> bool:
    """Return whether a condition is that a parameter is not given."""
    is_null = isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
    return is_null and node.find(exp.Column, exp.Query) is None


def _uncertain(value: Value) -> Value:
    return None if value is None else frozenset(replace(column, is_certain=False) for column in value)


def _both(left: Value, right: Value) -> Value:
    return None if left is None or right is None else left | right


def _filtered(side: str, own: frozenset[int], joined: frozenset[int]) -> frozenset[int]:
    """Return the mentions whose rows the condition of a join filters."""
    return {"": own | joined, "LEFT": joined, "RIGHT": own, "FULL": frozenset[int]()}[side]


def _renamed(source: Source, alias: exp.Expr | None) -> Source:
    names = _alias_columns(alias)
    if not names:
        return source
    values = list(source.columns.values())
    renamed = dict(zip(names, values, strict=False))
    return Source({**renamed, **dict(list(source.columns.items())[len(names) :])}, source.mentions)


def _alias_columns(alias: exp.Expr | None) -> list[str]:
    return [column.name for column in alias.args.get("columns") or []] if isinstance(alias, exp.TableAlias) else []


def _conflict_columns(conflict: exp.OnConflict) -> list[exp.Expr]:
    keys = conflict.args.get("conflict_keys") or []
    return [key.this if isinstance(key, exp.Ordered) else key for key in keys]


def _parts_of(node: exp.Expr) -> list[exp.Expr]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _queries_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the sub-selects in an expression, but not those within them."""
    if isinstance(node, exp.Subquery | exp.Query):
        yield node
        return
    for child in node.iter_expressions():
        yield from _queries_in(child)
