"""du --time and --time-style against GNU du."""

from __future__ import annotations

import os

import pytest
from support import trees, zoo
from support.gnu import assert_same

KINDS = ("--time", "--time=atime", "--time=access", "--time=use", "--time=ctime", "--time=status")
KINDS += ("--time=a", "--time=s", "--time=acc")
STYLES = ("full-iso", "long-iso", "iso", "full", "long", "+%s", "+%Y-%m-%d", "+%H:%M:%S.%N %z")
STYLES += ("+%a %b %e %j %U %y", "+", "+%%", "+%F %T", "+%c", "+%x|%X|%p|%D", "+%-d %_d %3N %9N")
STYLES += ("posix-iso", "posix-long-iso", "locale", "+%s.%N")

# Before 1970, 0, the end of 32 bits, a leap day, changes of the clock in Europe, the far future.
MOMENTS = (-86_400 * 365 * 20, -1, 0, 2**31 - 1, 2**31, 951_782_400, 1_711_846_799, 1_711_846_800)
MOMENTS += (1_729_990_800, 4_102_444_800)


@pytest.fixture(scope="module")
def dated(base):
    """Directories whose newest entry is at various depths and whose own time is older."""
    top = base / "dated"
    for number, seconds in enumerate(MOMENTS):
        folder = top / f"dir{number}" / "sub"
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * 1000)
        ns = seconds * 10**9 + number * 111_111_111
        for path in (folder / "file", folder, folder.parent):
            os.utime(path, ns=(ns + 3600 * 10**9, ns))
            ns -= 10**9
    os.utime(top, ns=(0, 0))
    # The first walk sets the access times of directories, which would differ for the second one.
    zoo.settle_access_times(top)
    trees.settle(top)
    return top


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(du, gnu_du, dated, kind):
    assert_same(du, gnu_du, "-a", kind, "--time-style=long-iso", dated)


@pytest.mark.parametrize("zone", ("UTC0", "Europe/Zurich", "America/St_Johns", "Asia/Kathmandu"))
@pytest.mark.parametrize("style", STYLES)
def test_styles(du, gnu_du, dated, style, zone):
    assert_same(du, gnu_du, "-a", "--time", f"--time-style={style}", dated, env={"TZ": zone})


@pytest.mark.parametrize("style", ("full-iso", "iso", "+%Y", "locale", "posix-iso", "nonsense", ""))
def test_style_of_the_environment(du, gnu_du, dated, style):
    assert_same(du, gnu_du, "--time", dated, env={"TIME_STYLE": style})
    assert_same(du, gnu_du, "--time", "--time-style=iso", dated, env={"TIME_STYLE": style})


@pytest.mark.parametrize("options", (("-S",), ("-s",), ("-c",), ("-d1",), ("-t2000",), ("-0",)))
def test_newest_time_travels_up(du, gnu_du, dated, options):
    separator = b"\0" if "-0" in options else b"\n"
    options = (*options, "--time", "--time-style=full-iso")
    assert_same(du, gnu_du, *options, dated, dated / "dir1", separator=separator)
