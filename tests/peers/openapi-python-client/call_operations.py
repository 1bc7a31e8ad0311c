"""Calls every operation of the interface with the generated client, which has to read each answer.

    python call_operations.py BASE_URL EMAIL PASSWORD SLUG DOCUMENT ANSWERS

The input is the example of the document; ids come from answers before. It writes to ANSWERS what was answered in JSON,
for other readers. A client that cannot read an answer raises, or returns nothing for a body.
"""

import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

# They end what the others need: the session, the account, the organization, its suspension.
LEFT_OUT = {
    "sessions_log_out",
    "sessions_revoke_session",
    "sessions_revoke_sessions",
    "profile_change_profile",
    "profile_close_account",
    "profile_lock_own_account",
    "privacy_forget",
    "organizations_delete_organization",
    "passwords_change_password",
    "multi_factor_authentication_enable",
}
ORDER = ("post", "put", "get", "patch", "delete")
# Values that have to exist; others are as in the examples.
KEY_PERMISSIONS = ["read:users", "write:users", "read:subscriptions", "write:subscriptions", "read:analytics"]
BODIES = {
    "role": "member",
    "url": "https://hooks.example.com/in",
}


def module(path: str) -> Any:
    """Return a module of the generated package."""
    return importlib.import_module(f"gatehouse_client.{path}")


def plain(name: str) -> str:
    """Return a name without what the generator changes in it."""
    return name.replace("_", "").lower()


class Caller:
    """Calls operations, and remembers ids and credentials that were answered."""

    def __init__(self, base_url: str, document: dict[str, Any], known: dict[str, Any]) -> None:
        self.base_url, self.document, self.known = base_url, document, known
        self.credentials: dict[str, str] = {}
        self.answers: list[dict[str, Any]] = []
        package = Path(module("api").__file__).parent
        self.modules = {plain(file.stem): f"api.{file.parent.name}.{file.stem}" for file in package.glob("*/*.py")}

    def client(self, security: list[dict[str, Any]]) -> Any:
        """Return a client with the credential that an operation takes, if there is one already."""
        options = {"base_url": self.base_url, "raise_on_unexpected_status": True}
        name = next((name for one in security for name in one if name in self.credentials), None)
        if name is None:
            return module("client").AuthenticatedClient(token="none", **options)
        if name == "api_key":
            options |= {"prefix": "", "auth_header_name": "X-Api-Key"}
        return module("client").AuthenticatedClient(token=self.credentials[name], **options)

    def call(self, path: str, method: str, operation: dict[str, Any]) -> bool:
        """Call an operation, and return whether it succeeded; raise when its answer is not read."""
        called = module(self.modules[plain(operation["operationId"])]).sync_detailed
        arguments: dict[str, Any] = {"client": self.client(operation["security"])}
        for name, parameter in inspect.signature(called).parameters.items():
            if name == "body":
                arguments[name] = self.body(operation, parameter.annotation)
            elif name != "client" and parameter.default is inspect.Parameter.empty:
                given = self.known.get(name, "acme")
                is_id = "UUID" in str(parameter.annotation)
                arguments[name] = UUID(self.known.get(name, str(UUID(int=0)))) if is_id else given
        answer = called(**arguments)
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        if answer.content and method != "head":
            assert answer.parsed is not None, f"{operation['operationId']} {answer.status_code}: {answer.content[:500]}"
        if media_type in {"application/json", "application/scim+json"} and answer.content:
            value = json.loads(answer.content)
            self.answers.append(
                {"path": path, "method": method, "status": int(answer.status_code), "media": media_type, "value": value}
            )
            self.remember(path, method, value)
        return int(answer.status_code) < 300

    def body(self, operation: dict[str, Any], annotation: Any) -> Any:
        """Return the example of the body, as an object of the generated class."""
        content = operation["requestBody"]["content"]
        example = next(part["example"] for part in content.values() if "example" in part)
        example = {**example, **{name: value for name, value in BODIES.items() if name in example}}
        if "permissions" in example and ":" in example["permissions"][0]:
            example["permissions"] = KEY_PERMISSIONS
        classes = [one for one in (get_args(annotation) or (annotation,)) if hasattr(one, "from_dict")]
        return classes[0].from_dict(example)

    def remember(self, path: str, method: str, value: Any) -> None:
        """Keep the id of what was made, for the paths below it, and credentials that were shown."""
        if method != "post" or not isinstance(value, dict) or "error" in value:
            return
        made = value if "id" in value else next((one for one in value.values() if isinstance(one, dict)), {})
        for template in self.document["paths"]:
            rest = template.removeprefix(f"{path}/").partition("/")[0]
            if template.startswith(f"{path}/{{"):
                name = rest.strip("{}")
                found = made.get("slug" if name.endswith("slug") else "id")
                if found is not None:
                    self.known.setdefault(name, found)
        for name, kind in (("key", "api_key"), ("token", "scim_token")):
            text = value.get(name)
            if isinstance(text, str) and text.startswith(("sk_", "scim_live_")):
                self.credentials.setdefault(kind, text)


def main(base_url: str, email: str, password: str, slug: str, document: str, answers: str) -> None:
    """Call every operation, those that make something first."""
    described = json.loads(Path(document).read_text())
    caller = Caller(base_url, described, {"slug": slug, "org_slug": slug})
    models = module("models")
    signed_in = module("api.login.login_log_in").sync(
        client=module("client").Client(base_url=base_url), body=models.Login(email=email, password=password)
    )
    caller.credentials["access_token"] = signed_in.access_token
    operations = [
        (path, method, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in LEFT_OUT
    ]
    succeeded = [
        operation["operationId"]
        for path, method, operation in sorted(operations, key=lambda one: (ORDER.index(one[1]), one[0].count("/")))
        if caller.call(path, method, operation)
    ]
    Path(answers).write_text(json.dumps(caller.answers))
    print(len(operations), len(succeeded))  # noqa: T201 - what the test reads


main(*sys.argv[1:])
