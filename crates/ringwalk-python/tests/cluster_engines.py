"""Engines of the tests, which `--engine MODULE:CALLABLE` names."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from cluster_support import Here


def here():
    return Here()


def two_processes():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def one_process():
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
