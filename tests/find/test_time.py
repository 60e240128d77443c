"""Times: ages, dates in all forms, zones, and days with a change of the clock."""

from __future__ import annotations

import datetime
import os
import time

import pytest
from support.find import assert_same, assert_same_each, messages

DAY = 86400
SIGNS = ("", "+", "-")


def touch(folder, name: str, when: float | int, access: float | int | None = None) -> None:
    """Makes a file with this time, in seconds since 1970."""
    path = folder / name
    path.touch()
    access = when if access is None else access
    os.utime(path, ns=(round(access * 1_000_000_000), round(when * 1_000_000_000)))


@pytest.fixture
def ages(scratch):
    """Files of many ages, from days ahead to years ago, some seconds away from each boundary."""
    now = time.time()
    # Minutes and days count from the moment of the run, so times keep 20 s away from them.
    for minutes in (*range(-5, 30), 59, 60, 61, 1439, 1440, 1441):
        touch(scratch, f"min{minutes}", now - minutes * 60 - 20, now - minutes * 61 - 20)
    for quarters in range(-16, 60):
        touch(scratch, f"day{quarters}", now - quarters * DAY / 4 - 20, now - quarters * DAY / 3)
    for years in (1, 2, 10, 40, 55, 60):
        touch(scratch, f"year{years}", now - years * 365 * DAY - 20)
    return scratch


NUMBERS = ("0", "1", "2", "3", "7", "60", "1440", "0.5", "1.5", "0.25", "00.10", "1000", "365")


@pytest.mark.parametrize("daystart", ("", "-daystart"))
def test_ages(find, gnu_find, ages, daystart):
    expressions = [
        f"{test} {sign}{number}"
        for test in ("-mmin", "-mtime", "-amin", "-atime", "-cmin", "-ctime")
        for sign in SIGNS
        for number in NUMBERS
        # The programs run at different moments, so an age of 0 cannot be compared.
        if not (test.startswith("-c") and number in ("0", "00.10")) and number != "0.25"
    ]
    assert_same_each(find, gnu_find, ".", expressions, lead=daystart, cwd=ages)


def test_used(find, gnu_find, scratch):
    """Days from the last change to the last access: files accessed in the future."""
    now = time.time()
    for hours in range(-50, 120, 5):
        touch(scratch, f"h{hours}", now - 1000, now + hours * 3600 + 1800)
    numbers = ("0", "1", "2", "3", "4", "1.5", "0.5", "100")
    expressions = [f"-used {sign}{number}" for sign in SIGNS for number in numbers]
    # The first program reads the directory, which sets its access time.
    for lead in ("-mindepth 1", "-mindepth 1 -daystart"):
        assert_same_each(find, gnu_find, ".", expressions, lead=lead, cwd=scratch)


def test_daystart_counts_from_where_it_stands(find, gnu_find, ages):
    for expression in ("-mtime 1 -daystart", "-daystart -mtime 1", "-mtime -2 -daystart -atime 1"):
        assert_same(find, gnu_find, ".", *expression.split(), cwd=ages)


def zones() -> list[str]:
    """Zones with every kind of shift, and with a change of the clock yesterday, today, tomorrow."""
    named = ["UTC0", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Pacific/Apia"]
    named += ["Australia/Lord_Howe", "America/St_Johns", "XYZ-13:45", "ABC+11:30", "Nonsense/Zone"]
    today = datetime.datetime.now(datetime.timezone.utc).timetuple().tm_yday
    for shift in range(-2, 3):
        day = max(1, min(365, today + shift))
        later = max(1, min(365, day + 90 if day < 200 else day - 90))
        # Forward and back, at two o'clock and at midnight.
        named += [f"AAA0BBB,J{day}/2,J{later}/2", f"AAA0BBB,J{later}/2,J{day}/2"]
        named += [f"AAA5BBB,J{day}/0,J{later}/0", f"AAA-5BBB,J{later}/0,J{day}/1"]
    return named


@pytest.mark.parametrize("zone", zones())
def test_days_of_zones(find, gnu_find, scratch, zone):
    """Whole days before midnight of the zone, and dates with a time of day."""
    now = time.time()
    for half_hours in range(-60, 200):
        touch(scratch, f"h{half_hours}", now - half_hours * 1800 - 13)
    expressions = [f"-mtime {sign}{number}" for sign in SIGNS for number in range(4)]
    expressions += [f"-mmin {sign}{number}" for sign in SIGNS for number in (10, 1440, 4000)]
    env = {"TZ": zone}
    assert_same_each(find, gnu_find, ".", expressions, lead="-daystart", cwd=scratch, env=env)
    texts = ("today 00:00", "yesterday 02:30", "tomorrow 01:59:59")
    texts += ("12:00 yesterday",)
    for text in texts:
        # Some times do not exist on a day with a change of the clock.
        assert_same(find, gnu_find, ".", "-newermt", text, cwd=scratch, env=env)
    args = ("-printf", "%p %TY-%Tm-%Td %TH:%TM %TZ %Tz %Tc\n")
    assert_same(find, gnu_find, ".", *args, cwd=scratch, env=env)


@pytest.fixture(scope="module")
def calendar(base):
    """Files whose times distinguish the dates: separated by hours, days, months and centuries."""
    folder = base / "calendar"
    folder.mkdir()
    now = int(time.time())
    stamps = {now + quarter * 900 + 37 for quarter in range(-120, 60)}
    stamps |= {now + day * DAY + 41 for day in range(-200, 120)}
    stamps |= {now + month * 30 * DAY + 43 for month in range(-600, 200, 3)}
    for year in range(1902, 2106):
        day = datetime.datetime(year, 3, 1, tzinfo=datetime.timezone.utc)
        stamps |= {int(day.timestamp()) + second for second in (-1, 1)}
    for base_time in (0, 951782400, 1234567890, 1577836800, 1582979696, 1709210096):
        stamps |= {base_time + d for d in (-3601, -3600, -61, -2, -1, 0, 1, 2, 59, 60, 3600, 7200)}
    for stamp in stamps:
        touch(folder, f"{stamp}", stamp)
    for half in (1234567890, 1577836800):
        for nanos in (1, 250_000_000, 500_000_000, 999_999_999):
            path = folder / f"{half}.{nanos:09}"
            path.touch()
            os.utime(path, ns=(half * 10**9 + nanos, half * 10**9 + nanos))
    return folder


# Each group is one run. Times of day keep away from the moment of the run.
DATES = (
    "2020-01-01",
    "2020-1-1",
    "2020/01/01",
    "1/1/2020",
    "01/01/20",
    "1/1",
    "20200101",
    "2020-01-01 00:00",
    "2020-01-01 00:00:00",
    "2020-01-01T00:00:00",
    "2020-01-01t00:00:00z",
    "2020-01-01T00:00:00Z",
    "2020-01-01T00:00:00+01:00",
    "2020-01-01 00:00:00 +0100",
    "2020-01-01 00:00:00-05",
    "2020-01-01 01:00 CET",
    "2020-01-01 00:00 UTC",
    "2020-01-01 00:00 GMT",
    "2020-01-01 00:00 EST",
    "2020-01-01 00:00 PDT",
    "2020-01-01 00:00:00.5",
    "2020-01-01 00:00:00,25",
    "2020-01-01 00:00:00.2500000001",
    "2020-01-01 12:00 am",
    "2020-01-01 12:00 PM",
    "2020-01-01 1pm",
    "2020-01-01 1:30 p.m.",
    "20200101 1234",
    "20200101 12:34",
    "1 Jan 2020",
    "1 January 2020",
    "01-Jan-2020",
    "1-jan-20",
    "Jan 1 2020",
    "Jan 1, 2020",
    "January 1 2020",
    "1 jan",
    "Sept 5 2019",
    "sep 5 2019",
    "Wed, 01 Jan 2020 00:00:00 +0000",
    "Wed Jan  1 00:00:00 UTC 2020",
    "Wed Jan 1 00:00:00 2020",
    "2020-02-29",
    "2000-02-29 12:00",
    "1969-12-31",
    "1969-12-31 23:59:59",
    "1970-01-01",
    "1950-06-15",
    "1902-01-01",
    "2038-01-19 03:14:08",
    "2105-01-01",
    "69-01-01",
    "68-01-01",
    "70-1-1",
    "@0",
    "@1234567890",
    "@1234567890.5",
    "@1234567890.25",
    "@-1",
    "@-86400",
    " @0",
    "@ 0",
    "today",
    "now",
    "yesterday",
    "tomorrow",
    "1 day ago",
    "2 days ago",
    "-1 day",
    "+1 day",
    "1 day",
    "3 days",
    "1 week ago",
    "fortnight ago",
    "a week ago",
    "last week",
    "next week",
    "this week",
    "last month",
    "next month",
    "1 month ago",
    "13 months ago",
    "1 year ago",
    "10 years ago",
    "last year",
    "next year",
    "1 hour ago",
    "36 hours ago",
    "90 minutes ago",
    "90 min ago",
    "5400 seconds ago",
    "5400 sec ago",
    "-3 hours",
    "third day",
    "first month ago",
    "twelfth day ago",
    "1 day 2 hours ago",
    "1 year 2 months 3 days ago",
    "yesterday 12:00",
    "12:00 yesterday",
    "00:00",
    "00:00:00",
    "0:00",
    "monday",
    "mon",
    "tuesday 12:00",
    "last monday",
    "next monday",
    "last friday",
    "next tues",
    "wednes",
    "thurs",
    "this sunday",
    "2020-01-01 +1 day",
    "2020-01-01 1 day ago",
    "2020-01-01 -1 month",
    "2020-01-31 +1 month",
    "2020-03-31 1 month ago",
    "2020-02-29 +1 year",
    "2020-01-01 00:00 + 3 hours",
    "2020-01-01 next week",
    "2020-01-01 00:00 UTC+1",
    "2020-01-01 00:00 UTC-5",
    "2020-01-01 00:00 Z",
    "2020-01-01 00:00 A",
    'TZ="America/New_York" 2020-01-01',
    'TZ="UTC-5" 2020-01-01 12:00',
    'TZ="" 2020-01-01',
    "2020-01-01 (a comment)",
    "(a comment) 2020-01-01",
    "2020-01-01 (nested (comment))",
    "\t2020-01-01\n",
    "12:00 1 jan 2020 utc",
    "Monday 2020-01-01",
    "0020-01-01",
    "10000-01-01",
    "",
    " ",
    "0",
    "1",
    "12",
    "2020",
    "1234",
)

REFUSED_DATES = (
    "nonsense",
    "2020-13-01",
    "2020-02-30",
    "2019-02-29",
    "2020-01-32",
    "25:00",
    "12:60",
)
REFUSED_DATES += ("12:00:61", "2020-01-01 2020-01-02", "12:00 13:00", "monday tuesday", "@", "@x")
REFUSED_DATES += ("@1 2020-01-01", "13 pm", "0 am", "1 fortnights fortnight x", "2020-01-01T", "--")
REFUSED_DATES += (
    "2020-01-01 25:00",
    "Jan 32",
    "32 Jan",
    "next",
    "ago",
    "last",
    "2020-00-01",
    "1/2/3/4",
)
REFUSED_DATES += (
    "2020-1-1-1",
    "2020-01-01 XYZ",
    'TZ="UTC 2020-01-01',
    "(2020",
    "é",
    "99999999999999",
)
REFUSED_DATES += ("@99999999999999999999", "999999999999 years", "2020-01-01 00:00 +2500", b"\xff")
REFUSED_DATES += ("2020-01-01 24:00", "20200101T000000", "midnight", "noon", "noon yesterday")
REFUSED_DATES += ("2 fridays ago", "2020-01-01, 12:00", "12:00, 2020-01-01")
REFUSED_DATES += ("2020-01-01 23:59:60", "@1e3", "+2020-01-01", "1 sunday ago", "20200101T")
REFUSED_DATES += ("2020-01-01 00:00 EST5EDT", "12:60 pm", "1 day 1", "yesterday today")


@pytest.mark.parametrize("zone", ("UTC0", "America/New_York"))
@pytest.mark.parametrize("part", range(4))
def test_dates(find, gnu_find, calendar, zone, part):
    texts = DATES[part::4]
    env = {"TZ": zone}
    expressions = [["-newermt", text] for text in texts]
    assert_same_each(find, gnu_find, ".", expressions, cwd=calendar, env=env)


@pytest.mark.parametrize("text", REFUSED_DATES)
def test_what_is_no_date(find, gnu_find, calendar, text):
    """Both programs refuse the date with the same message, or take it for the same moment."""
    assert_same(find, gnu_find, ".", "-newermt", text, cwd=calendar)


def test_times_of_other_files(find, gnu_find, menagerie):
    """-newerXY with every X and every Y, the two older forms, and their fractions of a second."""
    references = ("kinds/file", "times/n1", "times/t-1", "times/t0", "kinds/to-file", "kinds")
    expressions = [
        f"-newer{x}{y} {reference}" for x in "acm" for y in "acm" for reference in references
    ]
    for test in ("-newer", "-anewer", "-cnewer"):
        expressions += [f"{test} {reference}" for reference in references]
    for x in "acm":
        expressions += [
            [f"-newer{x}t", text] for text in ("@0", "@-2", "2001-09-09 01:46:40", "now")
        ]
        expressions += [["!", f"-newer{x}t", "2009-02-13 23:31:30.123456789 UTC"]]
    for follow in ("-P", "-H", "-L"):
        tops = "times kinds kinds/to-file"
        assert_same_each(find, gnu_find, tops, expressions, first=follow, cwd=menagerie)


WRONG = (
    "-newerxm kinds/file",
    "-newermx kinds/file",
    "-newermm missing",
    "-newer missing",
)
WRONG += (
    "-newermm",
    "-newermt",
    "-newerm kinds/file",
    "-newermmm kinds/file",
    "-newertm kinds/file",
)
WRONG += (
    "-anewer missing",
    "-cnewer missing",
    "-newerat nonsense",
    "-newertt now",
)


@pytest.mark.parametrize("expression", WRONG)
def test_wrong_words(find, gnu_find, menagerie, expression):
    expected = gnu_find(".", *expression.split(), cwd=menagerie)
    got = find(".", *expression.split(), cwd=menagerie)
    reported = [text for text in messages(got) if not text.startswith("did you mean")]
    assert (reported, got.status, got.out) == (messages(expected), expected.status, expected.out)


def test_times_of_birth(find, scratch):
    """Debian's GNU find has no times of birth and says so; they compare like other times."""
    for name in ("first", "second", "third"):
        (scratch / name).touch()
        time.sleep(0.02)
    os.utime(scratch / "first", (0, 0))
    options = {"cwd": scratch}
    if not find("first", "-newerBt", "2000-01-01", **options).out:
        pytest.skip("this file system keeps no times of birth")
    assert find("-newerBB", "second", **options).ok().lines() == [b"./third"]
    assert sorted(find("-type", "f", "-newerBm", "second", **options).ok().lines()) == [b"./third"]
    assert find("-type", "f", "!", "-newermB", "first", **options).ok().lines() == [b"./first"]


@pytest.mark.parametrize("zone", ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe"))
def test_hours_that_are_not_there_or_twice(find, gnu_find, scratch, zone):
    """The nights of 2021 with a change of the clock, minute by minute around the change."""
    nights = {
        "Europe/Berlin": ("2021-03-28", "2021-10-31"),
        "America/New_York": ("2021-03-14", "2021-11-07"),
        "Australia/Lord_Howe": ("2021-10-03", "2021-04-04"),
    }
    texts = []
    for night in nights[zone]:
        # Two o'clock in zones east and west of Greenwich differs by up to a day.
        midnight = datetime.datetime.fromisoformat(night + "T00:00:00+00:00").timestamp()
        for quarter in range(-60, 60):
            touch(scratch, f"{night}-{quarter}", midnight + quarter * 900 + 1)
        times = ("00:00", "01:00", "01:30", "01:45", "02:00", "02:15", "02:30", "03:00", "12:00")
        texts += [f"{night} {clock}" for clock in times]
        texts += [f"{night} 00:00 +2 hours", f"{night} 12:00 1 day ago", f"{night} 02:30 1 day"]
    env = {"TZ": zone}
    for text in texts:
        assert_same(find, gnu_find, ".", "-newermt", text, cwd=scratch, env=env)
    line = ("-printf", "%p %t %Tc %T+ %TZ %Tz %TH\n")
    assert_same(find, gnu_find, ".", *line, cwd=scratch, env=env)
