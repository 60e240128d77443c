#!/usr/bin/env python3
"""Measures what a task costs the driver of ringwalk.cluster on an engine.

    PYTHON bench/cluster_costs.py pool|dask [--workers N]
    mpiexec -n 3 PYTHON -m mpi4py.futures bench/cluster_costs.py mpi

PYTHON has ringwalk[dask,mpi]. Dask's scheduler and workers are processes of this machine. Prints a
line of JSON:

* `few_ms`: the cost that the driver measures before each run, with 32 empty tasks;
* `many_ms`: the time for each of many empty tasks that are handed out together;
* `least_budget_s`: by the number of workers, the least budget that the driver gives to a task.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time

from ringwalk.cluster import run, work
from ringwalk.cluster.budget import Budgets
from ringwalk.cluster.engines import make_engine

MANY = 2000
WORKERS = (10, 100, 1000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("engine", choices=("pool", "dask", "mpi"))
    parser.add_argument("--workers", type=int, help="of the pool or Dask (default: 2)")
    given = parser.parse_args()
    if given.engine == "mpi" and given.workers:
        parser.error("the ranks of mpiexec are the workers of MPI: leave out --workers")
    workers = given.workers or 2
    with contextlib.ExitStack() as stack:
        address = given.engine
        if given.engine == "dask":
            from distributed import LocalCluster

            cluster = stack.enter_context(
                LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
            )
            address = cluster.scheduler_address.replace("tcp://", "dask://")
        engine = make_engine(address, workers if given.engine == "pool" else None)
        try:
            few = run.cost_of_a_task(engine)
            start = time.perf_counter()
            futures = [engine.submit(f"nothing-{n}", work.nothing) for n in range(MANY)]
            for outcome in engine.outcomes(futures):
                if isinstance(outcome, BaseException):
                    raise outcome
            many = (time.perf_counter() - start) / MANY
        finally:
            engine.close(False)
    budgets = {workers: round(Budgets(3600, workers, many).least, 2) for workers in WORKERS}
    print(
        json.dumps(
            {
                "engine": given.engine,
                "few_ms": round(1000 * few, 3),
                "many_ms": round(1000 * many, 3),
                "least_budget_s": budgets,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
