"""Every setting: its environment variable, the values it takes, its default, and a sentence for operators.

The environment, with the file that it may name, is read into a frozen object; no other module reads it. A wrong value
stops the start with one line that names the setting and the values it takes.
"""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Mapping
from dataclasses import Field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.limits import (
    ACCESS_TOKEN_LIFETIME_DEFAULT,
    PASSWORD_CHARACTERS_MAX,
    PASSWORD_CHARACTERS_MIN,
    PASSWORD_CHARACTERS_MIN_MAX,
)
from core.organizations.settings.pictures import PICTURE_BYTES_MAX
from core.platform_brand import NAME_DEFAULT
from core.secrets import Secret
from core.sessions.security_profiles import SignatureAlgorithm
from entrypoints import billing_settings, upstream_settings
from entrypoints import setting_kinds as kinds
from entrypoints.refusals import CannotStart
from entrypoints.setting_kinds import PREFIX, Bind, Kind, Network, setting, variable_of
from entrypoints.settings_file import SETTINGS_FILE, with_file
from entrypoints.traces_settings import TracesSettings

LOOPBACK: Final = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
# A secret is also taken from the file that the variable with this ending names.
FILE_SUFFIX: Final = "_FILE"
# From this similarity on, an unknown name is most likely a misspelled setting.
_MISSPELLING_SIMILARITY_MIN: Final = 0.8


class SettingInvalid(CannotStart):
    """A setting has an invalid value; the message is the line to print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(TracesSettings):
    """The effective settings."""

    base_url: str = setting(
        "The address at which people and services reach Gatehouse; links and tokens contain it.",
        kinds.WEB_ADDRESS,
        "http://localhost:8000",
    )
    name: str = setting(
        "The name of the platform: on its pages, in its mails, in authenticator apps and at passkeys.",
        kinds.NAME,
        NAME_DEFAULT,
    )
    logo: Path | None = setting(
        "The logo of the platform, on its pages and, as a PNG, in its mails. It is read at the start.",
        Kind(Path, f"the path of a PNG or SVG file of at most {PICTURE_BYTES_MAX // 1024} KiB"),
        None,
    )
    color: str | None = setting("The main colour of the platform, on its pages and in its mails.", kinds.COLOR, None)
    passkey_rp_id: str | None = setting(
        "The domain of passkeys, by default the host of the base URL; changing it invalidates every passkey.",
        Kind(kinds.domain, "the host of GATEHOUSE_BASE_URL or a domain above it, such as example.com"),
        None,
    )
    bind: Bind = setting("The address and port to listen on.", Kind(kinds.bind, "host:port"), Bind("127.0.0.1", 8000))
    metrics_bind: Bind | None = setting(
        "The address and port for /metrics and /internal/, which are then not served with everything else.",
        Kind(kinds.bind, "host:port"),
        None,
    )
    database_url: Secret | None = setting(
        "The PostgreSQL (14 or newer) to use; without it an embedded one runs in the data folder.",
        kinds.DATABASE_ADDRESS,
        None,
    )
    database_connections: int = setting(
        "The maximum number of connections to PostgreSQL of each process.",
        kinds.whole_number(1, 500),
        10,
    )
    database_listen_url: Secret | None = setting(
        "The same PostgreSQL by an address without a pooler, for one connection of each process that waits for"
        " notifications, and behind a pooler in transaction mode for migrations; by default GATEHOUSE_DATABASE_URL.",
        kinds.DATABASE_ADDRESS,
        None,
    )
    database_read_urls: Secret | None = setting(
        "Streaming replicas of GATEHOUSE_DATABASE_URL, separated by spaces, which lists, logs, figures and exports are"
        " read from while they follow.",
        Kind(
            kinds.database_addresses,
            "addresses such as postgresql://user:password@replica/database",
            show_secret=kinds.show_addresses,
        ),
        None,
    )
    postgres_programs: Path | None = setting(
        "Where pg_dump and pg_restore are; by default they are looked for.", kinds.FOLDER, None
    )
    data_dir: Path = setting(
        "The folder for the embedded PostgreSQL and the generated keys.", kinds.FOLDER, Path(".gatehouse")
    )
    master_keys: Secret | None = setting(
        "The keys that encrypt secrets at rest; the first encrypts, all decrypt.",
        Kind(Secret, "a comma-separated list of keys of 32 bytes in base64"),
        None,
    )
    owner_email: str | None = setting(
        "The email address of the first platform owner, who is created at the first start.",
        Kind(kinds.email, "an email address"),
        None,
    )
    owner_password: Secret | None = setting(
        "The password of the first platform owner.",
        Kind(kinds.password, f"{PASSWORD_CHARACTERS_MIN} to {PASSWORD_CHARACTERS_MAX} characters"),
        None,
    )
    password_min_length: int = setting(
        "How many characters a new password has at least; NIST SP 800-63B-4 asks for 15 without a second factor.",
        kinds.whole_number(PASSWORD_CHARACTERS_MIN, PASSWORD_CHARACTERS_MIN_MAX),
        PASSWORD_CHARACTERS_MIN,
    )
    breached_passwords: Path | str | None = setting(
        "Where passwords from data breaches are looked for: new ones are refused, and a sign-in with one shows"
        " a notice.",
        Kind(
            kinds.breached_passwords,
            "a sorted file of SHA-1 in hexadecimal, or the base address of a range server such as"
            " https://api.pwnedpasswords.com/range",
        ),
        None,
    )
    security_contact: str | None = setting(
        "Where security problems are reported, for /.well-known/security.txt; without it that is 404.",
        Kind(kinds.security_contact, "an address such as mailto:security@example.com or https://example.com/security"),
        None,
    )
    smtp_url: Secret | None = setting(
        "The mail server and the sender; without it mails stay in the database.",
        Kind(
            Secret,
            "an address such as smtp://user:password@host:587?from=Gatehouse%20%3Cid@example.com%3E",
            show_secret=kinds.show_address,
        ),
        None,
    )
    billing_url: str = setting(
        "The address of the payment provider's API, without /v1.",
        kinds.WEB_ADDRESS,
        "https://api.stripe.com",
    )
    billing_secret_key: Secret | None = setting(
        "The secret key of the payment provider; without it nothing is sold, except in the sandbox.",
        Kind(kinds.token, "a key such as sk_live_…"),
        None,
    )
    billing_webhook_secret: Secret | None = setting(
        "The secret that signs the payment provider's events; it goes together with the secret key.",
        Kind(kinds.token, "a secret such as whsec_…"),
        None,
    )
    billing_sandbox: bool = setting(
        "Whether plans are sold without money when no payment provider is set; development mode always does so.",
        kinds.SWITCH,
        False,
    )
    geoip_db: Path | None = setting(
        "A GeoIP database; without one, places do not count in the risk of a sign-in. It is read at the start.",
        Kind(Path, "a file in MaxMind's format, such as GeoLite2-City.mmdb"),
        None,
    )
    frontend_url: str | None = setting(
        "The address of your own frontend, which invitations lead to; without it they lead to a page of Gatehouse.",
        Kind(kinds.web_address, "an address such as https://app.example.com, without query or fragment"),
        None,
    )
    auto_approve: bool = setting(
        "Whether a new organization is active at once instead of waiting for a platform owner.",
        kinds.SWITCH,
        False,
    )
    dev: bool = setting(
        "Development mode: an owner with a generated password, the mailbox page, migrations at every start.",
        kinds.SWITCH,
        False,
    )
    access_token_ttl: timedelta = setting(
        "How many seconds an access token is valid.",
        Kind(
            lambda text: timedelta(seconds=kinds.number(60, 86_400)(text)),
            "seconds from 60 to 86400",
            kinds.show_seconds,
        ),
        ACCESS_TOKEN_LIFETIME_DEFAULT,
    )
    token_signing: SignatureAlgorithm = setting(
        "With which algorithm the tokens are signed that Gatehouse alone verifies; services choose their own.",
        Kind(lambda text: SignatureAlgorithm(text.upper()), "RS256 or ES256"),
        SignatureAlgorithm.ES256,
    )
    trusted_proxies: tuple[Network, ...] = setting(
        "The networks of the proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.",
        kinds.NETWORKS,
        (),
    )
    cors_origins: tuple[str, ...] = setting(
        "The origins whose pages may call the interface from a browser; in development, also this machine's.",
        kinds.ORIGINS,
        (),
    )
    outbound_allow: tuple[Network, ...] = setting(
        "The private networks to which webhooks and other targets of organizations may lead.",
        kinds.NETWORKS,
        (),
    )
    dns_server: Bind | None = setting(
        "The name server for the proofs of domains and the names of targets; without it, the system's.",
        Kind(kinds.name_server, "an IP address and a port, such as 192.0.2.53:53"),
        None,
    )
    rate_limits: bool = setting(
        "Whether rate limits and the limit on one client's connections apply; turn them off for load tests only.",
        kinds.SWITCH,
        True,
    )
    log_format: str = setting(
        "The format of the log.", Kind(kinds.one_of("json", "console"), "json or console"), "json"
    )
    log_level: str = setting(
        "The lowest level that is logged.",
        Kind(kinds.one_of("debug", "info", "warning", "error"), "debug, info, warning or error"),
        "info",
    )
    log_requests: str = setting(
        "Which requests have a line in the log: all, those that failed (with 4xx, 5xx or no answer at all), or none.",
        Kind(kinds.one_of("all", "failed", "off"), "all, failed or off"),
        "all",
    )
    shutdown_seconds: int = setting(
        "How long open requests may take to finish when the server stops.",
        Kind(kinds.number(1, 300), "seconds from 1 to 300"),
        15,
    )
    drain_seconds: int = setting(
        "How long a server that stops takes new connections while it reports that it is not ready.",
        Kind(kinds.number(0, 300), "seconds from 0 to 300"),
        0,
    )

    @property
    def origin(self) -> str:
        """The origin of the base URL, as browsers write it: without a path and without the default port."""
        parts = urlsplit(self.base_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        is_default_port = parts.port in {None, kinds.DEFAULT_PORTS[parts.scheme]}
        return f"{parts.scheme}://{host}" if is_default_port else f"{parts.scheme}://{host}:{parts.port}"

    @property
    def relying_party_id(self) -> str:
        """The domain that passkeys belong to."""
        return self.passkey_rp_id or urlsplit(self.base_url).hostname or ""

    @property
    def has_billing_sandbox(self) -> bool:
        """Whether the embedded sandbox takes the place of the payment provider; without both nothing is sold."""
        return not self.has_billing_provider and (self.dev or self.billing_sandbox)

    @property
    def has_billing_provider(self) -> bool:
        """Whether a payment provider is set."""
        return self.billing_secret_key is not None

    @property
    def outbound_allowed(self) -> tuple[Network, ...]:
        """The private networks that targets of organizations may lead to; in development, this machine as well."""
        return self.outbound_allow + (LOOPBACK if self.dev else ())

    @property
    def is_embedded(self) -> bool:
        """Whether the embedded PostgreSQL is used."""
        return self.database_url is None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """A setting as it is shown to people."""

    name: str
    value: str
    default: str
    takes: str
    sentence: str


def load(environment: Mapping[str, str]) -> Settings:
    """Return the settings; raise `SettingInvalid` for the first invalid one."""
    values: dict[str, Any] = {}
    for attribute in fields(Settings):
        name, kind = variable_of(attribute), attribute.metadata["kind"]
        text = _given(environment, name, is_secret=_is_secret(attribute))
        if not text:
            continue
        try:
            values[attribute.name] = kind.read(text)
        except (ValueError, KeyError, BadRequest):
            raise SettingInvalid(f"{name} takes {kind.takes}. Change it, or unset it for its default.") from None
        except CannotStart as wrong:
            # A file that the setting names.
            raise SettingInvalid(str(wrong)) from None
    if "bind" in values:
        # With another port alone, links have to lead to it all the same.
        values.setdefault("base_url", kinds.web_address(f"http://localhost:{values['bind'].port}"))
    settings = Settings(**values)
    if not settings.dev and (settings.owner_email is None) != (settings.owner_password is None):
        raise SettingInvalid("GATEHOUSE_OWNER_EMAIL and GATEHOUSE_OWNER_PASSWORD go together. Set both, or neither.")
    if settings.owner_password is not None and len(settings.owner_password.reveal()) < settings.password_min_length:
        raise SettingInvalid(
            f"GATEHOUSE_OWNER_PASSWORD takes at least {settings.password_min_length} characters, as"
            " GATEHOUSE_PASSWORD_MIN_LENGTH asks for. Change one of them."
        )
    if wrong := billing_settings.problem(settings) or upstream_settings.problem(settings):
        raise SettingInvalid(wrong)
    host = urlsplit(settings.base_url).hostname or ""
    if settings.relying_party_id != host and not host.endswith(f".{settings.passkey_rp_id}"):
        # Browsers would refuse every passkey.
        raise SettingInvalid(f"{PREFIX}PASSKEY_RP_ID takes {host}, the host of {PREFIX}BASE_URL, or a domain above it.")
    return settings


def environment_with_file(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with the settings of the file that it may name, or raise `SettingInvalid`."""
    try:
        return with_file(environment)
    except CannotStart as wrong:
        raise SettingInvalid(str(wrong)) from None


def unknown(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each unknown variable with the prefix, with the setting that may be meant."""
    known = [*names(), SETTINGS_FILE]
    unknown_names = sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
    return [_unknown_name(name, known) for name in unknown_names]


def names() -> list[str]:
    """Return every variable that is read."""
    return [name for attribute in fields(Settings) for name in _names(attribute)]


def rows(settings: Settings) -> list[SettingRow]:
    """Return every setting, with secrets masked."""
    return [
        SettingRow(
            name=variable_of(attribute),
            value=_shown(attribute.metadata["kind"], getattr(settings, attribute.name)),
            default=_shown(attribute.metadata["kind"], attribute.default),
            takes=attribute.metadata["kind"].takes,
            sentence=attribute.metadata["sentence"],
        )
        for attribute in fields(Settings)
    ]


def _names(attribute: Field[Any]) -> tuple[str, ...]:
    """Return the variables that give a setting: of a secret, also the one that names a file."""
    name = variable_of(attribute)
    return (name, name + FILE_SUFFIX) if _is_secret(attribute) else (name,)


def _is_secret(attribute: Field[Any]) -> bool:
    # The annotations are text here.
    return "Secret" in str(attribute.type)


def _given(environment: Mapping[str, str], name: str, *, is_secret: bool) -> str:
    """Return the value of a setting, which for a secret may be in a file; an empty one is not set."""
    text = environment.get(name, "").strip()
    file = environment.get(name + FILE_SUFFIX, "").strip() if is_secret else ""
    if not file:
        return text
    if text:
        raise SettingInvalid(f"{name} and {name}{FILE_SUFFIX} are both set. Unset one of them.")
    try:
        content = Path(file).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise SettingInvalid(f"{name}{FILE_SUFFIX} names {file}, which cannot be read: {error.strerror}.") from None
    except ValueError:
        raise SettingInvalid(f"{name}{FILE_SUFFIX} names {file}, which is not text in UTF-8.") from None
    if not content.strip():
        raise SettingInvalid(f"{name}{FILE_SUFFIX} names {file}, which is empty. Write the value into it.")
    return content


def _shown(kind: Kind, value: Any) -> str:
    if value is None:
        return ""
    return kind.show_secret(value) if isinstance(value, Secret) else kind.show(value)


def _unknown_name(name: str, known: list[str]) -> str:
    sentence = f"{name} is set, but there is no such setting."
    similar = difflib.get_close_matches(name, known, n=1, cutoff=_MISSPELLING_SIMILARITY_MIN)
    return f"{sentence} Is {similar[0]} meant?" if similar else sentence
