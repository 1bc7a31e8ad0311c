"""The OpenAPI document as others read it: generated clients work, and the server answers what the document says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.documents import MANUAL, block
from tests.peers import Peer, peer
from tests.processes import Service, Services, services
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD, Builder
from tests.world.fixtures import builder

__all__ = ["builder", "services"]

pytestmark = pytest.mark.long

SLUG = "acme"
MEMBER = "bob@example.com"
STRANGER = "eve@example.com"
CASES_PER_OPERATION = 1
# Without the pages, and without those that end what the others need; and those that succeed with the examples as input.
OPERATIONS_MIN = 200
SUCCEEDED_MIN = 60
STRICT = (
    *("--strict", "--noEmit", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"),
    *("--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022"),
)
CASES_MIN = 500
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "ignored_auth",
    "valid_input_is_not_called_invalid",
)
# They end what the other requests need: the session, the address to sign in with, the account. A stranger and a caller
# without a session send them too.
ENDING = ("sessions_log_out", "profile_change_profile", "privacy_forget")
# They lock the account out that signs in for the next request.
LOCKING = (
    "profile_lock_own_account",
    "profile_lock_account_of_organization",
    "platform_users_lock_user",
    "account_pages_lock_account",
    "platform_console_lock_user",
)


@pytest.fixture
def user_ids(builder: Builder) -> list[UUID]:
    """The ids of an organization's owner and a member, and of a user who is neither."""
    ids = [builder.user(email) for email in (EMAIL, MEMBER, STRANGER)]
    organization_id = builder.organization(SLUG)
    builder.member(organization_id, ids[0], "owner")
    builder.member(organization_id, ids[1])
    return ids


@pytest.fixture
def service(services: Services, user_ids: list[UUID]) -> Service:
    """A server with these users."""
    return services.ready(DEV="on", BASE_URL="http://localhost:8000")


@pytest.fixture
def document(service: Service, tmp_path: Path) -> Path:
    """The document of the server, as a file."""
    path = tmp_path / "openapi.json"
    path.write_bytes(service.get("/openapi.json").content)
    return path


def address(service: Service) -> str:
    """Return the base URL under which the server is reached here."""
    return f"http://127.0.0.1:{service.port}"


def assert_succeeded(done: subprocess.CompletedProcess[str]) -> None:
    """Fail with the output of a program that failed."""
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_the_document_is_valid(document: Path, tmp_path: Path) -> None:
    assert_succeeded(peer("schemathesis").run("python", "-m", "openapi_spec_validator", str(document), folder=tmp_path))


def test_spectral_finds_no_error_in_the_document(document: Path, tmp_path: Path) -> None:
    linters = peer("openapi-linters")
    rules = ("--ruleset", str(linters.files / "spectral.yaml"))

    assert_succeeded(linters.run("spectral", "lint", str(document), *rules, folder=tmp_path))


def test_redocly_finds_no_error_and_no_example_that_is_not_valid(document: Path, tmp_path: Path) -> None:
    linters = peer("openapi-linters")
    rules = ("--config", str(linters.files / "redocly.yaml"))

    assert_succeeded(linters.run("redocly", "lint", str(document), *rules, folder=tmp_path))


def test_every_generated_python_module_can_be_imported(document: Path, tmp_path: Path) -> None:
    generate_python(document, tmp_path)
    modules = [path.relative_to(tmp_path).with_suffix("") for path in (tmp_path / "gatehouse_client").rglob("*.py")]
    program = "\n".join(f"import {'.'.join(module.parts)}" for module in modules if module.name != "__init__")

    assert {"device_flow_verify_device", "saml_import_metadata"} <= {module.name for module in modules}
    assert_succeeded(peer("openapi-python-client").run("python", "-c", program, folder=tmp_path))


def test_the_package_is_not_named_as_ours_by_the_configuration_of_the_manual(document: Path, tmp_path: Path) -> None:
    (tmp_path / "names.yml").write_text(block(MANUAL / "clients.md", "yaml"))
    options = ("--path", str(document), "--config", "names.yml", "--fail-on-warning")

    generated = peer("openapi-python-client").run("openapi-python-client", "generate", *options, folder=tmp_path)

    assert_succeeded(generated)
    assert (tmp_path / "gatehouse-api" / "gatehouse_api" / "client.py").exists()


def test_a_generated_python_client_signs_in_with_and_without_a_second_factor(
    service: Service, document: Path, tmp_path: Path
) -> None:
    generate_python(document, tmp_path)
    generator = peer("openapi-python-client")

    used = generator.run(
        "python",
        str(generator.files / "use_client.py"),
        *(address(service), EMAIL, PASSWORD, SLUG),
        folder=tmp_path,
        environment={"PYTHONPATH": str(tmp_path)},
    )

    assert_succeeded(used)
    assert used.stdout.splitlines() == [f"{EMAIL} {MEMBER}", "slug name"]


def test_generated_clients_read_what_every_operation_answers(service: Service, document: Path, tmp_path: Path) -> None:
    generate_python(document, tmp_path)
    answers = tmp_path / "answers.json"
    generator = peer("openapi-python-client")

    called = generator.run(
        "python",
        str(generator.files / "call_operations.py"),
        *(address(service), EMAIL, PASSWORD, SLUG, str(document), str(answers)),
        folder=tmp_path,
        environment={"PYTHONPATH": str(tmp_path)},
    )

    assert_succeeded(called)
    operations, succeeded = map(int, called.stdout.split())
    assert operations >= OPERATIONS_MIN
    assert succeeded >= SUCCEEDED_MIN, called.stdout
    compiler = prepare_types(document, tmp_path)
    (tmp_path / "answers.ts").write_text(typed(json.loads(answers.read_text()), json.loads(document.read_text())))
    assert_succeeded(compiler.run("tsc", *STRICT, "gatehouse.ts", "answers.ts", folder=tmp_path))


def generate_python(document: Path, folder: Path) -> None:
    """Generate the client in Python; a warning fails it."""
    generator = peer("openapi-python-client")
    package = ["--meta", "none", "--output-path", "gatehouse_client", "--fail-on-warning"]
    package += ["--config", str(generator.files / "config.yml")]
    assert_succeeded(
        generator.run("openapi-python-client", "generate", "--path", str(document), *package, folder=folder)
    )


def prepare_types(document: Path, folder: Path) -> Peer:
    """Generate the types in TypeScript, without a warning, and return the peer with their compiler."""
    compiler = peer("openapi-typescript")
    (folder / "node_modules").symlink_to(compiler.programs.parent)
    generated = compiler.run("openapi-typescript", str(document), "--output", "gatehouse.ts", folder=folder)
    assert_succeeded(generated)
    assert not shows(f"{generated.stdout}{generated.stderr}".lower(), "warn")
    return compiler


def typed(answers: list[dict[str, Any]], document: dict[str, Any]) -> str:
    """Return a program that has each answer as a value of its generated type."""
    lines = ['import type { operations } from "./gatehouse";']
    for number, answer in enumerate(answers):
        operation = document["paths"][answer["path"]][answer["method"]]["operationId"]
        kind = f'operations["{operation}"]["responses"][{answer["status"]}]["content"]["{answer["media"]}"]'
        lines.append(f"export const answer{number}: {kind} = {json.dumps(answer['value'])};")
    return "\n".join(lines)


def test_generated_types_compile_strictly(document: Path, tmp_path: Path) -> None:
    compiler = prepare_types(document, tmp_path)
    (tmp_path / "use_types.ts").write_bytes((compiler.files / "use_types.ts").read_bytes())

    compiled = compiler.run("tsc", *STRICT, "gatehouse.ts", "use_types.ts", folder=tmp_path)

    assert_succeeded(compiled)


@pytest.mark.parametrize(
    ("email", "left_out"),
    [(EMAIL, (*ENDING, *LOCKING)), (MEMBER, (*ENDING, *LOCKING)), (STRANGER, LOCKING), ("", ())],
    ids=["owner", "member", "stranger", "nobody"],
)
def test_the_server_answers_what_the_document_says(
    service: Service, user_ids: list[UUID], tmp_path: Path, email: str, left_out: tuple[str, ...]
) -> None:
    tester = peer("schemathesis")

    done = tester.run(
        "schemathesis",
        *("--config-file", str(tester.files / "schemathesis.toml")),
        *("run", f"{address(service)}/openapi.json?pages=true", "--url", address(service)),
        *("--checks", ",".join(CHECKS), "--phases", "examples,fuzzing", "--seed", "1"),
        *("--max-examples", str(CASES_PER_OPERATION), "--continue-on-failure"),
        *(f"--exclude-operation-id={operation}" for operation in left_out),
        folder=tmp_path,
        environment={
            "SCHEMATHESIS_HOOKS": "hooks",
            "PYTHONPATH": str(tester.files),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PEER_BASE_URL": address(service),
            "PEER_EMAIL": email,
            "PEER_PASSWORD": PASSWORD,
            "PEER_SLUG": SLUG,
            "PEER_USER_IDS": " ".join(map(str, user_ids)),
        },
    )

    assert_succeeded(done)
    assert cases(done.stdout) >= CASES_MIN, done.stdout


def cases(output: str) -> int:
    """Return how many cases the tester generated."""
    [line] = [line for line in output.splitlines() if " generated, " in line]
    return int(line.split()[0].replace(",", ""))
