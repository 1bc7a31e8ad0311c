"""The functions of a module: one for each operation, which returns the call."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from generating.shapes import Schema, Shapes, docstring, sentence, type_of
from generating.split import split

JSON: Final = "application/json"
SCIM: Final = "application/scim+json"
JSON_LINES: Final = "application/x-ndjson"
FORM: Final = "application/x-www-form-urlencoded"
# Their names are clear only together with the name of their group; the others are in a module of their own.
_KEEP_GROUP: Final = ("SCIM", "platform")
_LEAVE_GROUP_OUT: Final = "service "
# How groups end of which each operation is about one thing of a customer.
_OF_CUSTOMERS: Final = " of customers"
# How operations end that take the key of a service, and are the same for others: its module has no others.
_BY_KEY: Final = "_by_key"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation of the document."""

    method: str
    path: str
    record: dict[str, Any]

    @property
    def credentials(self) -> set[str]:
        """The kinds of credentials of which it takes one."""
        return {name for one in self.record["security"] for name in one}

    @property
    def answers(self) -> dict[str, Schema]:
        """The schemas of its answers by media type; empty where it answers nothing."""
        successes = [response for status, response in self.record["responses"].items() if status.startswith("2")]
        return {media: part.get("schema", {}) for one in successes for media, part in one.get("content", {}).items()}

    @property
    def is_for_programs(self) -> bool:
        """Whether it answers JSON, or nothing because there is nothing to say, to the caller of a program."""
        if self.credentials & {"browser_session", "signature", "provider_token"} and len(self.credentials) == 1:
            return False
        return set(self.answers) <= {JSON, SCIM, JSON_LINES} and (
            bool(self.answers) or "204" in self.record["responses"]
        )

    @property
    def body(self) -> tuple[str, Schema] | None:
        """The media type and the schema of what it takes, JSON before other types; None where it takes nothing."""
        content = self.record.get("requestBody", {}).get("content", {})
        media = next((one for one in (JSON, SCIM, FORM) if one in content), None)
        return (media, content[media]["schema"]) if media is not None else None

    def parameters(self, place: str) -> list[dict[str, Any]]:
        """Return the parameters of the path, or of the query."""
        return [one for one in self.record.get("parameters", ()) if one["in"] == place]


def operations_of(document: dict[str, Any], shapes: Shapes) -> Iterator[Operation]:
    """Yield the operations for programs, in the order of the document."""
    for path, methods in document["paths"].items():
        for method, whole in methods.items():
            for record in split(whole, shapes):
                operation = Operation(method=method.upper(), path=path, record=record)
                if operation.is_for_programs:
                    yield operation


def names_of(operations: Iterable[Operation]) -> dict[str, str]:
    """Return the names of the functions by the ids of operations: without the group, where they say enough."""
    short: dict[str, str] = {}
    for operation in operations:
        identifier, group = operation.record["operationId"], operation.record["tags"][0]
        name = _completed(identifier.removeprefix(f"{re.sub(r'[ -]', '_', group)}_").removesuffix(_BY_KEY), group)
        short[identifier] = name if _says_enough(name, group) else identifier
    counts = Counter(short.values())
    return {identifier: (name if counts[name] == 1 else identifier).lower() for identifier, name in short.items()}


def _completed(name: str, group: str) -> str:
    """Return a name with all words of its group: for SCIM tokens, `customer_token` becomes `customer_scim_token`."""
    things, found, _ = group.partition(_OF_CUSTOMERS)
    if not found:
        return name
    *words, last = things.lower().removesuffix("s").split()
    return name.replace(f"customer_{last}", "_".join(["customer", *words, last]))


def _says_enough(name: str, group: str) -> bool:
    """Return whether a name is clear without its group: `list_members` is, `list_mine` is not."""
    if group.endswith(_OF_CUSTOMERS):
        return True
    if group.startswith(_KEEP_GROUP) or "_" not in name:
        return False
    stems = [word.removesuffix("s") for word in group.split() if len(word) > 3]
    return group.startswith(_LEAVE_GROUP_OUT) or any(stem in name for stem in stems)


def declared(operation: Operation, name: str, shapes: Shapes) -> str:
    """Return the function of an operation."""
    path, query = operation.parameters("path"), operation.parameters("query")
    media, schema = operation.body or ("", {})
    fields = _body_fields(shapes.resolved(schema))
    required = [one for one in (*query, *fields) if one["required"]]
    optional = [one for one in (*query, *fields) if not one["required"]]
    taken = {_argument(one) for one in (*query, *fields)}
    places = {one["name"]: _place(operation.path, one, taken) for one in path}
    signature = [f"{argument}: str" for argument in places.values()]
    signature += ["*"] if required or optional else []
    signature += [f"{_argument(one)}: {_sent(one)}" for one in required]
    signature += [f"{_argument(one)}: {_or_unset(_sent(one))} = UNSET" for one in optional]
    lines = [f"{places[one['name']]}: {sentence(one)}" for one in path if sentence(one)]
    lines += [f"{_argument(one)}: {sentence(one)}" for one in (*required, *optional) if sentence(one)]
    answer, cls, extra = _answer(operation, shapes)
    call = [f"method={operation.method!r}", f"path={_path(operation.path, places)}"]
    call += [f"query=query_of({_fields(query)})"] if query else []
    # A body without a field that is sent is an empty object, which most operations take for none.
    call += [f"body=body_of({_fields(fields)})"] if operation.body is not None else []
    call += ["is_form=True"] if media == FORM else []
    call += [f"media_type={media!r}"] if media == SCIM else []
    return (
        f"def {name}({', '.join(signature)}) -> {answer}:\n"
        f"    {docstring(_summary(operation), indent=4, more=lines)}\n"
        f"    return {cls}({', '.join([*call, *extra])})\n"
    )


def _summary(operation: Operation) -> str:
    text = str(operation.record["summary"])
    return text if text.endswith(".") else f"{text}."


def _body_fields(schema: Schema) -> list[dict[str, Any]]:
    required = schema.get("required", ())
    return [
        {"name": name, "schema": field, "required": name in required, "description": field.get("description", "")}
        for name, field in schema.get("properties", {}).items()
    ]


def _argument(parameter: dict[str, Any]) -> str:
    name = re.sub(r"\W", "_", parameter["name"])
    return f"{name}_" if keyword.iskeyword(name) else name


def _sent(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    is_moment = "in" in parameter and schema.get("format") in {"date", "date-time"}
    return "date | str" if is_moment else type_of(schema, is_sent=True)


def _or_unset(kind: str) -> str:
    return f"{kind.removesuffix(' | None')} | Unset | None" if kind.endswith(" | None") else f"{kind} | Unset"


def _fields(parameters: list[dict[str, Any]]) -> str:
    """Return the keywords that pass parameters on; a dictionary passes the ones whose names are no identifiers."""
    plain = [one["name"] for one in parameters if _argument(one) == one["name"]]
    other = [f"{one['name']!r}: {_argument(one)}" for one in parameters if _argument(one) != one["name"]]
    return ", ".join([*(f"{name}={name}" for name in plain), *([f"**{{{', '.join(other)}}}"] if other else [])])


def _place(path: str, parameter: dict[str, Any], taken: set[str]) -> str:
    """Return the argument of a part of the path; where a field has the same name, with the word before it there."""
    argument = _argument(parameter)
    if argument not in taken:
        return argument
    before = path.partition(f"/{{{parameter['name']}}}")[0].rpartition("/")[2]
    return f"{before.removesuffix('s')}_{argument}"


def _path(path: str, places: dict[str, str]) -> str:
    text = re.sub(r"\{([^}]+)\}", lambda match: f"{{segment({places[match[1]]})}}", path)
    return f'f"{text}"' if places else f'"{text}"'


def _answer(operation: Operation, shapes: Shapes) -> tuple[str, str, list[str]]:
    """Return the annotation of the call, its class, and the keywords that say how its answer is read."""
    answers = operation.answers
    if not answers:
        return "Call[None]", "Call", ["answer='nothing'"]
    if JSON_LINES in answers:
        return "Call[str]", "Call", ["answer='text'"]
    [schema] = answers.values()
    whole = type_of(schema)
    items = _items(schema, shapes)
    if items is None:
        return f"Call[{whole}]", "Call", []
    field, item = items
    keywords = [f"items={field!r}"] if field is not None else []
    return f"ListCall[{whole}, {item}]", "ListCall", [*keywords, *_paging(operation, shapes.resolved(schema))]


def _items(schema: Schema, shapes: Shapes) -> tuple[str | None, str] | None:
    """Return the field with the items of a list, None for an answer that is the list, and their type."""
    if schema.get("type") == "array":
        return None, type_of(schema["items"])
    properties = shapes.resolved(schema).get("properties", {})
    lists = [(name, one) for name, one in properties.items() if one.get("type") == "array"]
    if len(lists) != 1 or not {"total", "pagination", "usage", "has_more"} & set(properties):
        return None
    name, field = lists[0]
    return name, type_of(field["items"])


def _paging(operation: Operation, answer: Schema) -> list[str]:
    names = {one["name"] for one in operation.parameters("query")}
    cursor = next((one for one in ("next_cursor", "next") if one in answer.get("properties", {})), None)
    if "after" in names and cursor is not None:
        return ["paging='cursor'", f"cursor={cursor!r}"]
    if "after" in names:
        return ["paging='last_id'"]
    kind = next((kind for name, kind in (("page", "page"), ("offset", "offset")) if name in names), None)
    return [f"paging={kind!r}"] if kind is not None else []
