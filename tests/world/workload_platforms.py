"""The tokens of the platforms that the pages of workloads know, and rules that these fit.

The shapes are those that the platforms document.
"""

from __future__ import annotations

from typing import Any, Final

from tests.world.workload_issuer import BASE_URL

# The issuer, the other claims, and what a rule asks for.
PLATFORMS: Final[dict[str, tuple[str, dict[str, Any], dict[str, str]]]] = {
    "GitHub": (
        "https://token.actions.githubusercontent.com",
        {
            "jti": "example-id",
            "sub": "repo:octo-org/octo-repo:environment:prod",
            "environment": "prod",
            "ref": "refs/heads/main",
            "sha": "example-sha",
            "repository": "octo-org/octo-repo",
            "repository_owner": "octo-org",
            "actor_id": "12",
            "repository_visibility": "private",
            "repository_id": "74",
            "repository_owner_id": "65",
            "run_id": "example-run-id",
            "run_number": "10",
            "run_attempt": "2",
            "runner_environment": "github-hosted",
            "actor": "octocat",
            "workflow": "example-workflow",
            "head_ref": "",
            "base_ref": "",
            "event_name": "workflow_dispatch",
            "ref_type": "branch",
            "job_workflow_ref": "octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main",
        },
        {"repository_id": "74", "environment": "prod"},
    ),
    "GitLab": (
        "https://gitlab.com",
        {
            "namespace_id": "72",
            "namespace_path": "my-group",
            "project_id": "20",
            "project_path": "my-group/my-project",
            "user_id": "1",
            "user_login": "sample-user",
            "pipeline_id": "574",
            "pipeline_source": "push",
            "job_id": "302",
            "ref": "main",
            "ref_type": "branch",
            "ref_path": "refs/heads/main",
            "ref_protected": "true",
            "runner_id": 1,
            "runner_environment": "self-hosted",
            "sub": "project_path:my-group/my-project:ref_type:branch:ref:main",
            "jti": "235b3a54-b797-45c7-ae9a-f72d7bc6ef5b",
        },
        {"project_id": "20", "ref": "main"},
    ),
    "Kubernetes": (
        "https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E",
        {
            "aud": [BASE_URL],
            "kubernetes.io": {
                "namespace": "shop",
                "node": {"name": "node-1", "uid": "646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1"},
                "pod": {"name": "till-7c9", "uid": "5e0bd49b-f040-43b0-99b7-22765a53f7f3"},
                "serviceaccount": {"name": "till", "uid": "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798"},
                "warnafter": 1770095113,
            },
            "sub": "system:serviceaccount:shop:till",
            "jti": "aed34954-b33a-4142-b1ec-389d6bbb4936",
        },
        {
            "sub": "system:serviceaccount:shop:till",
            "kubernetes.io/serviceaccount/uid": "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798",
        },
    ),
    "Entra": (
        "https://login.microsoftonline.com/a6b62364-3b61-4c5e-a0f4-0f8d0e6f9d10/v2.0",
        {
            "azp": "7f1f6dd0-7d5a-4b93-9c0f-1b0a3c2a2c11",
            "azpacr": "2",
            "oid": "bb4a0a14-4d0f-4a9b-8a0e-1b2f3c4d5e6f",
            "rh": "0.AXEA",
            "sub": "bb4a0a14-4d0f-4a9b-8a0e-1b2f3c4d5e6f",
            "tid": "a6b62364-3b61-4c5e-a0f4-0f8d0e6f9d10",
            "uti": "yAy",
            "ver": "2.0",
        },
        {"tid": "a6b62364-3b61-4c5e-a0f4-0f8d0e6f9d10", "oid": "bb4a0a14-4d0f-4a9b-8a0e-1b2f3c4d5e6f"},
    ),
    "Google": (
        "https://accounts.google.com",
        {
            "azp": "112010400000000710080",
            "email": "till@shop.iam.gserviceaccount.com",
            "email_verified": True,
            "sub": "112010400000000710080",
        },
        {"sub": "112010400000000710080"},
    ),
    "SPIFFE": (
        "https://oidc-discovery.prod.example",
        {"aud": [BASE_URL], "sub": "spiffe://prod.example/ns/shop/sa/till"},
        {"sub": "spiffe://prod.example/ns/shop/sa/till"},
    ),
}
