"""Explaining to an organization why a user cannot sign in."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.customers.products import ProductOnlyOffered, ProductUnknown
from core.limits import EMAIL_CHARACTERS_MAX
from core.organizations.access import Operation
from core.organizations.explained_roles import ExplainedRole
from core.platform.explained_customers import ExplainedCustomer, ExplainedSetup
from core.platform.sign_in_checks import RuleVerdict, SignInWalk, SignInWay, WalkedConnection
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import ConnectionProblems, ExplainedAccount, NextStep, SignInExplanation
from core.sign_in.own_account import NamedConnection
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule
from core.sign_in.sign_ins import SignIn
from entrypoints.shared.sessions.token_answers import CustomerName
from entrypoints.shared.sign_in.explanations import explained_to_organization
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("sign-ins", "Who has signed in or tried to, and why they were refused.")


class SignInToExplain(Query, kw_only=True):
    """Whose sign-in is explained, and which; without a service that to the organization, without a way every way."""

    email: Annotated[str, msgspec.Meta(max_length=EMAIL_CHARACTERS_MAX)]
    service: str | None = None
    customer: CustomerName | None = None
    product: UUID | None = None
    way: SignInWay | None = None
    connection_id: UUID | None = None


class ExplainedRule(Record):
    """What one rule answers."""

    rule: Rule
    verdict: RuleVerdict
    reason: SignInReason | None
    reason_text: str | None
    until: datetime | None
    networks: list[str]
    required: NamedConnection | None


class ExplainedWay(msgspec.Struct, kw_only=True):
    """The rules in the order in which a way meets them, and the one that refuses."""

    way: SignInWay
    connection: WalkedConnection | None
    refused_by: Rule | None
    rules: list[ExplainedRule]

    @classmethod
    def of(cls, walk: SignInWalk) -> "ExplainedWay":
        """Return what a walk answers."""
        return cls(
            way=walk.way,
            connection=walk.connection,
            refused_by=walk.refusal.rule if walk.refusal is not None else None,
            rules=[ExplainedRule.of(check) for check in walk.checks],
        )


class StepOfSignIn(Record, of=NextStep):
    """What the user does next, and by which connection."""


class ProblemsOfConnection(Record, of=ConnectionProblems):
    """Why sign-ins by a connection failed lately; whose they were is not known."""


class CustomerOfSignIn(Record, of=ExplainedCustomer, rename={"id": "customer_id"}):
    """The customer for which the user comes, and what the user is to it; null for what is the customer's alone."""


class SetupOfSignIn(Record, of=ExplainedSetup, without=("internal_id",)):
    """What you have made for the customer: where the address leads, and by what you let a person in.

    `organization` is the status of a customer that you have made and no person owns yet. `takes_code` says whether the
    next sign-in by an open connection takes a code that is mailed to the address, once; null without such a connection.
    """


class ExplainedSignIn(msgspec.Struct, kw_only=True):
    """Why a user cannot sign in; `account` is null for an address that the caller learns nothing about."""

    account: ExplainedAccount | None
    ways: list[ExplainedWay]
    attempts: list[SignIn]
    problems: list[ProblemsOfConnection]
    role: ExplainedRole | None
    customer: CustomerOfSignIn | None
    setup: SetupOfSignIn | None
    next_step: StepOfSignIn | None

    @classmethod
    def of(cls, explanation: SignInExplanation) -> "ExplainedSignIn":
        """Return an explanation as the interface shows it."""
        step, customer = explanation.next_step, explanation.customer
        return cls(
            next_step=StepOfSignIn.of(step) if step is not None else None,
            account=explanation.account,
            ways=[ExplainedWay.of(walk) for walk in explanation.walks],
            attempts=list(explanation.attempts),
            problems=[ProblemsOfConnection.of(one) for one in explanation.problems],
            role=explanation.role,
            customer=CustomerOfSignIn.of(customer) if customer is not None else None,
            setup=SetupOfSignIn.of(explanation.setup) if explanation.setup is not None else None,
        )


@routes.get("/api/organizations/:org_slug/why", refuses=(ProductUnknown, ProductOnlyOffered))
@in_organization(Operation.SIGN_INS_EXPLAIN)
async def explain_sign_in(call: Call, org_slug: str, query: SignInToExplain) -> ExplainedSignIn:
    """Explain why a member or end user cannot sign in to your organization or to one of its services.

    For each way every rule is named, in the order in which signing in applies it: it passes, refuses, asks for
    something more, depends on the attempt, or is not reached. A person who does not belong to your organization is
    answered like an address without an account. If the address lies in one of your verified mail domains, the answer
    also says whether the domain requires its connection, and how your connections treat such an address. For a person
    who has not confirmed the membership, nothing is said about the account alone. `next_step` says what a person has to
    do where a connection is required: sign in by it, and type a mailed code there once if it has not linked the account
    yet, as after a move to another provider. `role` says which rule of groups gives a member the role, and why other
    matching rules do not: an earlier rule counts, its maker lost the right to give the role, or the maker of the SCIM
    token that put the member into the group may not give it. An organization can ask 30 times at once, and every two
    seconds after that.

    As the vendor of a service with customers, name one by `customer` beside `service`: the answer covers people who
    have signed in for it, or that it shows you; any other person is answered like an address without an account. For a
    customer that you set up, `setup` says what you have made for it, alike for every person that you do not know. As a
    customer, name a product by its client id as `product`: the answer covers your members, and says which side has
    paused the product.
    """
    question = SignInQuestion(
        email=query.email,
        service_slug=query.service,
        customer=query.customer,
        product=query.product,
        way=query.way,
        connection_id=query.connection_id,
    )
    _, explanation = await explained_to_organization(call, org_slug, question)
    return ExplainedSignIn.of(explanation)
