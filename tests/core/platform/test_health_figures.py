"""Values that are computed from the platform's figures."""

import pytest

from core.platform.health_figures import PlatformFigures


@pytest.mark.parametrize(
    ("active_users", "mfa_users", "percentage"), [(0, 0, 0.0), (4, 0, 0.0), (4, 1, 25.0), (3, 3, 100.0)]
)
def test_mfa_adoption_is_the_share_of_active_users_who_use_it(
    active_users: int, mfa_users: int, percentage: float
) -> None:
    figures = PlatformFigures(
        active_users=active_users,
        organizations=0,
        mfa_users=mfa_users,
        queued_mails=0,
        queued_deliveries=0,
        certificates_ending=0,
    )

    assert figures.mfa_adoption_percentage == percentage
