"""Runs a query with the Python module duckdb. The first argument has the definitions of views, the
second one the width of tables, or 0 for CSV. The query is the third one or standard input.

Exit status: 0, 1 if the query failed, 97 if there is no module duckdb.
"""

import sys

# A module in the working directory is not the user's.
sys.path = [path for path in sys.path if path not in ("", ".")]
try:
    import duckdb
except ImportError:
    sys.exit(97)
import csv  # noqa: E402 - after the path is safe
import os  # noqa: E402

# Statements beside SELECT that have rows to show.
WITH_ROWS = ("EXPLAIN", "PRAGMA", "CALL")


def answer(connection, statement, columns):
    """Writes the rows of a statement: as a table of that width, or as CSV."""
    query = statement.query.strip().rstrip(";")
    is_select = str(statement.type).endswith("SELECT")
    if is_select and columns:
        connection.sql(query).show(max_width=columns)
        return
    if is_select:
        # DuckDB turns the values into text, as its program does.
        query = f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({query}\n)"
    connection.execute(query)
    if not is_select and not str(statement.type).endswith(WITH_ROWS):
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(column[0] for column in connection.description)
    while rows := connection.fetchmany(10000):
        writer.writerows(rows)


views, columns = sys.argv[1], int(sys.argv[2])
query = sys.argv[3] if len(sys.argv) > 3 else sys.stdin.read()
status = 0
try:
    connection = duckdb.connect()
    connection.execute(views)
    for statement in connection.extract_statements(query):
        answer(connection, statement, columns)
    sys.stdout.flush()
except duckdb.Error as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    status = 1
except OSError as error:
    # If the reader has closed the pipe, it has read what it wanted.
    if not isinstance(error, BrokenPipeError):
        print(f"write error: {error.strerror}", file=sys.stderr)
    status = 1
    # Python would report the rest of its buffer at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
sys.exit(status)
