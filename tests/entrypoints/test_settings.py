"""Settings: what each one takes, its default, and the error for a wrong value."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import FrozenInstanceError, fields
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from core.platform.retention import FOR_EVER
from core.secrets import Secret
from core.sessions.security_profiles import SignatureAlgorithm
from entrypoints import equipment
from entrypoints.refusals import CannotStart
from entrypoints.setting_kinds import variable_of
from entrypoints.settings import PREFIX, Bind, SettingInvalid, Settings, load, rows, unknown
from tests.shown_text import shows

ADDRESS = "an address such as https://id.example.com, without query or fragment"
ORIGINS = "a comma-separated list of origins such as https://app.example.com, without a path"
NETWORKS = "a comma-separated list of networks such as 10.0.0.0/8"
DATABASE = "postgresql://gatehouse:hush@db.example.com/gatehouse"

NAMES = [variable_of(attribute) for attribute in fields(Settings)]
DEFAULTS: dict[str, Any] = {
    "codehost_client_id": None,
    "codehost_client_secret": None,
    "codehost_authorize_url": "https://github.com/login/oauth/authorize",
    "codehost_token_url": "https://github.com/login/oauth/access_token",
    "codehost_userinfo_url": "https://api.github.com/user",
    "websuite_client_id": None,
    "websuite_client_secret": None,
    "websuite_authorize_url": "https://accounts.google.com/o/oauth2/v2/auth",
    "websuite_token_url": "https://oauth2.googleapis.com/token",
    "websuite_userinfo_url": "https://openidconnect.googleapis.com/v1/userinfo",
    "officesuite_client_id": None,
    "officesuite_client_secret": None,
    "officesuite_authorize_url": "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
    "officesuite_token_url": "https://login.microsoftonline.com/common/oauth2/v2.0/token",
    "officesuite_userinfo_url": "https://graph.microsoft.com/oidc/userinfo",
    "billing_url": "https://api.stripe.com",
    "billing_secret_key": None,
    "billing_sandbox": False,
    "providers_file": None,
    "saml_aes_cbc": False,
    "billing_webhook_secret": None,
    "traces_url": None,
    "traces_authorization": None,
    "traces_percent": 10,
    "geoip_db": None,
    "frontend_url": None,
    "auto_approve": False,
    "name": "Gatehouse",
    "logo": None,
    "color": None,
    "passkey_rp_id": None,
    "base_url": "http://localhost:8000",
    "bind": Bind("127.0.0.1", 8000),
    "metrics_bind": None,
    "database_url": None,
    "database_connections": 10,
    "database_listen_url": None,
    "database_read_urls": None,
    "postgres_programs": None,
    "data_dir": Path(".gatehouse"),
    "master_keys": None,
    "owner_email": None,
    "owner_password": None,
    "password_min_length": 8,
    "breached_passwords": None,
    "security_contact": None,
    "smtp_url": None,
    "dev": False,
    "access_token_ttl": timedelta(seconds=900),
    "token_signing": SignatureAlgorithm.ES256,
    "trusted_proxies": (),
    "cors_origins": (),
    "outbound_allow": (),
    "dns_server": None,
    "login_event_retention": timedelta(days=400),
    "mfa_event_retention": FOR_EVER,
    "invitation_retention": timedelta(days=400),
    "unproved_account_retention": timedelta(days=30),
    "session_retention": timedelta(days=30),
    "device_retention": timedelta(days=365),
    "link_retention": timedelta(days=30),
    "organization_key_retention": timedelta(days=90),
    "delivery_retention": timedelta(days=90),
    "job_retention": timedelta(days=30),
    "provisioning_log_retention": timedelta(days=30),
    "connection_problem_retention": timedelta(days=90),
    "checkout_retention": timedelta(days=30),
    "cancellation_retention": timedelta(days=90),
    "rate_limits": True,
    "log_format": "json",
    "log_level": "info",
    "log_requests": "all",
    "shutdown_seconds": 15,
    "drain_seconds": 0,
}
# Name, text, attribute, value.
ACCEPTED: list[tuple[str, str, str, Any]] = [
    ("BASE_URL", "https://id.example.com", "base_url", "https://id.example.com"),
    ("BASE_URL", "https://id.example.com/", "base_url", "https://id.example.com"),
    ("BASE_URL", "HTTPS://ID.Example.com:443/sso/", "base_url", "https://id.example.com/sso"),
    ("BASE_URL", "http://[::1]:8000", "base_url", "http://[::1]:8000"),
    ("BIND", "0.0.0.0:80", "bind", Bind("0.0.0.0", 80)),
    ("BIND", "localhost:0", "bind", Bind("localhost", 0)),
    ("BIND", "[::]:65535", "bind", Bind("::", 65535)),
    ("METRICS_BIND", "10.0.0.7:9100", "metrics_bind", Bind("10.0.0.7", 9100)),
    ("DATABASE_URL", DATABASE, "database_url", Secret(DATABASE)),
    (
        "DATABASE_URL",
        "postgres:///gatehouse?host=/run/db",
        "database_url",
        Secret("postgres:///gatehouse?host=/run/db"),
    ),
    ("DATABASE_LISTEN_URL", DATABASE, "database_listen_url", Secret(DATABASE)),
    ("DATABASE_READ_URLS", f" {DATABASE}\n{DATABASE}", "database_read_urls", Secret(f"{DATABASE} {DATABASE}")),
    ("DATABASE_CONNECTIONS", "1", "database_connections", 1),
    ("DATABASE_CONNECTIONS", "500", "database_connections", 500),
    ("DATA_DIR", "/var/lib/gatehouse", "data_dir", Path("/var/lib/gatehouse")),
    ("MASTER_KEYS", "first,second", "master_keys", Secret("first,second")),
    ("PASSWORD_MIN_LENGTH", "8", "password_min_length", 8),
    ("PASSWORD_MIN_LENGTH", "64", "password_min_length", 64),
    ("BREACHED_PASSWORDS", "/srv/breached.txt", "breached_passwords", Path("/srv/breached.txt")),
    ("BREACHED_PASSWORDS", "https://Ranges.example/range/", "breached_passwords", "https://ranges.example/range"),
    ("BREACHED_PASSWORDS", "http://localhost:8089", "breached_passwords", "http://localhost:8089"),
    ("SECURITY_CONTACT", "mailto:security@example.com", "security_contact", "mailto:security@example.com"),
    ("SECURITY_CONTACT", "https://example.com/report?via=a", "security_contact", "https://example.com/report?via=a"),
    ("SMTP_URL", "smtp://mail.example.com", "smtp_url", Secret("smtp://mail.example.com")),
    ("FRONTEND_URL", "https://app.example.com", "frontend_url", "https://app.example.com"),
    ("AUTO_APPROVE", "on", "auto_approve", True),
    ("DEV", "on", "dev", True),
    ("DEV", "TRUE", "dev", True),
    ("DEV", "yes", "dev", True),
    ("DEV", "1", "dev", True),
    ("RATE_LIMITS", "off", "rate_limits", False),
    ("RATE_LIMITS", "false", "rate_limits", False),
    ("RATE_LIMITS", "No", "rate_limits", False),
    ("RATE_LIMITS", "0", "rate_limits", False),
    ("ACCESS_TOKEN_TTL", "60", "access_token_ttl", timedelta(minutes=1)),
    ("ACCESS_TOKEN_TTL", "86400", "access_token_ttl", timedelta(days=1)),
    ("TOKEN_SIGNING", "RS256", "token_signing", SignatureAlgorithm.RS256),
    ("TOKEN_SIGNING", "es256", "token_signing", SignatureAlgorithm.ES256),
    ("TRUSTED_PROXIES", "10.0.0.0/8", "trusted_proxies", (ip_network("10.0.0.0/8"),)),
    ("TRUSTED_PROXIES", " 10.0.0.7 , fd00::/8 ,", "trusted_proxies", (ip_network("10.0.0.7"), ip_network("fd00::/8"))),
    ("OUTBOUND_ALLOW", "10.0.0.0/8", "outbound_allow", (ip_network("10.0.0.0/8"),)),
    ("DNS_SERVER", "192.0.2.53:53", "dns_server", Bind("192.0.2.53", 53)),
    ("TRACES_URL", "http://localhost:4318/v1/traces", "traces_url", "http://localhost:4318/v1/traces"),
    ("TRACES_AUTHORIZATION", "Bearer hush", "traces_authorization", Secret("Bearer hush")),
    ("TRACES_PERCENT", "100", "traces_percent", 100),
    ("DNS_SERVER", "[2001:db8::53]:5353", "dns_server", Bind("2001:db8::53", 5353)),
    ("DELIVERY_RETENTION_DAYS", "1", "delivery_retention", timedelta(days=1)),
    ("DELIVERY_RETENTION_DAYS", "90", "delivery_retention", timedelta(days=90)),
    ("LOGIN_EVENT_RETENTION_DAYS", "3650", "login_event_retention", timedelta(days=3650)),
    ("MFA_EVENT_RETENTION_DAYS", "400", "mfa_event_retention", timedelta(days=400)),
    ("MFA_EVENT_RETENTION_DAYS", "For ever", "mfa_event_retention", FOR_EVER),
    ("UNPROVED_ACCOUNT_RETENTION_DAYS", "8", "unproved_account_retention", timedelta(days=8)),
    ("CORS_ORIGINS", "https://a.example.com", "cors_origins", ("https://a.example.com",)),
    (
        "CORS_ORIGINS",
        "https://A.Example.com:443/, http://localhost:3000",
        "cors_origins",
        ("https://a.example.com", "http://localhost:3000"),
    ),
    ("LOG_FORMAT", "console", "log_format", "console"),
    ("LOG_FORMAT", "JSON", "log_format", "json"),
    ("LOG_LEVEL", "warning", "log_level", "warning"),
    ("LOG_REQUESTS", "failed", "log_requests", "failed"),
    ("SHUTDOWN_SECONDS", "1", "shutdown_seconds", 1),
    ("SHUTDOWN_SECONDS", "300", "shutdown_seconds", 300),
    ("DRAIN_SECONDS", "0", "drain_seconds", 0),
    ("DRAIN_SECONDS", "300", "drain_seconds", 300),
]
PLATFORM_NAME = "a name of at most 40 characters, without angle brackets, quotation marks and colons"
BREACHED = (
    "a sorted file of SHA-1 in hexadecimal, or the base address of a range server such as"
    " https://api.pwnedpasswords.com/range"
)
CONTACT = "an address such as mailto:security@example.com or https://example.com/security"
COLOR = "a colour such as #14544a, dark enough to be read on white (a contrast of 4.5 at least)"
# Name, text, what the setting takes according to the error.
REFUSED = [
    ("BASE_URL", "id.example.com", ADDRESS),
    ("BASE_URL", "ftp://id.example.com", ADDRESS),
    ("BASE_URL", "https://", ADDRESS),
    ("BASE_URL", "https://id.example.com?a=b", ADDRESS),
    ("BASE_URL", "https://id.example.com?", ADDRESS),
    ("BASE_URL", "https://id.example.com#top", ADDRESS),
    ("BASE_URL", "https://me:secret@id.example.com", ADDRESS),
    ("BASE_URL", "https://id.example.com:port", ADDRESS),
    ("BASE_URL", "https://id.example.com:70000", ADDRESS),
    ("BASE_URL", "https://id example.com", ADDRESS),
    ("BASE_URL", "https://id.example.com/a b", ADDRESS),
    ("BASE_URL", "https://id.\x1b[31m.com", ADDRESS),
    ("NAME", "x" * 41, PLATFORM_NAME),
    ("NAME", "Acme\u202eID", PLATFORM_NAME),
    ("NAME", "Acme <id@acme.example>", PLATFORM_NAME),
    ("NAME", "Acme: ID", PLATFORM_NAME),
    ("COLOR", "green", COLOR),
    ("COLOR", "#fff", COLOR),
    # White text is not readable on it, nor is it on white.
    ("COLOR", "#ffcc00", COLOR),
    (
        "PASSKEY_RP_ID",
        "https://example.com",
        "the host of GATEHOUSE_BASE_URL or a domain above it, such as example.com",
    ),
    ("SECURITY_CONTACT", "security@example.com", CONTACT),
    ("SECURITY_CONTACT", "mailto:security", CONTACT),
    ("SECURITY_CONTACT", "http://example.com/security", CONTACT),
    ("SECURITY_CONTACT", "https://example.com/a\nPolicy: b", CONTACT),
    ("FRONTEND_URL", "app.example.com", "an address such as https://app.example.com, without query or fragment"),
    ("AUTO_APPROVE", "perhaps", "on or off"),
    ("BIND", "8000", "host:port"),
    ("BIND", "127.0.0.1", "host:port"),
    ("BIND", "127.0.0.1:65536", "host:port"),
    ("BIND", "127.0.0.1:-1", "host:port"),
    ("BIND", "::1:8000", "host:port"),
    ("BIND", "127.0.0.1:٨٠٠٠", "host:port"),
    ("METRICS_BIND", "9100", "host:port"),
    ("DATABASE_URL", "mysql://db/gatehouse", "an address such as postgresql://user:password@host/database"),
    ("DATABASE_URL", "host=db dbname=x", "an address such as postgresql://user:password@host/database"),
    ("DATABASE_LISTEN_URL", "host=db dbname=x", "an address such as postgresql://user:password@host/database"),
    (
        "DATABASE_READ_URLS",
        f"{DATABASE}, db3",
        "addresses such as postgresql://user:password@replica/database",
    ),
    ("DATABASE_CONNECTIONS", "0", "a whole number from 1 to 500"),
    ("DATABASE_CONNECTIONS", "501", "a whole number from 1 to 500"),
    ("DATABASE_CONNECTIONS", "1.5", "a whole number from 1 to 500"),
    ("DATABASE_CONNECTIONS", "1_0", "a whole number from 1 to 500"),
    ("DATABASE_CONNECTIONS", "9" * 5000, "a whole number from 1 to 500"),
    ("OWNER_EMAIL", "somebody", "an email address"),
    ("OWNER_PASSWORD", "7 chars", "8 to 128 characters"),
    ("PASSWORD_MIN_LENGTH", "7", "a whole number from 8 to 64"),
    ("PASSWORD_MIN_LENGTH", "65", "a whole number from 8 to 64"),
    ("BREACHED_PASSWORDS", "https://ranges.example?a=b", BREACHED),
    ("BREACHED_PASSWORDS", "http://", BREACHED),
    ("OWNER_PASSWORD", "x" * 129, "8 to 128 characters"),
    ("DEV", "maybe", "on or off"),
    ("ACCESS_TOKEN_TTL", "59", "seconds from 60 to 86400"),
    ("ACCESS_TOKEN_TTL", "15m", "seconds from 60 to 86400"),
    ("TOKEN_SIGNING", "HS256", "RS256 or ES256"),
    ("TOKEN_SIGNING", "none", "RS256 or ES256"),
    ("TRUSTED_PROXIES", "10.0.0.0/33", NETWORKS),
    ("TRUSTED_PROXIES", "proxy.example.com", NETWORKS),
    ("TRUSTED_PROXIES", "10.0.0.7/8", NETWORKS),
    ("OUTBOUND_ALLOW", "localhost", NETWORKS),
    ("DNS_SERVER", "192.0.2.53", "an IP address and a port, such as 192.0.2.53:53"),
    ("DNS_SERVER", "ns.example.com:53", "an IP address and a port, such as 192.0.2.53:53"),
    ("DELIVERY_RETENTION_DAYS", "0", "days from 1 to 90"),
    ("DELIVERY_RETENTION_DAYS", "91", "days from 1 to 90"),
    ("LOGIN_EVENT_RETENTION_DAYS", "399", "days from 400 to 3650"),
    ("MFA_EVENT_RETENTION_DAYS", "399", "days from 400 to 3650, or for ever"),
    ("LOGIN_EVENT_RETENTION_DAYS", "for ever", "days from 400 to 3650"),
    ("INVITATION_RETENTION_DAYS", "29", "days from 30 to 3650"),
    ("UNPROVED_ACCOUNT_RETENTION_DAYS", "7", "days from 8 to 3650"),
    ("SESSION_RETENTION_DAYS", "3651", "days from 1 to 3650"),
    ("DEVICE_RETENTION_DAYS", "119", "days from 120 to 3650"),
    ("LINK_RETENTION_DAYS", "0", "days from 1 to 3650"),
    ("ORGANIZATION_KEY_RETENTION_DAYS", "0", "days from 1 to 3650"),
    ("JOB_RETENTION_DAYS", "29", "days from 30 to 3650"),
    ("PROVISIONING_LOG_RETENTION_DAYS", "29", "days from 30 to 3650"),
    ("CONNECTION_PROBLEM_RETENTION_DAYS", "29", "days from 30 to 3650"),
    ("CHECKOUT_RETENTION_DAYS", "1", "days from 2 to 3650"),
    ("CANCELLATION_RETENTION_DAYS", "six", "days from 7 to 3650"),
    ("CORS_ORIGINS", "*", ORIGINS),
    ("CORS_ORIGINS", "null", ORIGINS),
    ("CORS_ORIGINS", "https://app.example.com/path", ORIGINS),
    ("RATE_LIMITS", "sometimes", "on or off"),
    ("LOG_FORMAT", "xml", "json or console"),
    ("LOG_LEVEL", "trace", "debug, info, warning or error"),
    ("LOG_REQUESTS", "errors", "all, failed or off"),
    ("SHUTDOWN_SECONDS", "0", "seconds from 1 to 300"),
    ("SHUTDOWN_SECONDS", "301", "seconds from 1 to 300"),
    ("DRAIN_SECONDS", "-1", "seconds from 0 to 300"),
    ("DRAIN_SECONDS", "301", "seconds from 0 to 300"),
    ("TRACES_URL", "localhost:4318", "an address such as http://localhost:4318/v1/traces, without query or fragment"),
    ("TRACES_AUTHORIZATION", "Bearer \N{SNOWMAN}", "a value such as Bearer 0123abcd, in ASCII"),
    ("TRACES_PERCENT", "0", "a whole number from 1 to 100"),
    ("TRACES_PERCENT", "101", "a whole number from 1 to 100"),
]


@pytest.mark.parametrize(
    ("email", "is_refused"), [("boss@straße.example", False), ("boss@☃.example", True), ("boss@\uff45.example", True)]
)
def test_the_domain_of_the_first_owner_may_be_internationalized(email: str, *, is_refused: bool) -> None:
    settings = load({"GATEHOUSE_OWNER_EMAIL": email, "GATEHOUSE_OWNER_PASSWORD": "long enough"})

    with pytest.raises(CannotStart, match="GATEHOUSE_OWNER_EMAIL is wrong") if is_refused else nullcontext():
        equipment.require_owner_email(settings)


def test_without_an_environment_every_setting_has_its_default() -> None:
    settings = load({})

    assert {attribute.name: getattr(settings, attribute.name) for attribute in fields(Settings)} == DEFAULTS


@pytest.mark.parametrize(("name", "text", "attribute", "value"), ACCEPTED)
def test_a_setting_accepts(name: str, text: str, attribute: str, value: Any) -> None:
    settings = load({PREFIX + name: text})

    assert getattr(settings, attribute) == value


@pytest.mark.parametrize(("name", "text", "takes"), REFUSED)
def test_a_wrong_value_is_refused_in_a_line_that_names_the_setting_and_what_it_takes(
    name: str, text: str, takes: str
) -> None:
    with pytest.raises(SettingInvalid) as refusal:
        load({PREFIX + name: text})

    assert str(refusal.value) == f"{PREFIX}{name} takes {takes}. Change it, or unset it for its default."


def test_a_wrong_value_of_every_setting_is_tested() -> None:
    # The settings of billing and of external providers have test modules of their own.
    unchecked = {
        *(name.removeprefix(PREFIX) for name in NAMES if "SUITE_" in name or "CODEHOST_" in name),
        "BILLING_SANDBOX",
        "SAML_AES_CBC",
        "BILLING_URL",
        "BILLING_SECRET_KEY",
        "BILLING_WEBHOOK_SECRET",
        "DATA_DIR",
        "GEOIP_DB",
        # The file is read at the start (`test_platform_brand.py`).
        "LOGO",
        "MASTER_KEYS",
        "POSTGRES_PROGRAMS",
        # It has a module of its own (`test_added_providers.py`).
        "PROVIDERS_FILE",
        "SMTP_URL",
    }

    tested = {name for name, _, _ in REFUSED} | unchecked

    assert {PREFIX + name for name in tested} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_that_is_empty_is_not_set(name: str) -> None:
    assert load({name: "  "}) == load({})


@pytest.mark.parametrize(("port", "base_url"), [(9000, "http://localhost:9000"), (80, "http://localhost")])
def test_the_base_url_follows_the_port(port: int, base_url: str) -> None:
    assert load({"GATEHOUSE_BIND": f"0.0.0.0:{port}"}).base_url == base_url


def test_the_owner_has_a_canonical_address_and_a_password() -> None:
    settings = load({"GATEHOUSE_OWNER_EMAIL": "Ann@Example.com", "GATEHOUSE_OWNER_PASSWORD": "long enough"})

    assert settings.owner_email == "ann@example.com"
    assert settings.owner_password == Secret("long enough")


@pytest.mark.parametrize(
    "environment", [{"GATEHOUSE_OWNER_EMAIL": "ann@example.com"}, {"GATEHOUSE_OWNER_PASSWORD": "long enough"}]
)
def test_an_owner_without_an_address_or_a_password_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(SettingInvalid, match=r"OWNER_EMAIL and GATEHOUSE_OWNER_PASSWORD go together. Set both"):
        load(environment)


def test_the_password_of_the_owner_is_as_long_as_the_installation_asks_for() -> None:
    environment = {"GATEHOUSE_OWNER_EMAIL": "ann@example.com", "GATEHOUSE_OWNER_PASSWORD": "twelve chars"}

    assert load(environment | {"GATEHOUSE_PASSWORD_MIN_LENGTH": "12"}).password_min_length == 12
    with pytest.raises(SettingInvalid, match=r"GATEHOUSE_OWNER_PASSWORD takes at least 13 characters"):
        load(environment | {"GATEHOUSE_PASSWORD_MIN_LENGTH": "13"})


def test_a_file_of_breached_passwords_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    settings = load({"GATEHOUSE_BREACHED_PASSWORDS": str(tmp_path / "none.txt"), "GATEHOUSE_DATA_DIR": str(tmp_path)})

    with pytest.raises(CannotStart, match=r"BREACHED_PASSWORDS is wrong\. .*none\.txt cannot be read"):
        equipment.require_settings(settings)


def test_development_mode_does_not_require_the_password_of_an_owner() -> None:
    assert load({"GATEHOUSE_DEV": "on", "GATEHOUSE_OWNER_EMAIL": "ann@example.com"}).owner_password is None


def test_the_database_is_embedded_without_a_database_url() -> None:
    assert load({}).is_embedded
    assert not load({"GATEHOUSE_DATABASE_URL": DATABASE}).is_embedded


def test_settings_are_immutable() -> None:
    settings = load({})

    with pytest.raises(FrozenInstanceError):
        settings.dev = True  # pyright: ignore[reportAttributeAccessIssue] - that is the point


def test_printed_settings_contain_no_secret() -> None:
    environment = {
        "GATEHOUSE_DATABASE_URL": DATABASE,
        "GATEHOUSE_MASTER_KEYS": "hush",
        "GATEHOUSE_OWNER_EMAIL": "ann@example.com",
        "GATEHOUSE_OWNER_PASSWORD": "hush hush",
        "GATEHOUSE_SMTP_URL": "smtp://me:hush@mail.example.com",
        "GATEHOUSE_DATABASE_READ_URLS": "postgresql://me:hush@db2/gatehouse postgresql://me:hush@db3/gatehouse",
    }
    settings = load(environment)

    shown = {row.name: row.value for row in rows(settings)}

    assert not shows(f"{settings!r} {settings} {shown}", "hush")
    assert {name for name, value in shown.items() if value == "***"} == {
        "GATEHOUSE_MASTER_KEYS",
        "GATEHOUSE_OWNER_PASSWORD",
    }
    assert shown["GATEHOUSE_DATABASE_URL"] == "postgresql://gatehouse:***@db.example.com/gatehouse"
    assert shown["GATEHOUSE_SMTP_URL"] == "smtp://me:***@mail.example.com"
    assert (
        shown["GATEHOUSE_DATABASE_READ_URLS"] == "postgresql://me:***@db2/gatehouse postgresql://me:***@db3/gatehouse"
    )


@pytest.mark.parametrize(
    ("name", "text", "attribute", "value"), [row for row in ACCEPTED if not isinstance(row[3], Secret)]
)
def test_the_shown_value_of_a_setting_can_be_set_again(name: str, text: str, attribute: str, value: Any) -> None:
    environment = {PREFIX + name: text}

    shown = {row.name: row.value for row in rows(load(environment)) if row.value}

    assert getattr(load(shown), attribute) == value


def test_every_setting_is_described() -> None:
    shown = rows(load({}))

    assert [row.name for row in shown] == NAMES
    assert all(row.takes and row.sentence.endswith(".") for row in shown)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("GATEHOUSE_BASEURL", "GATEHOUSE_BASEURL is set, but there is no such setting. Is GATEHOUSE_BASE_URL meant?"),
        (
            "GATEHOUSE_LOGLEVEL",
            "GATEHOUSE_LOGLEVEL is set, but there is no such setting. Is GATEHOUSE_LOG_LEVEL meant?",
        ),
        ("GATEHOUSE_WEATHER", "GATEHOUSE_WEATHER is set, but there is no such setting."),
    ],
)
def test_an_unknown_setting_is_reported_with_the_most_similar_one(name: str, sentence: str) -> None:
    environment = {name: "x", "GATEHOUSE_DEV": "on", "PATH": "/bin"}

    assert unknown(environment) == [sentence]


def test_targets_lead_to_this_machine_in_development_only() -> None:
    loopback = [ip_network("127.0.0.0/8"), ip_network("::1/128")]

    assert list(load({}).outbound_allowed) == []
    assert list(load({PREFIX + "DEV": "on"}).outbound_allowed) == loopback
    allowed = load({PREFIX + "DEV": "on", PREFIX + "OUTBOUND_ALLOW": "10.0.0.0/8"}).outbound_allowed
    assert list(allowed) == [ip_network("10.0.0.0/8"), *loopback]
