"""`doctor`: the report of the program, as a dict."""

import os

import pytest
import ringwalk


def test_the_report(tmp_path):
    report = ringwalk.doctor(tmp_path)
    assert report["version"] == ringwalk.__version__
    assert report["kernel"]["release"] == os.uname().release
    assert report["user"]["uid"] == os.geteuid()
    assert report["directory"]["path"] == os.fspath(tmp_path)
    names = [source["name"] for source in report["sources"]]
    assert names == ["syscall", "module", "ring", "ext4", "xfs", "btrfs"]
    assert report["sources"][0]["usable"]
    assert sum(source["chosen_by_auto"] for source in report["sources"]) == 1
    assert report["limits"]["cpus"] == len(os.sched_getaffinity(0))


def test_here_unless_said_otherwise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ringwalk.doctor()["directory"]["path"] == "."


@pytest.mark.parametrize("convert", [os.fspath, os.fsencode])
def test_what_is_no_directory(tmp_path, convert):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as raised:
        ringwalk.doctor(convert(tmp_path / "file"))
    assert raised.value.filename == convert(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        ringwalk.doctor(tmp_path / "missing")
