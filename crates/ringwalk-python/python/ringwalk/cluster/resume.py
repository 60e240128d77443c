"""The beginning of a run: a new directory, or what earlier epochs have left."""

from __future__ import annotations

import os
from dataclasses import replace

from ringwalk.cluster import checks, committed, layout, log, replay
from ringwalk.cluster.files import Files
from ringwalk.cluster.problems import Refused
from ringwalk.cluster.replay import History


def open_directory(files: Files, wanted: layout.Description, resume: bool) -> layout.Description:
    """Makes the directory of a new snapshot, or checks that an older run can be resumed.

    With `resume`, a directory that does not exist is made: so a job that is started again and again
    has one command.

    Raises `Refused` if the directory exists and is not to be resumed, is of something else or of
    another user, or a root was replaced since.
    """
    directory = files.directory
    if not resume or not os.path.isdir(directory):
        try:
            files.make()
        except FileExistsError as error:
            message = f"{directory}: exists: give another directory, or --resume to go on"
            raise Refused(message) from error
    files.check_owner()
    description = layout.read_description(files)
    if description is not None:
        description.check(wanted)
        description.check_identities(wanted)
        if wanted.mounts.keys() - description.mounts.keys():
            description = replace(description, mounts={**wanted.mounts, **description.mounts})
            description.write(files)
        return description
    # Only a driver that ended at once leaves a directory like this.
    names = {each.name for each in files.entries("")}
    if names - {f".{layout.DESCRIPTION}.new"}:
        raise Refused(f"{directory}: not the directory of a snapshot")
    wanted.write(files)
    return wanted


def begin(files: Files) -> tuple[log.Log, History]:
    """Claims an epoch, and brings the directory into the state that the log describes.

    Files of committed tasks get their names. Tasks whose files are damaged are revoked, with all
    tasks that went on where they had stopped: their work is done again.
    """
    for folder in layout.FOLDERS:
        files.make_folder(folder)
    own, history = log.begin(files)
    try:
        # They are of the state before this epoch.
        files.remove(layout.VERDICT)
        files.remove(layout.MANIFEST)
        # With an older verdict, a log that has grown would look damaged.
        files.sync_folder("")
        # Leftovers that a revoked task had done are needed again, and are checked then.
        while bad := _bring_up_to_date(files, history):
            revoked = replay.descendants(history, set(bad))
            own.append({"revoke": sorted(revoked), "why": sorted(bad.values())[:100]})
            own.sync()
            history = replay.read(files, [*history.lengths, own.length])
            # The driver adds the length of its own log, which grows.
            history.lengths.pop()
        files.remove(layout.DAMAGED)
        for folder in layout.epoch_folders(files):
            files.remove_folder(folder, layout.WRITTEN)
        files.make_folder(layout.tmp_name(own.epoch))
    except BaseException:
        own.close()
        raise
    return own, history


def _bring_up_to_date(files: Files, history: History) -> dict[int, str]:
    """Renames what older drivers have not renamed. Returns the damaged tasks, and why."""
    suspects = checks.suspects(files)
    bad: dict[int, str] = {}
    for _, commit in history.commits():
        committed.rename(files, commit)
        for kind in commit.kinds():
            name = commit.name(kind)
            # Leftovers that no task has done yet are read from now on.
            is_needed = kind == "todo" and history.open.get(commit.task, 0) > 0
            whole = is_needed or name in suspects
            check = committed.wrong_contents if whole else committed.wrong_size
            if why := check(files, commit, kind):
                bad[commit.task] = f"{name}: {why}"
    return bad
