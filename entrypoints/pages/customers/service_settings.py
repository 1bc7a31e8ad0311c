"""The pages of what a service says of its customers: which may use it, where sign-ins begin, and its own roles."""

from typing import Final

from core.customers import service_settings
from core.customers.service_settings import ServiceRoleUnknown
from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.access import Operation
from core.services import management, service_access
from core.services.management import CustomersRemain, ServiceChanged
from core.services.services import (
    DESCRIPTION_CHARACTERS_MAX,
    ROLES_MAX,
    CustomerPolicy,
    Individuals,
    Service,
    ServiceRole,
    ServiceUnknown,
    individuals_by_default,
)
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.customers.customers import page_of_customers
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SETTINGS: Final = "/app/organizations/:org_slug/services/:service_slug/customers/settings"
START: Final = f"{SETTINGS}/start"
ROLES: Final = f"{SETTINGS}/roles"
ROLE: Final = f"{ROLES}/:role_name"
POLICIES: Final = [
    (CustomerPolicy.NONE.value, marked("No organization but this one")),
    (CustomerPolicy.LISTED.value, marked("Organizations that you offer it to")),
    (CustomerPolicy.ANY.value, marked("Every organization that wants it")),
]
INDIVIDUALS: Final = [
    (Individuals.OTHERS.value, marked("People of no customer")),
    (Individuals.NONE.value, marked("Only members of this organization")),
    (Individuals.ALL.value, marked("Everyone, members of customers too")),
]


class CustomerPolicyForm(ProtectedForm, kw_only=True):
    """Who may use a service, and the version of it that the page has shown."""

    customers: str = ""
    individuals: str = ""
    seen_version: str = ""


class ServiceStartForm(ProtectedForm, kw_only=True):
    """The page of a service that begins a sign-in, and the version of the service that the page has shown."""

    initiate_login_uri: str = ""
    seen_version: str = ""


class ServiceRoleTextsForm(ProtectedForm, kw_only=True):
    """The title, the description and the scopes of a role of a service."""

    title: str = ""
    description: str = ""
    scopes: str = ""

    def role(self, name: str) -> ServiceRole:
        """Return the role that is meant."""
        return ServiceRole(
            name=name, title=self.title.strip(), description=self.description.strip(), scopes=self.scopes.split()
        )


class ServiceRoleForm(ServiceRoleTextsForm, kw_only=True):
    """A new role of a service."""

    name: str = ""


@routes.get(SETTINGS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def show_customer_settings(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: DoneQuery | None = None,
    form: CustomerPolicyForm | ServiceStartForm | ServiceRoleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show which organizations may use a service, who may without one, where sign-ins begin, and its roles."""
    at, service = await opened_service(call, org_slug, service_slug, Operation.CUSTOMERS_READ, service_settings.read)
    return service_page(
        call,
        "customers/service_settings.html",
        at,
        program=Program(
            "services_change_service",
            org_slug,
            service_slug,
            body={
                "customers": CustomerPolicy.LISTED.value,
                "individuals": Individuals.OTHERS.value,
                "roles": [{"name": "editor", "title": "Editor"}],
                "initiate_login_uri": service.initiate_login_uri or "https://app.example.com/sign-in",
            },
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        policy=form if isinstance(form, CustomerPolicyForm) else _policy_of(service),
        start=form.initiate_login_uri if isinstance(form, ServiceStartForm) else service.initiate_login_uri or "",
        tile=f"{call.installation.settings.base_url}/auth/start/{service.client_id}",
        role=form if isinstance(form, ServiceRoleForm) else ServiceRoleForm(),
        policies=POLICIES,
        individuals=INDIVIDUALS,
        roles_max=ROLES_MAX,
        description_max=DESCRIPTION_CHARACTERS_MAX,
        customers=page_of_customers(org_slug, service_slug),
        lacks_change=at.lacks(Operation.SERVICE_UPDATE),
        lacks_lasting=at.lacks_lasting(Operation.SERVICE_UPDATE),
    )


@routes.post(SETTINGS, refuses=(BadRequest, ServiceUnknown, ServiceChanged, CustomersRemain, Forbidden))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_customer_settings, BadRequest, ServiceChanged, CustomersRemain)
async def set_customer_policy(call: Call, org_slug: str, service_slug: str, form: CustomerPolicyForm) -> PageOrRedirect:
    """Set which organizations may use a service; programs use `PATCH …/services/:service_slug` with `customers`."""
    await call.read(service_access.authorize, org_slug, service_slug, Operation.SERVICE_UPDATE)
    if form.customers not in set(CustomerPolicy):
        raise BadRequest.of_field("customers", "Choose which organizations may use the service.")
    if form.individuals not in set(Individuals):
        raise BadRequest.of_field("individuals", "Choose who may use the service without a customer.")
    await call.transact(
        service_settings.set_policy,
        org_slug,
        service_slug,
        CustomerPolicy(form.customers),
        Individuals(form.individuals),
        outside=outside(call),
        seen=form.seen_version,
    )
    return after(_settings(org_slug, service_slug), "customer-settings-saved")


@routes.post(START, refuses=(BadRequest, ServiceUnknown, ServiceChanged, Forbidden))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_customer_settings, BadRequest, ServiceChanged)
async def set_start_of_sign_ins(call: Call, org_slug: str, service_slug: str, form: ServiceStartForm) -> PageOrRedirect:
    """Set where sign-ins begin; programs use `PATCH …/services/:service_slug` with `initiate_login_uri`."""
    await call.transact(
        management.change,
        org_slug,
        service_slug,
        {"initiate_login_uri": form.initiate_login_uri.strip() or None},
        outside=outside(call),
        seen=form.seen_version,
    )
    return after(_settings(org_slug, service_slug), "service-start-saved")


@routes.post(ROLES, refuses=(BadRequest, ServiceUnknown))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_customer_settings, BadRequest)
async def add_service_role(call: Call, org_slug: str, service_slug: str, form: ServiceRoleForm) -> PageOrRedirect:
    """Add a role to a service; programs use `PATCH …/services/:service_slug` with all `roles`."""
    await call.transact(
        service_settings.add_role, org_slug, service_slug, form.role(form.name.strip()), outside=outside(call)
    )
    return after(_settings(org_slug, service_slug), "service-role-saved")


@routes.get(ROLE, refuses=(ServiceUnknown, ServiceRoleUnknown))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def show_service_role(
    call: Call,
    org_slug: str,
    service_slug: str,
    role_name: str,
    *,
    form: ServiceRoleTextsForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a role of a service, with the form that changes its title and description."""
    at, role = await opened_service(
        call, org_slug, service_slug, Operation.CUSTOMERS_READ, service_settings.show_role, role_name
    )
    return service_page(
        call,
        "customers/service_settings_role.html",
        at,
        program=_of_roles(at.service, org_slug),
        refusal=refusal,
        role=role,
        form=form or ServiceRoleTextsForm(title=role.title, description=role.description, scopes=" ".join(role.scopes)),
        description_max=DESCRIPTION_CHARACTERS_MAX,
        settings=_settings(org_slug, service_slug),
        lacks_change=at.lacks(Operation.SERVICE_UPDATE),
    )


@routes.post(ROLE, refuses=(BadRequest, ServiceUnknown, ServiceRoleUnknown))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_service_role, BadRequest)
async def change_service_role(
    call: Call, org_slug: str, service_slug: str, role_name: str, form: ServiceRoleTextsForm
) -> PageOrRedirect:
    """Change the title and description of a role; programs use `PATCH …/services/:service_slug` with all `roles`."""
    await call.transact(
        service_settings.change_role, org_slug, service_slug, form.role(role_name), outside=outside(call)
    )
    return after(_settings(org_slug, service_slug), "service-role-saved")


@routes.get(f"{ROLE}/remove", refuses=(ServiceUnknown, ServiceRoleUnknown))
@on_service_in_console(Operation.SERVICE_UPDATE)
async def ask_to_remove_service_role(call: Call, org_slug: str, service_slug: str, role_name: str) -> Page:
    """Show how many assignments end with a role."""
    at, removal = await opened_service(
        call, org_slug, service_slug, Operation.SERVICE_UPDATE, service_settings.show_removal, role_name
    )
    return service_page(
        call,
        "customers/service_settings_removal.html",
        at,
        program=_of_roles(at.service, org_slug, without=role_name),
        role=removal.role,
        uses=removal.uses,
        settings=_settings(org_slug, service_slug),
    )


@routes.post(f"{ROLE}/remove", refuses=(ServiceUnknown, ServiceRoleUnknown))
@on_service_in_console(Operation.SERVICE_UPDATE)
async def remove_service_role(call: Call, org_slug: str, service_slug: str, role_name: str) -> PageOrRedirect:
    """Remove a role of a service; programs use `PATCH …/services/:service_slug` with all `roles`."""
    await call.transact(service_settings.remove_role, org_slug, service_slug, role_name, outside=outside(call))
    return after(_settings(org_slug, service_slug), "service-role-removed")


def _policy_of(service: Service) -> CustomerPolicyForm:
    """Return the form with what the service says now; who may without a customer is proposed before there are some."""
    individuals = service.individuals if service.serves_customers else individuals_by_default(CustomerPolicy.LISTED)
    return CustomerPolicyForm(customers=service.customers.value, individuals=individuals.value)


def _of_roles(service: Service, org_slug: str, *, without: str = "") -> Program:
    roles = [
        {"name": one.name, "title": one.title, "description": one.description}
        for one in service.roles
        if one.name != without
    ]
    return Program("services_change_service", org_slug, service.slug, body={"roles": roles})


def _settings(org_slug: str, service_slug: str) -> str:
    return f"{page_of_customers(org_slug, service_slug)}/settings"
