"""What a transaction offers of the area `audit`."""

from typing import Protocol

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

    @property
    def audit_log(self) -> AuditLog: ...

    @property
    def audit_searches(self) -> AuditSearches: ...

    @property
    def audit_chains(self) -> AuditChains: ...

    @property
    def person_records(self) -> PersonRecords: ...

    @property
    def siem_streams(self) -> SiemStreams: ...

    @property
    def siem_sign_ins(self) -> SiemSignIns: ...

    @property
    def analytics(self) -> Analytics: ...

    @property
    def sign_in_counts(self) -> SignInCounts: ...

    @property
    def sign_in_log(self) -> SignInLog: ...
