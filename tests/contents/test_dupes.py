"""`ringwalk dupes`: groups of equal files, against a comparison of all files by Python."""

from __future__ import annotations

import json
import os
import random
import shutil

import pytest
from support import mounts, strace
from support.copies import expected, first_names, found, names_of, path_of, paths
from support.run import NOBODY, needs_program, run

KIB, MIB = 1 << 10, 1 << 20

# Sizes at which the way of reading changes, and sizes around them.
SIZES = (0, 1, 2, 100, 4095, 4096, 4097, 8191, 8192, 8193, 256 * KIB - 1, 256 * KIB)
SIZES += (256 * KIB + 1, MIB - 1, MIB, MIB + 1, 4 * MIB, 4 * MIB + 1, 5 * MIB)


def fill(top, seed, count=150):
    """Makes files of few sizes, which differ in a byte, are equal, or are hard links."""
    rng = random.Random(seed)
    folders, files = [top], []
    top.mkdir(parents=True)
    for number in range(count):
        name = f"{number}" + rng.choice(("", "\n", " ", "\\", "\udcff", "é"))
        path = rng.choice(folders) / name
        kind = rng.randrange(10)
        if kind == 0:
            path.mkdir()
            folders.append(path)
        elif kind == 1 and files:
            os.link(rng.choice(files), path)
        elif kind == 2 and files:
            path.symlink_to(rng.choice(files))
        else:
            size = rng.choice(SIZES)
            with open(path, "wb") as file:
                if rng.randrange(4):
                    file.write(b"x" * size)
                else:
                    file.truncate(size)
                if size and not rng.randrange(2):
                    # The first byte, one in the middle, or the last one.
                    file.seek(rng.choice((0, size // 2, size - 1)))
                    file.write(b"y")
            files.append(path)
    return top


@pytest.mark.parametrize("seed", range(3))
def test_random_trees(dupes, scratch, seed):
    top = fill(scratch / "top", seed)
    groups = expected(top)
    assert len(groups) > 5
    for words in ((), ("--workers", 1), ("--workers", 9)):
        assert found(dupes("--format=json", *words, top).ok()) == groups
    least = 100 * KIB
    big = found(dupes("--format=json", "--min=100K", top).ok())
    assert big == expected(top, least=least) and big < groups


@pytest.mark.parametrize("kind", mounts.KINDS)
def test_every_file_system(dupes, mount, scratch, kind):
    point = mount(mounts.filesystem, kind, scratch)
    top = fill(point / "top", 7, 80)
    assert found(dupes("--format=json", top).ok()) == expected(top)


@pytest.mark.parametrize("source", ("syscall", "ext4", "xfs", "btrfs", "ring"))
def test_every_source(dupes, mount, scratch, source):
    kind = source if source in mounts.IMAGE_SIZES else "ext4"
    point = mount(mounts.filesystem, kind, scratch)
    top = fill(point / "top", 8, 80)
    result = dupes("--format=json", "--sync", "--source", source, top)
    if result.status == 2:
        pytest.skip(result.err.decode())
    assert found(result.ok()) == expected(top)


# Without -n, fdupes shows empty files too.
@pytest.mark.parametrize("program", (["fdupes", "-n"], ["jdupes"]))
def test_groups_are_those_of_other_programs(dupes, scratch, program):
    needs_program(program[0])
    top = scratch / "top"
    top.mkdir()
    rng = random.Random(5)
    for number in range(120):
        (top / f"file {number}").write_bytes(bytes([rng.randrange(3)]) * rng.choice(SIZES))
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "-odd\\name").write_bytes(b"\0")

    def sets(out):
        return {frozenset(group.split(b"\n")) for group in out.strip(b"\n").split(b"\n\n")}

    theirs = run([*program, "-r", "-q", top])
    assert theirs.status == 0
    ours = dupes("--format=fdupes", top).ok()
    assert sets(ours.out) == sets(theirs.out)
    assert len(sets(ours.out)) > 10


def test_a_difference_in_one_byte(dupes, scratch):
    """At the places where parts of files begin and end."""
    top = scratch / "top"
    top.mkdir()
    size = 21 * MIB
    places = (0, 4095, 4096, MIB - 1, MIB, 4 * MIB - 1, 4 * MIB, 16 * MIB - 1, 16 * MIB)
    places += (size - 4097, size - 4096, size - 1)
    for place in places:
        with open(top / f"{place}", "wb") as file:
            file.truncate(size)
            file.seek(place)
            file.write(b"1")
    assert found(dupes("--format=json", top).ok()) == set()
    shutil.copy(top / f"{places[5]}", top / "copy")
    group = {frozenset(map(os.fsencode, (top / f"{places[5]}", top / "copy")))}
    assert first_names(found(dupes("--format=json", top).ok())) == group


def test_unlike_files_are_not_read_to_the_end(dupes, scratch):
    top = scratch / "top"
    top.mkdir()
    for name in ("one", "two"):
        (top / name).write_bytes(name.encode() * (2 * MIB))
    (top / "alone").write_bytes(b"x" * (MIB + 5))
    read, result = strace.bytes_read(scratch, [*dupes.first, top], top)
    assert result.ok().lines()[-1].startswith(b"0 groups")
    assert read == {"one": 8192, "two": 8192}


def test_hard_links_are_one_copy(dupes, scratch):
    top = scratch / "top"
    top.mkdir()
    (top / "one").write_bytes(b"x" * 1000)
    os.link(top / "one", top / "link")
    os.link(top / "one", scratch / "outside")
    assert dupes(top).ok().lines()[-1].startswith(b"0 groups")
    (top / "two").write_bytes(b"x" * 1000)
    os.link(top / "two", top / "second link")
    result = dupes("--format=json", top).ok()
    (group,) = json.loads(result.out)["groups"]
    first, second = group["files"]
    assert names_of(first) == [os.fsencode(top / name) for name in ("link", "one")]
    assert names_of(second) == [os.fsencode(top / name) for name in ("second link", "two")]
    assert (first["nlink"], second["nlink"]) == (3, 2)
    assert group["freeable"] == 1000
    # A name elsewhere keeps the blocks of the second one.
    os.link(top / "two", scratch / "also outside")
    (group,) = json.loads(dupes("--format=json", top).ok().out)["groups"]
    assert group["freeable"] == 0


def test_a_tree_given_twice(dupes, scratch):
    top = fill(scratch / "top", 4, 60)
    once = found(dupes("--format=json", top).ok())
    (scratch / "link").symlink_to("top")
    inner = next(path for path in top.iterdir() if path.is_dir())
    for roots in ((top, top), (top, f"{top}/"), (top, inner), (inner, top)):
        assert found(dupes("--format=json", *roots).ok()) == once, roots
    result = dupes("--format=json", scratch / "link", top).ok()
    assert len(found(result)) == len(once)
    assert json.loads(result.out)["summary"]["files"] == sum(len(group) - 1 for group in once)


def test_bind_mounts_show_the_same_files(dupes, scratch, mount):
    top = scratch / "top"
    (top / "folder").mkdir(parents=True)
    (top / "folder" / "file").write_bytes(b"x" * 5000)
    (top / "mounted").mkdir()
    mount(mounts.bind, top / "folder", top / "mounted")
    for words in ((top,), (top, "-x"), (top / "folder", top / "mounted")):
        assert dupes(*words).ok().lines()[-1].startswith(b"0 groups"), words
    (top / "copy").write_bytes(b"x" * 5000)
    ((first, second),) = [list(group) for group in found(dupes("--format=json", top).ok())]
    # The two paths of the file are one entry of one directory: it has one name.
    assert len(first) == len(second) == 1
    # Nothing is deleted that is the kept file under another path.
    state = {"XDG_STATE_HOME": str(scratch / "state")}
    assert dupes("--do=delete", top, env=state).status == 0
    assert (top / "folder" / "file").exists() != (top / "copy").exists()


def test_one_file_system(dupes, scratch, mount):
    top = scratch / "top"
    top.mkdir()
    (top / "file").write_bytes(b"x")
    point = mount(mounts.tmpfs, top)
    (point / "file").write_bytes(b"x")
    assert len(found(dupes("--format=json", top).ok())) == 1
    assert not found(dupes("-x", "--format=json", top).ok())
    assert len(found(dupes("-x", "--format=json", top, point).ok())) == 1


def test_sparse_and_empty_files(dupes, scratch):
    top = scratch / "top"
    top.mkdir()
    for name in ("empty", "also empty"):
        (top / name).touch()
    (top / "dense").write_bytes(bytes(3 * MIB))
    for name, size in (("sparse", 3 * MIB), ("huge", 1 << 31), ("also huge", 1 << 31)):
        with open(top / name, "wb") as file:
            file.truncate(size)
    groups = {frozenset({"dense", "sparse"}), frozenset({"huge", "also huge"})}
    # Holes are not read.
    read, result = strace.bytes_read(scratch, [*dupes.first, "--format=json", top], top)
    assert first_names(found(result.ok())) == paths(top, groups)
    # A read behind the end gives nothing.
    assert not read.get("huge") and not read.get("sparse") and read["dense"] <= 3 * MIB + 8192


def test_the_copy_to_keep(dupes, scratch):
    """A reference comes first, then the oldest one, then the first path."""
    top, reference = scratch / "top", scratch / "reference"
    for folder in (top, reference):
        folder.mkdir()
    for seconds, path in enumerate((top / "c", top / "b", top / "a", reference / "r")):
        path.write_bytes(b"same")
        os.utime(path, (1000 + seconds, 1000 + seconds))

    def order(*words):
        (group,) = json.loads(dupes("--format=json", *words).ok().out)["groups"]
        assert [file["keep"] for file in group["files"]] == [True, *[False] * 3]
        return [os.path.basename(path_of(file)).decode() for file in group["files"]]

    assert order(top, reference) == ["c", "b", "a", "r"]
    assert order(top, "--keep-in", reference) == ["r", "c", "b", "a"]
    for path in top.iterdir():
        os.utime(path, (500, 500))
    assert order(top, reference) == ["a", "b", "c", "r"]


def test_only_groups_with_a_reference(dupes, scratch):
    top, reference = scratch / "top", scratch / "reference"
    for folder in (top, reference):
        folder.mkdir()
    for name in ("both", "only"):
        (top / name).write_text(name)
    (top / "only twice").write_text("only")
    (reference / "both").write_text("both")
    result = dupes("--format=json", top, "--keep-in", reference).ok()
    group = {frozenset(map(os.fsencode, (top / "both", reference / "both")))}
    assert first_names(found(result)) == group
    files = json.loads(result.out)["groups"][0]["files"]
    assert [file["reference"] for file in files] == [True, False]
    # A reference that is searched as a part of a root.
    result = dupes("--format=json", scratch, "--keep-in", reference).ok()
    assert first_names(found(result)) == group


def test_many_equal_files(dupes, memory):
    count = 20_000
    for number in range(count):
        (memory / f"{number}").write_bytes(b"the same")
    (memory / "another").write_bytes(b"differs!")
    result = dupes("--format=json", memory, cpu=120).ok()
    (group,) = json.loads(result.out)["groups"]
    assert len(group["files"]) == count and group["freeable"] == 8 * (count - 1)
    assert dupes("--dirs=50%", memory, cpu=120).ok().lines()[-1].startswith(b"1 group ")


def test_directories_that_may_not_be_read(dupes, scratch, needs_root):
    top = scratch / "top"
    for name in ("open", "closed"):
        (top / name).mkdir(parents=True)
        for copy in ("one", "two"):
            (top / name / copy).write_text(name)
    (top / "closed").chmod(0)
    result = dupes("--format=json", top, uid=NOBODY)
    assert result.status == 1
    assert b"closed': Permission denied" in result.err
    group = {frozenset({"open/one", "open/two"})}
    assert first_names(found(result)) == paths(top, group)


def test_kernel_file_systems_are_left_out(dupes, scratch, mount):
    top = scratch / "top"
    top.mkdir()
    (top / "file").write_bytes(b"x")
    mount(mounts.mounted, top / "proc", "-t", "proc", "proc")
    assert dupes(top).ok().lines()[-1].startswith(b"0 groups")


@pytest.mark.parametrize("elsewhere", (0, 1))
def test_many_hard_links(dupes, scratch, elsewhere):
    """A file with a name that was not found frees nothing, however many names it has."""
    top = scratch / "top"
    top.mkdir()
    for name in ("old", "new"):
        (top / name).write_bytes(b"same")
    os.utime(top / "old", (1000, 1000))
    for number in range(299):
        os.link(top / "new", top / f"link-{number:03}")
    for number in range(elsewhere):
        os.link(top / "new", scratch / f"elsewhere-{number}")
    (group,) = json.loads(dupes("--format=json", top).ok().out)["groups"]
    assert [file["nlink"] for file in group["files"]] == [1, 300 + elsewhere]
    assert len(group["files"][1]["links"]) == 299
    assert group["freeable"] == (0 if elsewhere else 4)


def test_no_io_uring(dupes, scratch):
    top = fill(scratch / "top", 12, 60)
    for errno in ("ENOSYS", "EPERM"):
        words = strace.injecting(scratch, "io_uring_setup", f"error={errno}")
        assert found(run([*words, *dupes.first, "--format=json", top]).ok()) == expected(top)


def test_wrong_command_lines(dupes, scratch):
    (scratch / "file").write_text("no snapshot")
    wrong = [
        [],
        ["missing"],
        ["file"],
        ["--dirs=0%", "."],
        ["--dirs=101%", "."],
        ["--dirs=x", "."],
        ["--dirs", "--format=csv", "."],
        ["--min=x", "."],
        ["--format=xml", "."],
        ["--do=eat", "."],
        ["--dry-run", "."],
        ["--keep-in=missing", "."],
        ["--keep-in=file", "."],
        ["--output=missing/file", "."],
        ["--cache=missing/file", "."],
        ["--cache=file", "."],
    ]
    for words in wrong:
        result = dupes(*words, cwd=scratch)
        assert result.status == 2 and result.err and not result.out, result
    assert (scratch / "file").read_text() == "no snapshot"


def test_roots_that_are_no_files(dupes, scratch):
    """No program writes to the pipe, so to open it would wait."""
    os.mkfifo(scratch / "pipe")
    for root in ("pipe", "/dev/null"):
        result = dupes(root, cwd=scratch)
        assert result.status == 1
        assert (
            result.err.decode() == f"ringwalk: '{root}': neither a directory nor a regular file\n"
        )


@pytest.mark.smoke
def test_the_text(dupes, scratch):
    top = scratch / "top"
    top.mkdir()
    for name in ("a", "b"):
        (top / name).write_bytes(b"x" * 3000)
        os.utime(top / name, (1000, 1000))
    os.link(top / "b", top / "c")
    assert dupes(".", cwd=top).ok().out.decode() == (
        "2 copies of 3.0K, 3.0K to free\n"
        "  ./a\n"
        "  ./b\n"
        "  ./c  (a hard link of the one above)\n"
        "\n"
        "1 group of equal files, 1 copy too many, 3.0K to free\n"
    )
    assert "2 copies of 3.0k, 3.0k to free\n" in dupes("--si", ".", cwd=top).ok().out.decode()
    assert "2 copies of 3000, 3000 to free\n" in dupes("--bytes", ".", cwd=top).ok().out.decode()
    result = dupes("--si", "--format=fdupes", ".", cwd=top)
    assert result.status == 2 and b"--si has no effect with --format fdupes" in result.err
