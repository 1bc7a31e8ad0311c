"""The custom domain of an organization: claimed, proved, checked again, and removed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from core.mail.mail import MailTemplate
from core.organizations.domain_proofs import CHECK_PERIOD, FAILING_MAX, RECHECK_PERIOD, UNANSWERED_MAX
from core.organizations.settings import domain
from core.organizations.settings.domain import DomainUnset
from core.sessions.origins import BACKGROUND
from tests.application import serving
from tests.concurrency import at_once, statuses_of
from tests.world.domains import DOMAIN, Domains
from tests.world.world import World, assert_refused

SECOND = timedelta(seconds=1)


def rival(domains: Domains) -> Domains:
    """Return another organization, which asks the same name server."""
    world = domains.team.world
    globex = world.team("globex")
    globex.ids["owner"] = domains.team.ids["owner"]
    world.member(globex.organization_id, globex.ids["owner"], "owner")
    return Domains(globex, domains.names)


class TestClaim:
    """GET, PUT and DELETE /domain."""

    async def test_a_claim_names_the_record_that_proves_it(self, domains: Domains) -> None:
        assert_refused(await domains.request("GET"), 404, "NOT_FOUND")

        claimed = await domains.claim("ID.Acme.Example.")

        assert claimed == {
            "domain": DOMAIN,
            "status": "pending",
            "txt_name": f"_gatehouse.{DOMAIN}",
            "txt_value": claimed["txt_value"],
            "verified_at": None,
            "checked_at": None,
            "failing_since": None,
            "ends_at": None,
        }
        assert len(claimed["txt_value"].removeprefix("gatehouse-verification=")) == 43
        assert await domains.show() == claimed
        [(_, _, target, details)] = domains.team.world.audit_entries("domain.set")
        assert target == str(domains.team.organization_id)
        assert details == {"domain": DOMAIN, "replaced": None}

    async def test_the_value_stays_for_the_same_domain_and_is_another_for_every_other_claim(
        self, domains: Domains
    ) -> None:
        first = await domains.claim()

        same, other = await domains.claim(), await domains.claim("other.acme.example")
        again = await domains.claim()

        assert same == first
        assert len({first["txt_value"], other["txt_value"], again["txt_value"]}) == 3

    async def test_what_is_no_domain_is_refused(self, domains: Domains, subtests: pytest.Subtests) -> None:
        for text in (
            *("", "localhost", "acme", "https://id.acme.example", "id.acme.example/", "id acme.example", "-a.example"),
            *(
                "127.0.0.1",
                "[::1]",
                "id.acme.example:443",
                "a..example",
                "a" * 64 + ".example",
                "a_b.example",
                "*.a.io",
            ),
            *("straße .example", "xn--a.example", "id.acme.123", ".".join(["a" * 60] * 4) + ".example"),
        ):
            with subtests.test(text=text):
                answer = await domains.request("PUT", body={"domain": text})

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.invalid_fields == ["domain"]

    async def test_the_names_of_the_installation_cannot_be_claimed(self, domains: Domains, world: World) -> None:
        settings = replace(world.installation.settings, passkey_rp_id="acme.example")
        client, token = serving(replace(world.installation, settings=settings)), await domains.team.token("owner")

        answer = await client.put(f"{domains.team.path}/domain", token=token, body={"domain": "acme.example"})

        assert answer.invalid_fields == ["domain"]

    async def test_an_international_domain_is_stored_in_its_ascii_form(self, domains: Domains) -> None:
        assert (await domains.claim("id.straße.example"))["domain"] == "id.xn--strae-oqa.example"

    async def test_a_domain_that_is_given_up_is_gone(self, domains: Domains) -> None:
        await domains.claim()

        assert (await domains.request("DELETE")).status == 204

        assert_refused(await domains.request("DELETE"), 404, "NOT_FOUND")
        assert [row[3] for row in domains.team.world.audit_entries("domain.deleted")] == [{"domain": DOMAIN}]


class TestVerification:
    """POST /domain/verify."""

    async def test_a_published_value_verifies_the_domain(self, domains: Domains) -> None:
        verified = await domains.verify()

        assert (verified["status"], verified["verified_at"]) == ("verified", "2026-02-03T04:05:06Z")
        assert await domains.show() == verified
        assert [row[3] for row in domains.team.world.audit_entries("domain.verified")] == [{"domain": DOMAIN}]
        organization_id = domains.team.organization_id
        database = domains.team.world.installation.database
        assert await database.read(lambda uow: uow.custom_domains.verified_domains(organization_id)) == [DOMAIN]

    async def test_verifying_again_records_nothing_more(self, domains: Domains) -> None:
        await domains.verify()

        assert (await domains.request("POST", "/verify")).status == 200
        assert len(domains.team.world.audit_entries("domain.verified")) == 1

    @pytest.mark.parametrize("value", ["", "another value", "gatehouse-verification="])
    async def test_another_value_does_not_verify_it(self, domains: Domains, value: str) -> None:
        claimed = await domains.claim()
        domains.names.publish(claimed["txt_name"], value, claimed["txt_value"] + "x", claimed["txt_value"].lower())

        assert_refused(await domains.request("POST", "/verify"), 400, "BAD_REQUEST")
        assert (await domains.show())["status"] == "pending"

    async def test_name_servers_without_an_answer_are_told_apart(self, domains: Domains) -> None:
        claimed = await domains.claim()
        missing = await domains.request("POST", "/verify")
        domains.names.failing.add(claimed["txt_name"])
        unanswered = await domains.request("POST", "/verify")

        assert "not found" in missing.json["error"]
        assert "gave no answer" in unanswered.json["error"]

    async def test_without_a_claim_there_is_nothing_to_verify(self, domains: Domains) -> None:
        assert_refused(await domains.request("POST", "/verify"), 404, "NOT_FOUND")

    async def test_an_answer_about_a_claim_that_was_replaced_verifies_nothing(self, domains: Domains) -> None:
        await domains.publish()
        await domains.team.token("owner")
        database = domains.team.world.installation.database
        asked = await database.read(lambda uow: uow.custom_domains.of(domains.team.organization_id))
        assert asked is not None
        await domains.request("PUT", body={"domain": "other.acme.example"})
        session_id = domains.team.world.value("SELECT id FROM sessions")
        as_owner = database.on_behalf_of(BACKGROUND, session_id)

        with pytest.raises(DomainUnset):
            await as_owner.transact(domain.verify, domains.team.slug, asked, [asked.proof.value])

    async def test_a_claim_that_is_replaced_meanwhile_is_not_verified(self, domains: Domains) -> None:
        await domains.publish()
        await domains.team.token("owner")

        answers = await at_once(
            lambda: domains.request("POST", "/verify"),
            lambda: domains.request("PUT", body={"domain": "other.acme.example"}),
        )

        shown = await domains.show()
        assert statuses_of(answers)[0] == 200
        assert (shown["domain"], shown["status"]) == ("other.acme.example", "pending")

    async def test_any_organization_may_claim_a_domain_and_one_may_have_it(self, domains: Domains) -> None:
        other = rival(domains)
        await domains.verify()
        theirs = await other.publish()

        refused = await other.request("POST", "/verify")

        assert theirs["status"] == "pending"
        assert_refused(refused, 409, "CONFLICT")
        assert (await domains.show())["status"] == "verified"

    async def test_of_two_that_verify_one_domain_at_once_one_has_it(self, domains: Domains) -> None:
        other = rival(domains)
        for one in (domains, other):
            claimed = await one.claim()
            domains.names.records.setdefault(claimed["txt_name"], []).append(claimed["txt_value"])

        answers = await at_once(*[lambda one=one: one.request("POST", "/verify") for one in (domains, other)])

        assert statuses_of(answers) == [200, 409]
        assert sorted([(await domains.show())["status"], (await other.show())["status"]]) == ["pending", "verified"]


class TestChecks:
    """The proof of a verified domain, asked for again."""

    async def test_a_proof_that_is_still_there_is_asked_for_twice_a_day(self, domains: Domains) -> None:
        await domains.verify()
        world = domains.team.world

        world.clock.advance(CHECK_PERIOD - SECOND)
        early = await domains.check()
        world.clock.advance(SECOND)
        due = await domains.check()

        assert (early, due, await domains.check()) == ([], ["verified"], [])

    async def test_a_proof_that_disappears_is_shown_within_a_day_and_ends_nothing_for_seven(
        self, domains: Domains
    ) -> None:
        verified = await domains.verify()
        world, team = domains.team.world, domains.team
        domains.names.publish(verified["txt_name"])

        world.clock.advance(CHECK_PERIOD)
        found = await domains.check()
        team.tokens.clear()
        failing = await domains.show()
        world.clock.advance(FAILING_MAX - SECOND)
        before = await world.client.get("/app/sign-in", headers={"Host": DOMAIN})
        world.clock.advance(SECOND)
        after = await world.client.get("/app/sign-in", headers={"Host": DOMAIN})
        await domains.check()
        team.tokens.clear()

        assert found == ["failing"]
        [message] = await world.mails()
        assert (message.to, message.template) == ("owner@example.com", MailTemplate.DOMAIN_FAILING)
        assert message.values["record_value"] == verified["txt_value"]
        assert message.values["at"] == "2026-02-10 16:05 UTC"
        assert (failing["status"], failing["failing_since"]) == ("failing", "2026-02-03T16:05:06Z")
        assert failing["ends_at"] == "2026-02-10T16:05:06Z"
        assert (before.status, after.status) == (200, 404)
        ended = await domains.show()
        assert (ended["status"], ended["verified_at"], ended["txt_value"]) == ("pending", None, verified["txt_value"])

    async def test_a_proof_that_comes_back_is_verified_again(self, domains: Domains) -> None:
        verified = await domains.verify()
        domains.names.publish(verified["txt_name"])
        domains.team.world.clock.advance(CHECK_PERIOD)
        await domains.check()

        domains.names.publish(verified["txt_name"], verified["txt_value"])
        domains.team.world.clock.advance(RECHECK_PERIOD)
        found = await domains.check()
        domains.team.tokens.clear()

        assert found == ["verified"]
        assert (await domains.show())["failing_since"] is None
        assert len(domains.team.world.audit_entries("domain.verified")) == 1

    async def test_name_servers_that_are_away_prove_nothing_for_a_day(self, domains: Domains) -> None:
        verified = await domains.verify()
        domains.names.failing.add(verified["txt_name"])
        clock = domains.team.world.clock

        clock.advance(CHECK_PERIOD)
        first = await domains.check()
        clock.advance(UNANSWERED_MAX - CHECK_PERIOD)
        second = await domains.check()

        assert (first, second) == (["verified"], ["failing"])

    async def test_a_claim_that_has_failed_for_too_long_is_in_nobody_s_way(self, domains: Domains) -> None:
        verified = await domains.verify()
        domains.names.publish(verified["txt_name"])
        domains.team.world.clock.advance(CHECK_PERIOD)
        await domains.check()
        other = rival(domains)

        domains.team.world.clock.advance(FAILING_MAX)
        domains.team.tokens.clear()
        await other.verify()

        assert (await domains.show())["status"] == "pending"
        assert (await other.show())["status"] == "verified"

    async def test_a_claim_that_is_given_up_during_its_check_stays_gone(self, domains: Domains, world: World) -> None:
        await domains.verify()
        world.clock.advance(CHECK_PERIOD)
        [claim] = await world.installation.database.transact(domain.claim_checks, 1)
        domains.team.tokens.clear()
        await domains.request("DELETE")

        assert await world.installation.database.transact(domain.record_check, claim, ()) is None


class TestCertificates:
    """GET /internal/tls-allowed."""

    async def test_a_proxy_gets_certificates_for_the_base_url_and_for_verified_domains(
        self, domains: Domains, world: World
    ) -> None:
        async def ask(name: str) -> int:
            # A proxy asks under any name.
            answer = await world.client.get(f"/internal/tls-allowed?domain={name}", headers={"Host": "10.0.0.7:8000"})
            return answer.status

        await domains.claim()
        pending = await ask(DOMAIN)
        await domains.verify()

        assert [pending, await ask(DOMAIN), await ask(DOMAIN.upper())] == [404, 200, 200]
        assert [await ask("localhost"), await ask("evil.example"), await ask("a" * 300), await ask("")] == [
            *(200, 404, 404, 404)
        ]
        world.set_organization_status(domains.team.organization_id, "suspended")
        assert await ask(DOMAIN) == 404
