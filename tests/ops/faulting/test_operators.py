"""Each operator of ops/faults makes its fault, and none where there is nothing to change."""

from __future__ import annotations

import pytest

from ops.faulting.operators import faults_in


@pytest.mark.parametrize(
    ("path", "text", "kind", "expected"),
    [
        ("core/a.py", "if é < b:\n    raise E\n", "condition", "if False:\n    raise E\n"),
        ("core/a.py", "x = 'é', a < b\n", "comparison", "x = 'é', (a) <= (b)\n"),
        ("core/a.py", "x = a.used_at < b.proved_at\n", "comparison", "x = (a.used_at) <= (b.proved_at)\n"),
        ("core/a.py", "w.audit.append(x)\n", "audit", "pass\n"),
        ("core/a.py", "w.sessions.revoke_all(x)\n", "revocation", "pass\n"),
        ("adapters/postgres/a.py", "'id = %s AND organization_id = %s'", "organization", "'id = %s'"),
        ("entrypoints/a.html", "<p>{{ a.b }}</p>", "escaping", "<p>{{ a.b | safe }}</p>"),
        ("entrypoints/a.html", "{{ a.external_id }}", "escaping", "{{ a.external_id | safe }}"),
        ("entrypoints/a.html", '<p><input type="hidden" name="form_token"></p>', "token", "<p></p>"),
    ],
)
def test_an_operator_makes_its_fault(path: str, text: str, kind: str, expected: str) -> None:
    assert [fault.applied(text) for fault in faults_in(path, text) if fault.kind == kind] == [expected]


def test_what_cannot_have_a_fault_has_none() -> None:
    assert list(faults_in("core/a.py", "x = 1\n")) == []
    assert list(faults_in("tests/a.py", "if a < b:\n    raise E\n")) == []


@pytest.mark.parametrize(
    "comparison",
    ["a.expires_at <= uow.now", "at - a.proved_at < A_MAX", "abs(at - a.made_at) > B", "a + B < at.timestamp()"],
)
def test_a_comparison_with_the_present_is_left_alone(comparison: str) -> None:
    assert list(faults_in("core/a.py", f"x = {comparison}\n")) == []


@pytest.mark.parametrize(
    "name",
    ["index", "a.subscription_count", "max_users", "a.id", "user_id", "a.slug", "a.tag", "action.value", "list_page"],
)
def test_what_needs_no_escaping_is_left_alone(name: str) -> None:
    assert list(faults_in("entrypoints/a.html", f"<p>{{{{ {name} }}}}</p>")) == []


def test_a_translated_text_is_left_alone() -> None:
    text = "{% trans name=a.name %}Hello {{ name }}{% endtrans %}{{ a.city }}{%- trans b=b -%}{{ b }}{%- endtrans %}"
    assert [fault.applied(text) for fault in faults_in("entrypoints/a.html", text)] == [
        text.replace("a.city", "a.city | safe")
    ]
