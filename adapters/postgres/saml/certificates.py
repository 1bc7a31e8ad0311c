"""Certificates of identity providers in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from adapters.postgres.key_certificates import OWNER_EMAIL, KeyCertificates
from core.key_certificates import Ending
from core.organizations.organizations import OWNER

COUNT_ENDING: Final = """
    SELECT count(*)
    FROM   saml_certificates k
    JOIN   saml_configurations c ON c.organization_id = k.organization_id AND c.service_id = k.service_id
    WHERE  k.is_active AND k.valid_until < %(before)s AND c.enabled
"""
CLAIM_ENDING: Final = f"""
    UPDATE saml_certificates k
    SET    warned_at = %(at)s
    FROM   services s, organizations o
    WHERE  k.id = ANY (ARRAY(
        SELECT   e.id
        FROM     saml_certificates e
        JOIN     saml_configurations c ON c.organization_id = e.organization_id AND c.service_id = e.service_id
        JOIN     organizations t       ON t.id = e.organization_id
        WHERE    e.is_active AND e.valid_until < %(before)s AND e.warned_at IS NULL AND c.enabled
          AND    t.status = 'active'
        ORDER BY e.valid_until
        LIMIT    %(limit)s
        FOR UPDATE OF e SKIP LOCKED))
      AND  s.organization_id = k.organization_id AND s.id = k.service_id AND o.id = k.organization_id
    RETURNING k.organization_id, o.name AS organization_name, s.name, k.valid_until AS ends_at,
              {OWNER_EMAIL.format("k.organization_id")} AS owner_email
"""


class PostgresSamlCertificates(KeyCertificates):
    """The port `KeyCertificates` of services."""

    table = "saml_certificates"
    owner = "service_id"

    def claim_ending(self, *, before: datetime, at: datetime, limit: int) -> Sequence[Ending]:
        return self._all(Ending, CLAIM_ENDING, {"before": before, "at": at, "limit": limit, "owner": OWNER})
