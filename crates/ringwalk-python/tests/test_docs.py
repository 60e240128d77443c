"""Examples in the documentation do what they say."""

import ast
import doctest
import os
import pathlib
import sys

import pytest
import ringwalk
from processes import finished

pyarrow = pytest.importorskip("pyarrow")

STUB = pathlib.Path(ringwalk.__file__).parent / "_ringwalk.pyi"
README = pathlib.Path(__file__).parent.parent / "README.md"
TOP = README.parent.parent.parent
API = TOP / "docs" / "api.md"


def examples() -> dict[str, str]:
    """Texts with examples, by what they document."""
    texts = {}
    sources = STUB, STUB.with_name("_contents.py"), STUB.with_name("_snapshot.py")
    nodes = [node for source in sources for node in ast.walk(ast.parse(source.read_text()))]
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            text = ast.get_docstring(node)
            if text and ">>>" in text:
                texts[node.name] = text
    return texts


@pytest.fixture
def names(tmp_path):
    top = tmp_path / "top"
    (top / "src").mkdir(parents=True)
    (top / "notes.txt").write_text("notes")
    (top / "src" / "main.c").write_text("int main(){}")
    if os.stat(top / "src").st_size != 4096:
        pytest.skip("directories have other sizes here than in the examples")
    saved = tmp_path / "saved.parquet"
    return {"ringwalk": ringwalk, "pyarrow": pyarrow, "os": os, "top": top, "saved": saved}


def check(text: str, name: str, names) -> None:
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, name, 0)
    assert test.examples
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


@pytest.mark.parametrize("name", examples())
def test_examples_of_the_stub(name, names):
    if name == "doctor" and ringwalk.doctor(names["top"])["sources"][0]["chosen_by_auto"] is False:
        pytest.skip("another source is the best here")
    check(examples()[name], name, names)


@pytest.mark.parametrize("readme", (README, TOP / "README.md"), ids=("package", "project"))
def test_examples_of_the_readme(readme, names, monkeypatch):
    monkeypatch.chdir(names["top"])
    blocks = readme.read_text().split("```python\n")[1:]
    assert blocks
    for block in blocks:
        exec(compile(block.split("```")[0], str(readme), "exec"), dict(names))


def test_the_program_beside_those_in_other_languages(tmp_path):
    for name, size in {"small": 10, "large": 3 << 20}.items():
        with open(tmp_path / name, "wb") as file:
            file.truncate(size)
    program = API.read_text().split("```python\n")[1].split("```")[0]

    def run(path):
        words = [sys.executable, "-c", program, path]
        return finished(words, capture_output=True, text=True, check=True)

    assert run(tmp_path).stdout == f"{3 << 20} {tmp_path}/large\n"
    assert str(tmp_path / "missing") in run(tmp_path / "missing").stderr


def test_everything_public_is_documented_in_the_stub_and_at_run_time():
    for name in ringwalk.__all__:
        if name != "__version__":
            text = getattr(ringwalk, name).__doc__
            assert text and len(text) > 15, name
            # What is written in Python needs no stub.
            written = (
                "_ringwalk.pyi",
                "_contents.py",
                "_doctor.py",
                "_errors.py",
                "_snapshot.py",
                "_walk.py",
            )
            stub = "".join(STUB.with_name(source).read_text() for source in written)
            assert text.splitlines()[0] in stub
