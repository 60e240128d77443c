"""Engines of the tests, which `--engine MODULE:CALLABLE` names."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

from cluster_support import Here


def here():
    return Here()


def two_processes():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def one_process():
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def dask_client():
    """The client of the scheduler that the environment names, as users write it."""
    from distributed import Client

    return Client(os.environ["RINGWALK_TEST_DASK"])


def dask_executor():
    return dask_client().get_executor()
