"""Asking why a person cannot sign in, with the session of a helper of the platform or of an organization."""

from __future__ import annotations

from typing import Any

import msgspec

from core.platform import why_answers
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import SignInExplanation
from core.sessions.origins import BACKGROUND
from core.sign_in.rules import Rule
from tests.secret_watch import WATCH
from tests.world.builder import EMAIL
from tests.world.signing_in import SignedInUser
from tests.world.world import World


async def explained_to_platform(
    world: World, by: SignedInUser, slug: str | None = None, *, are_limits_on: bool = True, **question: Any
) -> SignInExplanation:
    """Return what a platform owner reads."""
    database = world.installation.database.on_behalf_of(BACKGROUND, by.tokens.session_id)
    wanted = SignInQuestion(**_with_address(question))
    return await database.read(why_answers.explain_to_platform, slug, wanted, are_limits_on=are_limits_on)


async def explained_to_organization(
    world: World, by: SignedInUser, slug: str = "acme", *, are_limits_on: bool = True, **question: Any
) -> SignInExplanation:
    """Return what a member of an organization reads."""
    database = world.installation.database.on_behalf_of(BACKGROUND, by.tokens.session_id)
    wanted = SignInQuestion(**_with_address(question))
    return await database.read(why_answers.explain_to_organization, slug, wanted, are_limits_on=are_limits_on)


def _with_address(question: dict[str, Any]) -> dict[str, Any]:
    return question if "email" in question or "user_id" in question else {**question, "email": EMAIL}


def walk_by(explanation: SignInExplanation, way: SignInWay) -> SignInWalk:
    """Return the one walk by a way."""
    [walk] = [walk for walk in explanation.walks if walk.way is way]
    return walk


def refusal_by(explanation: SignInExplanation, way: SignInWay = SignInWay.PASSWORD) -> tuple[str, str] | None:
    """Return the rule that refuses a way, and the reason; None when none does."""
    walk = walk_by(explanation, way)
    refusal = walk.refusal
    if refusal is None:
        assert RuleVerdict.NOT_REACHED not in {check.verdict for check in walk.checks}
        return None
    after = walk.checks[walk.checks.index(refusal) + 1 :]
    assert {check.verdict for check in after} <= {RuleVerdict.NOT_REACHED, RuleVerdict.NOT_TOLD}
    assert refusal.reason is not None
    return refusal.rule.value, refusal.reason.value


def check_of(walk: SignInWalk, rule: Rule) -> RuleCheck:
    """Return the check of a rule that is in a walk."""
    [check] = [check for check in walk.checks if check.rule is rule]
    return check


def logged_reason() -> str | None:
    """Return the reason of the last request in the log."""
    line = next(line for line in map(msgspec.json.decode, reversed(WATCH.lines)) if line["event"] == "request")
    return line.get("reason")
