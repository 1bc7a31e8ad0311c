"""Why no connection to the database could be made, and what an operator does about it.

PostgreSQL gives a reason with a code (SQLSTATE), which libpq does not pass on from an attempt to connect: there is only
the text, in the language of the server. So parts of texts stand here in each language into which PostgreSQL 15 is
translated; what none of them fits is `OTHER`, and its text is in the log.
"""

from __future__ import annotations

from typing import Final

from adapters.postgres.driver.suitability import ServerUnsuitable, reason
from ports.metrics_of_work import ConnectFailure

# 53300: of the server, of the role or of the database, or the last ones, which are kept for superusers.
_LIMIT: Final = (
    *("too many clients already", "remaining connection slots are reserved"),
    *("too many connections for role", "too many connections for database"),
    # PgBouncer has no code for it.
    *("no more connections allowed", "max_client_conn"),
    *("zu viele verbindungen", "die verbleibenden verbindungen sind für"),
    *("demasiados clientes", "las conexiones restantes están reservadas", "demasiadas conexiones para"),
    *("trop de clients", "les emplacements de connexions restants", "trop de connexions pour"),
    *("troppi client", "i rimanenti slot di connessione", "troppe connessioni"),
    *("クライアント数が多すぎます", "残りの接続スロット", "接続が多すぎます"),
    *("მეტისმეტად ბევრი", "ძალიან ბევრი კავშირი"),
    *("최대 동시 접속", "남은 연결 슬롯", "최대 접속수"),
    *("слишком много клиентов", "оставшиеся слоты подключений", "слишком много подключений"),
    *("för många klienter", "resterande anslutningsslottar", "för många uppkopplingar"),
    *("забагато клієнтів", "слоти підключень", "занадто багато підключень"),
    *("太多的客户", "已保留的连接位置", "连接太多了"),
)
# 28P01 and 28000.
_PASSWORD: Final = (
    # In every language: the file that has no line for the connection.
    *("pg_hba.conf", "no password supplied"),
    *("password authentication failed", "is not permitted to log in"),
    *("passwort-authentifizierung", "keine berechtigung zum einloggen"),
    *("autentificación password", "autentificación por contraseña", "no se le permite conectarse"),
    *("authentification par mot de passe échouée", "n'est pas autorisé à se connecter"),
    *("autenticazione con password fallita", "non è consentito effettuare il login"),
    *("パスワード認証に失敗しました", "ログインが許可されません"),
    *("პაროლით ავთენტიფიკაცია", "როლს შესვლის უფლება არ აქვს"),
    *("password 인증을 실패했습니다", "롤은 접속을 허용하지 않음"),
    *("проверку подлинности", "вход запрещён"),
    *("lösenordsautentisering misslyckades", "tillåts inte logga in"),
    *("не пройшов автентифікацію", "вхід не дозволений"),
    *("password 认证失败", "进行登录"),
)
# 57P03: it starts, ends, or recovers.
_STARTING: Final = (
    "the database system is",
    "das datenbanksystem",
    *("el sistema de base de datos", "el sistema de bases de datos"),
    *("le système de base de données", "le système de bases de données"),
    *("il database si sta", "il sistema di database", "il database è in modalità"),
    "データベースシステム",
    "მონაცემთა ბაზის სისტემ",
    *("데이터베이스 시스템",),
    *("система баз данных", "система бд"),
    "databassystemet",
    "система бази даних",
    "数据库系统",
)
# Of libpq and the driver, and of the operating system, whose language here is English.
_UNREACHABLE: Final = (
    *("connection refused", "no such file or directory", "no route to host", "network is unreachable"),
    *("timeout expired", "connection timed out", "host is down", "connection reset by peer"),
    *("could not translate host name", "failed to resolve host", "name or service not known"),
    *("server closed the connection unexpectedly", "could not connect to server", "broken pipe"),
)
# In this order: of several servers, one that answers says more than one that does not.
_PARTS: Final = (
    (ConnectFailure.LIMIT, _LIMIT),
    (ConnectFailure.PASSWORD, _PASSWORD),
    (ConnectFailure.STARTING, _STARTING),
    (ConnectFailure.UNREACHABLE, _UNREACHABLE),
)
_RUNBOOK: Final = "see ops/runbooks/database-outage.md"
_SENTENCES: Final = {
    ConnectFailure.LIMIT: (
        "The database runs, and has no connection left: {reason}. Lower GATEHOUSE_DATABASE_CONNECTIONS, or raise the"
        f" limit that it names; {_RUNBOOK}."
    ),
    ConnectFailure.PASSWORD: (
        "The database runs, and does not let the role in: {reason}. Check the name and the password in"
        f" GATEHOUSE_DATABASE_URL, and pg_hba.conf of PostgreSQL; {_RUNBOOK}."
    ),
    ConnectFailure.UNREACHABLE: (
        "The database cannot be reached: {reason}. Check that it runs, and GATEHOUSE_DATABASE_URL."
    ),
    ConnectFailure.STARTING: (
        "The database runs, and takes no connections at the moment: {reason}. Its log says what it waits for; if it"
        f" stays so, {_RUNBOOK}."
    ),
    ConnectFailure.OTHER: "The database cannot be reached: {reason}. Check that it runs, and GATEHOUSE_DATABASE_URL.",
}


def kind_of(error: Exception) -> ConnectFailure:
    """Return why an attempt to connect has failed."""
    if isinstance(error, ServerUnsuitable):
        return ConnectFailure.OTHER
    text = str(error).lower()
    for kind, parts in _PARTS:
        if any(part in text for part in parts):
            return kind
    return ConnectFailure.OTHER


def advice(error: Exception) -> str:
    """Return what has failed, without the address of the database, and what to do next."""
    return _SENTENCES[kind_of(error)].format(reason=reason(error))
