"""Customers that a vendor has made: one for each step and each trouble of their setup, and one with everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from core.customers.claiming import SetupPart
from core.organizations.organizations import MadeThrough, OrganizationStatus
from core.secrets import hash_token
from core.sign_in.upstream.connections.setup_states import ConnectionSetupState
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.trials.trials import TrialGroups, fingerprint
from ports.unit_of_work import UnitOfWork
from tests.pages.crawl.organizations import Organization, insert_organization
from tests.pages.crawl.people import Person
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.values import EMAIL, HOST, NAME, RIGHT_TO_LEFT, UNBROKEN, URL
from tests.service_provider import key_pair
from tests.world.builder import TIERS, Service
from tests.world.world import World

# The secrets of links of customers.
OWNERS_LINK: Final = "the link of an owner"
SETUP_LINK: Final = "the setup link of a customer"
# People who are asked to own a customer, with an address in its mail domain.
OWNER: Final = f"owning@verified1.{HOST}"
# The customers that the crawl opens, by what their slugs end with.
WITH_IT_ALL, ASKED, CLAIMED, CLOSED, PAUSED, FRESH = "all", "asked", "claimed", "closed", "paused", "fresh"
PARTS: Final = [part.value for part in SetupPart]


@dataclass(frozen=True)
class MadeCustomer:
    """A customer that a vendor has made, and what inserts rows of its internal organization."""

    id: UUID
    organization_id: UUID
    rows: Rows
    maker: Person
    # Tells rows apart of which no two may be alike.
    numbers: list[int] = field(default_factory=list[int])

    def connection(self, state: ConnectionSetupState, **columns: Any) -> UUID:
        """Insert a connection, of whose state the vendor has been notified."""
        connection_id = self.rows.add(
            "upstream_connections",
            type="saml",
            name=(NAME, RIGHT_TO_LEFT, UNBROKEN)[self._number() % 3],
            issuer=URL,
            metadata_url=URL,
            scopes=[],
            attribute_mapping={"email": f"<b>{UNBROKEN}"},
            setup_state=state,
            **{"enabled": True, "made_through": MadeThrough.SETUP_LINK, **columns},
        )
        self.rows.add(
            "connection_keys",
            connection_id=connection_id,
            public_key=key_pair("the crawl").certificate_pem,
            valid_until=self.rows.ago(days=-9),
            is_active=True,
        )
        return connection_id

    def trial(self, connection_id: UUID) -> None:
        """Insert that the maker has tested a connection, with success."""
        self.rows.add(
            "trial_sign_ins",
            connection_id=connection_id,
            user_id=self.maker.id,
            session_id=self.maker.session_id,
            concluded_at=self.rows.clock(),
            expires_at=self.rows.ago(hours=-1),
            problem=None,
            reason="",
            subject=NAME,
            email=EMAIL,
            claims=[[f"<b>{UNBROKEN}", NAME]],
            groups=TrialGroups.SENT,
        )

    def use(self, connection_id: UUID, user_id: UUID) -> None:
        """Insert that a person has come by a connection."""
        self.rows.add(
            "identities",
            provider="upstream",
            user_id=user_id,
            subject=UNBROKEN,
            connection_id=connection_id,
            email=EMAIL,
            groups=[NAME],
        )

    def failure(self, connection_id: UUID) -> None:
        """Insert that sign-ins by a connection fail."""
        self.rows.add(
            "upstream_failures",
            connection_id=connection_id,
            problem=ProviderProblem.WRONG_SECRET,
            occurrences=1_000_000,
            last_request_id="a" * 64,
        )

    def domain(self, connection_id: UUID, status: str, **columns: Any) -> None:
        """Insert a mail domain that leads to a connection."""
        now = self.rows.clock()
        self.rows.add(
            "domain_routes",
            connection_id=connection_id,
            domain=f"{status}{self._number()}.{HOST}",
            enforced=False,
            value=UNBROKEN,
            status=status,
            verified_at=None if status == "pending" else now,
            proved_at=None if status == "pending" else now,
            failing_since=now if status == "failing" else None,
            **{"made_through": MadeThrough.PROGRAM, **columns},
        )

    def token(self, **columns: Any) -> UUID:
        """Insert a SCIM token."""
        return self.rows.add(
            "scim_tokens", name=RIGHT_TO_LEFT, groups="directory", **{"made_through": MadeThrough.MEMBER, **columns}
        )

    def call(self, token_id: UUID, status: int, detail: str | None) -> None:
        """Insert a call of the directory, with its answer."""
        self.rows.add(
            "scim_log_entries",
            token_id=token_id,
            token_name=RIGHT_TO_LEFT,
            method="PATCH",
            path=f"/scim/v2/Users?filter=<b>{UNBROKEN}",
            user_name=EMAIL,
            status=status,
            detail=detail,
        )

    def rules(self, connection_id: UUID, role_ids: list[UUID]) -> None:
        """Insert a rule for a group that the connection asserts, and one for a group of the directory."""
        group_id = self.rows.add("directory_groups", display_name=NAME, members=1)
        for group in (
            {"connection_id": connection_id, "asserted_group": f"<b>{UNBROKEN}", "group_id": None},
            {"connection_id": None, "asserted_group": None, "group_id": group_id},
        ):
            self.rows.add("customer_group_rules", role_ids=role_ids, **group)

    def link(self, parts: list[str], secret: str | None = None, **columns: Any) -> None:
        """Insert a setup link."""
        self.rows.add(
            "setup_links",
            parts=parts,
            secret_hash=hash_token(secret or f"setup link {self.id} {self._number()}"),
            expires_at=self.rows.ago(days=-3),
            **columns,
        )

    def _number(self) -> int:
        self.numbers.append(len(self.numbers))
        return self.numbers[-1]


async def insert_made_customers(world: World, vendor: Organization, maker: Person, user_id: UUID) -> None:
    """Insert the customers; a person comes for some of them."""
    made = {
        called: _insert_made(world, vendor, maker, called)
        for called in ("unopened", "opened", "test", "domain", "directory", "used", "failing", "off", "expired")
    }
    made["unopened"].link(PARTS[:1])
    made["opened"].link(PARTS[:1], last_used_at=vendor.rows.clock())
    made["test"].connection(ConnectionSetupState.CONFIGURED)
    waiting = made["domain"].connection(ConnectionSetupState.TESTED)
    made["domain"].trial(waiting)
    made["domain"].domain(waiting, "pending")
    made["directory"].token()
    made["used"].use(made["used"].connection(ConnectionSetupState.TESTED), user_id)
    world.connection.execute(
        "UPDATE service_customers SET last_sign_in_at = %s WHERE id = %s", (world.clock(), made["used"].id)
    )
    failing = made["failing"].connection(ConnectionSetupState.FAILING)
    made["failing"].failure(failing)
    made["failing"].domain(failing, "failing")
    off = made["off"].connection(ConnectionSetupState.CONFIGURED, enabled=False, off_reason=NAME)
    made["off"].domain(off, "pending", checked_at=vendor.rows.clock())
    made["expired"].token(last_used_at=vendor.rows.clock(), expires_at=vendor.rows.ago(days=1))
    _insert_with_it_all(world, vendor, maker, user_id)
    _insert_claimed(world, vendor, maker)
    for status in (OrganizationStatus.REJECTED, OrganizationStatus.SUSPENDED):
        one = _insert_made(world, vendor, maker, status)
        vendor.rows.set("organizations", one.organization_id, status=status)
    paused = _insert_made(world, vendor, maker, PAUSED)
    paused.connection(ConnectionSetupState.TESTED)
    world.connection.execute(
        "UPDATE service_customers SET vendor_paused_at = %s WHERE id = %s", (world.clock(), paused.id)
    )
    fresh = _insert_made(world, vendor, maker, FRESH)
    _ask_owner(fresh, hash_token("expired"), expires_at=vendor.rows.ago(days=1))
    asked = _insert_made(world, vendor, maker, ASKED)
    asked.domain(asked.connection(ConnectionSetupState.TESTED), "verified")
    _ask_owner(asked, hash_token(OWNERS_LINK), email=OWNER)
    _insert_ended(world, vendor)
    await _count_trials(world)


def _insert_with_it_all(world: World, vendor: Organization, maker: Person, user_id: UUID) -> None:
    """Insert an unclaimed customer with something in each state, and open links."""
    one = _insert_made(world, vendor, maker, WITH_IT_ALL)
    one.connection(ConnectionSetupState.CONFIGURED, made_through=MadeThrough.MEMBER)
    one.trial(one.connection(ConnectionSetupState.TESTED, made_through=MadeThrough.PROGRAM))
    used = one.connection(ConnectionSetupState.TESTED)
    one.trial(used)
    one.use(used, user_id)
    one.failure(one.connection(ConnectionSetupState.FAILING, enabled=False))
    for status in ("pending", "verified", "failing"):
        one.domain(used, status, checked_at=vendor.rows.clock())
    one.token()
    one.token(last_used_at=vendor.rows.clock(), expires_at=vendor.rows.ago(days=1))
    one.call(one.token(last_used_at=vendor.rows.clock()), 409, NAME)
    [[role_ids]] = vendor.rows.connection.execute(
        b"SELECT role_ids FROM services WHERE id = %s", (vendor.service_id,)
    ).fetchall()
    one.rules(used, [UUID(role_id) for role_id in role_ids.values()])
    one.link(PARTS, SETUP_LINK, return_url=URL, reported_actor=NAME)
    one.link(PARTS[:2], last_used_at=vendor.rows.clock(), reported_actor=f"<b>{UNBROKEN}")
    _ask_owner(one, hash_token(WITH_IT_ALL))
    one.rows.add("memberships", user_id=user_id, role="member", confirmed_at=one.rows.clock())
    one.rows.add("customer_users", user_id=user_id)


def _insert_claimed(world: World, vendor: Organization, maker: Person) -> None:
    """Insert two customers with owners: one lets the vendor set up two parts, and the other one nothing."""
    for called, parts in ((CLAIMED, PARTS[:2]), (CLOSED, [])):
        one = _insert_made(world, vendor, maker, called)
        one.domain(one.connection(ConnectionSetupState.TESTED), "verified")
        _ask_owner(one, hash_token(called), claimed_at=vendor.rows.clock())
        vendor.rows.set("organizations", one.organization_id, is_unclaimed=False)
        vendor.rows.set("service_customers", one.id, vendor_setup=parts)


def _insert_ended(world: World, vendor: Organization) -> None:
    """Insert a customer that has ended, and can be restored."""
    rows = vendor.rows
    ended_id = insert_organization(rows, "c-ended", name=RIGHT_TO_LEFT)
    world.connection.execute(
        """
        UPDATE organizations
        SET    is_unclaimed = true, status = 'deleting', status_before_deletion = 'active', deletes_at = %s
        WHERE  id = %s
        """,
        (rows.ago(days=-3), ended_id),
    )
    rows.add(
        "service_customers",
        vendor_id=vendor.id,
        service_id=vendor.service_id,
        organization_id=None,
        offered_slug=None,
        offer_expires_at=None,
        is_made=True,
        ended_at=rows.clock(),
        ended_organization_id=ended_id,
        ended_external_id=f"<b>{UNBROKEN}",
    )


def _insert_made(world: World, vendor: Organization, maker: Person, called: str) -> MadeCustomer:
    """Insert an unclaimed customer, and its internal organization."""
    organization_id = insert_organization(vendor.rows, f"c-{called}", name=NAME)
    vendor.rows.set("organizations", organization_id, is_unclaimed=True)
    service = Service(vendor.service_id, vendor.service_id)
    customer_id = world.customer(service, organization_id, external_id=f"<b>{called}{UNBROKEN}")
    vendor.rows.set("service_customers", customer_id, is_made=True)
    return MadeCustomer(customer_id, organization_id, internal_rows(vendor.rows, customer_id, maker.id), maker)


def internal_rows(rows: Rows, customer_id: UUID, maker_id: UUID) -> Rows:
    """Insert the internal organization of a customer, and return what inserts rows of it."""
    internal_id = rows.add(
        "organizations",
        slug=f"internal:{customer_id}",
        name=NAME,
        status=OrganizationStatus.ACTIVE,
        tier_id=TIERS["free"],
        internal_of=customer_id,
    )
    return rows.of(organization_id=internal_id, customer_id=customer_id, created_by=maker_id)


def _ask_owner(customer: MadeCustomer, token_hash: bytes, **columns: Any) -> None:
    """Insert that a person was asked to own a customer."""
    [[vendor_id]] = customer.rows.connection.execute(
        b"SELECT vendor_id FROM service_customers WHERE id = %s", (customer.id,)
    ).fetchall()
    customer.rows.add(
        "customer_claims",
        customer_id=customer.id,
        vendor_id=vendor_id,
        token_hash=token_hash,
        **{"email": EMAIL, "expires_at": customer.rows.ago(days=-3), "claimed_at": None, **columns},
    )


async def _count_trials(world: World) -> None:
    """Make the trials in internal organizations fit their connections as they are now."""
    trials = world.rows(
        """
        SELECT t.organization_id, t.connection_id
        FROM   trial_sign_ins t
        JOIN   organizations o ON o.id = t.organization_id AND o.internal_of IS NOT NULL
        """
    )

    def tested(uow: UnitOfWork) -> list[tuple[bytes, UUID]]:
        found = [uow.upstream_connections.find(*one) for one in trials]
        return [(fingerprint(one), one.id) for one in found if one is not None]

    for tested_as, connection_id in await world.installation.database.transact(tested):
        world.connection.execute(
            "UPDATE trial_sign_ins SET tested_as = %s WHERE connection_id = %s", (tested_as, connection_id)
        )
