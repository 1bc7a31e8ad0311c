"""The platforms that the pages of workloads know: which claims to ask for, and how a program gets its token there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.pages.frame.languages import marked

_FOLDER: Final = Path(__file__).parent / "pipelines"
_PLACEHOLDER: Final = re.compile("@([A-Z_]+)@")
_EXCHANGE: Final = "EXCHANGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetClaim:
    """A claim that a form asks for."""

    name: str
    hint: str = ""
    is_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A platform: its issuer or what that looks like, the claims to ask for, and how a program gets its token."""

    word: str
    name: str
    issuer: str = ""
    issuer_hint: str = ""
    claims: Sequence[PresetClaim] = ()
    claims_hint: str = ""
    audience: str = ""
    audience_hint: str = marked("Leave it empty if the program asks for a token for this address, as below.")
    # How many further claims can be named.
    rows_free: int = 1
    pipeline: str = ""
    # What `curl` sends as the assertion: a variable of the shell, or a file.
    sends: str = '"client_assertion=$ASSERTION"'

    def program(self, *, issuer: str, client_id: str) -> str:
        """Return how a program gets its token and exchanges it, with our issuer and the client id in it."""
        values = {
            "ISSUER": issuer,
            "CLIENT_ID": client_id,
            "AUDIENCE": self.audience or issuer,
            "ASSERTION": self.sends,
        }
        exchange = _filled((_FOLDER / "exchange.sh.txt").read_text("utf-8"), values).rstrip("\n")
        lines = (_FOLDER / self.pipeline).read_text("utf-8").rstrip("\n").split("\n")
        return "\n".join(_filled(line, values | {_EXCHANGE: _indented(exchange, line)}) for line in lines)


_SUB_ELSEWHERE: Final = marked("Needed where the server is your own.")
PRESETS: Final = (
    Preset(
        word="github",
        name="GitHub Actions",
        issuer="https://token.actions.githubusercontent.com",
        claims=(
            PresetClaim(
                name="repository_id",
                hint=marked("A number: gh api repos/OWNER/NAME --jq .id. A repository made anew has another one."),
                is_required=True,
            ),
            PresetClaim(name="environment", hint=marked("Such as production.")),
            PresetClaim(name="ref", hint=marked("Such as refs/heads/main.")),
            PresetClaim(name="job_workflow_ref"),
            PresetClaim(name="sub", hint=_SUB_ELSEWHERE),
        ),
        claims_hint=marked("Besides the repository, name one of environment, ref and job_workflow_ref at least."),
        pipeline="github.yml.txt",
    ),
    Preset(
        word="gitlab",
        name="GitLab",
        issuer="https://gitlab.com",
        claims=(
            PresetClaim(
                name="project_id",
                hint=marked("A number, on the page of the project. A project made anew has another one."),
                is_required=True,
            ),
            PresetClaim(name="ref", hint=marked("Such as main.")),
            PresetClaim(name="environment", hint=marked("Such as production.")),
            PresetClaim(name="sub", hint=_SUB_ELSEWHERE),
        ),
        claims_hint=marked("Besides the project, name one of ref and environment at least."),
        pipeline="gitlab.yml.txt",
    ),
    Preset(
        word="kubernetes",
        name="Kubernetes",
        issuer_hint=marked(
            "kubectl get --raw /.well-known/openid-configuration says it. If it cannot be reached from here, enter the"
            " keys below: kubectl get --raw /openid/v1/jwks."
        ),
        claims=(
            PresetClaim(name="sub", hint="system:serviceaccount:NAMESPACE:NAME", is_required=True),
            PresetClaim(
                name="kubernetes.io/serviceaccount/uid",
                hint="kubectl get serviceaccount NAME -o jsonpath={.metadata.uid}",
                is_required=True,
            ),
        ),
        pipeline="kubernetes.yml.txt",
        sends="client_assertion@/var/run/secrets/gatehouse/token",
    ),
    Preset(
        word="entra",
        name="Microsoft Entra",
        issuer_hint=marked(
            "https://login.microsoftonline.com/TENANT/v2.0, or https://sts.windows.net/TENANT/ for tokens of version 1."
        ),
        claims=(
            PresetClaim(name="tid", hint=marked("The id of the tenant."), is_required=True),
            PresetClaim(
                name="oid",
                hint=marked("The object id of the managed identity or service principal."),
                is_required=True,
            ),
        ),
        audience="api://YOUR_APPLICATION_ID",
        audience_hint=marked(
            "The application for which the program gets its tokens, such as api://… or its client id."
        ),
        pipeline="entra.sh.txt",
    ),
    Preset(
        word="google",
        name="Google Cloud",
        issuer="https://accounts.google.com",
        claims=(
            PresetClaim(
                name="sub",
                hint=marked("The unique id of the service account, a number: gcloud iam service-accounts describe."),
                is_required=True,
            ),
        ),
        pipeline="google.sh.txt",
    ),
    Preset(
        word="spiffe",
        name="SPIFFE",
        issuer_hint=marked("The issuer of the JWT-SVIDs: the address of the discovery provider of the trust domain."),
        claims=(PresetClaim(name="sub", hint="spiffe://TRUST-DOMAIN/PATH", is_required=True),),
        pipeline="spiffe.sh.txt",
    ),
    Preset(
        word="other",
        name=marked("Another issuer"),
        claims=(PresetClaim(name="sub", is_required=True),),
        rows_free=4,
        pipeline="other.sh.txt",
    ),
)
BY_WORD: Final = {preset.word: preset for preset in PRESETS}


def _filled(text: str, values: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _indented(text: str, line: str) -> str:
    """Return lines of which all but the first begin where the text of another line does."""
    return text.replace("\n", "\n" + " " * (len(line) - len(line.lstrip())))
