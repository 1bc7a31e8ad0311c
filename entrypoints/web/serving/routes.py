"""The declaration of routes: the one source of dispatch, reference and golden file.

    routes = Routes("invitations", "Inviting people into an organization, and their answer.")

    @routes.post("/api/invitations/accept", refuses=(InvitationExpired,))
    @public
    async def accept(call: Call, body: Acceptance) -> Empty:
        \"\"\"Join the organization that the token invites to.\"\"\"

A word of the path that begins with a colon is a parameter. A parameter of the handler named `body` is the decoded JSON
body, `form` the decoded form of a page, `query` the query string, and every other one a part of the path, a `UUID`
where it is an id. The return annotation is the response; `Media` and `Status` of `answers.py` annotate one that is not
a JSON object or has another status.

A route declares all its answers. Its types are the schemas of the interface, its docstring is the description of the
operation, and two answers of one status are a union. What the credential, the operation, the input and the limits
refuse is derived; `refuses` has every other refusal of the use case. An endpoint that takes a form as well as JSON says
`takes_form`, one that pages of every origin may call `allows_any_origin`. A body takes whole numbers only with bounds.

A module of routes has no `from __future__ import annotations`: annotations are read when the route is declared.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from functools import cache
from types import NoneType
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_type_hints
from uuid import UUID

import msgspec
from quart import Response

from core.connection_uses import REQUEST_USE, ConnectionUse
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.limits import BODY_BYTES_MAX
from core.rate_limits import SIGN_IN_PATHS, RateLimit
from entrypoints.web.input.decoding import takes_files, takes_secret
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.input.multipart import MULTIPART
from entrypoints.web.input.storable import unbounded_numbers
from entrypoints.web.serving.admission.access_policies import AccessCheck, AccessPolicy, CredentialKind
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import SLUG_PARAMETERS, declared_policy
from entrypoints.web.serving.admission.hosts import works_on_custom_hosts
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.dialects import Dialect

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])

# Renders a refusal as a page. Routes without one respond to a refusal with JSON.
RefusalPage: TypeAlias = "Callable[[Call, Refusal], Response]"

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"

# The modules whose routes are for people.
PAGES: Final = "entrypoints.pages."

# Below these paths, and wherever a SAML sign-in passes, are the sign-ins and the checks of tokens, for which some
# connections to the database are reserved.
SIGN_IN_ROUTES: Final = (
    *SIGN_IN_PATHS,
    "/saml/",
    "/app/sign-in",
    "/app/second-factor",
    "/app/passkey",
    "/app/choose-organization",
)
SIGN_IN_USE: Final = ConnectionUse(is_sign_in=True)
CHANGING_USE: Final = ConnectionUse(changes_organization=True)

# The fields of forms and queries, and the parts of paths, that are a secret which the page carries on.
CARRIED_SECRETS: Final = frozenset(
    {
        "challenge_id",
        "credential",
        "id",
        "id_token_hint",
        "link",
        "proof",
        "relay_state",
        "request_id",
        "saml_request",
        "saml_response",
        "saml_state",
        "secret",
        "ticket",
        "token",
        "user_code",
    }
)
# The pages of the holder of a setup link.
SETUP_PAGES: Final = "/app/setup/"

_PATH_PARAMETER: Final = re.compile(r"(?<=/):([a-z_]+)(?![^/])")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Route:
    """One method of one path: who may call it, its input and its response. Each is equal to itself alone."""

    method: str
    path: str
    capability: str
    introduction: str
    handler: Callable[..., Awaitable[Any]]
    who: AccessPolicy
    status: int
    body: Any
    form: Any
    query: Any
    path_parameters: dict[str, type]
    answer: Any
    limits: tuple[RateLimit, ...]
    refuses: tuple[type[Refusal], ...]
    refusal_page: RefusalPage | None
    is_operational: bool = False
    body_bytes_max: int = BODY_BYTES_MAX
    # Verifies the caller before a large body is read; None where the content is all that there is to verify.
    verify_sender: AccessCheck | None = None
    is_verified_by_content: bool = False
    # Whether it works under the custom domains of organizations as well; its path then names no other organization.
    on_custom_hosts: bool = False
    # The JSON body of refusals, where it differs from all other routes.
    refusal_body: type[Any] | None = None
    # Whether the body may be sent as a form as well.
    takes_form: bool = False
    # Whether pages of every origin may read the response.
    allows_any_origin: bool = False
    # Whether the last parameter of its path is all the rest of it, slashes included.
    takes_rest: bool = False
    # Whether its address carries the answer of another system, good once: nothing on its pages leads to it again.
    takes_answer: bool = False
    dialect: Dialect | None = None
    use: ConnectionUse = REQUEST_USE
    # The parameter of the path that names an organization.
    organization_parameter: str | None = None
    # Whether its form makes a secret, which the page that it leads to shows once, and whether it is such a page.
    makes_secret: bool = False
    shows_secret: bool = False
    # Whether its page has secrets in some other way than its input tells.
    lists_secrets: bool = False

    @property
    def carries_secret(self) -> bool:
        """Whether its answers may carry a secret, and are not compressed (`compression.py`).

        It is made or shown, or it came with the request: a link, a message of another system, a one-time id.
        """
        is_declared = self.makes_secret or self.shows_secret or self.lists_secrets or self.takes_answer
        return is_declared or self.path.startswith(SETUP_PAGES) or _takes_carried_secret(self)

    @property
    def asks_to_confirm(self) -> bool:
        """Whether its user must have signed in lately, because a secret is typed, made or shown.

        The holder of a setup link has no account, and nothing to sign in with.
        """
        if self.who.kind is not CredentialKind.BROWSER_SESSION:
            return False
        return self.makes_secret or self.shows_secret or (self.form is not None and takes_secret(self.form))

    @property
    def name(self) -> str:
        """The route's name in the router, the log and the golden file."""
        return f"{self.method} {self.path}"

    @property
    def operation_id(self) -> str:
        """The name of the route in generated clients: the capability, then the handler."""
        return re.sub(r"\W+", "_", f"{self.capability}_{self.handler.__name__}")

    @property
    def is_page(self) -> bool:
        """Whether people open it in a browser: it answers with a page or a part of one, or leads a browser on."""
        return self.handler.__module__.startswith(PAGES)

    def use_of(self, path: Mapping[str, str]) -> ConnectionUse:
        """Return for what a request uses connections, given the parameters of its path."""
        return self.use if self.organization_parameter is None else self.use.at(path[self.organization_parameter])

    @property
    def path_template(self) -> str:
        """The path with its parameters in braces."""
        return _PATH_PARAMETER.sub(r"{\1}", self.path)

    @property
    def sent(self) -> Any:
        """The type of the JSON body or of the form; None when the route takes neither.

        A body whose bytes are signed is only described here: its handler decodes it.
        """
        return next((shape for shape in (self.body, self.form, self.who.signed_body) if shape is not None), None)

    @property
    def media_type(self) -> str:
        """The media type of what is sent."""
        if self.form is None:
            return self.answer_media_type
        return MULTIPART if self.has_files else FORM

    @property
    def has_files(self) -> bool:
        """Whether its form has fields for files."""
        return self.form is not None and takes_files(self.form)

    @property
    def answer_media_type(self) -> str:
        """The media type of what is answered, unless the answer has its own."""
        return JSON if self.dialect is None else self.dialect.media_type

    @property
    def accepted_media_types(self) -> frozenset[str]:
        """The media types of what is accepted."""
        accepted = frozenset({*self.media_types, *self.documents})
        return accepted if self.dialect is None else self.dialect.also_accepted | accepted

    @property
    def documents(self) -> tuple[str, ...]:
        """The media types of which the body may be sent as it is, in place of JSON."""
        return getattr(self.body, "documents", ())

    @property
    def media_types(self) -> tuple[str, ...]:
        """The media types in which it may be sent."""
        if self.takes_form:
            return (FORM, JSON)
        # Without a file, a form may be sent as any other.
        return (MULTIPART, FORM) if self.has_files else (self.media_type,)

    @property
    def documentation(self) -> str:
        """The handler's docstring."""
        return inspect.getdoc(self.handler) or ""


def path_with(path: str, values: Iterable[str | UUID]) -> str:
    """Return the path with these values of its parameters, in their order; raise `ValueError` for another number."""
    fixed = _PATH_PARAMETER.split(path)[::2]
    return "".join(part + str(value) for part, value in zip(fixed, [*values, ""], strict=True))


@cache
def _takes_carried_secret(route: Route) -> bool:
    shapes = [shape for shape in (route.query, route.form) if shape is not None]
    names = {field.name for shape in shapes for field in msgspec.structs.fields(shape)} | set(route.path_parameters)
    is_secret_query = route.query is not None and issubclass(route.query, SecretBody)
    return is_secret_query or not CARRIED_SECRETS.isdisjoint(names)


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of one capability; `description` is its introduction in the reference."""

    capability: str
    description: str
    refusal_page: RefusalPage | None = None
    refusal_body: type[Any] | None = None
    dialect: Dialect | None = None
    routes: list[Route] = field(default_factory=list[Route])

    def get(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declare a GET, which includes a HEAD."""
        return self._declare("GET", path, **options)

    def post(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declare a POST."""
        return self._declare("POST", path, **options)

    def put(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declare a PUT."""
        return self._declare("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declare a PATCH."""
        return self._declare("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declare a DELETE."""
        return self._declare("DELETE", path, **options)

    def _declare(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        limits: tuple[RateLimit, ...] = (),
        refuses: tuple[type[Refusal], ...] = (),
        is_operational: bool = False,
        has_group_limit: bool = True,
        **others: Any,
    ) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            name = f"{method} {path}"
            who = declared_policy(handler)
            if who is None:
                raise TypeError(f"{name} does not declare who may call it; add a decorator such as @public")
            takes = _sent_to(handler, method)
            answer, body, query = takes.pop("return", None), takes.pop("body", None), takes.pop("query", None)
            form = takes.pop("form", None)
            path_parameters = _path_parameters(name, takes)
            limits_of_all = limits + (_group_limits(path) if has_group_limit and not is_operational else ())
            if who.has_protected_forms and method != "GET":
                form = _protected(name, form)
            if (others.get("makes_secret") and method != "POST") or (others.get("shows_secret") and method != "GET"):
                raise TypeError(f"{name} makes a secret without a form, or shows one as its answer")
            others.setdefault("verify_sender", who.before_refusing)
            if who.takes_browser and method != "GET":
                raise TypeError(f"{name} takes a browser session without a protected form")
            self.routes.append(
                _with_verified_sender(
                    Route(
                        method=method,
                        path=path,
                        capability=self.capability,
                        introduction=self.description,
                        handler=handler,
                        who=who,
                        status=status,
                        body=_bounded(name, body),
                        form=form,
                        query=query,
                        path_parameters=path_parameters,
                        answer=answer,
                        limits=limits_of_all,
                        is_operational=is_operational,
                        refuses=refuses,
                        on_custom_hosts=is_operational or works_on_custom_hosts(handler),
                        refusal_page=self.refusal_page,
                        refusal_body=self.refusal_body,
                        dialect=self.dialect,
                        use=_use_of(method, path, who, limits_of_all),
                        organization_parameter=next((one for one in SLUG_PARAMETERS if one in path_parameters), None),
                        **others,
                    )
                )
            )
            return handler

        return declare


def _sent_to(handler: Callable[..., Awaitable[Any]], method: str) -> dict[str, Any]:
    """Return the types of what a handler takes of a request, and of its answer.

    A page that a refused form shows again takes, by its name, what a GET does not send.
    """
    takes = get_type_hints(handler, include_extras=True)
    if method != "GET":
        return takes
    by_name = {one.name for one in inspect.signature(handler).parameters.values() if one.kind is one.KEYWORD_ONLY}
    sent = {name: kind for name, kind in takes.items() if name not in by_name - {"query"}}
    if "query" in sent:
        [sent["query"]] = [one for one in get_args(sent["query"]) if one is not NoneType] or [sent["query"]]
    return sent


def _with_verified_sender(route: Route) -> Route:
    """Return a route; raise `TypeError` for one that reads a large body before anything is known of the caller."""
    is_large = route.body_bytes_max > BODY_BYTES_MAX
    if is_large and route.verify_sender is None and not (route.is_verified_by_content and route.limits):
        raise TypeError(f"{route.name} reads a large body of callers whom nothing verifies before, or nothing limits")
    return route


def _use_of(method: str, path: str, who: AccessPolicy, limits: tuple[RateLimit, ...]) -> ConnectionUse:
    """Return for what a route uses connections; what changes an organization is all that its callers do but reading."""
    if path.startswith(SIGN_IN_ROUTES) or RateLimit.SAML in limits:
        return SIGN_IN_USE
    is_of_organization = who.operation is not None or who.kind in {CredentialKind.API_KEY, CredentialKind.SCIM_TOKEN}
    return CHANGING_USE if is_of_organization and method != "GET" else REQUEST_USE


def _protected(name: str, form: Any) -> Any:
    """Return the form of a page, which carries the token of the browser; without fields it needs no parameter."""
    if form is None:
        return ProtectedForm
    if not issubclass(form, ProtectedForm):
        raise TypeError(f"{name} takes a form that is no `ProtectedForm`")
    return form


def _path_parameters(name: str, takes: dict[str, Any]) -> dict[str, type]:
    """Return the types of the path's parameters by the handler's annotations; each must be `str` or `UUID`."""
    parameters = {parameter: kind for parameter, kind in takes.items() if parameter != "call"}
    names = _PATH_PARAMETER.findall(name)
    if sorted(names) != sorted(parameters) or not all(kind in (str, UUID) for kind in parameters.values()):
        raise TypeError(f"{name} and the parameters of its handler do not match")
    return {parameter: parameters[parameter] for parameter in names}


def _bounded(name: str, body: Any) -> Any:
    """Return the body; raise `TypeError` when it has an unbounded whole number, which may fit no column."""
    if body is not None and (numbers := unbounded_numbers(body)):
        raise TypeError(f"{name} takes numbers of any size: {', '.join(numbers)}; bound them by msgspec.Meta")
    return body


def _group_limits(path: str) -> tuple[RateLimit, ...]:
    return (RateLimit.SIGN_IN_GROUP,) if path.startswith(SIGN_IN_PATHS) else ()


def is_id(parameter: type) -> bool:
    """Return whether a path parameter is an id."""
    return parameter is UUID
