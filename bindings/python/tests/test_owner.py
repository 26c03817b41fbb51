"""Another distribution with a package ``hwt`` is told, not run into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

import hwt

# The toolkit for hardware description of that name.
OTHER = "hwt==3.8"


def distribution(
    site: Path, name: str, version: str, files: List[str], top: str = ""
) -> None:
    """Metadata of a distribution with these files, as pip writes it."""
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    )
    if top:
        (info / "top_level.txt").write_text(f"{top}\n")
    listed = [*files, f"{info.name}/METADATA", f"{info.name}/RECORD"]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in listed))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with packages, in it the one under test."""
    site = tmp_path / "site packages"
    shutil.copytree(
        Path(hwt.__file__).parent,
        site / "hwt",
        ignore=shutil.ignore_patterns("__pycache__", "*.hwt"),
    )
    shutil.copytree(
        Path(hwt.__file__).parent.with_name("hwtdecode"),
        site / "hwtdecode",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    files = [
        str(path.relative_to(site))
        for path in sorted(site.rglob("*"))
        if path.is_file()
    ]
    distribution(site, "hwtdecode", "0.1.0", files)
    return site


def import_from(
    *sites: Path, what: str = "hwt.__file__", package: str = "hwt"
) -> str:
    """What an import prints, or the last line of its failure."""
    done = subprocess.run(
        [sys.executable, "-c", f"import {package}; print({what})"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(site) for site in sites),
        },
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        assert done.stderr == ""
        return done.stdout.strip()
    return done.stderr.strip().splitlines()[-1]


def refused(answer: str, *words: str) -> bool:
    return answer.startswith("ImportError: ") and all(
        word in answer for word in words
    )


def test_alone_it_is_imported(site: Path) -> None:
    assert import_from(site) == str(site / "hwt" / "__init__.py")


def test_a_distribution_of_the_same_name_is_refused(site: Path) -> None:
    distribution(site, "hwt", "3.8", ["hwt/__init__.py"], top="hwt\ntests")
    answer = import_from(site)
    assert refused(answer, "hwtdecode and hwt 3.8;", "virtual environment")
    assert "pip uninstall hwtdecode hwt," in answer


def test_it_may_be_in_another_folder_of_the_path(
    site: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    distribution(elsewhere, "hwt", "3.8", ["hwt/__init__.py"])
    assert refused(import_from(site, elsewhere), "hwt 3.8")


def test_one_that_is_an_egg_is_refused(site: Path) -> None:
    egg = site / "hwt-3.7-py3.9.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text(
        "Metadata-Version: 1.0\nName: hwt\nVersion: 3.7\n"
    )
    (egg / "top_level.txt").write_text("hwt\n")
    assert refused(import_from(site), "hwt 3.7")


def test_files_of_another_name_among_ours_are_refused(site: Path) -> None:
    (site / "hwt" / "serializer").mkdir()
    (site / "hwt" / "serializer" / "__init__.py").write_text("")
    distribution(
        site,
        "hdl_toolkit",
        "1.0",
        ["hwt/__init__.py", "hwt/serializer/__init__.py"],
    )
    assert refused(import_from(site), "hdl_toolkit 1.0")


def test_a_file_of_nobody_among_ours_is_no_owner(site: Path) -> None:
    (site / "hwt" / "notes.txt").write_text("")
    assert import_from(site).endswith("__init__.py")


def test_a_distribution_of_that_name_without_the_package_is_none(
    site: Path,
) -> None:
    distribution(site, "hwt", "9", ["other/__init__.py"], top="other")
    distribution(site, "hwt-tools", "9", ["hwt_tools/__init__.py"])
    assert import_from(site).endswith("__init__.py")


def test_folders_that_cannot_be_read_are_passed_over(
    site: Path, tmp_path: Path
) -> None:
    broken = site / "hwt-1.dist-info"
    broken.mkdir()
    (tmp_path / "file").write_text("")
    answer = import_from(tmp_path / "none", tmp_path / "file", site)
    assert answer.endswith("__init__.py")


@pytest.mark.parametrize("last", ["theirs", "ours"])
def test_the_toolkit_of_pypi_is_refused(site: Path, last: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            *("-m", "pip", "install", "-q", "--no-deps", "--upgrade"),
            *("--only-binary", ":all:", "--no-compile", "--retries", "1"),
            *("--disable-pip-version-check", "--target"),
            str(site.parent / "theirs"),
            OTHER,
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 and not os.environ.get("CI"):
        pytest.skip(f"{OTHER} is not to be had")
    assert done.returncode == 0, done.stderr
    theirs = site.parent / "theirs"
    ours = site / "hwt" / "__init__.py"
    kept = ours.read_text(encoding="utf-8")
    shutil.copytree(theirs, site, dirs_exist_ok=True)
    if last == "ours":
        ours.write_text(kept, encoding="utf-8")
        assert refused(import_from(site), "hwtdecode and hwt 3.8;")
        # Without its metadata its files are nobody's, and do no harm.
        shutil.rmtree(site / "hwt-3.8.dist-info")
        assert import_from(site).endswith("__init__.py")
    else:
        # Then theirs is imported, and nothing of ours runs but by its name.
        assert "AttributeError" in import_from(site, what="hwt.open")
        answer = import_from(site, package="hwtdecode")
        assert refused(answer, str(site / "hwt"), "python -m venv")


def test_importing_needs_cffi_and_little_else() -> None:
    """What is slow to import is imported by who needs it."""
    slow = (
        "numpy pyarrow pandas polars duckdb matplotlib IPython "
        "importlib.metadata difflib json html email urllib.request asyncio "
        "multiprocessing concurrent.futures subprocess logging.handlers "
        "sqlite3 xml.sax unittest hwt.testing hwt.capture"
    ).split()
    loaded = import_from(
        *(Path(p) for p in os.environ.get("PYTHONPATH", "").split(":") if p),
        what=f"[m for m in {slow} if m in __import__('sys').modules]",
    )
    assert loaded == "[]"


def test_versions_agree(repo: Path) -> None:
    header = (repo / "include" / "hwtdecode" / "version.h").read_text()
    parts = [
        line.split()[2]
        for line in header.splitlines()
        if line.startswith("#define HWTD_VERSION_")
    ]
    assert hwt.__version__ == ".".join(parts) == hwt.library_version()
    assert hwt.__distribution__ == "hwtdecode"
