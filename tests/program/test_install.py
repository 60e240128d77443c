"""`make install`: the files, their places, and their use there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support import ROOT
from support.run import Result, environment, needs_program, run

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
def assets(base, example):
    """Man pages and completions, newly generated."""
    run([example("xtask"), "assets", base / "assets"], cwd=ROOT).ok()
    return base / "assets"


class Make:
    """Runs make with the debug build under test, so that no optimized build is needed.

    Debug information stays, unless a test sets STRIP: removing so much takes seconds. `ldconfig` is
    replaced, so that tests do not change the machine: each call adds a line to `calls`, and the
    cache has what `cache` says.
    """

    def __init__(self, chosen: tuple[str, ...], folder: Path):
        self.chosen = chosen
        self.calls = folder / "calls"
        self.cache = folder / "cache"
        self.calls.touch()
        self.cache.write_text("\tlibringwalk.so.0 (libc6,x86-64) => /usr/local/lib/x\n")
        program = folder / "ldconfig"
        program.write_text(
            f'#!/bin/sh\n[ "$*" != -p ] || exec cat {self.cache}\n'
            f'echo "ldconfig $*" >>{self.calls}\n'
        )
        program.chmod(0o755)
        self.env = {"PATH": f"{folder}:{os.environ['PATH']}"}

    def __call__(self, target: str, *variables: str, **more) -> Result:
        words = ["make", "-s", "--no-print-directory", "-C", ROOT, target]
        return run([*words, *self.chosen, *variables], env=self.env, **more)


@pytest.fixture
def make(programs, assets, library, tmp_path):
    """Runs a target of the Makefile."""
    program = f"PROGRAM={programs / 'ringwalk'}"
    chosen = (program, f"ASSETS={assets}", f"CAPI={library.folder}", "STRIP=true")
    return Make(chosen, tmp_path)


@pytest.fixture
def install(make):
    """Runs `make install`, and returns what it has printed."""

    def install(*variables: str) -> str:
        return make("install", *variables).ok().out.decode()

    return install


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
    *(f"share/doc/ringwalk/{path.name}" for path in (ROOT / "docs").glob("*.*")),
    "share/doc/ringwalk/systemd.md",
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


def test_no_debug_information_is_installed(install, scratch):
    install(f"PREFIX={scratch}", "STRIP=strip")
    for name in ("bin/ringwalk", "lib/libringwalk.a", f"lib/libringwalk.so.{VERSION}"):
        listed = run(["readelf", "--wide", "--section-headers", scratch / name]).ok().out
        assert b".text" in listed and b".debug_info" not in listed, name


def test_uninstall_leaves_nothing(make, scratch):
    make("install", f"DESTDIR={scratch}", "DU_LINK=1", "FIND_LINK=1").ok()
    other = scratch / "usr/local/share/man/man1/other.1"
    other.write_text("x")
    make("uninstall", f"DESTDIR={scratch}").ok()
    assert installed(scratch) == {str(other.relative_to(scratch))}
    left = {path.name for path in scratch.rglob("*")}
    assert not [name for name in left if "ringwalk" in name]
    # Nothing is left to remove.
    make("uninstall", f"DESTDIR={scratch}").ok()


def test_uninstall_leaves_what_others_have_put_there(make, scratch):
    make("install", f"PREFIX={scratch}").ok()
    others = {"lib/ringwalk/other", "share/doc/ringwalk/other.md", "include/other.h"}
    for path in others:
        (scratch / path).write_text("x")
    make("uninstall", f"PREFIX={scratch}").ok()
    assert installed(scratch) == others


@pytest.mark.parametrize("place", ["/a,b", "/a&b", "/a;b", "/a'b", "/a*", "/a\\b", '/"a"'])
def test_a_place_that_the_shell_would_take_apart_is_refused(make, scratch, place):
    for target in ("install", "uninstall"):
        for words in ([f"PREFIX={scratch}{place}"], [f"DESTDIR={scratch}{place}"]):
            done = make(target, *words)
            assert (
                done.status == 2 and b"may have the characters A-Za-z0-9_./+~@:- only" in done.err
            )
    assert not list(scratch.iterdir())


def test_uninstall_leaves_programs_named_du_and_find(make, scratch):
    make("install", f"PREFIX={scratch}").ok()
    (scratch / "bin/du").write_text("x")
    (scratch / "bin/find").symlink_to("other")
    make("uninstall", f"PREFIX={scratch}").ok()
    assert installed(scratch) == {"bin/du", "bin/find"}


@pytest.mark.parametrize("target", ["install", "uninstall"])
@pytest.mark.parametrize(
    "variable, said",
    [
        ("PREFIX=/a b", "PREFIX must be an absolute path without spaces, and is '/a b'"),
        ("PREFIX=usr", "PREFIX must be an absolute path without spaces, and is 'usr'"),
        ("LIBDIR=", "LIBDIR must be an absolute path without spaces, and is ''"),
        ("DESTDIR=/a /b", "DESTDIR must be a path without spaces, and is '/a /b'"),
        ("DU_LINK=yes", "DU_LINK must be 1 for the link, or 0, and is 'yes'"),
        ("FIND_LINK=2", "FIND_LINK must be 1 for the link, or 0, and is '2'"),
    ],
)
def test_a_value_that_make_cannot_use_is_refused(make, target, variable, said):
    done = make(target, variable)
    assert done.status != 0 and not done.out and said in done.err.decode()


def test_the_dynamic_linker_learns_of_the_library(make, needs_root, scratch):
    for target in ("install", "uninstall"):
        make.calls.write_text("")
        make(target, f"PREFIX={scratch}").ok()
        assert make.calls.read_text() == "ldconfig \n"
        make(target, f"DESTDIR={scratch}/to").ok()
        assert make.calls.read_text() == "ldconfig \n"


def test_install_says_that_the_dynamic_linker_does_not_know_the_library(make, scratch):
    words = ("install", f"PREFIX={scratch}", f"LIBDIR={scratch}/x")
    known = "\tlibringwalk.so.0 (libc6,x86-64) => {}/libringwalk.so.0\n"
    make.cache.write_text(known.format(scratch / "x"))
    assert make(*words).ok().out == b""
    # Programs would load an older library from another place.
    make.cache.write_text(known.format("/usr/lib"))
    said = make(*words).ok().out.decode()
    assert f"does not know {scratch}/x/libringwalk.so.0 yet: run ldconfig" in said
    assert "/etc/ld.so.conf.d" in said and f"LD_LIBRARY_PATH={scratch}/x" in said
    # A packager's folder is not the place in which the library will be.
    assert make("install", f"DESTDIR={scratch}/to").ok().out == b""


def test_installed_documentation_is_named_and_linked_rightly(install, scratch):
    top = scratch / "with-hyphen"
    install(f"PREFIX={top}")
    folder = top / "share/doc/ringwalk"
    named = set()
    for page in (top / "share/man").rglob("*.[13]"):
        text = page.read_text()
        assert "docs/" not in text and "with-hyphen" not in text, page
        text = text.replace("\\-", "-").replace("\\&", "")
        named |= set(re.findall(r"/[\w./-]*/ringwalk/[\w-]+\.md", text))
    assert named and all(Path(name).parent == folder for name in named)
    for page in folder.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if not target.startswith("https://"):
                named.add(str(page.parent / target))
    assert [name for name in named if not Path(name).is_file()] == []


def test_doctor_names_the_installed_page(install, scratch):
    install(f"PREFIX={scratch}")
    report = run([scratch / "bin/ringwalk", "doctor", "--format=json", scratch]).ok().out.decode()
    # The kernel has our patches, or the remedy is on this page.
    has_ring = '"name":"ring","usable":true' in report.replace(" ", "")
    assert has_ring or f"see {scratch}/share/doc/ringwalk/kernel.md" in report


PACKAGES = ("ringwalk", "libringwalk0", "libringwalk-dev")


def test_each_installed_file_belongs_to_one_debian_package(install, scratch):
    """debhelper refuses a file of no package, and a list whose files are not there."""
    install(f"DESTDIR={scratch}", "PREFIX=/usr", "LIBDIR=/usr/lib/machine-linux-gnu")
    owners = {path: [] for path in installed(scratch)}
    assert {path.stem for path in (ROOT / "packaging/debian").glob("*.install")} == set(PACKAGES)
    for package in PACKAGES:
        lines = (ROOT / f"packaging/debian/{package}.install").read_text().splitlines()
        for pattern in (line.split()[0] for line in lines):
            found = list(scratch.glob(pattern))
            assert found, f"{package}.install: {pattern} is not installed"
            for top in found:
                files = installed(top) if top.is_dir() else {""}
                for file in files:
                    owners[str((top / file).relative_to(scratch))].append(package)
    assert {path: names for path, names in owners.items() if len(names) != 1} == {}


def test_the_description_of_the_package_names_every_command(ringwalk):
    control = (ROOT / "packaging/debian/control").read_text()
    (description,) = re.findall(r"^Package: ringwalk\n.*?\n\n", control, re.S | re.M)
    usage = ringwalk("--help").ok().out.decode()
    commands = re.findall(r"^  ([a-z]+) +\S", usage.partition("\nOptions")[0], re.M)
    assert set(commands) - {"help"} == set(SUBCOMMANDS)
    words = set(re.findall(r"[a-z]+", description))
    assert [name for name in SUBCOMMANDS if name not in words] == []


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


@pytest.fixture(scope="module")
def pages(assets, base):
    """The man pages in folders of their sections: a page that leads to another one names them."""
    folder = base / "pages"
    for page in (assets / "man").iterdir():
        (folder / f"man{page.suffix[1:]}").mkdir(parents=True, exist_ok=True)
        shutil.copy(page, folder / f"man{page.suffix[1:]}")
    return folder


def test_man_pages_are_clean(pages):
    for page in pages.glob("*/*"):
        done = subprocess.run(
            ["man", "--warnings=w", "-l", page],
            capture_output=True,
            cwd=pages,
            env=environment({"MANWIDTH": "80", "MANPAGER": "cat", "PAGER": "cat"}),
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == b"", page
        assert b"SYNOPSIS" in done.stdout
        assert page.stem.encode() in done.stdout.partition(b"SYNOPSIS")[0]


def test_mandoc_warns_of_nothing(pages):
    needs_program("mandoc")
    names = sorted(page.relative_to(pages) for page in pages.glob("*/*"))
    done = run(["mandoc", "-Tlint", "-Wwarning", *names], cwd=pages)
    # The pages of functions that share a page with others.
    lines = [line for line in done.lines() if b".so is fragile" not in line]
    assert lines == [] and done.err == b"", b"\n".join(lines)
