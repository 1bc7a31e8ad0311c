"""The samples of mails that a preview shows."""

from __future__ import annotations

import pytest

from core.mail.mail import MailTemplate
from core.mail.mail_samples import OF_ACCOUNTS, sample_of


@pytest.mark.parametrize("template", [one for one in MailTemplate if one not in OF_ACCOUNTS])
def test_a_sample_names_the_organization_that_looks_at_it(template: MailTemplate) -> None:
    sample = sample_of(template, organization="Harbour", service="Orders", language="de")

    assert (sample.template, sample.language) == (template, "de")
    assert (sample.values["organization"], sample.values["place"]) == ("Harbour", "Harbour")
    assert sample.values["service"] == "Orders"
