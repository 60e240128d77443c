"""`make install`: the files, their places, and their use there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support import ROOT
from support.run import environment, run

VERSION = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
SUBCOMMANDS = (
    *(
        "browse",
        "count",
        "diff",
        "doctor",
        "du",
        "dupes",
        "export",
        "find",
        "hash",
        "import",
        "report",
        "snapshot",
        "sql",
    ),
)
FUNCTIONS = (
    *("cancel", "close", "leftovers", "next_batch", "open", "path", "release", "run", "summary"),
    *("version", "visit_descriptor", "visit_prune", "visit_worker"),
)


@pytest.fixture(scope="module")
def assets(base):
    """Man pages and completions, newly generated."""
    subprocess.run(["make", "-s", "assets", f"ASSETS={base / 'assets'}"], cwd=ROOT, check=True)
    return base / "assets"


@pytest.fixture
def install(programs, assets, library):
    """Installs the debug build under test, so that no optimized build is needed."""
    chosen = (f"PROGRAM={programs / 'ringwalk'}", f"ASSETS={assets}", f"CAPI={library.folder}")

    def run_make(*variables: str) -> None:
        subprocess.run(["make", "-s", "install", *chosen, *variables], cwd=ROOT, check=True)

    return run_make


def installed(top: Path) -> set[str]:
    return {str(path.relative_to(top)) for path in top.rglob("*") if not path.is_dir()}


EXPECTED = {
    "bin/ringwalk",
    "share/bash-completion/completions/ringwalk",
    "share/fish/vendor_completions.d/ringwalk.fish",
    "share/zsh/site-functions/_ringwalk",
    "share/man/man1/ringwalk.1",
    "lib/ringwalk/ringwalk-snapshots",
    "lib/systemd/system/ringwalk-snapshots@.service",
    "lib/systemd/system/ringwalk-snapshots@.timer",
    "include/ringwalk.h",
    "lib/libringwalk.a",
    "lib/libringwalk.so",
    "lib/libringwalk.so.0",
    f"lib/libringwalk.so.{VERSION}",
    "lib/pkgconfig/ringwalk.pc",
    *(f"share/man/man1/ringwalk-{name}.1" for name in SUBCOMMANDS),
    "share/man/man3/ringwalk.3",
    *(f"share/man/man3/ringwalk_{name}.3" for name in FUNCTIONS),
}


def test_the_files_and_their_places(install, scratch):
    install(f"DESTDIR={scratch}", "PREFIX=/usr")
    assert installed(scratch / "usr") == EXPECTED
    assert installed(scratch) == {f"usr/{path}" for path in EXPECTED}
    for path in EXPECTED:
        file = scratch / "usr" / path
        # A function that shares its page with others has a file that only names the page.
        shares = "/man3/" in path and file.read_text().startswith(".so man3/ringwalk")
        assert shares or file.stat().st_size > 200, path
        program = path.startswith(("bin/", "lib/ringwalk/"))
        assert file.stat().st_mode & 0o777 == (0o755 if program else 0o644), path


def test_the_default_prefix(install, scratch):
    install(f"DESTDIR={scratch}")
    assert installed(scratch / "usr" / "local") == EXPECTED


def test_another_folder_for_libraries(install, scratch):
    top = scratch / "usr"
    install(f"PREFIX={top}", f"LIBDIR={top}/lib/machine")
    assert (top / "lib" / "machine" / "libringwalk.so").exists()
    config = (top / "lib" / "machine" / "pkgconfig" / "ringwalk.pc").read_text()
    assert "\nlibdir=${exec_prefix}/lib/machine\n" in config


def test_the_link_named_du_only_if_asked_for(install, scratch):
    install(f"PREFIX={scratch}", "DU_LINK=1")
    assert installed(scratch) == EXPECTED | {"bin/du"}
    assert os.readlink(scratch / "bin" / "du") == "ringwalk"
    (scratch / "data").mkdir()
    (scratch / "data" / "file").write_bytes(b"x" * 5000)
    ours = run([scratch / "bin" / "du", "-aB1", scratch / "data"]).ok()
    assert ours.out == run(["du", "-aB1", scratch / "data"]).out


def test_the_link_named_find_only_if_asked_for(install, scratch):
    install(f"PREFIX={scratch}", "FIND_LINK=1")
    assert installed(scratch) == EXPECTED | {"bin/find"}
    ours = run([scratch / "bin" / "find", scratch / "bin", "-name", "f*"]).ok()
    assert ours.out == f"{scratch}/bin/find\n".encode()


INSTALLED = """
#include <ringwalk.h>
#include <stdio.h>
int main(void) { puts(ringwalk_version()); return 0; }
"""


@pytest.mark.parametrize("link", ["shared", "archive", "static"])
def test_a_program_is_built_by_pkg_config(install, scratch, link):
    """`archive` takes the static library only, `static` takes no shared library at all."""
    install(f"PREFIX={scratch}")
    env = environment({"PKG_CONFIG_PATH": str(scratch / "lib" / "pkgconfig")})

    def config(*args: str) -> list[str]:
        reported = subprocess.run(
            ["pkg-config", *args, "ringwalk"], env=env, capture_output=True, text=True, check=True
        )
        return reported.stdout.split()

    assert config("--modversion") == [VERSION]
    (scratch / "version.c").write_text(INSTALLED)
    libs = config("--libs") if link == "shared" else config("--libs", "--static")
    if link == "archive":
        libs = [word.replace("-lringwalk", "-l:libringwalk.a") for word in libs]
    flags = ["-static"] if link == "static" else []
    words = ["cc", *flags, *config("--cflags"), "version.c", *libs, "-o", "version"]
    subprocess.run(words, cwd=scratch, check=True)
    where = {"LD_LIBRARY_PATH": str(scratch / "lib")} if link == "shared" else {}
    assert run([scratch / "version"], env=where).ok().out == f"{VERSION}\n".encode()


def test_every_long_option_is_in_its_man_page_and_in_the_completions(programs, assets):
    bash = (assets / "completions" / "ringwalk.bash").read_text()
    fish = (assets / "completions" / "ringwalk.fish").read_text()
    for name in set(SUBCOMMANDS) - {"find"}:
        page = (assets / "man" / f"ringwalk-{name}.1").read_text().replace("\\-", "-")
        usage = run([programs / "ringwalk", name, "--help"]).ok().out.decode()
        options = {word.rstrip(",") for word in usage.split() if word.startswith("--")}
        options = {option.split("[")[0].split("=")[0] for option in options} - {"--"}
        assert options > {"--help"}
        for option in options:
            assert option in page, (name, option)
            assert option in bash, (name, option)
            assert f"-l {option[2:]}" in fish, (name, option)


def test_every_word_of_find_is_in_its_man_page_and_in_the_completions(programs, assets):
    page = (assets / "man" / "ringwalk-find.1").read_text().replace("\\-", "-")
    usage = run([programs / "ringwalk", "find", "--help"]).ok().out.decode()
    words = {word.rstrip(",)") for word in usage.split() if re.match("--?[a-z]", word)}
    assert len(words) > 80
    for name in ("ringwalk.bash", "_ringwalk", "ringwalk.fish"):
        completion = (assets / "completions" / name).read_text()
        for word in words - {"-newerXY", "--help", "--version"}:
            assert word in page, word
            # Completions of fish contain the words without their dash.
            assert word in completion or f"-o {word[1:]}" in completion, (name, word)


def test_the_bash_completion_loads(assets):
    script = f". {assets / 'completions' / 'ringwalk.bash'} && complete -p ringwalk"
    assert b"ringwalk" in run(["bash", "-c", script]).ok().out


def test_man_pages_are_clean(assets, scratch):
    pages = list((assets / "man").iterdir())
    # A page that leads to another one names it by the folder of its section.
    for page in pages:
        folder = scratch / f"man{page.suffix[1:]}"
        folder.mkdir(exist_ok=True)
        shutil.copy(page, folder)
    for page in pages:
        done = subprocess.run(
            ["man", "--warnings=w", "-l", scratch / f"man{page.suffix[1:]}" / page.name],
            capture_output=True,
            cwd=scratch,
            env=environment({"MANWIDTH": "80", "MANPAGER": "cat", "PAGER": "cat"}),
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == b"", page
        assert b"SYNOPSIS" in done.stdout
        assert page.stem.encode() in done.stdout.partition(b"SYNOPSIS")[0]
