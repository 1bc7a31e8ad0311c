"""The hostile world: people and organizations that have everything in every state, with texts that pages hate."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tests.pages.crawl import connections, made_customers, organizations, people, receivers, records, services
from tests.pages.crawl.organizations import EMPTY, Organization
from tests.pages.crawl.people import Person
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.values import EMAIL
from tests.world.world import World


@dataclass(frozen=True)
class HostileWorld:
    """The people who look around, the organization that has everything, and accounts by what state they are in."""

    world: World
    rows: Rows
    owner: Person
    newcomer: Person
    root: Person
    member: Person
    full: Organization
    states: dict[str, UUID]


async def insert_hostile_world(world: World, rows: Rows) -> HostileWorld:
    """Insert the world."""
    owner = people.insert_person(world, rows, EMAIL)
    newcomer = people.insert_person(world, rows, "newcomer@example.com", name=None)
    root = people.insert_person(world, rows, "root@example.com", is_platform_owner=True, mfa_enabled_at=world.clock())
    member = people.insert_person(world, rows, f"member.{EMAIL}")
    states = people.insert_states(rows)
    full = organizations.insert_full_organization(rows, owner, states)
    organizations.insert_organizations_in_each_state(rows, owner)
    empty_id = organizations.insert_organization(rows, EMPTY)
    organizations.join(rows.of(organization_id=empty_id), newcomer.id, "owner")
    receivers.insert_healthy_organization(rows, newcomer)
    rows.add("signing_keys", kid="retired", state="retired", public_pem="", published_until=rows.ago(days=-1))
    organizations.insert_more_people(full, member, owner)
    services.insert_end_users(full, states)
    people.insert_belongings(rows, owner)
    people.insert_sign_ins(rows, owner, organization_id=full.id, service_id=full.service_id)
    people.insert_mails(full.rows, EMAIL)
    connections.insert_identity(full, connections.insert_connections(full, owner)[0], member)
    connections.insert_saml(full)
    receivers.insert_directory(full, states)
    receivers.insert_receivers(full)
    records.insert_customers(world, full, organizations.insert_vendor(rows), list(states.values()))
    await made_customers.insert_made_customers(world, full, owner, member.id)
    records.insert_sales(full)
    records.insert_sign_in_counts(full)
    await records.write_logs(world, full, owner, root)
    return HostileWorld(world, rows, owner, newcomer, root, member, full, states)
