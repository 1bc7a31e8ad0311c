"""Users, organizations, members, services and custom roles, inserted into the tables.

It needs a database and a clock and no application; `World` of `world.py` adds one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import argon2
from psycopg.types.json import Jsonb

from core.organizations.organizations import RESTORABLE_FOR
from ports.clock import Clock
from tests import ids
from tests.application import CHEAP
from tests.world.records import Records

EMAIL = "ada@example.com"
PASSWORD = "correct horse battery"
TIERS = {
    "free": UUID("00000000-0000-7000-8000-000000000001"),
    "professional": UUID("00000000-0000-7000-8000-000000000002"),
    "enterprise": UUID("00000000-0000-7000-8000-000000000003"),
}
FREE_TIER = TIERS["free"]
NO_ID = UUID("0191d3c1-0000-7000-8000-00000000000f")
new_id = ids.new_id


def hash_password(password: str, *, memory_kib: int = CHEAP.memory_kib) -> str:
    """Hash a password as the tests' application does."""
    return argon2.PasswordHasher(time_cost=CHEAP.passes, memory_cost=memory_kib, parallelism=CHEAP.lanes).hash(password)


PASSWORD_HASH = hash_password(PASSWORD)


class Service(NamedTuple):
    """A service in the tables."""

    id: UUID
    client_id: UUID


@dataclass(frozen=True)
class Builder(Records):
    """Inserts the rows that a test needs and does not test."""

    clock: Clock

    def new_id(self) -> UUID:
        """Return an id of the present time."""
        return ids.FollowingRandomness(self.clock).new_id()

    def user(
        self,
        email: str = EMAIL,
        *,
        password_hash: str | None = PASSWORD_HASH,
        is_verified: bool = True,
        is_active: bool = True,
        is_platform_owner: bool = False,
        has_mfa: bool = False,
        was_asked_for_name: bool = True,
    ) -> UUID:
        """Insert a user, who has left the question for a name empty."""
        user_id, now = ids.new_account_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO users (id, email, email_verified_at, password_hash, is_platform_owner, mfa_enabled_at,
                               created_at, updated_at, deactivated_at, name_asked_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                user_id,
                email,
                now if is_verified else None,
                password_hash,
                is_platform_owner,
                now if has_mfa else None,
                now,
                now,
                None if is_active else now,
                now if was_asked_for_name else None,
            ),
        )
        return user_id

    def organization(
        self,
        slug: str = "acme",
        *,
        name: str | None = None,
        status: str = "active",
        mfa_required: bool = False,
        device_trust_days: int = 30,
    ) -> UUID:
        """Insert an organization of the free tier, which is active by default."""
        organization_id, now = self.new_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, mfa_required, device_trust_days, created_at,
                                       updated_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                organization_id,
                slug,
                slug.title() if name is None else name,
                status,
                FREE_TIER,
                mfa_required,
                device_trust_days,
                now,
                now,
            ),
        )
        return organization_id

    def member(self, organization_id: UUID, user_id: UUID, role: str = "member", *, is_confirmed: bool = True) -> None:
        """Make a user a member of an organization."""
        now = self.clock()
        self.connection.execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (self.new_id(), organization_id, user_id, role, now, now if is_confirmed else None),
        )

    def service(
        self, organization_id: UUID, slug: str = "shop", *, name: str | None = None, redirect_uris: Any = ()
    ) -> Service:
        """Insert a service of an organization."""
        service, now = Service(id=self.new_id(), client_id=self.new_id()), self.clock()
        self.connection.execute(
            """
            INSERT INTO services (id, organization_id, slug, name, service_type, client_id, redirect_uris, created_at,
                                  updated_at)
            VALUES (%s, %s, %s, %s, 'web', %s, %s, %s, %s)
            """,
            (
                service.id,
                organization_id,
                slug,
                slug.title() if name is None else name,
                service.client_id,
                list(redirect_uris),
                now,
                now,
            ),
        )
        self.plan(organization_id, service.id, "Free", is_default=True)
        return service

    def plan(
        self,
        organization_id: UUID,
        service_id: UUID,
        name: str = "Pro",
        *,
        features: Any = (),
        billing_price_id: str | None = None,
        is_default: bool = False,
    ) -> UUID:
        """Insert a plan of a service."""
        plan_id, now = self.new_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, features, billing_price_id,
                               is_default, created_at, updated_at)
            VALUES (%s, %s, %s, %s, %s, 'usd', %s, %s, %s, %s, %s)
            """,
            (
                plan_id,
                organization_id,
                service_id,
                name,
                0 if is_default else 990,
                list(features),
                billing_price_id,
                is_default,
                now,
                now,
            ),
        )
        return plan_id

    def subscription(self, plan_id: UUID, user_id: UUID, status: str = "active") -> UUID:
        """Subscribe a user to a plan."""
        subscription_id, now = self.new_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO subscriptions (id, organization_id, service_id, user_id, plan_id, status, current_period_end,
                                       created_at, updated_at)
            SELECT %s, organization_id, service_id, %s, id, %s, %s, %s, %s
            FROM   plans
            WHERE  id = %s
            """,
            (subscription_id, user_id, status, now + timedelta(days=30), now, now, plan_id),
        )
        return subscription_id

    def link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> None:
        """Make a user an end user of a service by a key; they have not signed in to it."""
        self.connection.execute(
            """
            INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, origin)
            VALUES (%s, %s, %s, %s, 'key')
            """,
            (service_id, organization_id, user_id, self.clock()),
        )

    def serve_customers(
        self, service: Service, *roles: str, policy: str = "listed", individuals: str = "others"
    ) -> dict[str, UUID]:
        """Make a service one for customers, with roles of these names; return their ids."""
        role_ids = {name: self.new_id() for name in roles}
        self.connection.execute(
            "UPDATE services SET customers = %s, individuals = %s, roles = %s, role_ids = %s WHERE id = %s",
            (
                policy,
                individuals,
                Jsonb([{"name": name, "title": name.title(), "description": ""} for name in roles]),
                Jsonb({name: str(role_id) for name, role_id in role_ids.items()}),
                service.id,
            ),
        )
        return role_ids

    def customer(
        self,
        service: Service,
        organization_id: UUID,
        *,
        access: str = "members",
        external_id: str | None = None,
        shares_directory: bool = False,
        hidden: bool = False,
        groups: Iterable[UUID] = (),
        paused_by: Collection[str] = (),
    ) -> UUID:
        """Make an organization a customer of a service, which may be paused by "vendor", "customer" or both.

        Return the id of the record. A service that was none for customers becomes one.
        """
        customer_id, now = self.new_id(), self.clock()
        self.connection.execute(
            """
            UPDATE services SET customers = 'listed', individuals = 'others'
            WHERE  id = %s AND customers = 'none'
            """,
            (service.id,),
        )
        self.connection.execute(
            """
            INSERT INTO service_customers (id, vendor_id, service_id, organization_id, accepted_at, vendor_paused_at,
                                           customer_paused_at, external_id, access, shares_directory, groups, hidden,
                                           created_at)
            SELECT %s, organization_id, id, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s
            FROM   services
            WHERE  id = %s
            """,
            (
                customer_id,
                organization_id,
                now,
                now if "vendor" in paused_by else None,
                now if "customer" in paused_by else None,
                external_id,
                access,
                shares_directory,
                list(groups),
                hidden,
                now,
                service.id,
            ),
        )
        self.connection.execute(
            "INSERT INTO customer_slugs (slug) SELECT slug FROM organizations WHERE id = %s ON CONFLICT DO NOTHING",
            (organization_id,),
        )
        return customer_id

    def assign(self, customer_id: UUID, subject: str, *roles: str) -> None:
        """Assign "everyone", "role:<slug>", "group:<id>" or "user:<id>" of a customer these roles of the service."""
        kind, _, named = subject.partition(":")
        self.connection.execute(
            """
            INSERT INTO customer_assignments (customer_id, organization_id, position, subject, role, custom_role,
                                              group_id, user_id, role_ids)
            SELECT c.id, c.organization_id,
                   (SELECT count(*) FROM customer_assignments a WHERE a.customer_id = c.id), %(kind)s, %(role)s,
                   (SELECT r.slug FROM organization_roles r
                    WHERE  r.organization_id = c.organization_id AND r.slug = %(role)s),
                   %(group_id)s, %(user_id)s,
                   ARRAY(SELECT known.value::uuid FROM jsonb_each_text(v.role_ids) AS known
                         WHERE  known.key = ANY (%(roles)s))
            FROM   service_customers c
            JOIN   services v ON v.id = c.service_id
            WHERE  c.id = %(customer_id)s
            """,
            {
                "customer_id": customer_id,
                "kind": kind,
                "role": named if kind == "role" else None,
                "group_id": named if kind == "group" else None,
                "user_id": named if kind == "user" else None,
                "roles": list(roles),
            },
        )

    def made_customer(self, service: Service) -> tuple[UUID, UUID]:
        """Make a customer of a service that has no owner; return its record, and its internal organization."""
        organization_id = self.organization(f"made-{self.new_id()}"[:50], status="pending")
        customer_id = self.customer(service, organization_id)
        internal_id = self.organization(f"internal:{customer_id}")
        self.connection.execute("UPDATE organizations SET is_unclaimed = true WHERE id = %s", (organization_id,))
        self.connection.execute("UPDATE service_customers SET is_made = true WHERE id = %s", (customer_id,))
        self.connection.execute("UPDATE organizations SET internal_of = %s WHERE id = %s", (customer_id, internal_id))
        return customer_id, internal_id

    def mail_domain(self, organization_id: UUID, domain: str) -> None:
        """Make a mail domain an organization's, as if its name servers had proved it."""
        connection_id, now = self.new_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                              enabled, created_at, updated_at)
            VALUES (%s, %s, 'saml', 'Directory', '{}', '{}', false, false, %s, %s)
            """,
            (connection_id, organization_id, now, now),
        )
        self.connection.execute(
            """
            INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at,
                                       proved_at)
            VALUES (%s, %s, %s, %s, false, 'value', 'verified', %s, %s)
            """,
            (self.new_id(), organization_id, domain, connection_id, now, now),
        )

    def grant(self, organization_id: UUID, service_id: UUID, user_id: UUID, relation: str) -> None:
        """Grant a member a relation to a service."""
        self.connection.execute(
            """
            INSERT INTO service_grants (service_id, organization_id, user_id, relation, created_at)
            VALUES (%s, %s, %s, %s, %s)
            """,
            (service_id, organization_id, user_id, relation, self.clock()),
        )

    def custom_role(self, organization_id: UUID, slug: str, *permissions: str) -> None:
        """Insert a custom role of an organization."""
        now = self.clock()
        self.connection.execute(
            """
            INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (organization_id, slug, slug.title(), list(permissions), now, now),
        )

    def set_organization_status(self, organization_id: UUID, status: str) -> None:
        """Change the status of an organization."""
        self.connection.execute(
            """
            UPDATE organizations
            SET    status = %(status)s,
                   status_before_deletion = CASE WHEN %(status)s = 'deleting' THEN 'active' END,
                   deletes_at = CASE WHEN %(status)s = 'deleting' THEN %(deletes_at)s::timestamptz END
            WHERE  id = %(id)s
            """,
            {"id": organization_id, "status": status, "deletes_at": self.clock() + RESTORABLE_FOR},
        )

    def remove_password(self, email: str = EMAIL) -> None:
        """Remove a user's password, as if they had never set one."""
        self.connection.execute("UPDATE users SET password_hash = NULL WHERE email = %s", (email,))

    def set_unproved_address(self, email: str, new: str) -> None:
        """Give a user another address without proof, as an organization may that created the account."""
        self.connection.execute("UPDATE users SET email = %s, email_verified_at = NULL WHERE email = %s", (new, email))

    def deactivate(self, email: str = EMAIL) -> None:
        """Deactivate a user."""
        self.connection.execute("UPDATE users SET deactivated_at = created_at WHERE email = %s", (email,))

    def impersonate_in_sessions(self, email: str = EMAIL, *, owner: str) -> None:
        """Turn every session of a user into an impersonation by a platform owner."""
        self.connection.execute("UPDATE users SET is_platform_owner = true WHERE email = %s", (owner,))
        self.connection.execute(
            "UPDATE sessions SET impersonator_id = %s WHERE user_id = %s", (self.user_id(owner), self.user_id(email))
        )
