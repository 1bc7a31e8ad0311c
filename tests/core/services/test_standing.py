"""What the reader of a page of a service lacks, by role and by grant."""

from datetime import UTC, datetime

from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.standing import Standing
from core.services.services import Service, ServiceType
from core.services.standing import ServiceStanding
from tests.core.organizations.test_members import ACME
from tests.world.builder import new_id


def reader_of_service(*granted: Capability) -> ServiceStanding:
    """Return the standing of a member who has no capability by role."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    service = Service(
        id=new_id(),
        organization_id=ACME.id,
        client_id=new_id(),
        slug="wiki",
        name="Wiki",
        service_type=ServiceType.WEB,
        created_at=moment,
        updated_at=moment,
    )
    reader = Standing(
        organization=ACME, user_id=new_id(), role="clerk", capabilities=frozenset(), owner_email="ann@acme.example"
    )
    return ServiceStanding(reader=reader, service=service, granted=frozenset(granted))


def test_a_grant_gives_what_the_role_lacks_for_this_service() -> None:
    viewer = reader_of_service(Capability.SERVICES_VIEW)

    assert viewer.lacks(Operation.PLANS_READ) is None
    assert viewer.lacks(Operation.PLANS_CHANGE) is Capability.SERVICES_MANAGE
    assert viewer.reader.lacks(Operation.PLANS_READ) is Capability.SERVICES_VIEW


def test_no_grant_gives_what_only_the_owner_may_do() -> None:
    manager = reader_of_service(Capability.SERVICES_VIEW, Capability.SERVICES_MANAGE)

    assert manager.lacks(Operation.PLANS_CHANGE) is None
    assert manager.lacks(Operation.SERVICE_DELETE) is RequiredStanding.OWNER
