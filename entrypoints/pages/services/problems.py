"""The tab of a service with its troubles: requests in its name that were refused lately, and what to do about each."""

from typing import Final

from core.lazy_dataclasses import dataclass
from core.openid.device import GRANT_TYPE as DEVICE_GRANT
from core.organizations.access import Operation
from core.services import problems, redirect_changes
from core.services.problems import KEPT_FOR, ClientProblem, ProblemKind
from core.services.redirect_changes import RefusedRedirect
from core.services.services import Service, ServiceUnknown
from entrypoints.pages.console.frame import Program
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

PROBLEMS: Final = "/app/organizations/:org_slug/services/:service_slug/problems"
TITLES: Final = {
    ProblemKind.CLIENT_AUTHENTICATION: marked("The application did not prove who it is"),
    ProblemKind.REDIRECT_URI: marked("The redirect URI is not registered"),
    ProblemKind.LOGOUT_URI: marked("The address after signing out is not registered"),
    ProblemKind.GRANT: marked("A code or a token was not accepted"),
    ProblemKind.PKCE: marked("PKCE was missing or wrong"),
    ProblemKind.RESPONSE_TYPE: marked("The response type is not supported"),
    ProblemKind.SCOPE: marked("The scope goes beyond what was granted"),
    ProblemKind.ACCESS: marked("A person may not use this service"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A refused request as the page shows it.

    `address` is its redirect URI, if that could still be added, and `is_registered` whether what was sent is by now.
    """

    problem: ClientProblem
    address: RefusedRedirect | None
    is_registered: bool

    @property
    def title(self) -> str:
        """What was wrong."""
        return TITLES[self.problem.kind]


@routes.get(PROBLEMS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_PROBLEMS_READ)
async def show_problems(call: Call, org_slug: str, service_slug: str) -> Page:
    """Show why requests in the name of a service were refused lately, and what to do about it."""
    at, found = await opened_service(call, org_slug, service_slug, Operation.SERVICE_PROBLEMS_READ, problems.show)
    return service_page(
        call,
        "services/problems.html",
        at,
        program=Program("services_list_problems", org_slug, service_slug),
        troubles=[_trouble(problem, at.service) for problem in found],
        days=KEPT_FOR.days,
        device_grant=DEVICE_GRANT,
        lacks_change=at.lacks_lasting(Operation.SERVICE_UPDATE),
    )


def _trouble(problem: ClientProblem, service: Service) -> Trouble:
    registered = {
        ProblemKind.REDIRECT_URI: service.redirect_uris,
        ProblemKind.LOGOUT_URI: service.post_logout_redirect_uris,
    }
    sent = problem.details.sent
    return Trouble(
        problem=problem,
        address=redirect_changes.refused_in(problem, service),
        is_registered=sent is not None and service.has_registered(sent, among=registered.get(problem.kind, ())),
    )
