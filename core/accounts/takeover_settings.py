"""What was set during a takeover falls back: where services lead, and what organizations let each other do.

What was added goes, and a replaced value becomes the one of before, unless another person has changed it since; where
the value of before is not known, it is emptied and its feature is off. What was removed gives no access: the mails list
it (`core/organizations/takeover_mails.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import takeover_claims, takeovers
from core.organizations.organizations import RESTORABLE_FOR
from core.organizations.takeovers import REASON, Act, Acting, MadeThing
from core.parts import ROWS_AT_ONCE_MAX
from core.services import admission
from core.services.assignments import Assignment
from core.services.services import Admission, CustomerPolicy, Individuals, Service, ServiceRole, ServiceType
from core.sessions.group_forms import GroupsAs
from core.sessions.security_profiles import SecurityProfile, SignatureAlgorithm

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
_ENUMERATIONS: Final[Mapping[str, Callable[[str], Any]]] = {
    "security_profile": SecurityProfile,
    "customers": CustomerPolicy,
    "individuals": Individuals,
    "access": Admission,
    "groups_as": GroupsAs,
    "token_signing": SignatureAlgorithm,
    "service_type": ServiceType,
}
# The field by which the objects of a list are recognized, so that one of before is found again.
_KEYS: Final[Mapping[str, str]] = {"scopes": "name", "claims": "claim"}
# The fields of an entry about a customer that describe the customer, and not the actor.
_NAMES: Final = frozenset(
    {"by", "customer_id", "client_id", "service_slug", "external_id", "organization_slug", "organization_name"}
)
# In entries: the vendor has changed which roles the groups of a customer give.
_RULES_CHANGED: Final = "customer_group_rules_changed"
_Settings = TypeVar("_Settings")


@dataclass(frozen=True, slots=True)
class _Field:
    """What the takeover did to a field: its value before, the last one that it set, and what it added to a list."""

    before: object
    after: object
    added: Sequence[object]


def fall_back(uow: UnitOfWork, acting: Sequence[Acting]) -> Sequence[MadeThing]:
    """Make what these actors set fall back; return what has. Their organizations are locked."""
    acts = uow.takeovers.acts(acting, *ACTIONS)
    return [
        # Customers first: a service that no longer serves any has none.
        *_customers(uow, acts),
        *_people_of_customers(uow, acts),
        *_services(uow, acts),
        *_assignments(uow, acts),
        *_saml(uow, acts),
        *_provider_credentials(uow, acts),
        *_products(uow, acts),
    ]


def _services(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    of_services = _by_target(acts, AuditAction.SERVICE_CREATED, AuditAction.SERVICE_UPDATED)
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
        yield _made("settings", organization_id, service.id, f"of the service {service.slug}: {', '.join(changes)}")


def _of_service(uow: UnitOfWork, service: Service, acts: Sequence[Act]) -> Service:
    """Return a service with what it falls back to; a new one leads nowhere, and its type stays."""
    if acts[0].action == AuditAction.SERVICE_CREATED.value:
        after = replace(service, **{name: one for name, one in SERVICE_FIELDS.items() if name != "service_type"})
    else:
        after = _fallen(service, _changes(acts, SERVICE_FIELDS))
        after = replace(after, roles=_with_scopes_of_before(after.roles, _changes(acts, {"roles": []}).get("roles")))
    if service.serves_customers and not after.serves_customers:
        # Locked, so that no customer begins in the meantime. Customers that others have admitted stay, and the
        # organization may end them.
        uow.services.lock(service)
        if uow.service_customers.has_any(service):
            after = replace(after, customers=CustomerPolicy.LISTED)
    return after


def _assignments(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Withdraw the assignments that gave people services; a replaced one becomes the one of before."""
    for (organization_id, service_id), of in _by_target(acts, AuditAction.SERVICE_ACCESS_CHANGED).items():
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
            yield _made("assignments", organization_id, service.id, f"of the service {service.slug}")


def _saml(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    for (organization_id, service_id), of in _by_target(acts, AuditAction.SAML_CONFIGURATION_UPDATED).items():
        service = uow.services.by_id(organization_id, UUID(service_id))
        if service is None:
            continue
        before = uow.saml_configurations.view(service).configuration
        # An entry of an earlier version says where it leads now, and not where it led.
        is_known = all("changes" in one.details for one in of)
        after = _fallen(before, _changes(of, SAML_FIELDS)) if is_known else replace(before, **SAML_FIELDS)
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
        yield _made("SAML settings", organization_id, service.id, label)


def _provider_credentials(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Delete the organization's clients at external providers that were set: their holder reads who signs in."""
    of_organizations = _by_target(acts, AuditAction.SERVICE_OAUTH_CREDENTIALS_UPDATED)
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
            yield _made("credentials", organization_id, organization_id, f"at {stored.provider.value}")


def _customers(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """End the customers that were admitted, and pause those again whose pause was lifted."""
    for act in _of_actions(
        acts, AuditAction.CUSTOMER_OFFERED, AuditAction.CUSTOMER_ACCEPTED, AuditAction.CUSTOMER_RESUMED
    ):
        service = _service_of(uow, act)
        customer = uow.service_customers.find(service, UUID(act.target_id), at=uow.now) if service is not None else None
        if service is None or customer is None:
            continue
        uow.services.lock(service)
        if act.action != AuditAction.CUSTOMER_RESUMED.value:
            is_restored = act.details.get("restored", False)
            yield from _ended(uow, service, [customer.id], can_be_restored=is_restored)
        elif not customer.is_paused_by_vendor:
            uow.service_customers.set_vendor_pause(service, customer.id, uow.now)
            uow.record(
                AuditAction.CUSTOMER_PAUSED,
                customer.id,
                organization_id=act.organization_id,
                **{name: value for name, value in act.details.items() if name in _NAMES},
                reason=REASON,
            )
            yield _made("paused customer", act.organization_id, customer.id, f"{customer.slug} of {service.slug}")
    yield from _owners(uow, acts)
    yield from _group_rules(uow, acts)
    yield from _external_ids(uow, acts)
    for service, since in _opened(uow, acts):
        uow.services.lock(service)
        while begun := uow.service_customers.begun_since(service, since, limit=ROWS_AT_ONCE_MAX):
            yield from _ended(uow, service, begun)


def _owners(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Withdraw the links that make their readers owners of customers, and take back what was claimed by them."""
    for act in _of_actions(acts, AuditAction.CUSTOMER_OWNER_NAMED):
        service = _service_of(uow, act)
        customer = uow.service_customers.find(service, UUID(act.target_id), at=uow.now) if service is not None else None
        if service is None or customer is None:
            continue
        label = f"{customer.slug} of the service {service.slug}"
        if uow.customer_claims.withdraw(service, customer.id, made_since=act.at):
            yield _made("link to an owner", act.organization_id, customer.id, label)
            continue
        organization_id = uow.takeover_claims.claimed_by_link(service, customer.id, mailed_at=act.at)
        organization = uow.organizations.lock(organization_id) if organization_id is not None else None
        if organization is not None:
            takeovers.suspend_organization(uow, organization)
            takeover_claims.give_back(uow, organization, reason=REASON)
            yield _made("owner of a customer", act.organization_id, customer.id, label)


def _group_rules(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Delete the rules, made or changed, by which groups of customers give roles."""
    for act in _of_actions(acts, AuditAction.ORGANIZATION_UPDATED):
        if act.details.get("change") != _RULES_CHANGED:
            continue
        internal = uow.organizations.find_internal(UUID(act.details["customer_id"]))
        rule_id = UUID(act.details["group_rule"]["id"])
        if internal is None or all(rule.id != rule_id for rule in uow.customer_group_rules.of_customer(internal.id)):
            continue
        uow.customer_group_rules.remove(internal.id, rule_id)
        uow.audit(
            AuditAction.ORGANIZATION_UPDATED,
            act.organization_id,
            organization_id=act.organization_id,
            change=_RULES_CHANGED,
            group_rule=act.details["group_rule"] | {"action": "deleted"},
            **{name: value for name, value in act.details.items() if name in _NAMES},
            reason=REASON,
        )
        label = f"{act.details['organization_slug']} of the service {act.details['service_slug']}"
        yield _made("rule of groups", act.organization_id, rule_id, f"for the customer {label}")


def _opened(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[tuple[Service, Any]]:
    """Return the services that any organization could begin to use because of the takeover, and since when.

    A service that any could use before, and that only the takeover had closed, is none of them.
    """
    of_services = _by_target(acts, AuditAction.SERVICE_CREATED, AuditAction.SERVICE_UPDATED)
    for (organization_id, service_id), of in of_services.items():
        opened_at = _opened_at(of)
        service = uow.services.by_id(organization_id, UUID(service_id)) if opened_at is not None else None
        if service is not None:
            yield service, opened_at


def _opened_at(acts: Iterable[Act]) -> datetime | None:
    """Return when these acts opened a service to any organization that was not open so before."""
    before = after = None
    for act in acts:
        if act.action == AuditAction.SERVICE_CREATED.value:
            return act.at
        change = act.details.get("changes", {}).get("customers")
        if change is None:
            continue
        if change["from"] != after:
            before = change["from"]
        after = change["to"]
        if after == CustomerPolicy.ANY.value != before:
            return act.at
    return None


def _external_ids(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Give customers back the external ids by which the service knew them, where these are free."""
    first: dict[str, Act] = {}
    last: dict[str, Act] = {}
    for act in _of_actions(acts, AuditAction.SERVICE_UPDATED):
        if act.details.get("change") == "customer_changed":
            first.setdefault(act.details["customer_id"], act)
            last[act.details["customer_id"]] = act
    for customer_id, act in sorted(first.items()):
        service, before = _service_of(uow, act), act.details["old_external_id"]
        customer = uow.service_customers.find(service, UUID(customer_id), at=uow.now) if service is not None else None
        if service is None or customer is None or customer.external_id != last[customer_id].details["external_id"]:
            continue
        uow.services.lock(service)
        taken = uow.service_customers.taken(service, slug=None, external_id=before, other_than=customer.id, at=uow.now)
        if taken.is_external_id:
            continue
        uow.service_customers.set_external_id(service, customer.id, before)
        uow.record(
            AuditAction.SERVICE_UPDATED,
            service.id,
            organization_id=act.organization_id,
            audit_only={"old_external_id": customer.external_id},
            change="customer_changed",
            **{name: value for name, value in act.details.items() if name in _NAMES and name != "external_id"},
            external_id=before,
            reason=REASON,
        )
        yield _made("external id", act.organization_id, customer.id, f"of {customer.slug} at {service.slug}")


def _ended(
    uow: UnitOfWork, service: Service, customer_ids: Sequence[UUID], *, can_be_restored: bool = False
) -> Iterable[MadeThing]:
    # No restoration brings back what the takeover itself has made.
    deletes_at = uow.now + RESTORABLE_FOR if can_be_restored else uow.now
    unclaimed = uow.service_customers.end_unclaimed(service.organization_id, customer_ids, deletes_at=deletes_at)
    for relation in (*unclaimed, *uow.service_customers.end_these(service, customer_ids)):
        relation.record_end(uow, service.organization_id, reason=REASON)
        label = f"{relation.customer_slug} of the service {service.slug}"
        yield _made("customer", service.organization_id, relation.customer_id, label)


def _people_of_customers(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Take away the vendor's own roles that people of customers were given."""
    given: dict[tuple[UUID, str, str], tuple[Act, set[str]]] = {}
    for act in _of_actions(acts, AuditAction.CUSTOMER_USER_CHANGED):
        customer_id = act.details.get("customer_id")
        if customer_id is None or "own_roles" not in act.details:
            continue
        more = set(act.details["own_roles"]) - set(act.details["old_own_roles"])
        known = given.setdefault((act.organization_id, customer_id, act.target_id), (act, set()))
        known[1].update(more)
    for (organization_id, customer_id, user_id), (act, more) in given.items():
        service = _service_of(uow, act)
        if service is None:
            continue
        uow.services.lock(service)
        customer = uow.service_customers.find(service, UUID(customer_id), at=uow.now)
        is_customer = customer is not None and customer.is_accepted
        person = uow.customer_people.lock(service, customer, UUID(user_id)) if customer and is_customer else None
        if customer is None or person is None or not more & set(person.own_roles):
            continue
        kept = sorted(set(person.own_roles) - more)
        changed = uow.customer_people.set_roles(service, customer, UUID(user_id), kept)
        uow.audit(
            AuditAction.CUSTOMER_USER_CHANGED,
            changed.person.id,
            organization_id=organization_id,
            customer_id=customer_id,
            client_id=str(service.client_id),
            service_slug=service.slug,
            own_roles=kept,
            old_own_roles=person.own_roles,
            reason=REASON,
        )
        yield _made("roles", organization_id, customer.id, f"of a person of {customer.slug} at {service.slug}")


def _products(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """End the products that were begun, and make what was set for others fall back."""
    of_products: dict[tuple[UUID, str], list[Act]] = {}
    wanted = (
        AuditAction.PRODUCT_ACCESS_ACCEPTED,
        AuditAction.PRODUCT_ACCESS_UPDATED,
        AuditAction.PRODUCT_ACCESS_RESUMED,
    )
    for act in _of_actions(acts, *wanted):
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
            yield _made("product", organization_id, product.customer_id, label)
            continue
        after = _fallen(product, _changes(of, dict.fromkeys(_PRODUCT_FIELDS)))
        changes = after.changes(product)
        if changes:
            uow.products.save(organization_id, after)
            if "assignments" in changes:
                uow.products.assign(organization_id, after)
            _record_product(uow, AuditAction.PRODUCT_ACCESS_UPDATED, of[0], changes=changes)
            yield _made(
                "settings of the product", organization_id, product.customer_id, f"{label}: {', '.join(changes)}"
            )
        is_resumed = any(act.action == AuditAction.PRODUCT_ACCESS_RESUMED.value for act in of)
        if is_resumed and not product.is_paused_by_customer:
            uow.products.set_pause(organization_id, product, uow.now)
            _record_product(uow, AuditAction.PRODUCT_ACCESS_PAUSED, of[0])
            yield _made("paused product", organization_id, product.customer_id, label)


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


def _service_of(uow: UnitOfWork, act: Act) -> Service | None:
    """Return the service that an entry about a customer names, if it is the organization's."""
    client = uow.clients.find(UUID(act.details["client_id"]))
    is_own = client is not None and client.service.organization_id == act.organization_id
    return client.service if client is not None and is_own else None


def _made(kind: str, organization_id: UUID, target_id: UUID, label: str) -> MadeThing:
    return MadeThing(kind=kind, organization_id=organization_id, id=target_id, label=label, recorded={})


def _of_actions(acts: Iterable[Act], *actions: AuditAction) -> Iterable[Act]:
    wanted = {action.value for action in actions}
    return (act for act in acts if act.action in wanted)


def _by_target(acts: Iterable[Act], *actions: AuditAction) -> Mapping[tuple[UUID, str], Sequence[Act]]:
    """Return what was done to each target, in the order of targets, so that all transactions change them in one."""
    found: dict[tuple[UUID, str], list[Act]] = {}
    for act in _of_actions(acts, *actions):
        found.setdefault((act.organization_id, act.target_id), []).append(act)
    return dict(sorted(found.items()))


def _changes(acts: Iterable[Act], fields: Mapping[str, Any]) -> Mapping[str, _Field]:
    """Return what these acts did to the fields, in the form of audit entries."""
    found: dict[str, _Field] = {}
    for act in acts:
        changes: Mapping[str, Mapping[str, Any]] = act.details.get("changes", {})
        for name, change in changes.items():
            if name not in fields:
                continue
            old, new = change["from"], change["to"]
            known = found.get(name)
            # A value that another person has set in between is the value of before.
            before = known.before if known is not None and known.after == old else old
            more = [one for one in _list(new) if one not in _list(old) and one not in _list(before)]
            found[name] = _Field(before=before, after=new, added=[*(known.added if known is not None else ()), *more])
    return found


def _fallen(settings: _Settings, changes: Mapping[str, _Field]) -> _Settings:
    """Return settings without what was added, and with the values of before where the takeover set the present ones."""
    values: dict[str, Any] = {}
    for name, change in changes.items():
        present = getattr(settings, name)
        if isinstance(present, list):
            found = [_of_before(name, one, change) for one in cast("list[object]", present)]
            kept = [one for one in found if one is not None]
            if kept != present:
                values[name] = kept
        elif _shown(present) == change.after:
            values[name] = _stored(name, change.before, present)
    return replace(cast("Any", settings), **values)


def _of_before(name: str, one: object, change: _Field) -> object | None:
    """Return an item of a list as it was before the takeover; None for one that was not there."""
    if _shown(one) not in change.added:
        return one
    key = _KEYS.get(name)
    named = getattr(one, key) if key is not None else None
    before = next((old for old in _list(change.before) if key and cast("dict[str, Any]", old)[key] == named), None)
    return type(one)(**cast("dict[str, Any]", before)) if before is not None else None


def _with_scopes_of_before(roles: Sequence[ServiceRole], change: _Field | None) -> list[ServiceRole]:
    """Return roles without the scopes that the takeover let them list."""
    if change is None:
        return list(roles)
    before, after = (
        {one["name"]: one.get("scopes", []) for one in cast("Any", of)} for of in (change.before, change.after)
    )
    return [
        replace(role, scopes=before.get(role.name, [])) if after.get(role.name) == role.scopes else role
        for role in roles
    ]


def _stored(name: str, before: object, present: object) -> object:
    """Return the value of before, which an audit entry names by its text."""
    if not isinstance(before, str):
        return before
    if name in _ENUMERATIONS:
        return _ENUMERATIONS[name](before)
    # An enumeration of another area.
    return type(present)(before) if isinstance(present, StrEnum) else before


def _shown(value: object) -> object:
    """Return a value in the form of an audit entry."""
    if isinstance(value, UUID):
        return str(value)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
