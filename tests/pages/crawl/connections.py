"""The providers and applications that the full organization has connected, with what is wrong with them."""

from __future__ import annotations

from uuid import UUID

from core.organizations.domain_proofs import ProofStatus
from core.sign_in.upstream.connections.connection_fields import ConnectionType
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.trials.trials import TrialGroups
from tests.pages.crawl.organizations import Organization
from tests.pages.crawl.people import Person
from tests.pages.crawl.rows import Rows, Sealed
from tests.pages.crawl.values import EMAIL, HOST, NAME, UNBROKEN, URL
from tests.service_provider import key_pair


def insert_connections(organization: Organization, person: Person) -> list[UUID]:
    """Insert a connection of each type, enabled and not, one for each problem, and mail domains in each state."""
    rows = organization.rows
    ids = [
        _insert_connection(rows, is_saml=kind is ConnectionType.SAML, is_on=is_on)
        for kind in ConnectionType
        for is_on in (True, False)
    ]
    rows.add(
        "connection_keys",
        connection_id=ids[-2],
        public_key=key_pair("the crawl").certificate_pem,
        valid_until=rows.ago(days=-9),
        is_active=True,
        warned_at=rows.clock(),
    )
    for number, problem in enumerate(ProviderProblem):
        insert_failure(rows, ids[number % len(ids)], problem)
    for number, status in enumerate(ProofStatus):
        proved = {"verified_at": None if status is ProofStatus.PENDING else rows.clock()}
        failing = {"failing_since": rows.ago(days=1) if status is ProofStatus.FAILING else None}
        rows.add(
            "domain_routes",
            connection_id=ids[0],
            domain=f"{status}.{HOST}",
            enforced=number == 1,
            value=f"gatehouse-verification={UNBROKEN}",
            status=status,
            checked_at=rows.clock(),
            **proved,
            **failing,
        )
    rows.of(user_id=person.id).add(
        "identities", provider="upstream", subject=NAME, connection_id=ids[0], email=EMAIL, groups=[NAME]
    )
    addresses = (EMAIL, f"new@pending.{HOST}", f"new@verified.{HOST}", None)
    for groups, address, connection_id in zip((*TrialGroups, None), addresses, ids, strict=True):
        succeeded = groups is not None
        rows.add(
            "trial_sign_ins",
            connection_id=connection_id,
            user_id=person.id,
            session_id=person.session_id,
            concluded_at=rows.clock(),
            expires_at=rows.ago(hours=-1),
            problem=None if succeeded else ProviderProblem.WRONG_SECRET,
            reason="" if succeeded else NAME,
            subject=NAME if address == EMAIL else address,
            email=address,
            claims=[[f"<b>{UNBROKEN}", NAME]] if succeeded else [],
            groups=groups,
        )
    rows.add("oauth_credentials", provider="codehost", client_id=f"<b>{UNBROKEN}", client_secret_sealed=Sealed())
    return ids


def insert_failure(rows: Rows, connection_id: UUID, problem: ProviderProblem) -> None:
    """Insert that sign-ins by a connection failed, now for the last time."""
    rows.add(
        "upstream_failures",
        connection_id=connection_id,
        problem=problem,
        occurrences=1_000_000,
        last_request_id="a" * 64,
    )


def insert_identity(organization: Organization, connection_id: UUID, person: Person) -> None:
    """Insert that a person has come by a connection."""
    organization.rows.add(
        "identities",
        provider="upstream",
        user_id=person.id,
        subject=UNBROKEN,
        connection_id=connection_id,
        email=person.email,
        groups=[NAME],
    )


def _insert_connection(rows: Rows, *, is_saml: bool, is_on: bool) -> UUID:
    return rows.add(
        "upstream_connections",
        type="saml" if is_saml else "oidc",
        name=NAME if is_on else UNBROKEN,
        issuer=f"{URL}&{is_saml}",
        client_id=None if is_saml else f"client<b>{UNBROKEN}",
        client_secret_sealed=None if is_saml else Sealed(),
        scopes=[] if is_saml else ["openid", "email", UNBROKEN],
        metadata_url=URL if is_saml else None,
        metadata_valid_until=rows.ago(days=-3) if is_saml else None,
        attribute_mapping={"email": f"<b>{UNBROKEN}"},
        joins_as="member",
        enabled=is_on,
        off_reason=None if is_on else NAME,
        signs_requests=is_saml,
        checked_at=rows.clock(),
        check_problem=ProviderProblem.CERTIFICATE,
        token_issuer=URL if is_on and not is_saml else None,
    )


def insert_saml(organization: Organization) -> None:
    """Insert what the service needs for SAML, with an error of its last request."""
    rows = organization.rows.of(service_id=organization.service_id)
    rows.add(
        "saml_configurations",
        enabled=True,
        entity_id=URL,
        acs_url=URL,
        slo_url=URL,
        slo_binding="redirect",
        sign_assertions=True,
        members_only=True,
        last_request_at=rows.clock(),
        last_error=NAME,
        last_error_at=rows.clock(),
    )
    organization.rows.add(
        "saml_configurations", service_id=organization.offered_id, slo_url=URL, slo_binding="post", enabled=False
    )
    rows.add(
        "saml_certificates",
        public_key=key_pair("the crawl").certificate_pem,
        valid_until=rows.ago(days=-20),
        is_active=True,
    )
