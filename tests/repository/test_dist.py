"""What `make dist`, `make dist-check` and `make package` refuse, and the lists of crates."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT
from support.run import NOBODY, Result, environment, run

SCRIPTS = ("dist", "dist-check", "package")


@pytest.fixture
def checkout(scratch):
    """A small checkout with the scripts in it, and everything committed."""
    (scratch / "scripts").mkdir()
    for name in SCRIPTS:
        shutil.copy(ROOT / "scripts" / name, scratch / "scripts")
    (scratch / "packaging" / "check").mkdir(parents=True)
    (scratch / "packaging" / "check" / "wheel.sh").write_text("")
    (scratch / ".gitignore").write_text("/target\n")
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "One"],
    ):
        subprocess.run(["git", "-C", scratch, *words], check=True)
    return scratch


def script(checkout: Path, name: str, *args: str, env: dict | None = None, **more) -> Result:
    return run([checkout / "scripts" / name, *args], env=env or {}, **more)


def refusal(done: Result) -> str:
    assert done.status != 0
    assert not done.out, done
    return done.err.decode()


def only(folder: Path, *programs: str) -> dict[str, str]:
    """An environment in which nothing but these programs can be found."""
    folder.mkdir()
    for program in programs:
        (folder / program).symlink_to(shutil.which(program))
    return {"PATH": str(folder)}


def test_dist_refuses_what_is_not_committed(checkout):
    (checkout / "new").write_text("x")
    with (checkout / ".gitignore").open("a") as ignored:
        ignored.write("/other\n")
    said = refusal(script(checkout, "dist"))
    assert " M .gitignore" in said and "?? new" in said
    assert "not committed" in said and "git stash" in said
    assert not (checkout / "target").exists()


def test_dist_refuses_a_folder_that_is_no_checkout(checkout):
    shutil.rmtree(checkout / ".git")
    said = refusal(script(checkout, "dist", env={"GIT_CEILING_DIRECTORIES": str(checkout.parent)}))
    assert "not a git checkout" in said and "clone" in said


def test_dist_names_the_tools_that_are_missing(checkout):
    env = only(checkout / "target", "env", "bash", "dirname", "git", "make")
    said = refusal(script(checkout, "dist", env=env))
    first = said.splitlines()[0]
    for tool in ("cargo-about", "maturin", "dpkg-buildpackage"):
        assert f" {tool}" in first
    assert " make" not in first
    assert "scripts/setup --dist" in said


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_unknown_argument_is_refused(checkout, name):
    said = refusal(script(checkout, name, "--what"))
    assert said.startswith(f"scripts/{name}: unknown argument '--what': expected ")


def built(checkout: Path) -> Path:
    """A file that looks as if `make dist` had built it."""
    folder = checkout / "target" / "artefacts"
    folder.mkdir(parents=True)
    (folder / "artefact").write_text("x")
    sums = subprocess.run(["sha256sum", "artefact"], cwd=folder, capture_output=True, check=True)
    (folder / "SHA256SUMS").write_bytes(sums.stdout)
    return folder / "artefact"


def test_dist_check_refuses_a_check_that_it_does_not_have(checkout):
    said = refusal(script(checkout, "dist-check", env={"CHECKS": "wheel whell"}))
    assert "CHECKS names 'whell': expected names out of: lintian wheel" in said


def test_dist_check_refuses_to_check_on_no_release(checkout):
    said = refusal(script(checkout, "dist-check", env={"RELEASES": " "}))
    assert "RELEASES names no release of Debian: expected one, such as bookworm" in said


def test_dist_check_refuses_without_anything_to_check(checkout):
    assert "run make dist first" in refusal(script(checkout, "dist-check"))


def test_dist_check_refuses_what_was_changed(checkout):
    built(checkout).write_text("y")
    assert "run make dist again" in refusal(script(checkout, "dist-check"))


def test_dist_check_says_that_it_needs_root(checkout):
    built(checkout)
    if os.geteuid() == 0:
        checkout.chmod(0o755)
        done = script(checkout, "dist-check", uid=NOBODY)
    else:
        done = script(checkout, "dist-check")
    said = refusal(done)
    assert "need root" in said and "sudo" in said


def test_the_list_of_crates_has_those_of_the_platform_only():
    pytest.importorskip("tomllib")
    words = [sys.executable, ROOT / "packaging" / "sbom.py", "ringwalk-cli", "c0ffee", "0"]
    done = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    document = json.loads(done.stdout)
    assert document["creationInfo"]["created"] == "1970-01-01T00:00:00Z"
    assert document["documentNamespace"].endswith("/ringwalk-cli-c0ffee")
    packages = {each["SPDXID"]: each for each in document["packages"]}
    assert len(packages) == len(document["packages"]) > 40
    assert all(re.fullmatch("SPDXRef-[A-Za-z0-9.-]+", each) for each in packages)
    names = {each["name"] for each in packages.values()}
    assert {"ringwalk-cli", "ringwalk-sys", "rustix", "linux-raw-sys"} <= names
    # Of Windows, the web and macOS; and of the build only.
    other = "windows|winapi|wasm|wasip|js-sys|core-foundation|android"
    assert not [name for name in names if re.match(other, name)]
    assert not names & {"cc", "proc-macro2", "serde_derive", "xtask", "tempfile"}
    (rustix,) = [each for each in packages.values() if each["name"] == "rustix"]
    assert "MIT" in rustix["licenseDeclared"]
    assert len(rustix["checksums"][0]["checksumValue"]) == 64
    related = {each["relatedSpdxElement"] for each in document["relationships"]}
    assert related == set(packages)


MANIFEST = """
[package]
name = "sample"
version = "0.1.0"
edition = "2021"
description = "x"
license = "MIT"
repository = "https://example.org/sample"
readme = "README.md"
categories = ["filesystem"]
"""


def sample(checkout: Path, more: str) -> Path:
    (checkout / "Cargo.toml").write_text(MANIFEST + more)
    (checkout / "src").mkdir()
    (checkout / "src" / "lib.rs").write_text("")
    for name in ("README.md", "LICENSE-MIT", "LICENSE-APACHE"):
        (checkout / name).write_text("x")
    words = ["cargo", "generate-lockfile", "--offline"]
    subprocess.run(words, cwd=checkout, env=environment({}), check=True, capture_output=True)
    return checkout


def pack(checkout: Path) -> Result:
    target = str(checkout / "target")
    variables = {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": target}
    return script(checkout, "package", "--no-verify", env=variables)


def test_package_refuses_a_manifest_without_keywords(checkout):
    said = refusal(pack(sample(checkout, "")))
    assert "scripts/package: Cargo.toml: no keywords: add `keywords.workspace = true`" in said


def test_package_refuses_a_crate_without_its_licences(checkout):
    sample(checkout, 'keywords = ["x"]\nexclude = ["LICENSE-APACHE"]\n')
    done = pack(checkout)
    assert done.status == 1
    assert b"scripts/package: sample-0.1.0.crate: no LICENSE-APACHE: link it" in done.err
    assert b"LICENSE-MIT:" not in done.err


def test_package_refuses_a_link_to_a_licence_that_is_a_file(checkout):
    (checkout / "Cargo.toml").write_text('[workspace]\nmembers = ["one"]\nresolver = "2"\n')
    (checkout / "one").mkdir()
    sample(checkout / "one", 'keywords = ["x"]\n')
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        (checkout / name).write_text("x")
    (checkout / "one" / "LICENSE-MIT").write_text("../LICENSE-MIT")
    done = pack(checkout)
    assert done.status == 1
    assert b"sample-0.1.0.crate: LICENSE-MIT is not the text of the repository" in done.err
    assert b"LICENSE-APACHE" not in done.err


def test_package_refuses_what_cargo_cannot_package(checkout):
    sample(checkout, 'keywords = ["x"]\n')
    (checkout / "README.md").unlink()
    done = pack(checkout)
    assert done.status == 1 and b"cargo cannot package" in done.err


def test_package_packs_a_crate_that_has_all(checkout):
    assert pack(sample(checkout, 'keywords = ["x"]\n')).status == 0
    assert (checkout / "target" / "package" / "sample-0.1.0.crate").exists()
