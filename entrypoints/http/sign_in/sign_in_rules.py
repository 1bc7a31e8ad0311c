"""The sign-in rules of an organization."""

import msgspec

from core.organizations.access import Operation
from core.organizations.session_strength import NoFactorOfOwn
from core.sessions.mfa_methods import MfaMethods
from core.sign_in import sign_in_rules
from core.sign_in.sign_in_rules import SignInRules
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "sign-in rules",
    "What an organization accepts at sign-ins. With `phishing_resistant`, a second factor that it requires is a"
    " passkey, or a connection that it trusts with the second factor; neither a code nor a trusted device counts.",
)


class SignInRulesUpdate(msgspec.Struct, kw_only=True):
    """The rules to change; what is omitted stays."""

    mfa_methods: MfaMethods | None = None


@routes.get("/api/organizations/:slug/sign-in-rules")
@in_organization(Operation.SIGN_IN_RULES_READ)
async def show_sign_in_rules(call: Call, slug: str) -> SignInRules:
    """Show the sign-in rules."""
    return await call.read(sign_in_rules.show, slug)


@routes.patch("/api/organizations/:slug/sign-in-rules", refuses=(NoFactorOfOwn,))
@in_organization(Operation.SIGN_IN_RULES_CHANGE)
async def change_sign_in_rules(call: Call, slug: str, body: SignInRulesUpdate) -> SignInRules:
    """Change the sign-in rules, at once and for every session.

    `phishing_resistant` takes a passkey on your own account, or an account of yours at a connection that is trusted
    with the second factor. Members without either sign in with a mailed link or code, without naming the organization,
    and add a passkey to their account.
    """
    return await call.transact(sign_in_rules.change, slug, mfa_methods=body.mfa_methods)
