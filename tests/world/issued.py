"""Everything that Gatehouse issues, issued once to one member: a view of the world for the test of what ends what."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from core.endings import Issued
from tests.world.builder import new_id
from tests.world.issued_rows import ALIVE
from tests.world.organization_keys import insert_organization_key
from tests.world.team import Team
from tests.world.world import World


@dataclass
class Everything:
    """A member of Acme with everything that can be issued to one, and the ids of it."""

    team: Team
    user_id: UUID
    email: str
    ids: dict[Issued, UUID | bytes]

    @property
    def world(self) -> World:
        """The world of the team."""
        return self.team.world

    def alive(self) -> set[Issued]:
        """Return what still holds."""
        return {
            issued
            for issued, held in self.ids.items()
            if self.world.connection.execute(ALIVE[issued].encode(), {"id": held, "user": self.user_id}).fetchone()
            == (True,)
        }


def issue_everything(team: Team, user_id: UUID, email: str) -> Everything:
    """Issue everything once to a member of a team, whose organization has made the account."""
    return Everything(team, user_id, email, _Issuer(team, user_id, email).issue())


class _Issuer:
    def __init__(self, team: Team, user_id: UUID, email: str) -> None:
        self.world, self.acme, self.user_id, self.email = team.world, team.organization_id, user_id, email
        self.now = self.world.clock()
        self.later = self.now + timedelta(days=20)
        self.ids: dict[Issued, UUID | bytes] = {}

    def issue(self) -> dict[Issued, UUID | bytes]:
        self.run("UPDATE users SET created_by_organization_id = %s WHERE id = %s", self.acme, self.user_id)
        self.ids[Issued.MEMBERSHIP] = self.world.value(
            "SELECT id FROM memberships WHERE organization_id = %s AND user_id = %s", self.acme, self.user_id
        )
        self.links_and_subscriptions()
        self.sessions()
        self.unfinished_sign_ins()
        self.credentials()
        self.made_by_the_member()
        self.made_for_customers()
        assert set(self.ids) == set(Issued), "something is not issued"
        return self.ids

    def run(self, statement: str, *values: object) -> None:
        self.world.connection.execute(statement.encode(), values)

    def links_and_subscriptions(self) -> None:
        world, globex = self.world, self.world.organization("globex")
        world.member(globex, self.user_id, is_confirmed=False)
        self.ids[Issued.UNCONFIRMED_MEMBERSHIP] = world.value(
            "SELECT id FROM memberships WHERE organization_id = %s AND user_id = %s", globex, self.user_id
        )
        places = (
            (Issued.MEMBER_LINK, self.acme, "shop", "membership", self.now),
            (Issued.VISITOR_LINK, self.acme, "blog", "self", self.now),
            (Issued.UNCONFIRMED_LINK, globex, "till", "key", None),
        )
        for issued, organization_id, slug, origin, used_at in places:
            service_id = world.service(organization_id, slug).id
            self.run(
                """
                INSERT INTO service_users (service_id, organization_id, user_id, origin, first_login_at, last_login_at)
                VALUES (%s, %s, %s, %s, %s, %s)
                """,
                service_id,
                organization_id,
                self.user_id,
                origin,
                self.now,
                used_at,
            )
            self.ids[issued] = service_id
        self.shop, self.blog = self.ids[Issued.MEMBER_LINK], self.ids[Issued.VISITOR_LINK]
        for issued, organization_id, service_id in (
            (Issued.GIVEN_SUBSCRIPTION, self.acme, self.shop),
            (Issued.UNCONFIRMED_SUBSCRIPTION, globex, self.ids[Issued.UNCONFIRMED_LINK]),
        ):
            assert not isinstance(service_id, bytes)
            plan_id = world.plan(organization_id, service_id, "Pro")
            self.ids[issued] = world.subscription(plan_id, self.user_id)
        assert not isinstance(self.shop, bytes)
        world.grant(self.acme, self.shop, self.user_id, "viewer")
        self.run(
            """
            INSERT INTO service_assignments (service_id, organization_id, position, subject, user_id)
            VALUES (%s, %s, 1, 'user', %s)
            """,
            self.shop,
            self.acme,
            self.user_id,
        )
        self.ids[Issued.SERVICE_GRANT] = self.ids[Issued.SERVICE_ASSIGNMENT] = self.user_id
        vendor_id = world.organization("vendor")
        self.desk = world.service(vendor_id, "desk")
        self.customer_id, self.vendor_id = world.customer(self.desk, self.acme), vendor_id
        world.assign(self.customer_id, f"user:{self.user_id}")
        self.run(
            """
            INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at)
            VALUES (%s, %s, %s, %s, %s)
            """,
            self.customer_id,
            self.acme,
            self.user_id,
            self.now,
            self.now,
        )
        self.ids[Issued.CUSTOMER_VISIT], self.ids[Issued.CUSTOMER_ASSIGNMENT] = self.customer_id, self.user_id

    def made_for_customers(self) -> None:
        self.admission()
        claimable, _ = self.world.made_customer(self.desk)
        self.ids[Issued.CUSTOMER_CLAIM] = claimable
        self.run(
            """
            INSERT INTO customer_claims (customer_id, vendor_id, email, token_hash, created_at, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            *(claimable, self.vendor_id, self.email, _hash("claim"), self.now, self.later),
        )
        _, of_acme = self.world.made_customer(self.world.service(self.acme, "club"))
        self.ids[Issued.CUSTOMER_SETUP_LINK] = setup_id = new_id()
        self.run(
            """
            INSERT INTO setup_links (id, organization_id, parts, secret_hash, created_by, created_at, expires_at)
            VALUES (%s, %s, '{scim}', %s, %s, %s, %s)
            """,
            *(setup_id, of_acme, _hash("link of a customer"), self.user_id, self.now, self.later),
        )
        self.ids[Issued.CUSTOMER_SCIM_TOKEN] = token_id = new_id()
        self.run(
            """
            INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at, created_by)
            VALUES (%s, %s, 'directory', 'scim_live_bbbbbb', %s, %s, %s)
            """,
            *(token_id, of_acme, _hash("token of a customer"), self.now, self.user_id),
        )

    def admission(self) -> None:
        admitting, internal_id = self.world.made_customer(self.desk)
        self.world.member(internal_id, self.user_id)
        self.ids[Issued.ADMISSION] = self.world.value(
            "SELECT id FROM memberships WHERE organization_id = %s AND user_id = %s", internal_id, self.user_id
        )
        self.ids[Issued.ADMITTED_VISIT] = admitting
        self.run(
            """
            INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at)
            VALUES (%s, %s, %s, %s, %s)
            """,
            *(admitting, internal_id, self.user_id, self.now, self.now),
        )
        connection_id = new_id()
        self.run(
            """
            INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                              enabled, created_at, updated_at)
            VALUES (%s, %s, 'saml', 'Made', '{}', '{}', false, false, %s, %s)
            """,
            *(connection_id, internal_id, self.now, self.now),
        )
        self.ids[Issued.ADMITTED_IDENTITY] = identity_id = new_id()
        self.run(
            """
            INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, linked_at, used_at)
            VALUES (%s, %s, 'upstream', 'ada', %s, %s, %s, %s)
            """,
            *(identity_id, self.user_id, internal_id, connection_id, self.now, self.now),
        )
        self.ids[Issued.ADMITTED_SESSION] = session_id = new_id()
        self.run(
            """
            INSERT INTO sessions (id, user_id, organization_id, service_id, customer_id, provider, amr,
                                  authenticated_at, refresh_hash, refreshed_at, expires_at, created_at, confined_to,
                                  connection_id)
            VALUES (%s, %s, %s, %s, %s, 'upstream', '{fed}', %s, '', %s, %s, %s, %s, %s)
            """,
            *(session_id, self.user_id, self.vendor_id, self.desk.id, admitting, self.now, self.now, self.later),
            *(self.now, internal_id, connection_id),
        )

    def sessions(self) -> None:
        connection_id = self.world.value("SELECT id FROM upstream_connections")
        contexts = (
            (Issued.ACCOUNT_SESSION, None, None, None, None),
            (Issued.ORGANIZATION_SESSION, self.acme, None, None, None),
            (Issued.SERVICE_SESSION, self.acme, self.shop, None, None),
            (Issued.VISITOR_SESSION, self.acme, self.blog, None, None),
            (Issued.CONNECTION_SESSION, None, None, self.acme, connection_id),
            (Issued.CUSTOMER_SESSION, self.vendor_id, self.desk.id, None, None),
        )
        for issued, organization_id, service_id, confined_to, connection in contexts:
            self.ids[issued] = session_id = new_id()
            self.run(
                """
                INSERT INTO sessions (id, user_id, organization_id, service_id, provider, amr, authenticated_at,
                                      refresh_hash, refreshed_at, expires_at, created_at, confined_to, connection_id)
                VALUES (%s, %s, %s, %s, 'password', '{pwd}', %s, '', %s, %s, %s, %s, %s)
                """,
                session_id,
                self.user_id,
                organization_id,
                service_id,
                self.now,
                self.now,
                self.later,
                self.now,
                confined_to,
                connection,
            )
        self.run(
            "UPDATE sessions SET customer_id = %s WHERE id = %s", self.customer_id, self.ids[Issued.CUSTOMER_SESSION]
        )
        cookie = self.ids[Issued.BROWSER_COOKIE] = self.ids[Issued.ACCOUNT_SESSION]
        self.run(
            "INSERT INTO browser_sessions (session_id, secret_hash, stays_signed_in) VALUES (%s, %s, false)",
            cookie,
            _hash("cookie"),
        )
        at_shop = self.ids[Issued.SERVICE_SESSION]
        for issued in (
            Issued.CLIENT_GRANT,
            Issued.AUTHORIZATION_CODE,
            Issued.DEVICE_APPROVAL,
            Issued.SAML_SESSION,
        ):
            self.ids[issued] = at_shop
        self.run("INSERT INTO client_grants (session_id, scopes) VALUES (%s, '{openid}')", at_shop)
        self.run(
            """
            INSERT INTO authorization_codes (code_hash, organization_id, service_id, session_id, redirect_uri, scopes,
                                             created_at, expires_at)
            VALUES (%s, %s, %s, %s, 'https://shop.example/', '{openid}', %s, %s)
            """,
            _hash("code"),
            self.acme,
            self.shop,
            at_shop,
            self.now,
            self.later,
        )
        self.run(
            """
            INSERT INTO device_codes (device_code_hash, user_code_hash, organization_id, service_id, scopes, created_at,
                                      expires_at, interval_seconds, session_id)
            VALUES (%s, %s, %s, %s, '{}', %s, %s, 5, %s)
            """,
            _hash("device code"),
            _hash("user code"),
            self.acme,
            self.shop,
            self.now,
            self.later,
            at_shop,
        )
        self.run(
            """
            INSERT INTO saml_sessions (session_id, organization_id, service_id, audience, name_id, name_id_format)
            VALUES (%s, %s, %s, 'https://sp.example', 'ada', 'format')
            """,
            at_shop,
            self.acme,
            self.shop,
        )

    def unfinished_sign_ins(self) -> None:
        self.ids[Issued.SECOND_FACTOR_CHALLENGE] = challenge_id = new_id()
        self.run(
            "INSERT INTO mfa_challenges (id, user_id, context, created_at, expires_at) VALUES (%s, %s, '{}', %s, %s)",
            challenge_id,
            self.user_id,
            self.now,
            self.later,
        )
        for issued, purpose in (
            (Issued.MAILED_SIGN_IN, "magic_link"),
            (Issued.MAILED_RESET, "reset_password"),
            (Issued.MAILED_CONFIRMATION, "confirm_membership"),
            (Issued.REQUESTED_ADDRESS, "change_email"),
        ):
            self.ids[issued] = _hash(purpose)
            self.run(
                """
                INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, created_at, expires_at)
                VALUES (%s, %s, %s, %s, %s, %s)
                """,
                _hash(purpose),
                purpose,
                self.user_id,
                self.email,
                self.now,
                self.later,
            )
        self.ids[Issued.OPEN_REGISTRATION] = registration_id = new_id()
        self.run(
            """
            INSERT INTO open_registrations (id, user_id, email, password_hash, data, created_at, expires_at)
            VALUES (%s, %s, %s, 'hash', '{}', %s, %s)
            """,
            registration_id,
            self.user_id,
            self.email,
            self.now,
            self.later,
        )
        self.ids[Issued.PROVIDER_LINKING] = sign_in_id = new_id()
        self.run(
            """
            INSERT INTO upstream_sign_ins (id, state_hash, provider, user_id, return_to, return_id, expires_at)
            VALUES (%s, %s, 'codehost', %s, '/app', '', %s)
            """,
            sign_in_id,
            _hash("state"),
            self.user_id,
            self.later,
        )

    def credentials(self) -> None:
        self.ids[Issued.DEVICE] = device_id = new_id()
        self.run(
            """
            INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)
            VALUES (%s, %s, 'Laptop', 'browser', %s, %s, %s)
            """,
            device_id,
            self.user_id,
            self.now,
            self.now,
            self.now,
        )
        self.run(
            "INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at) VALUES (%s, %s, %s, %s)",
            _hash("device"),
            device_id,
            self.now,
            self.later,
        )
        self.ids[Issued.PASSKEY] = passkey_id = new_id()
        self.run(
            """
            INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, aaguid, transports,
                                  backup_eligible, created_at)
            VALUES (%s, %s, 'credential', 'key', 0, 'Phone', '', '{}', false, %s)
            """,
            passkey_id,
            self.user_id,
            self.now,
        )
        self.ids[Issued.SECOND_FACTOR] = self.ids[Issued.BACKUP_CODE] = self.user_id
        self.run(
            "INSERT INTO totp_secrets (user_id, secret_sealed, created_at, enabled_at) VALUES (%s, '', %s, %s)",
            self.user_id,
            self.now,
            self.now,
        )
        self.run(
            "INSERT INTO backup_codes (id, user_id, code_hash, created_at) VALUES (%s, %s, %s, %s)",
            new_id(),
            self.user_id,
            _hash("backup code"),
            self.now,
        )
        connection_id = self.world.value("SELECT id FROM upstream_connections")
        for issued, provider, organization_id, connection in (
            (Issued.IDENTITY, "codehost", None, None),
            (Issued.CONNECTION_IDENTITY, "upstream", self.acme, connection_id),
        ):
            self.ids[issued] = identity_id = new_id()
            self.run(
                """
                INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, linked_at,
                                        used_at)
                VALUES (%s, %s, %s, 'ada', %s, %s, %s, %s)
                """,
                identity_id,
                self.user_id,
                provider,
                organization_id,
                connection,
                self.now,
                self.now,
            )

    def made_by_the_member(self) -> None:
        self.ids[Issued.SENT_INVITATION] = invitation_id = new_id()
        self.run(
            """
            INSERT INTO invitations (id, organization_id, email, role, invited_by, status, token_hash, proof_hash,
                                     created_at, expires_at)
            VALUES (%s, %s, 'guest@example.com', 'member', %s, 'pending', %s, %s, %s, %s)
            """,
            invitation_id,
            self.acme,
            self.user_id,
            _hash("invitation"),
            _hash("proof"),
            self.now,
            self.later,
        )
        self.ids[Issued.ORGANIZATION_KEY] = insert_organization_key(self.world, self.acme, self.user_id)
        self.ids[Issued.WORKLOAD] = workload_id = new_id()
        self.run(
            """
            INSERT INTO workloads (id, organization_id, service_id, name, issuer, match, created_at, created_by,
                                   has_second_factor)
            VALUES (%s, %s, %s, 'job', 'https://issuer.example', '{"sub": "job"}', %s, %s, false)
            """,
            workload_id,
            self.acme,
            self.shop,
            self.now,
            self.user_id,
        )
        self.calling_by_themselves(Issued.SETUP_LINK, Issued.API_KEY, Issued.SCIM_TOKEN, None)
        key_id = self.ids[Issued.ORGANIZATION_KEY]
        self.calling_by_themselves(Issued.SETUP_LINK_BY_KEY, Issued.API_KEY_BY_KEY, Issued.SCIM_TOKEN_BY_KEY, key_id)

    def calling_by_themselves(
        self, setup_link: Issued, api_key: Issued, scim_token: Issued, made_by_key: UUID | bytes | None
    ) -> None:
        self.ids[setup_link] = setup_id = new_id()
        self.run(
            """
            INSERT INTO setup_links (id, organization_id, parts, secret_hash, created_by, created_at, expires_at,
                                     made_by_key)
            VALUES (%s, %s, '{scim}', %s, %s, %s, %s, %s)
            """,
            setup_id,
            self.acme,
            _hash(setup_link.name),
            self.user_id,
            self.now,
            self.later,
            made_by_key,
        )
        self.ids[api_key] = key_id = new_id()
        self.run(
            """
            INSERT INTO api_keys (id, organization_id, service_id, name, prefix, key_hash, permissions, created_at,
                                  created_by, made_by_key)
            VALUES (%s, %s, %s, 'backend', 'sk_abcdef', %s, '{read:users}', %s, %s, %s)
            """,
            key_id,
            self.acme,
            self.shop,
            _hash(api_key.name),
            self.now,
            self.user_id,
            made_by_key,
        )
        self.ids[scim_token] = token_id = new_id()
        self.run(
            """
            INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at, created_by, made_by_key)
            VALUES (%s, %s, 'directory', 'scim_live_aaaaaa', %s, %s, %s, %s)
            """,
            token_id,
            self.acme,
            _hash(scim_token.name),
            self.now,
            self.user_id,
            made_by_key,
        )


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
