"""What a route declares of its callers: the kind of their credential, and the checks before its use case runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.key_callers import is_open_to_keys
from core.services.api_keys import Permission
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.calls import Call


def _bearer(text: str, **more: str) -> dict[str, str]:
    return {"type": "http", "scheme": "bearer", **more, "description": text}


def _header(name: str, text: str) -> dict[str, str]:
    return {"type": "apiKey", "in": "header", "name": name, "description": text}


class CredentialKind(Enum):
    """A kind of credential: its label in the reference, and its OpenAPI security scheme."""

    NONE = ("public", None)
    ACCESS_TOKEN = ("user", _bearer("An access token.", bearerFormat="JWT"))
    PRE_AUTH_TOKEN = ("pre-auth token", _bearer("The short-lived token between password and MFA code."))
    API_KEY = ("api-key", _header("X-Api-Key", "A service's API key."))
    ORGANIZATION_KEY = ("organization key", _header("X-Api-Key", "A key of an organization, gk_…"))
    BROWSER_SESSION = (
        "browser",
        {
            "type": "apiKey",
            "in": "cookie",
            "name": browsers.SESSION_COOKIE,
            "description": "The session of a browser that is signed in to Gatehouse; for pages alone.",
        },
    )
    SCIM_TOKEN = ("scim-token", _bearer("An organization's provisioning token, scim_live_…"))
    PROVIDER_TOKEN = (
        "provider's token",
        _bearer(
            "A token that the identity provider of a connection has signed for this one request.", bearerFormat="JWT"
        ),
    )
    SIGNATURE = ("signature", _header("billing-signature", "The sender's signature."))

    def __init__(self, label: str, security_scheme: dict[str, str] | None) -> None:
        self.label = label
        self.security_scheme = security_scheme


Admission: TypeAlias = "Callable[[Call], Awaitable[None]]"
# Receives the text parameters of the path, such as the organization's slug.
RefusalObserver: TypeAlias = "Callable[[Call, Refusal], Awaitable[None]]"
AccessCheck: TypeAlias = "Callable[[Call, Mapping[str, str]], Awaitable[None]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """Who may call: the credential, and the checks before the use case runs.

    The use case decides what the caller may do, but it does not run when the input is invalid. Then `before_refusing`
    is awaited and raises what the use case would have raised: a caller without permission gets that answer rather than
    one about the input.
    """

    kind: CredentialKind
    admit: Admission
    before_refusing: AccessCheck | None = None
    # Awaited with a refusal of an admitted request; it may raise another one instead.
    when_refused: RefusalObserver | None = None
    # The operation that the user must be allowed in the organization of the path, if the path has one.
    operation: Operation | None = None
    # Whether a grant on the service of the path allows the operation as well.
    is_on_service: bool = False
    # Whether the platform's owners and its support read it too, of every service.
    is_read_by_support: bool = False
    # The permission that the API key must have.
    permission: Permission | None = None
    governs_platform: bool = False
    # Whether the platform's support may call it as well as its owners.
    helps_users: bool = False
    # Whether an impersonated session is refused.
    is_in_person: bool = False
    # Whether its forms carry the token of the browser.
    has_protected_forms: bool = False
    # Whether a browser session opens it in place of the token.
    takes_browser: bool = False
    # Whether it changes the whole account, so that the token of a service that shares the account is refused.
    is_account_wide: bool = False
    # The type of a body that is decoded by the handler, after it has verified the signature over its bytes.
    signed_body: Any = None

    @property
    def is_for_oneself(self) -> bool:
        """Whether a page is closed to a platform owner who acts as another user, whatever that user may do."""
        is_on_the_way_of_a_sign_in = self.kind is CredentialKind.NONE and self.has_protected_forms
        return is_on_the_way_of_a_sign_in or self.is_in_person or self.governs_platform

    @property
    def leads_to_sign_in(self) -> bool:
        """Whether a browser without a session is sent to the sign-in."""
        return self.kind is CredentialKind.BROWSER_SESSION or self.takes_browser

    @property
    def takes_key(self) -> bool:
        """Whether a key of the organization opens it, with the capability that it requires."""
        return (
            self.operation is not None
            and self.kind is not CredentialKind.BROWSER_SESSION
            and is_open_to_keys(self.operation)
        )

    @property
    def label(self) -> str:
        """The short form of the policy, as in the golden file."""
        place = " in a browser" if self.kind is CredentialKind.BROWSER_SESSION else ""
        if self.governs_platform:
            return f"platform {'support' if self.helps_users else 'owner'}{place}"
        if self.has_protected_forms and self.kind is CredentialKind.NONE:
            return "browser or not"
        if self.takes_browser:
            return f"{self.operation.requirement if self.operation is not None else self.kind.label} or browser"
        if self.is_account_wide:
            return f"{self.kind.label} account-wide"
        if self.is_in_person:
            return f"{self.kind.label} in person"
        if self.permission is not None:
            return f"{self.kind.label} {self.permission}"
        if self.operation is None:
            return self.kind.label
        required = self.operation.requirement
        if self.is_on_service:
            # A grant gives what the operation takes, and no capability that it requires besides.
            taken, and_, besides = required.partition(" and ")
            required = f"{taken} or a grant{',' if and_ else ''}{and_}{besides}"
        others = " or platform support" if self.is_read_by_support else ""
        return f"{required} or a key{others}{place}" if self.takes_key else f"{required}{others}{place}"
