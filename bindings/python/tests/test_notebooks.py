"""The notebooks of examples/python: stored clean, run, and looked at."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
image = pytest.importorskip("matplotlib.image")

NAMES = ("first_look", "spe_latency", "coverage_of_two_runs")
WIDTH, HEIGHT = 1100, 2800

# What each page has to show: text, drawings, and colours of these.
TEXTS = {
    "first_look": ["time of take_order", "grow", "1,500", "(22746, 0, {})"],
    "spe_latency": ["find_node", "peer-core", "false", "dram"],
    "coverage_of_two_runs": ["express_fee", "only", "94.78", "number"],
}
FLAME, BARS = (230, 138, 24), (57, 135, 201)
COLOURS = {
    "first_look": [FLAME, BARS],
    "spe_latency": [BARS],
    "coverage_of_two_runs": [],
}


@pytest.fixture
def folder(repo: Path) -> Path:
    return repo / "examples" / "python"


def test_each_notebook_is_tested(folder: Path) -> None:
    assert {path.stem for path in folder.glob("*.ipynb")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_stored_without_output(folder: Path, name: str) -> None:
    path = folder / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert len(text) < 20_000
    assert not re.search(r"/home/|/tmp/|/root/|/Users/|\\\\Users", text)
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert dict(notebook.metadata.language_info) == {"name": "python"}
    for cell in notebook.cells:
        assert not cell.metadata
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
        assert max(map(len, cell.source.splitlines())) <= 100


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs a notebook once; gives the page that it becomes."""
    work = tmp_path_factory.mktemp("notebooks")
    done: dict[str, Path] = {}

    def page(folder: Path, name: str) -> Path:
        if name in done:
            return done[name]
        notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
        with pytest.MonkeyPatch.context() as patch:
            for what in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
                patch.setenv(what, str(work / what))
            client = nbclient.NotebookClient(
                notebook,
                timeout=60,
                kernel_name="python3",
                resources={"metadata": {"path": str(work)}},
            )
            client.execute()
        # Nothing is loaded from elsewhere.
        exporter = nbconvert.HTMLExporter(
            mathjax_url="", require_js_url="", jquery_url=""
        )
        html, _ = exporter.from_notebook_node(notebook)
        path = work / f"{name}.html"
        path.write_text(html, encoding="utf-8")
        done[name] = path
        return path

    return page


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_run(folder: Path, pages: Any, name: str) -> None:
    text = pages(folder, name).read_text(encoding="utf-8")
    for wanted in TEXTS[name]:
        assert wanted in text


def browser() -> str:
    found = next(
        filter(
            None,
            map(
                shutil.which,
                ("chromium", "chromium-browser", "google-chrome"),
            ),
        ),
        None,
    )
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium")
        pytest.skip("no chromium")
    return found


def chromium(work: Path, page: Path, *what: str) -> tuple[str, str]:
    """What Chromium prints, and what it says of the page."""
    done = subprocess.run(
        [
            browser(),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            f"--user-data-dir={work / 'profile'}",
            f"--window-size={WIDTH},{HEIGHT}",
            "--virtual-time-budget=5000",
            *what,
            page.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=True,
        env={**os.environ, "HOME": str(work)},
    )
    return (
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


class Elements(HTMLParser):
    """How often there is an element of a name, within an output."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_shows_them(
    folder: Path, pages: Any, name: str, tmp_path: Path
) -> None:
    path = pages(folder, name)
    dom, said = chromium(tmp_path, path, "--dump-dom")
    # Errors of scripts, and what could not be loaded.
    errors = [
        line
        for line in said.splitlines()
        if "CONSOLE" in line and re.search("Uncaught|Error|Failed", line)
    ]
    assert not errors
    counts = Elements(dom).counts
    assert counts.get("table", 0) >= 3
    if COLOURS[name]:
        assert counts.get("svg", 0) >= len(COLOURS[name])
        assert counts.get("rect", 0) >= 20 * len(COLOURS[name])

    shot = tmp_path / "shot.png"
    chromium(tmp_path, path, f"--screenshot={shot}")
    build = os.environ.get("HWTDECODE_BUILD")
    if build:
        kept = Path(build, "notebooks")
        kept.mkdir(exist_ok=True)
        shutil.copy(shot, kept / f"{name}.png")
    picture = (image.imread(shot)[:, :, :3] * 255 + 0.5).astype("uint8")
    assert picture.shape == (HEIGHT, WIDTH, 3)
    # Not blank: there is ink all over the upper half.
    ink = (picture < 160).all(axis=2)
    for top in range(0, HEIGHT // 2, 200):
        assert ink[top : top + 200].sum() > 300, f"nothing at {top}"
    for colour in COLOURS[name]:
        near = abs(picture.astype(int) - colour).max(axis=2) < 3
        assert near.sum() > 2000, f"no {colour}"
