"""How `make -C kernel/module` installs the module by DKMS, and undoes it: with a DKMS made here."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from support import ROOT
from support.run import run

MODULE = ROOT / "kernel/module"

# What of DKMS matters: a version that it has built it does not build again, and that is no error.
DKMS = r"""#!/bin/sh -e
case $1 in
  status)
    for build in "$DKMS_TREE"/*; do
      [ -e "$build" ] || continue
      version=${build##*/}
      case $version in
        1) echo "ringwalk, $version, 6.1.0-9-amd64, x86_64: installed" ;;
        2) echo "ringwalk/$version, 6.1.0-9-amd64, x86_64: installed" ;;
        *) echo "ringwalk/$version: added" ;;
      esac
    done ;;
  install)
    [ "$2" = --force ] && shift
    version=${2#ringwalk/}
    [ -e "$DKMS_TREE/$version" ] && { echo "Module $2 already installed"; exit 0; }
    grep -q "^PACKAGE_VERSION=\"$version\"" "$DESTDIR/usr/src/ringwalk-$version/dkms.conf"
    cp -R "$DESTDIR/usr/src/ringwalk-$version" "$DKMS_TREE/$version" ;;
  remove)
    [ "$3" = --all ]
    rm -r "$DKMS_TREE/${2#ringwalk/}" ;;
  *)
    exit 1 ;;
esac
"""


def declared(name: str) -> str:
    """A setting of dkms.conf."""
    found = re.search(rf'^{name}="(.*)"$', (MODULE / "dkms.conf").read_text(), re.M)
    assert found
    return found[1]


class Machine:
    """A machine with DKMS, and a copy of the module's sources."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.built = folder / "dkms"
        self.source = folder / "source/module"
        self.built.mkdir()
        shutil.copytree(MODULE, self.source, ignore=shutil.ignore_patterns("build"))
        programs = folder / "programs"
        programs.mkdir()
        (programs / "dkms").write_text(DKMS)
        (programs / "dkms").chmod(0o755)
        path = f"{programs}:/usr/bin:/bin"
        self.env = {"PATH": path, "DESTDIR": str(self.root), "DKMS_TREE": str(self.built)}

    def make(self, target: str) -> None:
        done = run(["make", "-C", self.source, target], env=self.env)
        assert done.status == 0, done

    def versions(self) -> list[str]:
        return sorted(each.name for each in self.built.iterdir())

    def files(self) -> set[str]:
        found = (each for each in self.root.rglob("*") if each.is_file())
        return {str(each.relative_to(self.root)) for each in found}


@pytest.fixture
def machine(scratch):
    return Machine(scratch)


def test_the_module_has_the_version_of_the_release():
    cargo = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)
    assert cargo
    assert declared("PACKAGE_VERSION") == cargo[1]


def test_dkms_takes_the_kernels_that_are_tested():
    kernels = re.compile(declared("BUILD_EXCLUSIVE_KERNEL"))
    for name in ("6.1.0-56-cloud-amd64", "6.12.117+deb12-amd64", "6.19", "7.0-rc1", "7.3.4"):
        assert kernels.match(name), name
    for name in ("5.15.0-1", "6.0.9", "6.100.1", "7.4.0-rc1", "7.30.1", "8.1.0", "16.1"):
        assert not kernels.match(name), name


def test_dkms_install_installs_an_update_of_the_same_version(machine):
    machine.make("dkms-install")
    main = machine.source / "main.c"
    main.write_text(main.read_text() + "/* a fix */\n")
    machine.make("dkms-install")
    (version,) = machine.versions()
    assert (machine.built / version / "main.c").read_text().endswith("/* a fix */\n")


def test_dkms_install_replaces_older_versions(machine):
    for old in ("1", "2", "0.0.9"):
        (machine.built / old).mkdir()
        (machine.root / f"usr/src/ringwalk-{old}").mkdir(parents=True)
    other = machine.root / "usr/src/ringwalk-of-others"
    other.mkdir()
    machine.make("dkms-install")
    version = declared("PACKAGE_VERSION")
    assert machine.versions() == [version]
    kept = sorted(each.name for each in (machine.root / "usr/src").iterdir())
    assert kept == [f"ringwalk-{version}", "ringwalk-of-others"]


def test_dkms_install_leaves_the_administrators_rule(machine):
    rule = machine.root / "etc/udev/rules.d/60-ringwalk.rules"
    rule.parent.mkdir(parents=True)
    rule.write_text("mine\n")
    machine.make("dkms-install")
    assert rule.read_text() == "mine\n"
    installed = {
        "usr/lib/udev/rules.d/60-ringwalk.rules": "60-ringwalk.rules",
        "usr/local/include/linux/ringwalk.h": "include/uapi/linux/ringwalk.h",
    }
    for there, here in installed.items():
        assert (machine.root / there).read_bytes() == (MODULE / here).read_bytes()
    machine.make("dkms-uninstall")
    assert machine.files() == {"etc/udev/rules.d/60-ringwalk.rules"}
    assert machine.versions() == []
