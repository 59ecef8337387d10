"""Tables from a database, by its address and a query.

Passwords of addresses are in no text that leaves this module.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from bocopt.app.reading.columns import Column, Table, TableError
from bocopt.app.reading.notation import Notation
from bocopt.app.reading.values import of_values
from bocopt.extras import needed

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+://")
_PASSWORD = re.compile(r"(://[^:@/]*):.*@")  # up to the last @, which a password may hold too
_SECRET = re.compile(r"([?&;][^=&;]*(?:pass|pwd|secret|token|key)[^=&;]*=)[^&;]*", re.IGNORECASE)
_SQLITE = "sqlite:///"
_PART = 10_000  # rows at a time


def is_address(text: object) -> bool:
    """True for the address of a database.

    >>> is_address("sqlite:///sales.db"), is_address("sales.csv"), is_address("C:/sales.csv")
    (True, False, False)
    """
    return isinstance(text, str) and _ADDRESS.match(text) is not None


def without_password(address: str) -> str:
    """Return an address as it may be shown.

    >>> without_password("postgresql://ann:x@y@db/sales?sslpassword=z&connect_timeout=3")
    'postgresql://ann:***@db/sales?sslpassword=***&connect_timeout=3'
    """
    return _SECRET.sub(r"\1***", _PASSWORD.sub(r"\1:***@", address))


def located(address: str, folder: Path) -> str:
    """Return an address where the file of SQLite lies in a folder, if its path is not complete.

    >>> located("sqlite:///sales.db", Path("/data"))
    'sqlite:////data/sales.db'
    """
    if not address.startswith(_SQLITE):
        return address
    return f"{_SQLITE}{folder / address.removeprefix(_SQLITE)}"


def read_query(address: str, query: str, notation: Notation) -> Table:
    """Return the rows of a query, which changes no data: it is rolled back."""
    shown = without_password(address)
    sql = needed("sqlalchemy", f"{shown}, a database,", '"bocopt[sql]"')
    try:
        engine = sql.create_engine(_url(sql, address, shown), poolclass=sql.NullPool)
        names, values = _fetched(engine, query, shown)
    except ModuleNotFoundError as error:
        said = f"{shown} needs {error.name}, the driver of such databases."
        failed: Exception = ModuleNotFoundError(said, name=error.name)
    except TableError:
        raise
    except (sql.exc.SQLAlchemyError, ValueError) as error:  # a port that is no number
        failed = TableError(f"{shown} cannot be read: {_in_words(error, address)}.")
    else:
        return _table(shown, names, values, notation)
    raise failed  # with no trace of the driver's own error, which may hold the address


def write_rows(
    address: str, table: str, columns: Mapping[str, Sequence[Any]], keys: Sequence[str]
) -> None:
    """Write rows to a table, all or none, in place of those whose keys are the same.

    A table that is not there is made, with the names of the columns.
    """
    shown = without_password(address)
    sql = needed("sqlalchemy", f"{shown}, a database,", '"bocopt[sql]"')
    url = sql.make_url(re.sub(r"^postgres://", "postgresql://", address))
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    failed: Exception | None = None
    try:
        with sql.create_engine(url, poolclass=sql.NullPool).begin() as connection:
            there = _table_of(sql, connection, table, columns)
            if rows:
                own = sql.and_(*(there.c[key] == sql.bindparam(f"the {key}") for key in keys))
                wanted = [{f"the {key}": row[key] for key in keys} for row in rows]
                connection.execute(there.delete().where(own), wanted)
                connection.execute(there.insert(), rows)
    except (sql.exc.SQLAlchemyError, ValueError, KeyError) as error:
        failed = TableError(
            f"{shown}, table '{table}', cannot be written: {_in_words(error, address)}."
        )
    if failed is not None:
        raise failed  # with no trace of the driver's own error, which may hold the address


def _table_of(sql: Any, connection: Any, name: str, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a table of the database, which is made if it is not there."""
    if sql.inspect(connection).has_table(name):
        return sql.Table(name, sql.MetaData(), autoload_with=connection)

    def kind(values: Sequence[Any]) -> Any:
        """Return the type of a column."""
        return sql.Float if values and not isinstance(values[0], str) else sql.Text

    parts = [sql.Column(column, kind(values)) for column, values in columns.items()]
    made = sql.Table(name, sql.MetaData(), *parts)
    made.create(connection)
    return made


def _url(sql: Any, address: str, shown: str) -> Any:
    """The address for its driver: psycopg for PostgreSQL; SQLite is opened to read alone."""
    url = sql.make_url(re.sub(r"^postgres://", "postgresql://", address))
    if url.drivername == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.drivername != "sqlite":
        return url
    if not url.database or not Path(url.database).is_file():
        raise FileNotFoundError(f"There is no file {url.database or 'of SQLite'}: {shown}.")
    return url.set(database=f"file:{quote(url.database)}", query={"mode": "ro", "uri": "true"})


def _fetched(engine: Any, query: str, shown: str) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns, and their values."""
    # Without parameters no sign of the query stands for one: it is sent as it is.
    options = {"no_parameters": True, "stream_results": True}
    if engine.dialect.name == "postgresql":
        options["postgresql_readonly"] = True
    with engine.connect().execution_options(**options) as connection:
        result = connection.exec_driver_sql(query)
        if not result.returns_rows:
            raise TableError(f"{shown}: a query that gives rows expected, such as select ...")
        names = list(map(str, result.keys()))
        columns: list[list[Any]] = [[] for _ in names]
        for part in result.partitions(_PART):
            for column, values in zip(columns, zip(*part, strict=True), strict=True):
                column.extend(values)
    return names, columns


def _in_words(error: Exception, address: str) -> str:
    """The words of a driver, on one line, and without the secrets of the address."""
    said = " ".join(str(getattr(error, "orig", None) or error).split()).rstrip(".")
    secrets = [found[1] for found in re.finditer(r"://[^:@/]*:(.*)@", address)]
    secrets += [found[0].partition("=")[2] for found in _SECRET.finditer(address)]
    for secret in secrets:
        for one in (secret, unquote(secret)):
            said = said.replace(one, "***") if one else said
    return said


def _table(shown: str, names: list[str], values: list[list[Any]], notation: Notation) -> Table:
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{shown}: two columns of the query are named '{name}'.")
    count = len(values[0]) if values else 0
    if not count:
        raise TableError(f"{shown}: the query gives no rows.")
    columns: dict[str, Column] = {}
    unusable: dict[str, str] = {}
    for name, cells in zip(names, values, strict=True):
        found = of_values(cells, notation)
        if found is None:
            kinds = sorted({type(cell).__name__ for cell in cells if cell is not None})
            unusable[name] = " and ".join(kinds)
        else:
            columns[name] = found
    places = np.arange(1, count + 1)
    return Table(shown, "row", places, columns, unusable, notation=notation)
