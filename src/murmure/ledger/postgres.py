"""A ledger in PostgreSQL, for several machines.

A charge locks the table of entries before its first read: reads go on, other charges wait. It is committed when the
server has it on its disk (synchronous_commit; a server that runs with fsync off is refused). If the connection is lost
while a charge is being committed, nobody knows whether it was: nothing is released, and if it was, the answer is there
to be fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, LedgerFailed, MissingExtra, MurmureError, Phrase
from murmure.ledger.store import PATIENCE, Run, ledger_failed
from murmure.ledger.tables import (
    ENTRIES,
    FIRST_TABLES,
    FIRST_VERSION,
    INDEXES,
    META,
    TABLES,
    VERSION,
    create_sql,
    insert,
)

CONNECT_SECONDS = 10  # until a server that does not answer is given up
KEY_VARIABLE = "MURMURE_LEDGER_KEY"  # the file of the key: several machines recognise the same data by the same key
CREATION_LOCK = 0x6D75726D757265  # "murmure": the process that makes the tables holds this advisory lock


class Postgres:
    """Four tables of a database, which may hold others."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra(Phrase("a ledger in PostgreSQL"), "psycopg", "postgres") from None
        try:
            parameters = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:  # its message may quote the password
            raise InvalidParameter(
                "the address of the ledger cannot be read.", hint="write postgresql://user@host:5432/database"
            ) from None
        server, number, database = (str(parameters.get(key) or "") for key in ("host", "port", "dbname"))
        if "@" in server + database or ":" in database or (number and not number.replace(",", "").isdecimal()):
            # A password with @, / or : that is not escaped: what follows it would be taken for the host.
            raise InvalidParameter(
                "the address of the ledger cannot be read.",
                hint="write postgresql://user@host:5432/database, and keep the password in ~/.pgpass",
            )
        self._url = url
        # tcp_user_timeout: lost packets must not look like a slow server for ever.
        self._options = {
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": 1000 * PATIENCE,
            "application_name": "murmure ledger",
            "client_encoding": "utf8",
        }
        # Without the variable, one key for each user of each machine.
        self.key_path = Path(os.environ.get(KEY_VARIABLE) or Path.home() / ".murmure-ledger.key")
        user, host, port = parameters.get("user"), parameters.get("host") or "", parameters.get("port")
        where = f"{user}@{host}" if user else host
        self.name = f"postgresql://{where}{f':{port}' if port else ''}/{parameters.get('dbname') or ''}"

    def __repr__(self) -> str:
        return f"Postgres({self.name!r})"  # without the password

    def __deepcopy__(self, memo: object) -> Postgres:
        return self  # nothing in it changes; scikit-learn copies what estimators hold

    def __getstate__(self) -> dict[str, Any]:
        """A pickled model must not contain the password; where it is loaded, it comes from ~/.pgpass."""
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        secret = {"password", "sslpassword"}
        parameters = {name: value for name, value in conninfo_to_dict(self._url).items() if name not in secret}
        return {**vars(self), "_url": make_conninfo("", **parameters)}

    def exists(self) -> bool:
        with self.reading() as run:
            return run("SELECT to_regclass(?)", META) != [(None,)]

    def check_intact(self) -> None:
        with self.reading() as run:
            self._refuse_forgetful(run)
            first = run(f'SELECT "value" FROM "{META}" WHERE "key" = ?', "version") == [(FIRST_VERSION,)]
            for table in FIRST_TABLES if first else TABLES:
                if run("SELECT to_regclass(?)", table) == [(None,)]:
                    raise ledger_failed(
                        self.name,
                        Phrase("there is no table {table}", table=table),
                        Phrase("restore the database from a copy"),
                    )
                kind = run("SELECT relpersistence::text, relkind::text FROM pg_class WHERE oid = to_regclass(?)", table)
                if kind != [("p", "r")]:
                    raise ledger_failed(
                        self.name,
                        Phrase("{table} is not a table that survives a crash of the server", table=table),
                        Phrase("make it an ordinary permanent table"),
                    )
                if run("SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass(?)", table):
                    raise ledger_failed(
                        self.name,
                        Phrase("{table} has triggers, which could undo a charge", table=table),
                        Phrase("remove them"),
                    )

    def check_pages(self) -> None:
        """The server looks after its pages."""

    def create(self) -> None:
        with self._transaction(write=True) as run:
            run("SELECT pg_advisory_xact_lock(?)", CREATION_LOCK)
            if run("SELECT to_regclass(?)", META) != [(None,)]:
                return  # another process was first
            for table, columns in TABLES.items():
                run(create_sql(table))
                for name, (_, comment) in columns.items():
                    run(f'COMMENT ON COLUMN "{table}"."{name}" IS \'{comment}\'')
            for index in INDEXES:
                run(index)
            run(insert(META), "version", VERSION)

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._transaction(write=False) as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._transaction(write=True) as run:
            run(f'LOCK TABLE "{ENTRIES}" IN EXCLUSIVE MODE')
            yield run

    @contextmanager
    def _transaction(self, write: bool) -> Iterator[Run]:
        import psycopg

        committing = False
        try:
            with psycopg.connect(self._url, **self._options) as connection:  # type: ignore[arg-type]
                # A writer reads after its lock, and sees what was committed until then; readers see one moment.
                level = psycopg.IsolationLevel
                connection.isolation_level = level.READ_COMMITTED if write else level.REPEATABLE_READ
                connection.read_only = not write

                def run(sql: str, *values: Any) -> list[tuple[Any, ...]]:
                    cursor = connection.execute(sql.replace("?", "%s").encode(), values or None)
                    return cursor.fetchall() if cursor.description else []

                run(f"SET LOCAL lock_timeout = '{PATIENCE}s'")
                if write:
                    self._refuse_forgetful(run)
                    if run("SELECT current_setting('synchronous_commit')") == [("off",)]:
                        run("SET LOCAL synchronous_commit = on")
                yield run
                # From here on, a lost connection leaves it unknown whether the charge was written.
                committing = write
                connection.commit()
                committing = False
        except MurmureError:
            raise
        except psycopg.errors.LockNotAvailable:
            raise ledger_failed(
                self.name,
                Phrase("other processes have held it for {patience} s", patience=PATIENCE),
                Phrase("try again"),
            ) from None
        except psycopg.OperationalError as error:
            if committing:
                raise LedgerFailed(
                    "the connection to the ledger {name!r} was lost while a charge was being written: it may or "
                    "may not have been charged, and nothing may be released.",
                    hint="ask the same question again: a paid answer about the same file is replayed",
                    name=self.name,
                ) from None
            raise ledger_failed(self.name, error, Phrase("check that the server runs and accepts this user")) from None
        except (psycopg.Error, UnicodeError) as error:
            raise ledger_failed(self.name, error) from None

    def _refuse_forgetful(self, run: Run) -> None:
        """Refuse a server that may forget charges that it acknowledged: budgets would grow back."""
        if run("SELECT current_setting('fsync')") != [("on",)]:
            raise ledger_failed(
                self.name,
                Phrase("the server runs with fsync off and may forget charges"),
                Phrase("set fsync = on on the server"),
            )
