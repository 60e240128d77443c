"""DuckDB, pyarrow and polars, which scripts/setup installs below target/tools/tables.

The tests run with the system's Python, which does not have them. So a script runs in the Python of
that environment, and its result comes back as JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.run import Arg, run

FOLDER = ROOT / "target" / "tools" / "tables"
PYTHON = FOLDER / "bin" / "python"
DUCKDB = FOLDER / "bin" / "duckdb"


def needed() -> None:
    """Skips the test if the packages are not installed."""
    if not PYTHON.exists():
        pytest.skip("needs DuckDB, pyarrow and polars: scripts/setup installs them")


def evaluate(script: str, *args: Arg) -> Any:
    """Returns the value that `result` has after a script. `args` are in `sys.argv`."""
    needed()
    text = f"import json, sys\n{script}\nprint(json.dumps(result, default=str))\n"
    return json.loads(run([PYTHON, "-c", text, *args]).ok().out)


def duckdb(query: str, *files: Path) -> list[dict]:
    """Returns the rows of a query by DuckDB. `$1`, `$2`, ... stand for the files."""
    script = """
import duckdb
connection = duckdb.connect()
relation = connection.execute(sys.argv[1], sys.argv[2:])
names = [column[0] for column in relation.description]
result = [dict(zip(names, row)) for row in relation.fetchall()]
"""
    return evaluate(script, query, *files)


# Rows of a Parquet file as each reader sees them.
READERS = {
    "pyarrow": "import pyarrow.parquet as pq; result = pq.read_table(sys.argv[1]).to_pylist()",
    "polars": "import polars; result = polars.read_parquet(sys.argv[1]).to_dicts()",
    "duckdb": """
import duckdb
relation = duckdb.read_parquet(sys.argv[1])
result = [dict(zip(relation.columns, row)) for row in relation.fetchall()]
""",
}


def parquet(file: Path, reader: str) -> list[dict]:
    """Returns the rows of a Parquet file that has numbers and text only."""
    return evaluate(READERS[reader], file)
