"""Bodies that contain a secret do not show it when they are printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from entrypoints import capabilities
from entrypoints.http.sign_in.login import Login
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.routes import Route
from tests.secret_watch import SECRET_FIELDS

ROUTES = capabilities.routes(is_development=True)


def structs_of(route: Route) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs in a route's body and answer."""
    shapes: list[Any] = [route.body, route.answer]
    while shapes:
        shape = shapes.pop()
        shapes += get_args(shape)
        if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
            yield shape


def test_a_body_with_a_secret_hides_it() -> None:
    with_secrets = [
        (route.name, struct)
        for route in ROUTES
        for struct in structs_of(route)
        if SECRET_FIELDS & set(struct.__struct_fields__)
    ]

    assert [(name, struct.__name__) for name, struct in with_secrets if not issubclass(struct, SecretBody)] == []
    assert with_secrets


def test_a_hidden_body_shows_only_its_name() -> None:
    body = Login(email="ada@example.com", password="correct horse battery")

    assert repr(body) == str(body) == f"{body}" == "Login(***)"
    assert body.__rich_repr__() == [("secret", "***")]
