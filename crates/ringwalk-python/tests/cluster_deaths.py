"""The program `ringwalk-cluster` with its own task, of which one kills its worker.

Its files are written by then, but the driver has not heard of it.
"""

import functools
import os
import sys

import cluster_model
from ringwalk import _ringwalk, cluster
from ringwalk.cluster import cli

# There are tasks before it and after it.
DEADLY = 5


def task(directory, *given, **named):
    """Runs a task. The worker dies at the end of task `DEADLY`, once: the file DIR-kill-once says
    that it has.
    """
    result = _ringwalk.cluster_task(directory, *given, **named)
    if named["task"] == DEADLY:
        cluster_model.misbehave(os.fsdecode(directory), "kill-once")
    return result


if __name__ == "__main__":
    cluster.snapshot = functools.partial(cluster.snapshot, task=task, entries=500)
    sys.exit(cli.main())
