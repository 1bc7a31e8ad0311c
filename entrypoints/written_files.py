"""Every file that the product writes, and what happens where it cannot: nothing that serving needs is written there.

`tests/sources/test_written_files.py` finds what writes and is not here. PostgreSQL writes its own files; figures and
what workers share lie in memory (ops/decisions/0090-a-full-data-folder.md).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from core.lazy_dataclasses import dataclass


class Occasion(StrEnum):
    """When a file is written."""

    SERVING = "serving"
    START = "start"
    COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a module writes: where, below the data folder or elsewhere, and what happens when it cannot."""

    module: str
    place: str
    otherwise: str
    occasion: Occasion = Occasion.COMMAND


# Of the data folder of `gatehouse serve`.
DATA_FOLDER: Final = (
    Written(
        module="adapters/crypto/machine_slots.py",
        place="hashing/slot-…",
        occasion=Occasion.SERVING,
        otherwise="Serving goes on. The workers no longer share the processors for password hashes: each hashes as many"
        " at once as there are.",
    ),
    Written(
        module="adapters/postgres/embedded/programs.py",
        place="postgres.log",
        occasion=Occasion.SERVING,
        otherwise="Only with the embedded PostgreSQL, which is started again after it died. Without space it does not"
        " start, and writes are refused with 503 before.",
    ),
    Written(
        module="adapters/postgres/embedded/cluster.py",
        place="postgres/, postgres.new/",
        occasion=Occasion.SERVING,
        otherwise="Only with the embedded PostgreSQL, which is started again after it died. Without space it does not"
        " start, and writes are refused with 503 before.",
    ),
    Written(
        module="adapters/postgres/embedded/folder.py",
        place="serve.lock, and the locks of the embedded PostgreSQL",
        occasion=Occasion.START,
        otherwise="A lock that exists is taken without space. In an empty folder the start is refused, with the"
        " reason.",
    ),
    Written(
        module="entrypoints/master_keys.py",
        place="master-key, owner-password",
        occasion=Occasion.START,
        otherwise="Only where no setting has them, at the first start, which is refused, with the reason.",
    ),
)
# Where the command line or the machine says.
ELSEWHERE: Final = (
    Written(
        module="adapters/postgres/backup/files.py",
        place="the file that `gatehouse backup` is given",
        otherwise="The command fails; no backup of that name is left.",
    ),
    Written(
        module="adapters/postgres/backup/restoring.py",
        place="a temporary file, for what pg_restore says",
        otherwise="`gatehouse restore` fails.",
    ),
    Written(
        module="entrypoints/demo/command.py",
        place="the folder of `gatehouse demo`",
        otherwise="`gatehouse demo` fails.",
    ),
    Written(
        module="entrypoints/operator/backups.py",
        place="a temporary folder, with the database of `gatehouse restore --drill`",
        otherwise="The drill fails; name a folder with enough space by `TMPDIR`.",
    ),
    Written(
        module="entrypoints/operator/remote.py",
        place="the file with the token of `gatehouse login`",
        otherwise="`gatehouse login` fails.",
    ),
    Written(
        module="entrypoints/testing/instance.py",
        place="the folder of `gatehouse test-instance`",
        otherwise="`gatehouse test-instance` fails.",
    ),
)
