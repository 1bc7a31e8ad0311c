"""Storage of trial sign-ins."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.sign_in.upstream.trials import TrialAnswer, TrialResult, TrialSignIn


class TrialSignIns(Protocol):
    """Trials by the hash of their state; of several concurrent calls that use one up, one gets it.

    Trials of organizations that are not active are never found.
    """

    def add(self, trial: TrialSignIn, state_hash: bytes) -> None:
        """Store a trial that begins, and delete the expired trials of its connection that got no answer."""
        ...

    def use(self, state_hash: bytes, *, session_id: UUID | None, visit_hash: bytes | None) -> TrialSignIn | None:
        """Use up a trial of this session, or of this visit of a setup link, that has no answer yet.

        None when there is none, or it has expired.
        """
        ...

    def find_open(self, state_hash: bytes, connection_id: UUID) -> TrialSignIn | None:
        """Return a trial of a connection that has no answer yet; None as `use`."""
        ...

    def keep_answer(self, state_hash: bytes, connection_id: UUID, answer: TrialAnswer, *, continue_hash: bytes) -> bool:
        """Use up a trial, store its answer, and give it another state; False where `use` returns None."""
        ...

    def use_answered(
        self, state_hash: bytes, connection_id: UUID, *, session_id: UUID | None, visit_hash: bytes | None
    ) -> TrialSignIn | None:
        """Conclude and return an answered trial, replacing the last concluded one of its connection; None as `use`."""
        ...

    def conclude(self, organization_id: UUID, trial_id: UUID, answer: TrialAnswer) -> None:
        """Store the answer of a trial, replacing the last concluded one; do nothing when its connection is gone."""
        ...

    def last(self, organization_id: UUID, connection_id: UUID) -> TrialResult | None:
        """Return the trial of a connection that was concluded last; None when there is none."""
        ...

    def last_of_each(self, organization_id: UUID) -> Sequence[TrialResult]:
        """Return the trial of each connection that was concluded last."""
        ...
