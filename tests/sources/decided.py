"""The modules and definitions that may use the machine's clock, and why no verdict depends on it."""

from __future__ import annotations

from typing import Final

_PLACES_OF_REASONS: Final = {
    "It waits for a condition, with a deadline of a minute or more that ends a hang.": (
        "ops/clients/python/tests_with_server/guides/guide.py",
        "tests/entrypoints/nodes.py::wait_for",
        "tests/waiting.py",
    ),
    "It measures, for what only a test marked `timing` asserts.": (
        "tests/adapters/outages.py::Load",
        "tests/clients.py::Client",
        "tests/costs.py",
        "tests/entrypoints/confirmed_writes.py::Registrant",
        "tests/entrypoints/test_silent_name_server.py::seconds_of",
        "tests/stopwatch.py",
    ),
    "It puts events in order: what was confirmed before another event and what after it.": (
        "tests/entrypoints/test_failover_drill.py",
    ),
    "A client of a load pauses between its requests.": (
        "tests/entrypoints/nodes.py::Load",
        "tests/entrypoints/test_cluster_drill.py::Inviter",
    ),
    "It hangs on purpose, until the test ends it.": ("tests/entrypoints/supervised.py",),
    "The longer it waits the more is looked at: a slow machine refuses nothing that a fast one does not.": (
        "tests/adapters/schema/test_migrations_without_transaction.py",
        "tests/drills.py::Lasting",
        "tests/entrypoints/test_compiling_server.py",
        "tests/entrypoints/test_heartbeats.py",
        "tests/web/serving/test_plan_costs.py",
    ),
    "It is a handler, which tests ask under a virtual clock.": ("tests/web/serving/connections/wires.py",),
    "The clock of the machine is what is tested: between two readings of it, however far apart.": (
        "tests/adapters/platform/test_health_figures.py",
        "tests/adapters/test_clock.py",
        "tests/adapters/test_randomness.py",
        "tests/entrypoints/test_jumping_clock.py",
        "tests/pages/services/test_python_client_at_a_server.py",
    ),
    "New ids follow the clock of a test, and where it has none the machine's.": ("tests/ids.py",),
    "It gives up waiting sooner than it must, and a connection is then closed by force.": (
        "tests/postgres.py::Databases",
    ),
    "It is the deadline of a wait that the caller gives.": ("tests/postgres.py::lent",),
    "PostgreSQL compares with its own time, or writes it into rows.": (
        "tests/adapters/audit/test_audit_log.py",
        "tests/adapters/platform/test_late_work.py",
        "tests/adapters/schema/test_connections_migration.py",
        "tests/adapters/schema/test_sign_in_habits_migration.py",
        "tests/http/audit/test_audit_log.py",
    ),
    "A program or library beside the test compares with the time of the machine, so that ours has to be the same.": (
        "ops/clients/python/tests/readme_example.py",
        "tests/actors/test_billing_reconciler.py",
        "tests/adapters/sessions/test_tokens.py",
        "tests/differential/answers_of_saml.py",
        "tests/entrypoints/demo/test_demo.py",
        "tests/entrypoints/old_credentials.py",
        "tests/entrypoints/test_cluster_drill.py::clock",
        "tests/entrypoints/test_killed_at_work.py",
        "tests/entrypoints/test_nodes.py",
        "tests/entrypoints/test_silent_name_server.py::clock",
        "tests/entrypoints/work.py",
        "tests/http/webhooks/test_manual_receiver.py",
        "tests/http/webhooks/test_standard_webhooks.py",
        "tests/identity_programs/connected.py",
        "tests/ops/test_certification.py",
        "tests/ops/test_vulnerability_drill.py",
        "tests/pages/saml/peers.py",
        "tests/pages/saml/test_customers_at_mellon.py",
        "tests/pages/saml/test_mod_auth_mellon.py",
        "tests/pages/services/conftest.py",
        "tests/pages/services/test_connecting_in_a_browser.py",
        "tests/pages/services/test_pipelines.py",
        "tests/pages/services/test_python_client_in_a_browser.py",
        "tests/pages/sign_in/upstream/test_oidc_provider.py",
        "tests/pages/sign_in/upstream/test_samlp.py",
        "tests/pages/sign_in/upstream/test_simplesamlphp.py",
        "tests/pages/sign_in/upstream/test_trials_in_a_browser.py",
        "tests/pages/webhooks/test_receiver_code.py",
        "tests/pages/webhooks/test_webhooks_in_a_browser.py",
        "tests/peers/authlib/sign_in.py",
        "tests/peers/openapi-python-client/use_client.py",
        "tests/world/peer_customers.py",
        "tests/world/peer_site.py",
        "tests/world/revocations.py",
    ),
}
DECIDED: Final = {place: reason for reason, places in _PLACES_OF_REASONS.items() for place in places}
