"""The examples of asynchronous Rust, run as programs."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest
from support.gnu import counted
from support.listing_server import Server, serving
from support.run import NOBODY, Program

# The number of entries of a huge directory: an answer of ten megabytes.
HUGE = 100_000


def test_read_dir_lists_names_and_sizes(example, scratch):
    sizes = {f"name {number}": number % 5 for number in range(3000)} | {".hidden": 1234}
    for name, size in sizes.items():
        (scratch / name).write_bytes(b"x" * size)
    listed = Program(example("read_dir"))(scratch).ok().lines()
    assert sorted(listed) == sorted(f"{size} {name}".encode() for name, size in sizes.items())


def test_read_dir_names_what_cannot_be_opened(example, scratch):
    result = Program(example("read_dir"))(scratch / "absent")
    assert result.status == 1 and result.out == b""
    assert b"absent" in result.err and b"No such file or directory" in result.err


@pytest.fixture(params=((), ("--stream",)), ids=("tasks", "stream"))
def traverse(example, request) -> Program:
    """The example that adds up a tree, in each of its variants."""
    return Program(example("traverse")).with_args(*request.param)


def test_traverse_adds_up_what_count_adds_up(traverse, tree, count):
    entries, size = counted(count(tree).ok())
    assert traverse(tree).ok().out == b"%d entries, %d bytes\n" % (entries, size)


def test_traverse_needs_few_descriptors_however_many_directories(traverse, scratch):
    for number in range(600):
        (scratch / str(number) / "inner").mkdir(parents=True)
    result = traverse(scratch, nofile=300).ok()
    assert result.out.startswith(b"1200 entries, ")


def test_traverse_goes_on_after_what_cannot_be_read(traverse, scratch):
    for name in ("closed", "open"):
        (scratch / name).mkdir()
        (scratch / name / "file").write_bytes(b"x" * 1000)
    (scratch / "closed").chmod(0o311)
    user = NOBODY if os.geteuid() == 0 else None
    result = traverse(scratch, uid=user)
    assert result.status == 1
    assert b"closed" in result.err and b"Permission denied" in result.err
    assert result.err.count(b"\n") == 1
    assert result.out.startswith(b"3 entries, ")


@pytest.fixture
def server(example, memory):
    """A server that lists a directory in memory."""
    with serving(example("axum_listing"), memory) as running:
        yield running


@pytest.mark.long
def test_the_server_lists_names_types_and_sizes(server: Server, memory: Path):
    (memory / "folder" / "inner").mkdir(parents=True)
    (memory / "folder" / "file").write_bytes(b"x" * 1234)
    (memory / "folder" / "link").symlink_to("file")
    (memory / "folder" / os.fsdecode(b'odd\n"\xff')).touch()
    found = {entry["name"]: entry for entry in server.listing("/list/folder")}
    assert found["file"] == {"name": "file", "type": "file", "size": 1234}
    assert found["link"] == {"name": "link", "type": "link", "size": 4}
    assert found["inner"]["type"] == "directory"
    assert found['odd\n"\ufffd']["bytes"] == list(b'odd\n"\xff')
    assert [entry["name"] for entry in server.listing("/list/")] == ["folder"]


@pytest.mark.long
def test_the_server_stays_below_its_directory(server: Server, memory: Path):
    (memory / "file").touch()
    (memory / "out").symlink_to("/")
    (memory / "self").symlink_to(".")
    for path, status in (
        ("/list/..", 400),
        ("/list/%2e%2e/", 400),
        ("/list/a/%2e%2e/%2e%2e/etc", 404),
        ("/list/%2fetc", 400),
        ("/list/a%00b", 400),
        ("/list/absent", 404),
        ("/list/file", 404),
        ("/list/out", 404),
        ("/list/out/etc", 404),
        ("/list/self", 404),
    ):
        found, body = server.get(path)
        assert found == status, (path, body)


@pytest.fixture
def huge(memory: Path) -> Path:
    """A directory with very many files."""
    folder = memory / "huge"
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    for number in range(HUGE):
        os.mknod(f"file-{number:07}-with-a-name-that-is-not-short", dir_fd=descriptor)
    os.close(descriptor)
    return folder


@pytest.mark.long
def test_the_server_answers_others_while_a_huge_listing_streams(server: Server, huge: Path):
    """One thread serves all clients. If the listing blocked it, no other answer would come."""
    lines = []
    reader = threading.Thread(target=lambda: lines.append(server.get("/list/huge")[1].count(b"\n")))
    began = time.monotonic()
    reader.start()
    took = []
    while reader.is_alive():
        start = time.monotonic()
        assert server.get("/") == (200, b"GET /list/PATH\n")
        took.append(time.monotonic() - start)
    whole = time.monotonic() - began
    reader.join()
    assert lines == [HUGE]
    assert len(took) > 20, "many answers while the listing was under way"
    # The listing takes a second or more in a debug build, a hundred buffers. Others wait for one.
    assert max(took) < whole / 4, (whole, sorted(took)[-5:])


@pytest.mark.long
def test_clients_that_do_not_read_take_no_memory_and_no_time(server: Server, huge: Path):
    server.get("/list/")
    before = server.peak()
    clients: list[socket.socket] = [server.stalled("/list/huge") for _ in range(20)]
    time.sleep(1)
    start = time.monotonic()
    server.get("/")
    assert time.monotonic() - start < 5
    # Each answer has ten megabytes.
    assert server.peak() - before < 20 * 1_000_000
    # The clients leave in the middle, which disturbs nothing.
    for client in clients:
        client.close()
    assert len(server.listing("/list/huge")) == HUGE
