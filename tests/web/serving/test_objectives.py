"""Which requests count towards an objective."""

from __future__ import annotations

import re

from entrypoints import capabilities
from entrypoints.web.serving.request_records import WAITING_ROUTES, kind_of, may_fail_outside
from ports.metrics_of_work import RequestKind
from tests.documents import ROOT

KINDS = {
    (route.method, route.path): kind_of(route)
    for route in capabilities.routes(is_development=True, has_billing_provider=True)
}


def test_sign_ins_and_calls_count_and_probes_do_not() -> None:
    assert KINDS["POST", "/api/auth/login"] is RequestKind.SIGN_IN
    assert KINDS["POST", "/auth/token"] is RequestKind.SIGN_IN
    assert KINDS["GET", "/api/user"] is RequestKind.CALL
    assert KINDS["GET", "/health/ready"] is None
    assert KINDS["GET", "/metrics"] is None


def test_requests_that_wait_for_news_count_towards_none() -> None:
    paths = {path for _, path in KINDS}

    assert paths >= WAITING_ROUTES
    assert {KINDS["GET", path] for path in WAITING_ROUTES} == {None}
    # The dashboard leaves out the same.
    [left_out] = set(re.findall(r'route!~\\"([^"]+)\\"', (ROOT / "ops/monitoring/dashboard.json").read_text()))
    assert all(re.fullmatch(left_out, path) for path in WAITING_ROUTES)


def test_sign_ins_that_depend_on_a_provider_are_those_below_its_paths() -> None:
    routes = capabilities.routes(is_development=False)
    depending = {route.path for route in routes if may_fail_outside(route)}

    assert "/auth/upstream/callback" in depending
    # The code that was mailed finishes a sign-in that came by a provider.
    assert all(path.startswith("/auth/") for path in depending - {"/app/sign-in/address-code"})
