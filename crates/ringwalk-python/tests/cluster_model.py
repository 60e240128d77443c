"""A model of the task of `ringwalk.cluster`, in Python: the same contract as the real one.

It reads a real tree by `os.listdir`. Parts are JSON lines with the paths of files. It obeys a
budget of entries. Directories with special names do what goes wrong on workers:

    kill-always, kill-once    the worker dies
    fail-always               the task raises
    stop-once                 the worker is stopped (SIGSTOP)
    wait-once                 the task waits until something is written to the pipe DIR-fifo
    full                      the disk is full
"""

from __future__ import annotations

import errno
import json
import os
import signal
import time

# Leftovers of one chunk, at most.
CHUNK = 4


def nothing_but_die_once():
    """An empty task, whose first worker dies. A file in the environment says whether it has."""
    try:
        os.close(os.open(os.environ["RINGWALK_TEST_DIED"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def cluster_task(
    directory,
    roots,
    pieces,
    *,
    task,
    epoch,
    attempt,
    seconds,
    entries,
    workers,
    in_flight,
    entries_per_second,
    source,
    xattrs,
    atime,
    one_file_system,
):
    start = time.monotonic()
    directory, roots = os.fsdecode(directory), [os.fsdecode(root) for root in roots]
    if pieces is None:
        pending = [(number, "", -1) for number in range(len(roots))]
    else:
        pending = [tuple(line) for piece in pieces for line in read_piece(directory, *piece)]
    most = entries if entries is not None else 1 << 60
    rows, errors, todo, gone = [], [], [], []
    counts = dict.fromkeys(("entries", "directories", "found", "vanished", "errors"), 0)
    for number, path, begin in pending:
        if counts["entries"] >= most:
            todo.append((number, path, begin))
            continue
        top = os.path.join(roots[number], path) if path else roots[number]
        misbehave(directory, os.path.basename(path))
        # A root that nobody has visited begins before its first entry.
        if begin < 0:
            rows.append((number, ""))
            counts["entries"] += 1
            begin = 0
            if counts["entries"] >= most:
                todo.append((number, path, begin))
                continue
        try:
            names = sorted(os.listdir(top))
        except FileNotFoundError:
            counts["vanished"] += 1
            gone.append((number, os.fsencode(path), 1))
            continue
        except OSError as error:
            counts["errors"] += 1
            row = {"root": roots[number], "path": path, "operation": "open"}
            errors.append({**row, "errno": error.errno, "message": error.strerror})
            continue
        # Only the beginning of a directory counts: its rest is the same directory.
        counts["directories"] += begin == 0
        for at, name in enumerate(names[begin:], begin):
            if counts["entries"] >= most:
                todo.append((number, path, at))
                break
            inner = os.path.join(path, name)
            rows.append((number, inner))
            counts["entries"] += 1
            full = os.path.join(roots[number], inner)
            if os.path.isdir(full) and not os.path.islink(full):
                counts["found"] += 1
                todo.append((number, inner, 0))
    stem = f"tmp/{epoch}/{task}-{attempt}"
    return {
        **counts,
        "part": written(directory, stem + ".parquet", rows),
        "rows": len(rows),
        "bytes": sum(len(line(row)) for row in rows),
        "todo": written(directory, stem + ".todo", todo),
        "chunks": chunks(todo),
        "errors_file": written(directory, stem + ".errors", errors),
        "left": len(todo),
        "vanished_trees": gone,
        "seconds": time.monotonic() - start,
        "cpu_seconds": 0.0,
        "source": "model",
    }


def line(value) -> bytes:
    return json.dumps(value).encode() + b"\n"


def read_piece(directory, file, offset, length):
    with open(os.path.join(directory, file), "rb") as opened:
        opened.seek(offset)
        data = opened.read(length)
    if len(data) != length or not data.endswith(b"\n"):
        raise ValueError(f"{file}: damaged")
    return [json.loads(each) for each in data.splitlines()]


def written(directory, name, values):
    if not values:
        return None
    with open(os.path.join(directory, name), "wb") as file:
        file.write(b"".join(map(line, values)))
        file.flush()
        os.fsync(file.fileno())
    return name


def chunks(todo):
    """The chunks of a file with leftovers. The rest of a directory is a chunk of its own, as a
    share of a huge directory is.
    """
    groups: list[list] = []
    for leftover in todo:
        big = leftover[2] > 0
        if not groups or big or groups[-1][0][2] > 0 or len(groups[-1]) == CHUNK:
            groups.append([])
        groups[-1].append(leftover)
    found, offset = [], 0
    for group in groups:
        length = sum(len(line(leftover)) for leftover in group)
        found.append([offset, length, len(group), group[0][2] > 0])
        offset += length
    return found


def misbehave(directory, name):
    kind, _, when = name.partition("-")
    if when == "once":
        try:
            os.close(os.open(f"{directory}-{name}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
    if kind == "kill":
        die()
    elif kind == "fail":
        raise RuntimeError("this always fails")
    elif kind == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif kind == "wait":
        with open(f"{directory}-fifo", "rb") as pipe:
            pipe.read(1)
    elif kind == "full":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def harmless(*given, **named):
    """The task without what goes wrong on workers."""
    global misbehave
    original, misbehave = misbehave, lambda directory, name: None
    try:
        return cluster_task(*given, **named)
    finally:
        misbehave = original


def die() -> None:
    """Ends the process that runs it."""
    os.kill(os.getpid(), signal.SIGKILL)
