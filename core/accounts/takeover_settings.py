"""What was set during a takeover falls back: where services lead, and what organizations let each other do.

What was added goes, and a replaced value becomes the one of before, unless another person has changed it since; where
the value of before is not known, it is emptied and its feature is off. What was removed gives no access: the mails list
it (`core/organizations/takeover_mails.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import takeover_customers
from core.accounts.takeover_changes import by_target, changes_of, fallen, made, of_actions, with_scopes_of_before
from core.events.actions import AuditAction
from core.organizations.takeovers import REASON, Act, Acting, MadeThing
from core.services import admission
from core.services.assignments import Assignment
from core.services.services import Admission, CustomerPolicy, Individuals, Service, ServiceType
from core.sessions.group_forms import GroupsAs
from core.sessions.security_profiles import SignatureAlgorithm

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ACTIONS: Final = (
    AuditAction.SERVICE_CREATED,
    AuditAction.SERVICE_UPDATED,
    AuditAction.SERVICE_ACCESS_CHANGED,
    AuditAction.SERVICE_OAUTH_CREDENTIALS_UPDATED,
    AuditAction.SAML_CONFIGURATION_UPDATED,
    AuditAction.ORGANIZATION_UPDATED,
    AuditAction.CUSTOMER_OFFERED,
    AuditAction.CUSTOMER_ACCEPTED,
    AuditAction.CUSTOMER_OWNER_NAMED,
    AuditAction.CUSTOMER_RESUMED,
    AuditAction.CUSTOMER_USER_CHANGED,
    AuditAction.PRODUCT_ACCESS_ACCEPTED,
    AuditAction.PRODUCT_ACCESS_RESUMED,
    AuditAction.PRODUCT_ACCESS_UPDATED,
)
# The fields by which a service says where it leads, who may use it and how it proves itself, with their empty values.
SERVICE_FIELDS: Final[Mapping[str, Any]] = {
    "redirect_uris": [],
    "post_logout_redirect_uris": [],
    "audiences": [],
    "group_claims": [],
    "groups_as": GroupsAs.NAMES,
    "scopes": [],
    "machine_scopes": [],
    "claims": [],
    "device_activation_uri": None,
    "backchannel_logout_uri": None,
    "frontchannel_logout_uri": None,
    "initiate_login_uri": None,
    "jwks_uri": None,
    "jwks": None,
    "security_profile": None,
    "token_signing": SignatureAlgorithm.RS256,
    "customers": CustomerPolicy.NONE,
    "individuals": Individuals.ALL,
    # A new service admits only members.
    "access": Admission.MEMBERS,
    "service_type": ServiceType.WEB,
}
SAML_FIELDS: Final[Mapping[str, Any]] = {
    "entity_id": None,
    "acs_url": None,
    "slo_url": None,
    "sp_certificate": None,
    "attribute_mapping": None,
    "members_only": True,
    "sign_assertions": True,
    "sign_response": True,
    "enabled": False,
}
_PRODUCT_FIELDS: Final = ("access", "assignments", "shares_directory", "groups", "hidden", "vendor_setup")


def fall_back(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Make what these actors set fall back; return what has. Their organizations are locked."""
    acts = uow.takeovers.acts(acting, *ACTIONS)
    return [
        # Customers first: a service that no longer serves any has none.
        *takeover_customers.end_customers(uow, acts),
        *takeover_customers.take_roles(uow, acts),
        *_services(uow, acts),
        *_assignments(uow, acts),
        *_saml(uow, acts),
        *_provider_credentials(uow, acts),
        *_products(uow, acts),
    ]


def _services(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    of_services = by_target(acts, AuditAction.SERVICE_CREATED, AuditAction.SERVICE_UPDATED)
    for (organization_id, service_id), of in of_services.items():
        service = uow.services.by_id(organization_id, UUID(service_id))
        if service is None:
            continue
        after = _of_service(uow, service, of)
        if after == service:
            continue
        after = replace(after, updated_at=uow.now)
        uow.services.save(after)
        uow.services.claim_audiences(after)
        changes = after.changes(service)
        uow.record(
            AuditAction.SERVICE_UPDATED,
            service.id,
            organization_id=organization_id,
            event_only={"service_id": str(service.id)},
            **after.named,
            changes=changes,
            reason=REASON,
        )
        yield made("settings", organization_id, service.id, f"of the service {service.slug}: {', '.join(changes)}")


def _of_service(uow: UnitOfWork, service: Service, acts: Sequence[Act]) -> Service:
    """Return a service with what it falls back to; a new one leads nowhere, and its type stays."""
    if acts[0].action == AuditAction.SERVICE_CREATED.value:
        after = replace(service, **{name: one for name, one in SERVICE_FIELDS.items() if name != "service_type"})
    else:
        after = fallen(service, changes_of(acts, SERVICE_FIELDS))
        after = replace(after, roles=with_scopes_of_before(after.roles, changes_of(acts, {"roles": []}).get("roles")))
    if service.serves_customers and not after.serves_customers:
        # Locked, so that no customer begins in the meantime. Customers that others have admitted stay, and the
        # organization may end them.
        uow.services.lock(service)
        if uow.service_customers.has_any(service):
            after = replace(after, customers=CustomerPolicy.LISTED)
    return after


def _assignments(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Withdraw the assignments that gave people services; a replaced one becomes the one of before."""
    for (organization_id, service_id), of in by_target(acts, AuditAction.SERVICE_ACCESS_CHANGED).items():
        service = uow.services.by_id(organization_id, UUID(service_id))
        if service is None:
            continue
        added = [Assignment(**one) for act in of for one in act.details["added"]]
        removed = [Assignment(**one) for act in of for one in act.details["removed"]]
        of_before = {one.subject: one for one in reversed(removed) if one not in added}
        present = uow.service_assignments.of_service(service)
        known = {role.name for role in service.roles}
        # A role that was deleted since is missing in the present assignments.
        given = {one.subject: set(one.roles) for one in added}
        is_given = [one.subject in given and given[one.subject].issuperset(one.roles) for one in present]
        fallen = [of_before.get(one.subject) if given_ else one for one, given_ in zip(present, is_given, strict=True)]
        # An assignment whose roles are gone would admit without any of them.
        kept = [one for one in fallen if one is not None and known.issuperset(one.roles)]
        if kept != present:
            admission.fall_back(uow, service, present, kept, reason=REASON)
            yield made("assignments", organization_id, service.id, f"of the service {service.slug}")


def _saml(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    for (organization_id, service_id), of in by_target(acts, AuditAction.SAML_CONFIGURATION_UPDATED).items():
        service = uow.services.by_id(organization_id, UUID(service_id))
        if service is None:
            continue
        before = uow.saml_configurations.view(service).configuration
        # An entry of an earlier version says where it leads now, and not where it led.
        is_known = all("changes" in one.details for one in of)
        after = fallen(before, changes_of(of, SAML_FIELDS)) if is_known else replace(before, **SAML_FIELDS)
        if after.entity_id is None or after.acs_url is None:
            after = replace(after, enabled=False)
        if after == before:
            continue
        uow.saml_configurations.save(after, at=uow.now)
        changed = sorted(name for name in SAML_FIELDS if getattr(before, name) != getattr(after, name))
        uow.record(
            AuditAction.SAML_CONFIGURATION_UPDATED,
            service.id,
            organization_id=organization_id,
            event_only={"service_id": str(service.id)},
            service_slug=service.slug,
            enabled=after.enabled,
            entity_id=after.entity_id,
            acs_url=after.acs_url,
            change="saml_fallen_back",
            reason=REASON,
        )
        label = f"of the service {service.slug}: {', '.join(changed)}"
        yield made("SAML settings", organization_id, service.id, label)


def _provider_credentials(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Delete the organization's clients at external providers that were set: their holder reads who signs in."""
    of_organizations = by_target(acts, AuditAction.SERVICE_OAUTH_CREDENTIALS_UPDATED)
    for (organization_id, _), of in of_organizations.items():
        set_to = {(one.details.get("provider"), one.details.get("client_id")) for one in of}
        for stored in uow.oauth_credentials.of_organization(organization_id):
            if (stored.provider.value, stored.client_id) not in set_to:
                continue
            uow.oauth_credentials.remove(organization_id, stored.provider)
            uow.record(
                AuditAction.SERVICE_OAUTH_CREDENTIALS_UPDATED,
                organization_id,
                organization_id=organization_id,
                provider=stored.provider.value,
                client_id=None,
                removed=True,
                reason=REASON,
            )
            yield made("credentials", organization_id, organization_id, f"at {stored.provider.value}")


def _products(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """End the products that were begun, and make what was set for others fall back."""
    of_products: dict[tuple[UUID, str], list[Act]] = {}
    wanted = (
        AuditAction.PRODUCT_ACCESS_ACCEPTED,
        AuditAction.PRODUCT_ACCESS_UPDATED,
        AuditAction.PRODUCT_ACCESS_RESUMED,
    )
    for act in of_actions(acts, *wanted):
        of_products.setdefault((act.organization_id, act.target_id), []).append(act)
    for (organization_id, customer_id), of in sorted(of_products.items()):
        client_id = UUID(of[0].details["client_id"])
        product = uow.products.find(organization_id, client_id, at=uow.now)
        is_same = product is not None and str(product.customer_id) == customer_id and product.is_accepted
        vendor_id = product.vendor_id if product is not None and is_same else None
        service = uow.products.lock_service(organization_id, vendor_id, client_id, at=uow.now) if vendor_id else None
        # Either side may have ended it in the meantime.
        if product is None or service is None:
            continue
        label = f"{product.service_slug} of {product.vendor_slug}"
        if any(act.action == AuditAction.PRODUCT_ACCESS_ACCEPTED.value for act in of):
            for relation in uow.service_customers.end_these(service, [product.customer_id]):
                relation.record_end(uow, organization_id, reason=REASON)
            yield made("product", organization_id, product.customer_id, label)
            continue
        after = fallen(product, changes_of(of, dict.fromkeys(_PRODUCT_FIELDS)))
        changes = after.changes(product)
        if changes:
            uow.products.save(organization_id, after)
            if "assignments" in changes:
                uow.products.assign(organization_id, after)
            _record_product(uow, AuditAction.PRODUCT_ACCESS_UPDATED, of[0], changes=changes)
            yield made(
                "settings of the product", organization_id, product.customer_id, f"{label}: {', '.join(changes)}"
            )
        is_resumed = any(act.action == AuditAction.PRODUCT_ACCESS_RESUMED.value for act in of)
        if is_resumed and not product.is_paused_by_customer:
            uow.products.set_pause(organization_id, product, uow.now)
            _record_product(uow, AuditAction.PRODUCT_ACCESS_PAUSED, of[0])
            yield made("paused product", organization_id, product.customer_id, label)


def _record_product(uow: UnitOfWork, action: AuditAction, act: Act, **details: Any) -> None:
    named = ("customer_id", "client_id", "service_name", "vendor_slug", "vendor_name")
    uow.record(
        action,
        UUID(act.target_id),
        organization_id=act.organization_id,
        **{name: act.details[name] for name in named if name in act.details},
        **details,
        reason=REASON,
    )
