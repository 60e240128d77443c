"""The program `ringwalk-cluster` with the model task, which a number of entries ends.

The environment may say how many seconds more than its budget a task may take.
"""

import functools
import os
import sys

import cluster_model
from ringwalk import cluster
from ringwalk.cluster import cli
from ringwalk.cluster.driver import GRACE

if __name__ == "__main__":
    cluster.snapshot = functools.partial(
        cluster.snapshot,
        task=cluster_model.cluster_task,
        entries=7,
        grace=float(os.environ.get("RINGWALK_TEST_GRACE", GRACE)),
    )
    sys.exit(cli.main())
