"""The Python programs of the reference, with the package `gatehouse-client`."""

from __future__ import annotations

import ast
import keyword
from typing import Final

import pytest

from entrypoints import capabilities
from entrypoints.pages.reference.examples import python_example
from entrypoints.web.describing.client_functions import client_functions
from entrypoints.web.describing.schemas import Schemas
from tests.documents import ROOT

PACKAGE: Final = ROOT / "ops/clients/python/src/gatehouse_client"
ROUTES = tuple(capabilities.routes(is_development=True))


def programs() -> dict[str, str]:
    """Return the programs by the names of the routes."""
    schemas, functions = Schemas(ROUTES), client_functions(ROUTES)
    return {
        route.name: python_example(route, functions[route.operation_id], schemas, "https://id.example.com")
        for route in ROUTES
        if route.operation_id in functions
    }


def test_a_program_imports_the_module_reads_the_credential_and_sends_the_call() -> None:
    found = programs()

    assert found["GET /api/organizations/:slug/members"] == (
        "import os\n\n"
        "from gatehouse_client import Gatehouse, management\n\n"
        'gatehouse = Gatehouse("https://id.example.com", token=os.environ["TOKEN"])\n'
        'print(gatehouse.send(management.list_members("acme")))'
    )
    assert 'api_key=os.environ["API_KEY"]' in found["GET /api/service/info"]
    assert "gatehouse.send(service.read_info())" in found["GET /api/service/info"]
    assert found["POST /api/auth/login"].startswith("from gatehouse_client import Gatehouse, management\n")
    assert 'call = management.login_log_in(\n    email="ada@example.com",\n' in found["POST /api/auth/login"]


def test_every_operation_that_answers_json_has_a_function_and_a_program_that_compiles() -> None:
    functions = client_functions(ROUTES)

    for name, text in programs().items():
        tree = ast.parse(text, name)
        assert all(len(line) <= 200 for line in text.splitlines()), name
        assert any(isinstance(node, ast.ImportFrom) for node in tree.body), name
    assert len(set(functions.values())) == len(functions) > 250
    for function in functions.values():
        _, _, name = function.partition(".")
        assert name == name.lower()
        assert name.isidentifier()
        assert not keyword.iskeyword(name)


@pytest.mark.skipif(not PACKAGE.exists(), reason="the package gatehouse-client is not in this checkout")
def test_every_program_calls_a_function_of_the_package_with_its_arguments() -> None:
    functions = {
        f"{module}.{node.name}": node.args
        for module in ("service", "management")
        for node in ast.parse((PACKAGE / f"{module}.py").read_text()).body
        if isinstance(node, ast.FunctionDef)
    }

    # One operation offers a service to an organization, or makes one for a customer: the package says which.
    others = {"service.make_customer", "management.make_customer"}
    assert set(client_functions(ROUTES).values()) == set(functions) - others
    for name, text in programs().items():
        [call] = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call) and ast.unparse(node.func) in functions
        ]
        takes = functions[ast.unparse(call.func)]
        assert len(call.args) == len(takes.args), name
        assert {one.arg for one in call.keywords} <= {one.arg for one in takes.kwonlyargs}, name
