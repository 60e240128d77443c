# SPDX-License-Identifier: GPL-2.0-only
"""What ends a run before the command could answer, by exit status."""

# The statuses are those of the tests in kernel/tests (77: skipped) and of commands that stand in
# for another (125 and 126: the stand-in itself failed, see env(1) and timeout(1)).
SKIPPED = 77
BROKEN = 125
UNPREPARED = 126


class Failure(Exception):
    """Something the run needs could not be made: a build, an image, a file. Exit status 126."""

    status = UNPREPARED


class Impossible(Failure):
    """This machine lacks what the run needs. Exit status 77."""

    status = SKIPPED


class GuestBroken(Failure):
    """The guest died, hung, or its kernel reported a fault. Exit status 125."""

    status = BROKEN
