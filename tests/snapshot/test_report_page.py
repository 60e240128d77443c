"""`ringwalk report --format html`: the page, its data, and how Chromium shows it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import browser as browsers
from support import trees
from support.browser import Browser
from support.run import USER, Program, run

# Names, and how the page shows them.
HOSTILE = {
    "<img src=x onerror=alert(1)>": "<img src=x onerror=alert(1)>",
    "turned\u202egnp.exe": "turned\\u{202e}gnp.exe",
    "line\nbreak\x1b[2J": "line\\nbreak\\u{1b}[2J",
    "{{data}}&amp;'\"": "{{data}}&amp;'\"",
}
# A path that ends the element of the data.
MARKUP = "</script><b onclick=alert(1)>"


@pytest.fixture(scope="module")
def report(ringwalk: Program) -> Program:
    """`ringwalk report`."""
    return ringwalk.with_args("report")


def write(path: Path | bytes, size: int) -> None:
    with open(path, "wb") as file:
        file.write(os.urandom(size))


def fill(top: Path) -> None:
    """Makes a tree: a large directory with a directory in it, a smaller one, and hostile names."""
    for folder in ("large/inner", "small", "empty"):
        (top / folder).mkdir(parents=True)
    write(top / "large" / "a.bin", 600_000)
    write(top / "large" / "inner" / "b.bin", 300_000)
    write(top / "small" / "c.bin", 100_000)
    os.link(top / "large" / "a.bin", top / "small" / "also a")
    (top / "<").mkdir()
    for name in (*HOSTILE, MARKUP):
        write(top / name, 20_000)
    write(os.fsencode(top) + b"/not-utf-8-\xff", 20_000)


@pytest.fixture(scope="module")
def top(base: Path) -> Path:
    """That tree."""
    top = base / "page"
    top.mkdir()
    fill(top)
    trees.settle(top)
    return top


@pytest.fixture(scope="module")
def snapshots(ringwalk: Program, base: Path, top: Path) -> tuple[Path, Path]:
    """A snapshot of that tree, and one after some changes."""
    old, new = base / "page-old.parquet", base / "page-new.parquet"
    ringwalk("snapshot", top, "-o", old).ok()
    write(top / "small" / "grown.bin", 400_000)
    (top / "large" / "inner" / "b.bin").unlink()
    trees.settle(top)
    ringwalk("snapshot", top, "-o", new).ok()
    return old, new


@pytest.fixture(scope="module")
def page(report: Program, base: Path, snapshots: tuple[Path, Path]) -> Path:
    """The page of the newer snapshot, compared with the older one."""
    old, new = snapshots
    file = base / "page.html"
    report(new, "--format=html", "-o", file, "--compare", old).ok()
    return file


@pytest.fixture(scope="module")
def chromium(base: Path) -> Iterator[Browser]:
    """A running Chromium."""
    with browsers.browser(Path(tempfile.mkdtemp(dir=base, prefix="chromium-"))) as running:
        yield running


def data_of(file: Path) -> dict:
    """Returns the tree in a page."""
    text = file.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def nodes_of(file: Path) -> dict[str, dict]:
    """Returns the nodes of a page by their paths, which begin with that of the top."""
    data, paths, nodes = data_of(file), [], {}
    for at, (name, parent) in enumerate(zip(data["names"], data["parents"], strict=True)):
        paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
        columns = ("alloc", "size", "entries", "growth")
        nodes[paths[-1]] = {key: data[key][at] for key in columns if data[key]}
        nodes[paths[-1]]["rest"] = data["rest"].get(str(at), [0, 0, 0])
    return nodes


# ---- The data


def test_sums_are_those_of_du(report, scratch):
    fill(scratch)
    file = scratch.parent / f"{scratch.name}.html"
    report(scratch, "--format=html", "-o", file).ok()
    nodes = nodes_of(file)
    assert nodes[str(scratch)]["alloc"] == int(
        run(["du", "-s", "-B1", scratch]).ok().out.split()[0]
    )
    for folder in ("large", "large/inner", "empty"):
        size = int(run(["du", "-s", "-B1", scratch / folder]).ok().out.split()[0])
        assert nodes[f"{scratch}/{folder}"]["alloc"] == size, folder
    found = run(["find", scratch, "-printf", "x"]).ok().out
    assert nodes[str(scratch)]["entries"] == len(found) == len(nodes)


def test_what_exceeds_the_nodes_is_added_up(report, snapshots, scratch):
    _, new = snapshots
    report(new, "--format=html", "-o", scratch / "all").ok()
    everything = nodes_of(scratch / "all")
    for number in (1, 2, 3, 5):
        report(new, "--format=html", "-o", scratch / "few", "--nodes", number).ok()
        few = nodes_of(scratch / "few")
        assert len(few) == number
        for path, node in few.items():
            assert {**node, "rest": 0} == {**everything[path], "rest": 0}
        top = next(iter(few.values()))
        own = 1 + sum(node["rest"][2] for node in few.values()) + number - 1
        assert top["entries"] == own


def test_a_subtree_counts_as_by_du(report, snapshots, top, scratch):
    _, new = snapshots
    # The first name of this file lies outside of the directory.
    report(new, "--format=html", "-o", scratch / "f", "--under", top / "small").ok()
    nodes = nodes_of(scratch / "f")
    assert len(nodes) == 4
    size = int(run(["du", "-s", "-B1", top / "small"]).ok().out.split()[0])
    assert nodes[str(top / "small")]["alloc"] == size
    assert nodes[f"{top}/small/also a"]["alloc"] >= 600_000


def test_growth_is_that_of_diff(ringwalk, snapshots, page):
    old, new = snapshots
    answer = ringwalk("diff", old, new, "--by", "dir", "--depth", 9, "--format=json")
    groups = json.loads(answer.out)["groups"]
    nodes = nodes_of(page)
    growths = {row["path"]: row["growth"] for row in groups}
    assert len(growths) >= 3
    for path, growth in growths.items():
        found = [node for name, node in nodes.items() if name.endswith(path.rstrip("/"))]
        assert growth in [node["growth"] for node in found], path
    text = page.read_text()
    assert "small/grown.bin</bdi>" in text and "large/inner/b.bin</bdi>" in text
    assert "+392K" in text and "−296K" in text


def test_a_directory_gives_the_page_of_its_snapshot(report, snapshots, top, scratch):
    _, new = snapshots
    report(new, "--format=html", "-o", scratch / "saved").ok()
    report(top, "--format=html", "-o", scratch / "live").ok()
    pages = []
    for name in ("saved", "live"):
        text = (scratch / name).read_text()
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", text)
        text = re.sub(r'"hour":\d+|"ages":\[[^]]*\]', "", text)
        pages.append(text)
    assert pages[0] == pages[1]


def test_workers_do_not_change_the_page(report, snapshots, scratch):
    old, new = snapshots
    pages = set()
    for workers in (1, 2, 8):
        options = ("--compare", old, "--workers", workers)
        report(new, "--format=html", "-o", scratch / "f", *options).ok()
        pages.add((scratch / "f").read_bytes())
    assert len(pages) == 1


# ---- The command


def refused(result, *words: str) -> None:
    assert result.status == 2 and result.out == b"", result
    for word in words:
        assert word.encode() in result.err, result


def test_options_without_effect_are_refused(report, snapshots, scratch):
    old, new = snapshots
    file = scratch / "f"
    for option in ("--by", "age"), ("--top", "3"):
        result = report(new, "--format=html", "-o", file, *option)
        refused(result, f"{option[0]} has no effect with --format html")
    refused(report(new, "--by", "age", "--compare", old), "--compare needs --format html")
    refused(report(new, "--by", "age", "--nodes", "10"), "--nodes needs --format html")
    refused(report(new, "--format=html", "-o", old, "--compare", old), "it is an input")
    refused(report(new, "--format=html", "-o", file, "--nodes", "0"), "'0'")
    assert not file.exists()


def test_sizes_as_the_user_wants_them(report, snapshots, scratch):
    """In the sums and tables, and in the diagrams, which a script draws."""
    _, new = snapshots
    answer = json.loads(report(new, "--by", "type", "--format=json").ok().out)
    alloc = answer["total"]["alloc"]
    assert alloc > 1_000_000
    shown = {}
    for option, base in (((), 1024), (("--si",), 1000), (("--bytes",), 0)):
        file = scratch / f"page-{base}"
        report(new, "--format=html", "-o", file, *option).ok()
        assert data_of(file)["base"] == base
        shown[base] = re.search(r"<dt>allocated</dt><dd>(.*?)</dd>", file.read_text())[1]
    table = report(new, "--by", "type", "--si").ok().out.decode().splitlines()[-1].split()
    assert shown[0] == str(alloc) and shown[1000] == table[-2]
    assert shown[1024].endswith("M")


def test_the_file_appears_whole_or_not_at_all(report, ringwalk, snapshots, scratch):
    old, new = snapshots
    file = scratch / "f"
    file.write_text("old")
    refused(report(scratch / "missing", "--format=html", "-o", file), "missing")
    refused(report(new, "--format=html", "-o", file, "--compare", scratch / "none"), "none")
    refused(
        report(new, "--format=html", "-o", file, "--compare", scratch), "OLD must be a snapshot"
    )
    refused(report(new, "--format=html", "-o", file, "--under", "/nowhere"), "'/nowhere'")
    (scratch / "tree").mkdir()
    ringwalk("snapshot", scratch / "tree", "-o", scratch / "other").ok()
    refused(
        report(new, "--format=html", "-o", file, "--compare", scratch / "other"),
        "no root",
        "same roots",
    )
    assert file.read_text() == "old"
    refused(report(new, "--format=html", "-o", scratch / "no" / "file"), "no/file")
    refused(report(new, "--format=html", "-o", "/dev/full"), "not a regular file")
    report(new, "--format=html", "-o", file).ok()
    assert file.read_text().startswith("<!doctype html>")


def test_an_incomplete_snapshot_has_status_1(ringwalk, report, scratch):
    tree = scratch / "tree"
    (tree / "closed").mkdir(parents=True)
    (tree / "open").mkdir()
    (tree / "closed").chmod(0)
    scratch.chmod(0o777)
    snapshot, file = scratch / "s.parquet", scratch / "f"
    assert ringwalk("snapshot", tree, "-o", snapshot, uid=USER).status == 1
    for source in (snapshot, tree):
        result = report(source, "--format=html", "-o", file, uid=USER)
        assert result.status == 1 and b"incomplete: 1 error;" in result.err
        text = file.read_text()
        assert "The snapshot is incomplete: 1 error." in text
        assert "tree/closed</bdi>" in text and "cannot open: Permission denied" in text
        file.unlink()
    report(snapshot, "--format=html", "-o", file, "--under", tree / "open").ok()
    assert "incomplete" not in file.read_text()
    (tree / "closed").chmod(0o755)
    ringwalk("snapshot", tree, "-o", scratch / "new").ok()
    result = report(scratch / "new", "--format=html", "-o", file, "--compare", snapshot)
    assert result.status == 1 and b"growth is not certain" in result.err
    assert "The growth is not certain" in file.read_text()


# ---- The page in Chromium


def here(chromium: Browser) -> str:
    return chromium.evaluate("document.querySelector('#here').textContent")


def chosen(chromium: Browser) -> str:
    return chromium.evaluate("document.querySelector('#chosen').textContent")


def names(chromium: Browser, table: str) -> list[str]:
    script = f"[...document.querySelectorAll('{table} tbody bdi')].map(e => e.textContent)"
    return chromium.evaluate(script)


@pytest.mark.smoke
def test_the_page_works_without_errors_and_without_network(chromium, page, top):
    chromium.open(page)
    assert here(chromium) == str(top)
    for button in ("#sunburst", "#treemap"):
        left, upper, width, height = chromium.box(button)
        chromium.click(left + width / 2, upper + height / 2)
    for colour in ("age", "place", "growth"):
        chromium.evaluate(
            f"colour.value = '{colour}'; colour.dispatchEvent(new Event('change')); 0"
        )
        chromium.settle()
    assert chromium.errors == []
    assert chromium.requests == [page.as_uri()]


def test_the_policy_forbids_every_other_script_and_style(chromium, page, scratch):
    text = page.read_text()
    extra = '<script>hacked = 1</script><img src="http://127.0.0.1/x"><p style="color: red">'
    (scratch / "f.html").write_text(text.replace("<header>", f"<header>{extra}"))
    chromium.open(scratch / "f.html")
    assert chromium.evaluate("typeof hacked") == "undefined"
    assert len(chromium.errors) == 3
    assert all("Content Security Policy" in error for error in chromium.errors)


def test_a_click_opens_a_directory(chromium, page, top):
    chromium.open(page)
    left, upper, *_ = chromium.box("#canvas")
    # The largest directory is in the upper left corner, and has its name there.
    chromium.click(left + 30, upper + 9)
    chromium.wait(lambda: here(chromium) == f"{top}/large")
    assert names(chromium, "#contents")[:1] == ["a.bin"]
    # A name in the table is a button.
    chromium.evaluate("document.querySelector('#contents button').click()")
    chromium.wait(lambda: here(chromium) == f"{top}/large/inner")
    chromium.evaluate("history.back()")
    chromium.wait(lambda: here(chromium) == f"{top}/large")
    chromium.evaluate("document.querySelector('#crumbs button').click()")
    chromium.wait(lambda: here(chromium) == str(top))
    assert chromium.errors == []


def test_a_click_opens_a_directory_in_the_sunburst(chromium, page, top):
    chromium.open(page)
    left, upper, width, height = chromium.box("#sunburst")
    chromium.click(left + width / 2, upper + height / 2)
    left, upper, width, height = chromium.box("#canvas")
    middle = (left + width / 2, upper + height / 2)
    # The largest part begins at the top and goes to the right.
    radius = min(width, height) / 2 * 0.3
    chromium.click(middle[0] + radius, middle[1])
    chromium.wait(lambda: here(chromium) == f"{top}/large")
    chromium.click(*middle)
    chromium.wait(lambda: here(chromium) == str(top))


def test_keys_open_a_directory(chromium, page, top):
    chromium.open(page)
    chromium.evaluate("document.querySelector('#canvas').focus()")
    chromium.press("ArrowRight")
    assert chosen(chromium).startswith("large · ")
    chromium.press("Enter")
    chromium.wait(lambda: here(chromium) == f"{top}/large")
    chromium.press("Backspace")
    chromium.wait(lambda: here(chromium) == str(top))
    assert chosen(chromium).startswith("large · ")
    chromium.press("ArrowRight")
    assert chosen(chromium) and not chosen(chromium).startswith("large · ")
    chromium.press("ArrowLeft")
    assert chosen(chromium).startswith("large · ")
    chromium.press("Enter")
    chromium.wait(lambda: here(chromium) == f"{top}/large")
    chromium.press("Home")
    chromium.wait(lambda: here(chromium) == str(top))
    assert chromium.errors == []


def test_names_are_shown_as_text(chromium, page, top):
    chromium.open(page)
    shown = set(names(chromium, "#contents"))
    assert {*HOSTILE.values(), "not-utf-8-\\xff", "</"} <= shown
    shown = set(names(chromium, "#files"))
    assert {f"{top}/{name}" for name in (*HOSTILE.values(), MARKUP, "not-utf-8-\\xff")} <= shown
    assert chromium.evaluate("document.images.length + document.scripts.length") == 2
    assert "\u202e" not in chromium.evaluate("document.documentElement.textContent")
    # The text beside the pointer.
    left, upper, width, height = chromium.box("#canvas")
    for part in range(1, 20):
        chromium.mouse("mouseMoved", left + width * part / 20, upper + height - 5)
        chromium.settle()
    assert chromium.evaluate("document.images.length") == 0
    assert chromium.errors == []


def test_the_tables_need_no_script(chromium, page):
    chromium.open(page, script=False)
    # This command works although scripts of the page do not.
    assert chromium.evaluate("document.querySelector('#explorer').hidden")
    assert chromium.evaluate("document.querySelector('noscript').textContent").strip()
    assert len(names(chromium, "#files")) == 9
    assert chromium.evaluate("document.querySelector('#files table').offsetHeight") > 100
    assert chromium.evaluate("document.querySelectorAll('#owners tbody tr').length") == 1
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)


def luminance(chromium: Browser) -> tuple[float, float]:
    """Returns the mean brightness of the page's background and of the diagram, from 0 to 255."""
    return tuple(
        chromium.evaluate(
            """(() => {
              const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
              const back = getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g);
              const { data } = canvas.getContext("2d")
                .getImageData(0, 0, canvas.width, canvas.height);
              const colours = [...data].filter((_, at) => at % 4 < 3);
              return [mean(back.slice(0, 3).map(Number)), mean(colours)];
            })()"""
        )
    )


def test_colours_follow_the_scheme_and_paper_is_light(chromium, page):
    chromium.open(page)
    chromium.media("light")
    light = luminance(chromium)
    chromium.media("dark")
    dark = luminance(chromium)
    assert min(light) > 170 and max(dark) < 110
    chromium.media("dark", "print")
    assert luminance(chromium)[0] > 170
    visible = "getComputedStyle(document.querySelector('.choices')).display"
    assert chromium.evaluate(visible) == "none"
    chromium.media("dark")
    chromium.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert luminance(chromium)[1] > 170
    chromium.evaluate("dispatchEvent(new Event('afterprint'))")
    assert luminance(chromium)[1] < 110
    assert chromium.pdf().startswith(b"%PDF")
    chromium.media("light")
    # Chromium advises against reading the diagram, which only this test does.
    assert [error for error in chromium.errors if "getImageData" not in error] == []


@pytest.mark.parametrize("width", (360, 800, 1920))
def test_the_page_fits_the_window(chromium, page, width):
    chromium.resize(width, 800)
    chromium.open(page)
    try:
        wide = chromium.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        assert chromium.evaluate("canvas.width") <= width
    finally:
        chromium.resize(1280, 900)
