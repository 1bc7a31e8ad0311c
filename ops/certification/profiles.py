"""The profiles that Gatehouse holds: the plan of the foundation's suite for each, and where our own run is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = Path(__file__).resolve().parent
_TESTS: Final = "tests/openid_conformance"
_PLANS: Final = f"{_TESTS}/openid_connect"
_STATIC: Final = "[client_registration=static_client]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A profile of the foundation, with the plan by which its suite tests it.

    `tests` are the files with our tests of its modules, of which those with `parameter` count. They leave out the
    `beginning` that the names of all modules have.
    """

    folder: str
    name: str
    plan: str
    tests: tuple[str, ...]
    parameter: str = ""
    beginning: str = ""

    @property
    def log(self) -> Path:
        """The log of our own run."""
        return FOLDER / self.folder / "conditions.log"


PROFILES: Final = (
    Profile(
        folder="basic",
        name="Basic OP",
        plan=f"oidcc-basic-certification-test-plan[server_metadata=discovery]{_STATIC}",
        tests=(f"{_PLANS}/test_basic_plan.py",),
        parameter="query",
    ),
    Profile(
        folder="config",
        name="Config OP",
        plan="oidcc-config-certification-test-plan",
        tests=(f"{_PLANS}/test_config_plan.py",),
    ),
    Profile(
        folder="form-post",
        name="Form Post OP",
        plan=f"oidcc-formpost-basic-certification-test-plan[server_metadata=discovery]{_STATIC}",
        tests=(f"{_PLANS}/test_basic_plan.py",),
        parameter="form_post",
    ),
    Profile(
        folder="rp-initiated-logout",
        name="RP-Initiated Logout OP",
        plan=f"oidcc-rp-initiated-logout-certification-test-plan[response_type=code]{_STATIC}",
        tests=(f"{_PLANS}/test_rp_initiated_logout_plan.py",),
    ),
    Profile(
        folder="front-channel-logout",
        name="Front-Channel Logout OP",
        plan=f"oidcc-frontchannel-rp-initiated-logout-certification-test-plan[response_type=code]{_STATIC}",
        tests=(f"{_PLANS}/test_frontchannel_logout_plan.py",),
    ),
    Profile(
        folder="back-channel-logout",
        name="Back-Channel Logout OP",
        plan=f"oidcc-backchannel-rp-initiated-logout-certification-test-plan[response_type=code]{_STATIC}",
        tests=(f"{_PLANS}/test_backchannel_logout_plan.py",),
    ),
    Profile(
        folder="fapi2",
        name="FAPI 2.0 Security Profile OP with private_key_jwt and DPoP",
        plan="fapi2-security-profile-final-test-plan[client_auth_type=private_key_jwt][sender_constrain=dpop]"
        "[openid=openid_connect][fapi_profile=plain_fapi]",
        tests=(f"{_TESTS}/test_fapi2_authorization.py", f"{_TESTS}/test_fapi2_tokens.py"),
        beginning="fapi2-security-profile-final-",
    ),
)
