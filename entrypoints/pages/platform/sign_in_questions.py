"""The page on which an organization finds out why a member or end user cannot sign in.

Sign-in links are not sent from here: the code of a link that another person has requested would have to be handed to
that person, who could sign in with it.
"""

from dataclasses import replace
from typing import Annotated, Any, Final
from urllib.parse import quote
from uuid import UUID

import msgspec

from core.customers.products import ProductUnknown
from core.errors import BadRequest, Refusal
from core.ids import id_or_none
from core.limits import EMAIL_CHARACTERS_MAX
from core.organizations.access import Operation
from core.platform import sign_in_questions
from core.platform.sign_in_checks import SignInWay
from core.platform.sign_in_questions import QuestionChoices, SignInQuestion, Sought
from core.sign_in.rules import Rule
from entrypoints.pages.console.frame import Program, console_page, opened, page_of, path_in_interface, with_query
from entrypoints.pages.console.pickers import Picker, chosen_person, picker
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.pages.platform.sign_in_checks import SettingPlace, shown
from entrypoints.pages.sign_in import rules
from entrypoints.shared.sign_in.explanations import explained_to_organization
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import SIGN_IN
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

# Longer than every slug, and short enough to be shown.
SLUG_TYPED_MAX: Final = 100
WAYS: Final = [("", marked("Every way")), *((way.value, text) for way, text in rules.WAYS.items())]
PEOPLE: Final = marked("People")
SAML: Final = marked("SAML")
CONNECTIONS: Final = marked("Sign-in rules and connections")
MAIL_DOMAINS: Final = marked("Mail domains")
SERVICES: Final = marked("Services")
SERVICE_SETTINGS: Final = marked("Settings of the service")
# In the call of the interface, before anything was asked.
EXAMPLE: Final = "ann@example.com"
# The rules of a service, which its vendor sets.
_OF_SERVICE: Final = frozenset({Rule.SERVICE, Rule.SECURITY_PROFILE, Rule.SAML_ADMISSION, Rule.ACCESS})
# No product has it.
_NO_ID: Final = UUID(int=0)


class QuestionQuery(Query, kw_only=True):
    """Whose sign-in fails, and which, and what was searched for to choose from."""

    email: Annotated[str, msgspec.Meta(description="The address of the user.", max_length=EMAIL_CHARACTERS_MAX)] = ""
    find_email: Annotated[
        str, msgspec.Meta(description="An address, or a part of one.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""
    service: Annotated[str, msgspec.Meta(description="The slug of a service.", max_length=SLUG_TYPED_MAX)] = ""
    customer: Annotated[
        str, msgspec.Meta(description="A customer of the service, by its id or slug.", max_length=SLUG_TYPED_MAX)
    ] = ""
    find_service: Annotated[str, msgspec.Meta(description="A part of a service's name.", max_length=254)] = ""
    find_customer: Annotated[str, msgspec.Meta(description="A part of a customer's name.", max_length=254)] = ""
    way: Annotated[str, msgspec.Meta(description="The way to sign in; empty for all.", max_length=20)] = ""


class WhyQuery(QuestionQuery, kw_only=True):
    """A question of an organization, which may concern a product that it uses."""

    product: Annotated[
        str, msgspec.Meta(description="The client id of a product that is used.", max_length=SLUG_TYPED_MAX)
    ] = ""
    find_product: Annotated[str, msgspec.Meta(description="A part of a product's name.", max_length=254)] = ""

    @property
    def question(self) -> SignInQuestion:
        """The question; a product that is no client id is left out."""
        product = self.product.strip()
        return SignInQuestion(
            email=chosen_person(self.email, self.find_email),
            service_slug=self.service.strip() or None,
            customer=self.customer.strip() or None,
            product=(id_or_none(product) or _NO_ID) if product else None,
            way=way_of(self.way),
        )

    @property
    def kept(self) -> dict[str, str]:
        """The question, as the fields of an address."""
        question = self.question
        return {
            "email": question.email,
            "service": question.service_slug or "",
            "customer": question.customer or "",
            "product": self.product.strip(),
            "way": question.way.value if question.way is not None else "",
        }

    @property
    def sought(self) -> Sought:
        """What the page lets its reader choose from."""
        return Sought(
            person=self.find_email,
            service=self.find_service,
            customer=self.find_customer,
            product=self.find_product,
            service_slug=self.service.strip() or None,
        )


@routes.get("/app/organizations/:org_slug/why")
@in_console(Operation.SIGN_INS_EXPLAIN)
async def show_why(call: Call, org_slug: str, query: WhyQuery) -> Page:
    """Show which rule refuses the sign-in of a member or end user, and what was tried lately."""
    question = query.question
    refusal: Refusal | None = None
    email, service = question.email, question.service_slug or ""
    standing, found = await opened(
        call, org_slug, Operation.SIGN_INS_EXPLAIN, sign_in_questions.for_organization, query.sought
    )
    answer: dict[str, Any] = {}
    page = page_of(org_slug)
    members = with_query(f"{page}/people", search=email)
    lacks_members = standing.lacks(Operation.MEMBERS_LIST)
    if email:
        people = SettingPlace(href=members, text=PEOPLE) if lacks_members is None else None
        services_page = f"{page}/services" if standing.lacks(Operation.SERVICES_LIST) is None else None
        opens_sign_in = standing.lacks(Operation.CONNECTIONS_READ) is None
        places = _places(call, org_slug, service, people, services_page, opens_sign_in=opens_sign_in)
        if question.product is not None:
            places = _places_of_product(call, org_slug, question.product, places)
        try:
            _, explanation = await explained_to_organization(call, org_slug, question)
            answer = shown(explanation, places)
        except (BadRequest, ProductUnknown) as problem:
            # What was typed stays, and nothing is answered.
            refusal = problem
    return console_page(
        call,
        "platform/sign_in_questions.html",
        standing,
        program=Program(
            "sign_ins_explain_sign_in",
            org_slug,
            query={**query.kept, "email": email or EXAMPLE},
        ),
        refusal=refusal,
        asked=bool(answer),
        query=WhyQuery(**query.kept),
        **pickers_of(found, query, email),
        product=picker(
            "product", ("", found.products), chosen=query.product.strip(), searched=query.find_product, keeps=True
        ),
        ways=WAYS,
        page=f"{page}/why",
        members=members,
        lacks_members=lacks_members,
        invitations=with_query(f"{page}/people/invited", search=email),
        lacks_invitations=standing.lacks(Operation.INVITATIONS_LIST),
        sign_in_page=call.installation.settings.base_url + SIGN_IN,
        **answer,
    )


def pickers_of(found: QuestionChoices, query: QuestionQuery, named: str) -> dict[str, Picker | None]:
    """Return the fields to choose from, by name; None is one that the reader types."""
    customers = found.customers
    customer = query.customer.strip()
    if customers is not None:
        customer = next((one.about for one in customers.found if one.value == customer), customer)
        customers = replace(customers, found=[replace(one, value=one.about) for one in customers.found])
    return {
        "person": picker("email", ("", found.people), chosen=named, searched=query.find_email, keeps=True),
        "service": picker(
            "service", ("", found.services), chosen=query.service.strip(), searched=query.find_service, keeps=True
        ),
        "customer_of_service": picker(
            "customer", ("", customers), chosen=customer, searched=query.find_customer, keeps=True
        ),
    }


def way_of(typed: str) -> SignInWay | None:
    """Return the way that is asked about; None for every way."""
    return SignInWay(typed) if typed in set(SignInWay) else None


def _places(
    call: Call,
    slug: str,
    service: str,
    people: SettingPlace | None,
    services_page: str | None,
    *,
    opens_sign_in: bool,
) -> dict[Rule, SettingPlace]:
    """Return where an organization changes what the rules depend on.

    `people` is its page of members and `services_page` its page of services, if they are open to the reader;
    `opens_sign_in` says whether the pages of the sign-in are.
    """
    in_path = quote(service, safe="") or ":service_slug"
    # A reader may explain sign-ins and lack the right to open it: that page says so.
    saml = SettingPlace(href=f"{page_of(slug)}/services/{quote(service, safe='')}/single-sign-on", text=SAML)
    sign_in = f"{page_of(slug)}/sign-in"
    connections, domains = (
        (SettingPlace(href=sign_in, text=CONNECTIONS), SettingPlace(href=f"{sign_in}/mail-domains", text=MAIL_DOMAINS))
        if opens_sign_in
        else (
            SettingPlace(call=path_in_interface(call, "upstream_connections_list_upstream_providers", slug)),
            SettingPlace(call=path_in_interface(call, "domain_routes_list_domain_routes", slug)),
        )
    )
    of_people = (Rule.ACCOUNT, Rule.SEAT, Rule.AFFILIATION, Rule.MEMBERSHIP, Rule.NOT_SUSPENDED)
    of_services: dict[Rule, SettingPlace] = {}
    if services_page is not None:
        of_services[Rule.SERVICE] = SettingPlace(href=services_page, text=SERVICES)
        one = quote(service, safe="")
        settings = f"{services_page}/{one}/settings" if one else services_page
        of_services |= dict.fromkeys(
            (Rule.SECURITY_PROFILE, Rule.ACCESS),
            SettingPlace(href=settings, text=SERVICE_SETTINGS if one else SERVICES),
        )
    return {
        Rule.SERVICE: SettingPlace(call=path_in_interface(call, "services_list_services", slug)),
        Rule.CUSTOMER: SettingPlace(call=path_in_interface(call, "services_show_service", slug, in_path)),
        Rule.SECURITY_PROFILE: SettingPlace(call=path_in_interface(call, "services_show_service", slug, in_path)),
        Rule.ACCESS: SettingPlace(call=path_in_interface(call, "services_show_service", slug, in_path)),
        Rule.SAML_ADMISSION: saml
        if service
        else SettingPlace(call=path_in_interface(call, "SAML_show_configuration", slug, in_path)),
        **dict.fromkeys((Rule.CONNECTION_OPEN, Rule.CONNECTION_KEPT), connections),
        Rule.REQUIRED_SECOND_FACTOR: connections
        if opens_sign_in
        else SettingPlace(call=path_in_interface(call, "organizations_read_organization", slug)),
        **dict.fromkeys((Rule.MAIL_DOMAIN, Rule.SINGLE_SIGN_ON), domains),
        **(dict.fromkeys(of_people, people) if people is not None else {}),
        **of_services,
    }


def _places_of_product(
    call: Call, slug: str, client_id: UUID, places: dict[Rule, SettingPlace]
) -> dict[Rule, SettingPlace]:
    """Return where an organization changes what the rules of a product depend on; the service is its vendor's."""
    product = SettingPlace(call=path_in_interface(call, "products_show_product", slug, client_id))
    return {rule: place for rule, place in places.items() if rule not in _OF_SERVICE} | {Rule.CUSTOMER: product}
