"""Rules for programs without a secret: what each must name, and where its issuer may be."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from core.errors import BadRequest
from core.services.client_records import Outside
from core.services.workload_rules import CLAIMS_MAX, Provider, WorkloadFields, checked, provider_of

OUTSIDE = Outside(own_hosts=frozenset({"id.example.com"}))
FIELDS = WorkloadFields(name=" Deployment ", issuer="https://issuer.example/tenant/", match={"sub": "job"})
GITHUB = "https://token.actions.githubusercontent.com"


def refused(**changes: Any) -> set[str]:
    """Return the fields that are refused with these changes."""
    with pytest.raises(BadRequest) as refusal:
        checked(replace(FIELDS, **changes), OUTSIDE)
    return {one.field for one in refusal.value.details}


def test_a_rule_is_stored_as_it_is_named() -> None:
    assert checked(replace(FIELDS, audience="", jwks_uri=""), OUTSIDE) == replace(FIELDS, name="Deployment")
    named = replace(FIELDS, audience="sts.example", jwks_uri="https://keys.example/jwks")
    assert checked(named, OUTSIDE) == replace(named, name="Deployment")


@pytest.mark.parametrize(
    ("issuer", "provider"),
    [
        (GITHUB, Provider.GITHUB),
        (f"{GITHUB}/octo-enterprise", Provider.GITHUB),
        (" https://TOKEN.actions.githubusercontent.com:443/", Provider.GITHUB),
        ("https://gitlab.com", Provider.GITLAB),
        ("https://gitlab.com.", Provider.GITLAB),
        ("https://login.microsoftonline.com/common/v2.0", Provider.ENTRA),
        ("https://login.microsoftonline.us/a/v2.0", Provider.ENTRA),
        ("https://sts.windows.net/a6b6/", Provider.ENTRA),
        ("https://accounts.google.com", Provider.GOOGLE),
        ("https://gitlab.example.com", None),
        ("https://gitlab.com.example", None),
        ("https://example/gitlab.com", None),
        ("https://[", None),
    ],
)
def test_an_issuer_that_many_share_is_known_by_its_host(issuer: str, provider: Provider | None) -> None:
    assert provider_of(issuer) is provider


@pytest.mark.parametrize(
    ("issuer", "fits", "lacks"),
    [
        (GITHUB, {"repository_id": "1", "ref": "r"}, {"repository": "o/r", "ref": "r"}),
        (f"{GITHUB}/octo", {"repository_id": "1", "job_workflow_ref": "w"}, {"repository_id": "1", "sub": "s"}),
        ("https://gitlab.com", {"project_id": "1", "environment": "e"}, {"project_path": "g/p", "ref": "main"}),
        ("https://gitlab.com", {"project_id": "1", "ref": "main"}, {"project_id": "1"}),
        ("https://sts.windows.net/a/", {"tid": "t", "oid": "o"}, {"tid": "t", "sub": "o"}),
        ("https://accounts.google.com", {"sub": "1"}, {"email": "a@b.iam.gserviceaccount.com"}),
        ("https://kubernetes.example", {"sub": "s"}, {"kubernetes.io/serviceaccount/uid": "u"}),
    ],
)
def test_each_issuer_needs_claims_by_id(issuer: str, fits: dict[str, str], lacks: dict[str, str]) -> None:
    keys = {"jwks_uri": "https://keys.example/jwks"}

    assert checked(replace(FIELDS, issuer=issuer, match=fits, **keys), OUTSIDE).match == fits
    # With other keys it is still the same shared issuer.
    assert refused(issuer=issuer, match=lacks, **keys) == {"match"}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": " ", "issuer": "x", "match": {}}, {"name", "issuer", "match"}),
        ({"issuer": "http://issuer.example"}, {"issuer"}),
        ({"issuer": "https://issuer.example?tenant=1"}, {"issuer"}),
        ({"issuer": "https://issuer.example#"}, {"issuer"}),
        ({"issuer": "https://gitlab.com@issuer.example"}, {"issuer"}),
        ({"issuer": "https://ID.example.com./oidc"}, {"issuer"}),
        ({"issuer": "https://10.0.0.7"}, {"issuer"}),
        ({"jwks_uri": "http://keys.example"}, {"jwks_uri"}),
        ({"jwks_uri": "https://localhost/keys"}, {"jwks_uri"}),
        ({"jwks_uri": "https://keys.example", "jwks": {"keys": [{"kty": "RSA"}]}}, {"jwks"}),
        ({"jwks": {"keys": [{"kty": "oct", "k": "x"}]}}, {"jwks"}),
        ({"jwks": {"keys": [{"kty": "EC", "d": "x"}]}}, {"jwks"}),
        ({"audience": "x" * 501}, {"audience"}),
        ({"match": {"sub": ""}}, {"match"}),
        ({"match": {"sub": "x" * 501}}, {"match"}),
        ({"match": {"sub": "x", "": "y"}}, {"match"}),
        ({"match": {"sub": "x", **{str(number): "x" for number in range(CLAIMS_MAX)}}}, {"match"}),
    ],
)
def test_what_can_be_no_rule_is_refused(changes: dict[str, Any], fields: set[str]) -> None:
    assert refused(**changes) == fields


def test_an_issuer_without_protection_is_for_development_alone() -> None:
    local = replace(FIELDS, issuer="http://127.0.0.1:8080")

    assert checked(local, Outside(allowed_networks=(ip_network("127.0.0.0/8"),))).issuer == local.issuer
    assert refused(issuer=local.issuer) == {"issuer"}
