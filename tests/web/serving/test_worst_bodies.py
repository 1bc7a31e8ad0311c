"""What the event loop does for the largest body of each route in its worst shapes, from any sender.

Nothing is timed: calls of Python functions are counted, and what normalizes, matches or sorts notes how much it got.
What runs on a thread does not count. New routes are covered automatically.
"""

from __future__ import annotations

import builtins
import gc
import hashlib
import re
import sys
import threading
import unicodedata
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from random import Random
from re import _parser as sre_parser  # pyright: ignore[reportAttributeAccessIssue] - how wide a pattern is
from types import FrameType
from typing import Any, Final, cast
from urllib.parse import quote_plus, urlencode

import msgspec
import pytest
from msgspec import inspect

from core.limits import BODY_BYTES_MAX
from core.services.api_keys import Permission
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import FORM, Route
from tests.application import Answer
from tests.documents import ROOT
from tests.warming import warm_up
from tests.web.serving.test_authorization import ROUTES, SLUGS, UNKNOWN_ID
from tests.world.backend import insert_key
from tests.world.callers import ACME, Caller, Callers, insert_callers
from tests.world.directory import TOKEN, insert_scim_token
from tests.world.world import World

# Of Python functions, for one request; the dearest usual ones make some thousands.
CALLS_MAX: Final = 30_000
# Of what is normalized, which takes quadratic time, and of what a pattern is looked for in.
NORMALIZED_CHARACTERS_MAX: Final = 1_300
MATCHED_CHARACTERS_MAX: Final = 70_000
SORTED_ELEMENTS_MAX: Final = 5_000
# One in so many of the requests is in the gate.
GATE_ONE_IN: Final = 12
KEY: Final = f"sk_worst1_{'k' * 43}"
# Less than the whole body, so that the rest of it fits.
REST_BYTES: Final = 2_000
MARK: Final = "\u0301"
NUMBER_DIGITS: Final = 60_000
_VALUES: Final[dict[type[inspect.Type], Any]] = {
    inspect.FloatType: 1.0,
    inspect.BoolType: True,
    inspect.UUIDType: str(UNKNOWN_ID),
    inspect.DateTimeType: "2027-01-01T00:00:00Z",
    inspect.DictType: {},
    inspect.NoneType: None,
}
WITH_BODY: Final = [route for route in ROUTES if route.sent is not None]


@dataclass
class Work:
    """The work of the event loop for one request."""

    calls: int = 0
    lengths: dict[str, int] = field(default_factory=dict[str, int])

    def note(self, what: str, length: int) -> None:
        """Note the length of what a function got."""
        self.lengths[what] = max(self.lengths.get(what, 0), length)

    @property
    def excess(self) -> dict[str, int]:
        """The work that exceeds what a request may ask of the event loop."""
        found = {
            name: length
            for name, length in self.lengths.items()
            if length
            > {"normalize": NORMALIZED_CHARACTERS_MAX, "sorted": SORTED_ELEMENTS_MAX}.get(
                name.partition(" ")[0], MATCHED_CHARACTERS_MAX
            )
        }
        return found | ({"calls": self.calls} if self.calls > CALLS_MAX else {})


class WatchedPattern:
    """A compiled pattern that notes how long the texts are in which it is looked for."""

    def __init__(self, pattern: re.Pattern[Any], name: str, note: Callable[[str, Any], None]) -> None:
        self._pattern, self._name, self._note = pattern, name, note

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        return self._watched(found) if callable(found) else found

    def _watched(self, method: Any) -> Any:
        # From the beginning of a text, no more is looked at than a pattern with an end can match.
        is_bounded = method.__name__ in {"match", "fullmatch"} and _width(self._pattern) <= BODY_BYTES_MAX

        def watched(*arguments: Any, **options: Any) -> Any:
            for argument in () if is_bounded else arguments:
                self._note(f"re {self._name}", argument)
            return method(*arguments, **options)

        return watched


@cache
def _width(pattern: re.Pattern[Any]) -> int:
    """Return how many characters a pattern can match at most."""
    return sre_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG).getwidth()[1]


class Watch:
    """Watches what the event loop does between two moments."""

    def __init__(
        self, patched: pytest.MonkeyPatch, *, packages: tuple[str, ...] = ("core.", "adapters.", "entrypoints.")
    ) -> None:
        self._work: Work | None = None
        self._thread = threading.get_ident()
        self._of_tests = str(ROOT / "tests")
        for name in ("normalize", "is_normalized"):
            original = getattr(unicodedata, name)
            patched.setattr(unicodedata, name, self._watched("normalize", original))
        patched.setattr(builtins, "sorted", self._watched("sorted", sorted))
        for name in ("search", "match", "fullmatch", "sub", "findall", "finditer", "split"):
            patched.setattr(re, name, self._watched(f"re.{name}", getattr(re, name)))
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith(packages):
                for name, value in list(vars(module).items()):
                    if isinstance(value, re.Pattern):
                        pattern = WatchedPattern(value, f"{module_name}.{name}", self._note)
                        patched.setattr(module, name, pattern)

    @contextmanager
    def watching(self) -> Generator[Work]:
        """Watch what is done in the block."""
        self._work = work = Work()
        sys.setprofile(self._count)
        try:
            yield work
        finally:
            sys.setprofile(None)
            self._work = None

    def _count(self, frame: FrameType, event: str, _argument: Any) -> None:
        work = self._work
        if event == "call" and work is not None and not frame.f_code.co_filename.startswith(self._of_tests):
            work.calls += 1

    def _note(self, what: str, argument: Any) -> None:
        if self._work is not None and threading.get_ident() == self._thread:
            length = len(argument) if hasattr(argument, "__len__") else 0
            self._work.note(what, length)

    def _watched(self, name: str, function: Any) -> Any:
        def watched(*arguments: Any, **options: Any) -> Any:
            for argument in arguments:
                self._note(name, argument)
            return function(*arguments, **options)

        return watched


@dataclass(frozen=True)
class Sent:
    """A body in one of its worst shapes."""

    shape: str
    data: bytes
    media_type: str


def bodies(route: Route) -> Iterator[Sent]:
    """Yield the largest body of a route in its worst shapes."""
    size = route.body_bytes_max - REST_BYTES
    kind = inspect.type_info(route.sent)
    texts, lists = [*_paths(kind, inspect.StrType)], [*_paths(kind, inspect.ListType)]
    if route.form is not None or route.takes_form:
        yield Sent("wide", "&".join(f"n{number}=" for number in range(size // 10)).encode(), FORM)
        for path in texts:
            if len(path) == 1:
                values = cast("dict[str, Any]", _example(kind))
                for shape, text in (("long", _long(path, size - 500)), ("marks", "a" + MARK * (size // 12))):
                    flat = {name: value for name, value in values.items() if isinstance(value, str)}
                    yield Sent(f"{shape} {path[0]}", urlencode(flat | {path[0]: text}).encode(), FORM)
                repeated = f"{quote_plus(path[0])}=x&" * (size // (len(path[0]) + 3))
                yield Sent(f"repeated {path[0]}", repeated.encode(), FORM)
    if route.form is not None:
        return
    media_type = route.media_type if not route.takes_form else "application/json"
    yield Sent("deep", b'{"a":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}", media_type)
    wide = ",".join(f'"n{number}":0' for number in range(size // 12))
    yield Sent("wide", f"{{{wide}}}".encode(), media_type)
    for path in texts:
        yield Sent(f"long {path}", _encoded(_example(kind, path, _long(path, size))), media_type)
        yield Sent(f"marks {path}", _encoded(_example(kind, path, "a" + MARK * (size // 2))), media_type)
    for path in lists:
        item = _encoded(_item_at(kind, path))
        many = msgspec.Raw(b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]")
        yield Sent(f"elements {path}", _encoded(_example(kind, path, many)), media_type)
    for path in _paths(kind, inspect.IntType):
        digits = msgspec.Raw(b"1" * NUMBER_DIGITS)
        yield Sent(f"digits {path}", _encoded(_example(kind, path, digits)), media_type)
    if texts:
        name = texts[0][0]
        repeated = ",".join([f'"{name}":"x"'] * (size // (len(name) + 7)))
        yield Sent("repeated", f"{{{repeated}}}".encode(), media_type)
    yield Sent("any list", b'{"Operations":[{"op":"add","value":[' + b"[]," * (size // 3 - 100) + b"[]]}]}", media_type)
    yield Sent(
        "any object",
        f'{{"Operations":[{{"op":"add","value":{{{wide[: size - 500].rpartition(",")[0]}}}}}]}}'.encode(),
        media_type,
    )


def _long(path: tuple[str, ...], characters: int) -> str:
    """Return a long text, another one for each field: what one form keeps secret, another one shows."""
    word = hashlib.sha256(repr(path).encode()).hexdigest()
    return (word * (characters // len(word) + 1))[:characters]


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _paths(kind: inspect.Type, wanted: type[inspect.Type], within: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield where values of a kind are: names of fields, and `[]` for the elements of a list."""
    match kind:
        case inspect.StructType() if len(within) <= 3:
            for each in kind.fields:
                yield from _paths(each.type, wanted, (*within, each.encode_name))
        case inspect.UnionType():
            for one in kind.types:
                yield from _paths(one, wanted, within)
        case inspect.Metadata():
            yield from _paths(kind.type, wanted, within)
        case inspect.ListType():
            if wanted is inspect.ListType:
                yield within
            yield from _paths(kind.item_type, wanted, (*within, "[]"))
        case _ if isinstance(kind, wanted) or (wanted is inspect.StrType and isinstance(kind, inspect.CustomType)):
            yield within
        case _:
            return


def _example(kind: inspect.Type, path: tuple[str, ...] | None = None, worst: Any = None) -> Any:
    """Return a valid value of a type; at the path, the worst one."""
    if path == ():
        return worst
    match kind:
        case inspect.StructType():
            return {
                each.encode_name: _example(each.type, path[1:] if path and path[0] == each.encode_name else None, worst)
                for each in kind.fields
                if each.required or (path and path[0] == each.encode_name)
            }
        case inspect.UnionType():
            kinds = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
            fitting = [one for one in kinds if path and isinstance(one, inspect.StructType | inspect.ListType)]
            return _example((fitting or kinds)[0], path, worst)
        case inspect.Metadata():
            return _example(kind.type, path, worst)
        case inspect.ListType():
            return [_example(kind.item_type, path[1:] if path else None, worst)]
        case _:
            return _simple(kind)


def _simple(kind: inspect.Type) -> Any:
    """Return a valid value of a type without parts; a text for what is not known here."""
    if isinstance(kind, inspect.IntType):
        return kind.ge or 1
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    if isinstance(kind, inspect.EnumType):
        return next(iter(kind.cls)).value
    return _VALUES.get(type(kind), "x")


def _item_at(kind: inspect.Type, path: tuple[str, ...]) -> Any:
    """Return a valid element of the list at a path."""
    value = _example(kind, (*path, "[]"), None)
    for step in path:
        value = value[0] if step == "[]" else value[step]
    match _kind_at(kind, path):
        case inspect.ListType(item_type=item):
            return _example(item)
        case _:
            return value[0]


def _kind_at(kind: inspect.Type, path: tuple[str, ...]) -> inspect.Type:
    match kind:
        case inspect.Metadata():
            return _kind_at(kind.type, path)
        case inspect.UnionType():
            containers = [one for one in kind.types if isinstance(one, inspect.StructType | inspect.ListType)]
            return _kind_at(containers[0], path)
        case inspect.StructType() if path:
            return _kind_at(next(one.type for one in kind.fields if one.encode_name == path[0]), path[1:])
        case inspect.ListType() if path:
            return _kind_at(kind.item_type, path[1:])
        case _:
            return kind


class Senders:
    """The credentials with which routes are asked."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.callers: Callers = insert_callers(world)
        self.shop = world.service(self.callers.acme_id)
        insert_key(world, self.callers.acme_id, self.shop.id, KEY, permissions=[*Permission])
        insert_scim_token(world, self.callers.acme_id, TOKEN, groups="directory")
        self._form_token = ""

    async def open_form(self) -> None:
        """Read the form token of the owner's browser."""
        home = await self.world.client.get("/app/organizations", headers=self.callers.cookie(Caller.OWNER))
        self._form_token = re.findall('name="form_token" value="([^"]+)"', home.text)[-1]

    def revive(self) -> None:
        """Undo what an earlier request may have ended."""
        self.world.connection.execute(
            """
            WITH sessions AS (UPDATE sessions SET revoked_at = NULL),
                 people AS (UPDATE users SET deactivated_at = NULL)
            UPDATE organizations SET status = 'active'
            """
        )

    def credentials(self, route: Route) -> dict[str, dict[str, str]]:
        """Return the headers of each kind of sender: without, with a wrong and with a right credential."""
        right = Caller.PLATFORM_OWNER if route.who.governs_platform else Caller.OWNER
        match route.who.kind:
            case CredentialKind.API_KEY:
                return {"none": {}, "wrong": {"X-Api-Key": f"sk_other_{'o' * 43}"}, "right": {"X-Api-Key": KEY}}
            case CredentialKind.SCIM_TOKEN:
                wrong = {"Authorization": "Bearer nonsense"}
                return {"none": {}, "wrong": wrong, "right": {"Authorization": f"Bearer {TOKEN}"}}
            case CredentialKind.BROWSER_SESSION:
                wrong = {"Cookie": "gatehouse_session=unknown"}
                return {"none": {}, "wrong": wrong, "right": self.callers.cookie(right)}
            case _:
                pass
        wrong = {"Authorization": "Bearer nonsense"}
        if route.who.kind is CredentialKind.PRE_AUTH_TOKEN:
            # A right one belongs to a sign-in that is half finished.
            return {"none": {}, "wrong": wrong}
        return {"none": {}, "wrong": wrong, "right": self.callers.credentials(right)}

    def path(self, route: Route) -> str:
        """Return the path of a route of acme, with ids that nothing has."""
        names = dict.fromkeys(SLUGS, ACME) | {"service_slug": "shop"}
        return re.sub(r":([a-z_]+)", lambda part: names.get(part[1], str(UNKNOWN_ID)), route.path)

    async def send(self, route: Route, sent: Sent, headers: dict[str, str]) -> Answer:
        """Send a body to a route of acme."""
        data = sent.data
        if route.form is not None and route.who.has_protected_forms:
            data = f"form_token={self._form_token}&".encode() + data
        return await self.world.client.request(
            route.method, self.path(route), data=data, headers={**headers, "Content-Type": sent.media_type}
        )


@pytest.fixture
async def senders(world: World) -> Senders:
    """Who sends the bodies."""
    # What is compiled at first use does not belong to a request.
    warm_up()
    made = Senders(world)
    await made.open_form()
    return made


async def excess(
    senders: Senders, routes: list[Route], monkeypatch: pytest.MonkeyPatch, *, one_in: int
) -> dict[str, dict[str, int]]:
    """Return which requests ask too much of the event loop, and what."""
    found = dict[str, dict[str, int]]()
    gc.collect()
    with monkeypatch.context() as patched:
        watch = Watch(patched)
        for route in routes:
            senders.revive()
            random = Random(route.name)
            for sent in bodies(route):
                for kind, headers in senders.credentials(route).items():
                    if random.randrange(one_in):
                        continue
                    with watch.watching() as work:
                        answer = await senders.send(route, sent, headers)
                    assert answer.status < 500, (route.name, sent.shape, kind, answer.text[:300])
                    if work.excess:
                        found[f"{route.name}, {sent.shape}, {kind} credential"] = work.excess
    return found


async def test_no_body_asks_much_of_the_event_loop(senders: Senders, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await excess(senders, WITH_BODY, monkeypatch, one_in=GATE_ONE_IN) == {}


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
async def test_no_body_in_any_shape_asks_much_of_the_event_loop(
    senders: Senders, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    assert await excess(senders, WITH_BODY[part::4], monkeypatch, one_in=1) == {}
