"""The engine `mpi`: the ranks of an MPI job.

    mpiexec -n 64 python -m mpi4py.futures -m ringwalk.cluster snapshot ROOT -o DIR --engine mpi

Rank 0 is the driver, the others are workers. When a rank dies, `mpiexec` ends all of them, and the
run has to be resumed.
"""

from __future__ import annotations

import sys

from ringwalk.cluster.engines import Engine, missing
from ringwalk.cluster.problems import Refused


class MpiEngine(Engine):
    """The ranks of this MPI job but the first one."""

    def __init__(self) -> None:
        try:
            from mpi4py import MPI
            from mpi4py.futures import MPIPoolExecutor
        except ImportError as error:
            raise missing("mpi", "mpi", error) from error
        except RuntimeError as error:
            # mpi4py is there, but no library of MPI.
            raise Refused(f"the engine 'mpi' needs an MPI library: {error}") from error
        start = "start it by 'mpiexec -n N python -m mpi4py.futures -m ringwalk.cluster ...'"
        ranks = MPI.COMM_WORLD.Get_size()
        if ranks < 2:
            raise Refused(f"the engine 'mpi' needs at least two ranks: {start}")
        # Otherwise this is not the only rank that gets here: each would be a driver.
        if "mpi4py.futures" not in sys.orig_argv:
            raise Refused(f"no rank of this MPI job is a worker: {start}")
        super().__init__(MPIPoolExecutor, ranks - 1)
