"""What can go wrong with a run on many machines, as exceptions."""

from __future__ import annotations


class ClusterError(Exception):
    """A run cannot begin or cannot go on. The message says why, and what to do."""


class Refused(ClusterError, ValueError):
    """What was asked for is not possible: nothing was begun, and nothing was changed."""


class Damaged(ClusterError):
    """A file of the snapshot's directory is damaged. The message names it."""


class Fenced(ClusterError):
    """Another driver has taken over the snapshot's directory: this one must stop."""


class WrongVersion(ClusterError):
    """A worker has another version of the package than the driver. The message names both."""


class OtherTree(ClusterError):
    """A worker does not have the tree of the driver. The message says where it differs."""

    # The thread that has found this. Other workers may have the tree.
    thread: tuple[str, int, int] | None = None
    # The address of the worker, if its engine can leave it out.
    worker: str | None = None


class EngineLost(ClusterError):
    """The engine is gone, with all tasks that it ran. The run can be resumed."""


class Stopped(ClusterError):
    """The run was asked to stop. It can be resumed. `signal` is the number of the signal, or 0."""

    def __init__(self, signal: int) -> None:
        super().__init__("stopped: go on with --resume")
        self.signal = signal
