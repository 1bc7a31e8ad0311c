"""The command line `gatehouse`.

A command prints its result and exits with 0, or prints one line that says what is wrong and exits with 1. Modules are
imported when a command needs them, so that `gatehouse --help` is fast.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Final

from entrypoints import deprecations
from entrypoints import settings as settings_module
from entrypoints.settings import SettingInvalid, Settings
from entrypoints.signals import reload_signals, stop_signals
from entrypoints.unused_modules import left_out
from entrypoints.version import version

USER_ACTIONS: Final = {
    "show": "Show what is stored of an account that helps its user, without secrets.",
    "unlock": "Lift the limits of an address: on failed sign-ins, and on mails.",
    "end-sessions": "End all sessions of an account, with effect from the next request.",
}
MAIL_STATES: Final = ("failed", "queued", "routed", "kept", "sent")
MAILS_LISTED_MAX: Final = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; return its exit status."""
    options = _parser().parse_args(arguments)
    reloading = reload_signals() if options.run is _serve else frozenset[signal.Signals]()
    # From here on such a signal waits until the server is ready for it.
    signal.pthread_sigmask(signal.SIG_BLOCK, reloading)
    with _interruptible(stop_signals() - reloading):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    try:
        environment = settings_module.environment_with_file(os.environ)
        for sentence in settings_module.unknown(environment):
            _print_error(sentence)
        for deprecation in deprecations.in_use(environment):
            _print_error(f"{deprecation.sentence} {deprecation.instead}")
        return options.run(settings_module.load(environment), options) or 0
    except SettingInvalid as wrong:
        _print_error(str(wrong))
        return 1
    except BrokenPipeError:
        # The reader of our output closed the pipe; print nothing more, also when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class _ShowVersion(argparse.Action):
    """Prints the version, which takes longer to find than all that another command needs of this module."""

    def __call__(self, parser: argparse.ArgumentParser, *_others: object) -> None:
        _print_line(f"gatehouse {version()}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gatehouse",
        description="Gatehouse, the self-hosted identity platform. Settings come from the environment; "
        "`gatehouse config` shows them.",
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[Settings, argparse.Namespace], int | None], about: str):
        added = commands.add_parser(name, help=about, description=about)
        added.set_defaults(run=run)
        return added

    serve = command("serve", _serve, "Run the server.")
    serve.add_argument("--workers", type=_positive, default=1, help="the number of server processes (default: 1)")
    migrate = command("migrate", _migrate, "Bring the database's schema up to date.")
    migrate.add_argument("--plan", action="store_true", help="only list the migrations that would be applied")
    _add_backup_and_restore(command)
    keys = command("keys", _keys, "Manage signing keys and master keys.")
    keys.add_argument(
        "action",
        choices=["list", "rotate", "rewrap", "generate"],
        help="list the signing keys; rotate them; rewrap: encrypt all secrets with the first master key; generate a"
        " master key",
    )
    owner = command("owner", _owner, "Make a user a platform owner.")
    owner.add_argument("email", help="the user's address; a new account is made when there is none")
    owner.add_argument(
        "--password-stdin",
        action="store_true",
        help="read the new account's password from standard input instead of generating one",
    )
    _add_users(command("users", _users, "Import accounts, and help their users."))
    _add_mail(command("mail", _mail, "List the outbox, and send mails again."))
    billing = command("billing", _billing, "Make things happen in the billing sandbox.")
    billing.add_argument(
        "action",
        choices=["list", "renew", "fail", "recover", "authenticate", "cancel"],
        help="list the sandbox's subscriptions; renew one; let its payment fail; pay what is due; ask its buyer to"
        " confirm a payment; cancel it",
    )
    billing.add_argument("subscription", nargs="?", help="the id that `gatehouse billing list` shows")
    billing.add_argument("--late", type=_positive, default=0, metavar="SECONDS", help="send its events so much later")
    billing.add_argument("--twice", action="store_true", help="send each of its events twice")
    audit = command("audit", _audit, "Verify the audit logs of organizations.")
    audit.add_argument("action", choices=["verify"], help="check that no entry was changed, removed or put in between")
    audit.add_argument("organization", nargs="?", help="the slug of an organization (default: all organizations)")
    audit.add_argument("--file", metavar="EXPORT", help="verify an export, without a database; - reads standard input")
    audit.add_argument(
        "--proof", metavar="PROOF", help="an earlier answer of audit-log/proof, in a file, to compare with"
    )
    audit.add_argument(
        "--keys", metavar="JWKS", help="check signatures with these published keys: /.well-known/jwks.json, in a file"
    )
    demo = command("demo", _demo, "Run a filled installation with a small application that signs in with it.")
    demo.add_argument("--folder", default=".gatehouse-demo", help="where its data is (default: .gatehouse-demo)")
    demo.add_argument("--port", type=_positive, default=8000, help="the port of Gatehouse (default: 8000)")
    demo.add_argument("--shop-port", type=_positive, default=8001, help="the port of the application (default: 8001)")
    instance = command("test-instance", _test_instance, "Run an instance for the tests of a product, without its data.")
    instance.add_argument("--prepared", help="a folder that keeps an empty database, so that later starts are faster")
    routes = command("routes", _routes, "List every route and who may call it.")
    routes.add_argument("--files", action="store_true", help="show where the handler of each is in the source instead")
    command("config", _config, "Show the effective settings, secrets masked.")
    login = command("login", _login, "Sign in to a running Gatehouse, in the browser.")
    login.add_argument("address", nargs="?", help="its address (default: GATEHOUSE_BASE_URL)")
    api = command("api", _api, "Send a request to the Gatehouse that you are signed in to.")
    api.add_argument("path", help="the path, such as /api/user")
    api.add_argument("-X", "--method", help="the method (default: GET, or POST with a body)")
    api.add_argument("-d", "--data", metavar="JSON", help="the body; - reads standard input")
    api.add_argument("--address", help="another Gatehouse than the one that you signed in to last")
    doctor = command("doctor", _doctor, "Check the settings, the database, the keys and mail, and advise what to do.")
    doctor.epilog = (
        "The exit status is 0 when everything is OK, 1 when something is not, and 3 when Gatehouse works, but not for"
        " production."
    )
    doctor.add_argument("--mail-to", metavar="ADDRESS", help="also send a test mail to this address")
    return parser


def _add_backup_and_restore(command: Callable[..., argparse.ArgumentParser]) -> None:
    backup = command("backup", _backup, "Write a backup of the database to a file, while everything goes on.")
    backup.epilog = "The file contains no keys: keep GATEHOUSE_MASTER_KEYS, or the file master-key, apart from it."
    backup.add_argument("file", help="a new file; only its owner may read it")
    restore = command("restore", _restore, "Put a backup into the database. All servers have to be stopped.")
    restore.add_argument("file", help="a file that `gatehouse backup` wrote")
    restore.add_argument(
        "--drill",
        action="store_true",
        help="only try it: into a database that is made for this and deleted again, beside the servers",
    )
    restore.add_argument("--replace", action="store_true", help="let it take the place of everything in the database")
    restore.add_argument(
        "--end-sessions", action="store_true", help="end all sessions, and codes and links that lead to one"
    )
    restore.add_argument(
        "--without-master-key",
        action="store_true",
        help="drop the secrets whose master key is lost, and say which they were",
    )
    restore.add_argument(
        "--without-migrating",
        action="store_true",
        help="leave the schema as it is in the backup, for the earlier version of Gatehouse that had it",
    )
    restore.epilog = (
        "Without --replace, a database that is not empty is left as it is, and the command lists what it would lose."
    )
    about = "Record that a backup was made, or that a restore was tried, without this command line."
    record = command("record", _record, about)
    record.add_argument("what", choices=["backup", "restore-drill"], help="what has just succeeded")


def _add_users(parser: argparse.ArgumentParser) -> None:
    users = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = "Make an account for every address of a file that has none yet."
    importing = users.add_parser("import", help=about, description=about)
    importing.add_argument("file", help="JSON lines with email, hash, verified and created_at; - reads standard input")
    importing.add_argument("--check", action="store_true", help="only read the file and list the lines to be left out")
    for action, about in USER_ACTIONS.items():
        users.add_parser(action, help=about, description=about).add_argument("email", help="the user's address")


def _add_mail(parser: argparse.ArgumentParser) -> None:
    mail = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = "List the mails that have not left, without their contents."
    listing = mail.add_parser("list", help=about, description=about)
    listing.add_argument("--state", choices=MAIL_STATES, help="list the mails of this state")
    listing.add_argument("--to", metavar="ADDRESS", help="only those to this address")
    listing.add_argument("--limit", type=_up_to(MAILS_LISTED_MAX), default=20, help="of each state (default: 20)")
    about = "Let mails that have failed or wait be sent at once."
    retrying = mail.add_parser("retry", help=about, description=about)
    retrying.add_argument("id", nargs="+", help="the ids that `gatehouse mail list` shows, or: all")


def _serve(settings: Settings, options: argparse.Namespace) -> int:
    # What a start makes stays, so that garbage collections would only scan it. Serving begins with them again.
    gc.disable()
    with left_out():
        from entrypoints import exits, serving

    return exits.exit_status_of(lambda: serving.serve(settings, workers=options.workers))


def _migrate(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import operations

    return _operate(operations.migrate, settings, is_plan=options.plan)


def _backup(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import backups

    return _operate(backups.back_up, settings, options.file)


def _record(settings: Settings, options: argparse.Namespace) -> int:
    from core.platform.backups import RecoveryRun
    from entrypoints.operator import backups

    run = RecoveryRun(options.what.replace("-", "_"))
    return _operate(backups.record, settings, run)


def _restore(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import backups

    given = backups.RestoreFlags(
        replace=options.replace,
        end_sessions=options.end_sessions,
        without_master_key=options.without_master_key,
        without_migrating=options.without_migrating,
    )
    if options.drill:
        return _operate(backups.try_restore, settings, options.file, given)
    return _operate(backups.restore, settings, options.file, given)


def _keys(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import operations

    actions = {
        "list": operations.list_keys,
        "rotate": operations.rotate_keys,
        "rewrap": operations.rewrap_secrets,
        "generate": operations.generate_master_key,
    }
    return _operate(actions[options.action], settings)


def _owner(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import operations

    password = sys.stdin.readline().rstrip("\r\n") if options.password_stdin else None
    return _operate(operations.appoint_owner, settings, options.email, password)


def _users(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import operations, user_help

    if options.action == "import":
        return _operate(operations.import_users, settings, options.file, is_check=options.check)
    actions = {"show": user_help.show, "unlock": user_help.unlock, "end-sessions": user_help.end_sessions}
    return _operate(actions[options.action], settings, options.email)


def _mail(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import mail_outbox

    if options.action == "list":
        return _operate(mail_outbox.list_mails, settings, options.state, options.to, options.limit)
    return _operate(mail_outbox.retry, settings, options.id)


def _billing(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import billing_sandbox

    if options.action == "list":
        return _operate(billing_sandbox.list_subscriptions, settings)
    return _operate(
        billing_sandbox.act,
        settings,
        options.action,
        options.subscription,
        late_seconds=options.late,
        is_twice=options.twice,
    )


def _audit(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import operations

    return _operate(
        operations.verify_audit_logs,
        settings,
        options.organization,
        file=options.file,
        proof=options.proof,
        keys=options.keys,
    )


def _demo(settings: Settings, options: argparse.Namespace) -> int:
    from pathlib import Path

    from entrypoints.demo import command

    return _operate(command.run, settings, folder=Path(options.folder), port=options.port, shop_port=options.shop_port)


def _test_instance(settings: Settings, options: argparse.Namespace) -> int:
    from pathlib import Path

    from entrypoints.testing import instance

    prepared = None if options.prepared is None else Path(options.prepared)
    return _with_log_apart(lambda: instance.run(settings, prepared=prepared))


def _routes(settings: Settings, options: argparse.Namespace) -> None:
    from entrypoints import capabilities
    from entrypoints.upstream_settings import added_to
    from entrypoints.web.describing.surface import files, surface

    describe = files if options.files else surface
    _print_line(
        describe(
            capabilities.routes(
                is_development=settings.dev,
                has_billing_provider=settings.has_billing_provider,
                added=added_to(settings),
            )
        )
    )


def _config(settings: Settings, _options: argparse.Namespace) -> None:
    rows = settings_module.rows(settings)
    width = max(len(row.name) for row in rows)
    for row in rows:
        _print_line(f"{row.name:<{width}}  {row.value or '(not set)'}")
        _print_line(f"{'':<{width}}  {row.sentence}")


def _login(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import remote

    return _operate(remote.login, options.address or settings.base_url)


def _api(_settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import remote

    body = sys.stdin.read() if options.data == "-" else options.data
    method = (options.method or ("GET" if body is None else "POST")).upper()
    return _operate(remote.call, options.path, address=options.address, method=method, body=body)


def _doctor(settings: Settings, options: argparse.Namespace) -> int:
    from entrypoints.operator import doctor
    from entrypoints.operator.terminal import takes_colors

    environment = settings_module.environment_with_file(os.environ)
    unknown = settings_module.unknown(environment)
    has_colors = takes_colors(sys.stdout, os.environ)
    return _operate(
        doctor.examine,
        settings,
        unknown_settings=unknown,
        deprecated=deprecations.in_use(environment),
        mail_to=options.mail_to,
        has_colors=has_colors,
    )


def _operate(run: Callable[..., int | None], *arguments: Any, **options: Any) -> int:
    """Run an operator's command, which reports line by line."""
    return _with_log_apart(lambda: run(*arguments, **options, report=_print_line))


def _with_log_apart(run: Callable[[], int | None]) -> int:
    """Run a command whose errors in the log go to standard error, apart from the result."""
    from entrypoints import exits, logs

    logs.configure(log_format="console", log_level="error", output=sys.stderr)
    return exits.exit_status_of(run)


@contextmanager
def _interruptible(stopping: Iterable[signal.Signals]) -> Generator[None]:
    """Let all stop signals interrupt a command as Ctrl-C does; then end the process by the received signal."""
    interruption = signal.SIGINT

    def interrupt(number: int, _frame: object) -> None:
        nonlocal interruption
        interruption = signal.Signals(number)
        # Through SIGINT, because an event loop knows where SIGINT may interrupt it; unless SIGINT is ignored.
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    for number in set(stopping) - {signal.SIGINT}:
        signal.signal(number, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(interruption, signal.SIG_DFL)
        signal.raise_signal(interruption)
        # The first process of a container survives the signal.
        sys.exit(128 + interruption)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("it must be a whole number of at least 1")
    return int(text)


def _up_to(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"it must be a whole number from 1 to {most}")
        return int(text)

    return number


def _print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _print_error(text: str) -> None:
    sys.stderr.write(f"gatehouse: {text}\n")
