"""The content of an assertion about a user: the name under which the service provider knows them, and attributes.

The assertion itself is composed in `answering.py`, its XML in `adapters/saml/outgoing.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from core.saml.configuration import DEFAULT_MAPPING
from core.saml.identity_providers import SamlProvider
from core.saml.messages import NameId, NameIdFormat
from core.saml.visits import AdmissionStanding
from core.sessions.customer_contexts import CustomerContext
from core.sessions.places import GROUPS_NAMED_MAX
from core.sessions.token_additions import TokenSubject

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_PURPOSE: Final = "persistent name of SAML"
Attribute = tuple[str, "str | Sequence[str] | None"]


def name_id(uow: UnitOfWork, provider: SamlProvider, user_id: UUID, email: str, customer_id: UUID | None) -> NameId:
    """Return the name of a user for a service, in the configured format.

    A persistent name is derived from the user, the service and the customer, if there is one: so neither two services
    nor two customers of one can compare their users.
    """
    match provider.configuration.effective_format:
        case NameIdFormat.PERSISTENT as name_format:
            customer = (customer_id.bytes,) if customer_id is not None else ()
            value = uow.pepper.mark(_PURPOSE, provider.service_id.bytes, user_id.bytes, *customer).hex()
        case NameIdFormat.TRANSIENT as name_format:
            value = f"_{uow.randomness.token().reveal()}"
        case name_format:
            value = email
    return NameId(value=value, format=name_format)


def attributes(
    mapping: Mapping[str, str] | None,
    *,
    user_id: UUID,
    email: str,
    standing: AdmissionStanding,
    subject: TokenSubject | None = None,
) -> tuple[Attribute, ...]:
    """Return the attributes of a user: by the mapping, and the claims of the product for the session's subject."""
    customer = subject.caller.place.customer if subject is not None else None
    mapped = _mapped(mapping, user_id=user_id, email=email, standing=standing, customer=customer)
    taken = {name.lower() for name, _ in mapped}
    claims = subject.own_attributes if subject is not None else {}
    return mapped + tuple((name, _text(value)) for name, value in claims.items() if name.lower() not in taken)


def _mapped(
    mapping: Mapping[str, str] | None,
    *,
    user_id: UUID,
    email: str,
    standing: AdmissionStanding,
    customer: CustomerContext | None,
) -> tuple[Attribute, ...]:
    """Return the attributes of a user by the mapping; only for members role and groups have a value.

    In the context of a customer they describe the user there, with nothing from the organization of the service but its
    names for them, and an attribute without a value is left out. Otherwise there are no attributes about a customer.
    """
    named = mapping or DEFAULT_MAPPING
    values: dict[str, str | Sequence[str] | None] = {"email": email, "id": str(user_id), "name": standing.name}
    if customer is not None:
        values |= _of_customer(customer)
        return tuple((name, values[field]) for field, name in named.items() if values.get(field))
    values |= {"role": standing.role, "groups": _groups(standing)}
    return tuple((name, values[field]) for field, name in named.items() if field in values)


@cache
def _no_xml() -> re.Pattern[str]:
    """Return what no XML document can have (XML 1.0, 2.2). Compiling it takes 5 ms, and few processes need it."""
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(value: Any) -> str | list[str]:
    """Return the value of a claim as XML can say it: a text, or a list of texts."""
    match value:
        case list():
            return [cast("str", _text(one)) for one in cast("list[Any]", value)]
        case bool():
            return "true" if value else "false"
        case str():
            return _no_xml().sub("", value)
        case _:
            return str(value)


def _of_customer(customer: CustomerContext) -> dict[str, str | Sequence[str] | None]:
    groups = [one["name"] for one in customer.groups or ()]
    return {
        "groups": groups if len(groups) <= GROUPS_NAMED_MAX else None,
        "customer.id": str(customer.id),
        "customer.slug": customer.slug,
        "customer.name": customer.name,
        "customer.role": customer.role,
        "customer.external_id": customer.external_id,
        "customer.service_roles": customer.service_roles,
    }


def _groups(standing: AdmissionStanding) -> str | Sequence[str] | None:
    """Return the names of the groups that the service sees; the role for a service that sees none."""
    if standing.groups is None:
        return standing.role
    return standing.groups if 0 < len(standing.groups) <= GROUPS_NAMED_MAX else None
