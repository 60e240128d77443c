"""The program `ringwalk-cluster` with the model task, which a number of entries ends."""

import functools
import sys

import cluster_model
from ringwalk import cluster
from ringwalk.cluster import cli

if __name__ == "__main__":
    cluster.snapshot = functools.partial(
        cluster.snapshot, task=cluster_model.cluster_task, entries=7
    )
    sys.exit(cli.main())
