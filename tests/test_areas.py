"""Every layer has the areas and the names of the core, as CONTRIBUTING says: a capability has one file name in each."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.documents import CONTRIBUTING, ROOT

PORTS_OF_AN_AREA_MAX = 4
PAGES = ROOT / "entrypoints" / "pages"
# What is in no area: what all areas of a layer share.
BESIDE_THE_AREAS = {
    "adapters/postgres": ("backup/", "driver/", "embedded/", "schema/"),
    "entrypoints/http": (),
    "entrypoints/pages": ("console/", "downloads/", "frame/", "manual/", "reference/"),
}
# The modules whose area and name no module of the core has, by the reason. Each number may only become smaller.
OTHERS: dict[str, tuple[int, dict[str, tuple[str, ...]]]] = {
    "adapters/postgres": (
        11,
        {
            "storage of what several capabilities of the core use": (
                "sessions/unfinished_sign_ins",
                "sign_in/upstream/revocation/provider_sessions",
            ),
            "storage of one part of a capability": (
                "billing/events",
                "organizations/takeover_entries",
                "saml/configurations",
            ),
            "statements that several modules use": ("webhooks/new_deliveries",),
            "statements of housekeeping": ("platform/ended_invitations", "platform/unproved_accounts"),
            "of all areas: where personal data are": ("privacy/personal_data",),
        },
    ),
    "entrypoints/http": (
        22,
        {
            "a document of a standard, or of an operator's program": (
                "openid/well_known",
                "organizations/settings/tls_allowed",
                "platform/health",
                "platform/metrics",
                "saml/certificate",
                "saml/metadata",
                "scim/scim",
                "sessions/jwks",
                "sign_in/upstream/connections/metadata",
            ),
            "an endpoint that has the name of its standard": ("openid/par", "openid/tokens", "scim/unsupported"),
            "how a standard is spoken": (
                "openid/client_authentication",
                "scim/dialect",
                "scim/resources",
            ),
            "named by its path": (
                "platform/tiers",
                "privacy/privacy",
                "saml/saml",
                "service_api/portal",
                "sessions/logout",
                "sign_in/upstream/connections/upstream_providers",
                "sign_in/why",
            ),
        },
    ),
    "entrypoints/pages": (
        24,
        {
            "one step of the page beside it, with a page of its own": (
                "credentials/host_passkeys",
                "platform/decisions",
                "platform/user_help",
                "services/connecting",
                "sign_in/mailed_links",
                "webhooks/secrets",
            ),
            "a step of a sign-in, by the rules of another area": (
                "accounts/confirm_address",
                "sign_in/choose_organization",
                "sign_in/second_factor_setup",
                "sign_in/sign_in_again",
            ),
            "what one chooses among, in the words of the other product": (
                "audit/receiver_kinds",
                "saml/application_kinds",
                "scim/directory_kinds",
                "sign_in/upstream/connections/product_kinds",
                "sign_in/upstream/connections/provider_kinds",
            ),
            "programs to copy": ("services/snippets",),
            "a part of a setup link, or what begins with one": ("organizations/setup",),
            "how pages look, which the core does not know": (
                "organizations/settings/branding_preview",
                "sign_in/upstream/connections/connection_steps",
            ),
            "for developers": ("mail/mailbox",),
        },
    ),
}


def modules(folder: Path) -> set[str]:
    """Return the modules below a folder that are in an area, named from there; a package alone is none."""
    paths = {file.relative_to(folder).with_suffix("").as_posix() for file in folder.rglob("*.py")}
    return {path for path in paths if "/" in path and not path.endswith("/__init__")}


def named_folders(layer: str) -> set[str]:
    """Return the folders of a layer that its row in the table of CONTRIBUTING names."""
    [row] = re.findall(rf"^\| `{layer}/` \| (.*) \|$", CONTRIBUTING.read_text(), re.MULTILINE)
    return set(re.findall(r"`(\w+)/`", row))


def others(layer: str) -> dict[str, str]:
    """Return the modules of a layer that need a reason, each with it."""
    return {name: reason for reason, names in OTHERS[layer][1].items() for name in names}


@pytest.mark.parametrize("layer", OTHERS)
def test_every_module_has_the_area_and_the_name_of_one_in_the_core_or_a_reason(layer: str) -> None:
    core = modules(ROOT / "core")
    found = {name for name in modules(ROOT / layer) if not name.startswith(BESIDE_THE_AREAS[layer])}
    count_max, reasons = OTHERS[layer]

    assert found - core - others(layer).keys() == set(), "name it after the use case, or move it to its area"
    assert others(layer).keys() - (found - core) == set(), "these need no reason any more"
    assert sum(map(len, reasons.values())) == len(others(layer)) <= count_max


def test_the_ports_of_an_area_are_a_few_modules_in_its_folder() -> None:
    areas = {path.rpartition("/")[0] for path in modules(ROOT / "core")}
    of_area = Counter(path.rpartition("/")[0] for path in modules(ROOT / "ports"))

    assert of_area.keys() - areas == set()
    assert max(of_area.values()) <= PORTS_OF_AN_AREA_MAX


@pytest.mark.parametrize("layer", ["adapters", "entrypoints"])
def test_contributing_names_every_folder_of_a_layer(layer: str) -> None:
    folders = {file.parent.name for file in (ROOT / layer).glob("*/__init__.py")}

    assert folders - named_folders(layer) == set()
    assert folders


def test_only_packages_and_what_all_pages_share_are_in_the_root_of_the_pages() -> None:
    assert {file.name for file in PAGES.glob("*.*")} == {"__init__.py"}
    assert {"rendering", "refusals"} <= {file.stem for file in (PAGES / "frame").glob("*.py")}


def test_every_template_stands_beside_the_module_that_shows_it_and_begins_with_its_name() -> None:
    templates = {file.relative_to(PAGES).with_suffix("").as_posix() for file in PAGES.rglob("*.html")}
    in_areas = {name for name in templates if not name.startswith(BESIDE_THE_AREAS["entrypoints/pages"])}
    beside = modules(PAGES)
    sources = {name: (PAGES / f"{name}.py").read_text() for name in beside}

    assert len(in_areas) > 150
    for template in in_areas:
        owners = [name for name in beside if re.fullmatch(rf"{name}(_\w+)?", template)]
        shown_by = {name for name, source in sources.items() if f'"{template}.html"' in source}
        assert owners, f"{template}: no module beside it has its name"
        assert not shown_by or shown_by & set(owners), f"{template}: {shown_by} shows it"
