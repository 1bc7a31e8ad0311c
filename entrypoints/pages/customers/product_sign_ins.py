"""The pages of the sign-ins of an organization's people at a product: the list, and the list as a file."""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.customers import product_sign_ins
from core.customers.product_sign_ins import ProductSignIn, ProductSignInFilter
from core.customers.products import ProductUnknown
from core.limits import EMAIL_CHARACTERS_MAX
from core.organizations.access import Operation
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import PagedQuery, Program, console_page, opened, page_of
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.sign_in_lists import OUTCOME_CHOICES, OUTCOMES
from entrypoints.pages.console.sign_in_plots import REFUSED, SUCCEEDED, method_name
from entrypoints.pages.customers.products import PRODUCT, page_of_product
from entrypoints.pages.frame.languages import language_of
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SIGN_INS: Final = f"{PRODUCT}/sign-ins"


class ProductSignInsQuery(PagedQuery, kw_only=True):
    """Which sign-ins at a product to show, and from where on."""

    outcome: Annotated[str, msgspec.Meta(description="`succeeded` or `refused`.", max_length=20)] = ""
    person: Annotated[
        str, msgspec.Meta(description="The whole email address of the person.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name; what is no outcome filters nothing."""
        succeeded = {SUCCEEDED: True, REFUSED: False}.get(self.outcome)
        return {"wanted": ProductSignInFilter(succeeded=succeeded, email=self.person.strip() or None)}


FOUND: Final = ConsoleList[ProductSignIn](
    path=SIGN_INS,
    listed=product_sign_ins.listed,
    file="sign-ins",
    name="product-sign-ins",
    columns={
        "time": lambda one: one.created_at,
        "person": lambda one: one.email,
        "name": lambda one: one.name,
        "outcome": lambda one: one.outcome.value,
        "reason": lambda one: one.reason.value if one.reason is not None else None,
        "method": lambda one: one.provider,
        "mailed": lambda one: one.mailed_proof,
        "connection": lambda one: one.connection_name,
    },
)


@routes.get(SIGN_INS, refuses=(ProductUnknown,))
@in_console(Operation.SIGN_INS_READ)
async def show_product_sign_ins(call: Call, org_slug: str, client_id: UUID, query: ProductSignInsQuery) -> Page:
    """Show the sign-ins of the organization's people at a product, also refused ones, by outcome and person."""
    standing, at = await opened(
        call, org_slug, Operation.SIGN_INS_READ, product_sign_ins.search, client_id, **query.rows
    )
    language = language_of(call)
    shown = [one.user_id for one in at.rows.found if one.user_id is not None]
    return console_page(
        call,
        "customers/product_sign_ins.html",
        standing,
        program=Program(
            "sign_ins_list_sign_ins", org_slug, shown[0] if shown else "0191d3c1-0000-7000-8000-000000000000"
        ),
        done=query.done,
        **FOUND.values(query, at.rows, org_slug, client_id),
        product=at.product,
        product_page=page_of_product(org_slug, client_id),
        people=f"{page_of(org_slug)}/people",
        choices=OUTCOME_CHOICES,
        outcomes=OUTCOMES,
        methods={one.id: method_name(language, one.provider, one.mailed_proof) for one in at.rows.found},
    )


@routes.get(f"{SIGN_INS}/sign-ins.csv", refuses=(ProductUnknown,))
@in_console(Operation.SIGN_INS_READ)
async def download_product_sign_ins(call: Call, org_slug: str, client_id: UUID, query: ProductSignInsQuery) -> CsvFile:
    """Download the sign-ins at a product that a search finds, at most 100,000, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, client_id, query=query)
