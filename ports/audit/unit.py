"""What a transaction offers of the area `audit`."""

from typing import Final, Protocol

from ports.audit.analytics import Analytics
from ports.audit.audit_log import AuditLog
from ports.audit.chain import AuditChains
from ports.audit.person_records import PersonRecords
from ports.audit.search import AuditSearches
from ports.audit.siem import SiemStreams
from ports.audit.siem_sign_ins import SiemSignIns
from ports.audit.sign_in_counts import SignInCounts
from ports.audit.sign_in_log import SignInLog


class AuditUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    audit_log: Final[AuditLog]
    audit_searches: Final[AuditSearches]
    audit_chains: Final[AuditChains]
    person_records: Final[PersonRecords]
    siem_streams: Final[SiemStreams]
    siem_sign_ins: Final[SiemSignIns]
    analytics: Final[Analytics]
    sign_in_counts: Final[SignInCounts]
    sign_in_log: Final[SignInLog]
