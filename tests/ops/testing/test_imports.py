"""Which files import which, and which tests are of the areas that a change touches."""

from __future__ import annotations

from ops.testing.areas import find_tests
from ops.testing.changes import Changes
from ops.testing.imports import helpers_of, imported_by, importers_of


def changed(*files: str) -> Changes:
    """Return a change of these files."""
    return Changes(since="a commit", files=frozenset(files))


def test_modules_are_found_in_every_form_of_import() -> None:
    # `from core.sign_in.rules import Rule`, `from tests.tenants import asserting, …`.
    imported = imported_by("tests/http/organizations/test_tenants.py")

    assert {"core/sign_in/rules.py", "tests/tenants/asserting.py", "tests/tenants/__init__.py"} & imported == {
        "core/sign_in/rules.py",
        "tests/tenants/asserting.py",
    }


def test_importers_are_those_that_name_the_module() -> None:
    importers = importers_of(["core/services/plans.py"])

    assert "entrypoints/http/services/plans.py" in importers
    assert "core/services/plans.py" not in importers


def test_helpers_are_followed_through_other_helpers_and_fixtures_of_folders() -> None:
    helpers = helpers_of("tests/http/services/test_plans.py")

    assert {"tests/http/services/test_plans.py", "tests/http/conftest.py", "tests/world/builder.py"} <= helpers
    assert "core/services/plans.py" not in helpers
    assert helpers_of("tests/http/services/no_such_test.py") == {
        "tests/http/services/no_such_test.py",
        *helpers_of("tests/http/conftest.py"),
        *helpers_of("tests/conftest.py"),
    }


def test_a_change_of_the_product_asks_the_folders_of_its_area_in_every_layer() -> None:
    assert {"tests/core/services", "tests/http/services", "tests/pages/services", "tests/adapters/services"} <= set(
        find_tests(changed("core/services/plans.py"))
    )
    assert {"tests/adapters/statements", "tests/http/services"} <= set(
        find_tests(changed("adapters/postgres/services/plans.py"))
    )
    assert {"tests/adapters/saml", "tests/http/saml"} <= set(find_tests(changed("adapters/saml/documents.py")))
    assert "tests/entrypoints/operator" in find_tests(changed("entrypoints/operator/acting.py"))


def test_a_changed_test_is_asked_and_so_is_what_imports_a_changed_helper() -> None:
    assert find_tests(changed("tests/http/services/test_plans.py")) == ["tests/http/services/test_plans.py"]
    assert "tests/adapters/mail/test_smtp.py" in find_tests(changed("tests/mail_server.py"))
    assert find_tests(changed("README.md")) == []
    assert list(find_tests(Changes(since="not known", files=None))) == ["tests"]
