"""What a transaction offers of the area `audit`."""

from typing import Final, Protocol

from ports.audit.audit_log import Analytics, AuditLog, AuditSearches, PersonRecords, SignInCounts, SignInLog
from ports.audit.chain import AuditChains
from ports.audit.siem import SiemSignIns, SiemStreams


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
