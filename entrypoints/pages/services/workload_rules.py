"""What the pages of workloads share: the platforms that they know, and the form of a new workload."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, cast

import msgspec

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.services.workload_rules import CLAIMS_MAX, RefusalReason, WorkloadFields
from entrypoints.pages.frame.languages import marked
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call

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


# Why a token was refused, for the owner of the rule.
REASONS: Final = {
    RefusalReason.KEYS_UNAVAILABLE: marked("The keys of the issuer could not be had."),
    RefusalReason.SIGNATURE: marked("No key of the issuer has signed it."),
    RefusalReason.AUDIENCE: marked("It was for another audience."),
    RefusalReason.LIFETIME: marked("It has no end, or is valid for more than 24 hours."),
    RefusalReason.EXPIRED: marked("It had expired."),
    RefusalReason.NOT_YET_VALID: marked("It was not valid yet."),
    RefusalReason.CLAIMS: marked("Its claims did not fit."),
}
Texts = Annotated[list[str], msgspec.Meta(max_length=CLAIMS_MAX + len(PRESETS))]


class PresetQuery(msgspec.Struct, kw_only=True):
    """For which platform the form asks."""

    preset: Annotated[str, msgspec.Meta(description="The platform of the program.", max_length=20)] = "github"

    @property
    def chosen(self) -> Preset:
        """The platform; for an unknown word the one for any issuer."""
        return preset_of(self.preset)


class WorkloadForm(ProtectedForm, kw_only=True):
    """A new workload; the names of its claims and their values are in the same order."""

    preset: str = ""
    name: str = ""
    issuer: str = ""
    claim: Texts = msgspec.field(default_factory=list[str])
    value: Texts = msgspec.field(default_factory=list[str])
    audience: str = ""
    jwks_uri: str = ""
    jwks: str = ""

    @property
    def chosen(self) -> Preset:
        """The platform for which the form asked."""
        return preset_of(self.preset)

    @property
    def typed(self) -> list[tuple[str, str]]:
        """The claims with what was typed for them."""
        return [(name.strip(), value.strip()) for name, value in zip(self.claim, self.value, strict=False)]

    def read(self) -> WorkloadFields:
        """Return what the workload is to be; raise `BadRequest` for what cannot be read."""
        given = [(name, value) for name, value in self.typed if value]
        if len({name for name, _ in given}) < len(given):
            raise BadRequest.of_field("match", "Name each claim once. All of them must fit.")
        return WorkloadFields(
            name=self.name,
            issuer=self.issuer,
            match=dict(given),
            jwks_uri=self.jwks_uri.strip() or None,
            jwks=key_set(self.jwks),
            audience=self.audience.strip() or None,
        )


def preset_of(word: str) -> Preset:
    """Return the platform with a word; for an unknown word the one for any issuer."""
    return BY_WORD.get(word, PRESETS[-1])


def form_values(
    call: Call, preset: Preset, form: WorkloadForm | None, *, client_id: str, workloads: str
) -> dict[str, Any]:
    """Return what the template of the form shows."""
    typed = form.typed if form is not None else []
    values = dict(typed)
    named = {claim.name for claim in preset.claims}
    return {
        "preset": preset,
        "presets": PRESETS,
        "form": form or WorkloadForm(issuer=preset.issuer),
        "values": values,
        "free": ([(name, value) for name, value in typed if name not in named] + [("", "")] * preset.rows_free)[
            : max(preset.rows_free, len(values))
        ],
        "pipeline": preset.program(issuer=call.installation.settings.base_url, client_id=client_id),
        "workloads": workloads,
    }


def example(preset: Preset) -> Mapping[str, Any]:
    """Return a body of the interface that makes such a workload."""
    names = [claim.name for claim in preset.claims if claim.is_required]
    return {
        "name": "Deployment",
        "issuer": preset.issuer or "https://issuer.example",
        "match": dict.fromkeys(names, "…"),
    }


def key_set(text: str) -> dict[str, Any] | None:
    """Return a typed key set, None for an empty text; raise `BadRequest` for what is none."""
    if not text.strip():
        return None
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadRequest.of_field("jwks", 'This is a JSON Web Key Set: an object with the list "keys" alone.')
    return cast("dict[str, Any]", found)
