"""Every public name is explained, in numpydoc's form, by examples that run."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, Iterator, List, Tuple

import pytest

import hwt

validate = pytest.importorskip("numpydoc.validate")

EXAMPLES = Path(hwt.__file__).resolve().parent / "_example"

# Of numpydoc's checks all but these.
TASTE = {
    "GL01",  # The summary begins beside the quotes.
    "GL02",  # The quotes end where the text does.
    "ES01",  # A summary may say all.
    "SA01",  # See Also is not needed everywhere.
    "SS05",  # "Version of ..." is a good summary, too.
    "SS06",  # A summary may have two lines.
    "RT02",  # A result may have a name.
    "EX01",  # Asked for below, where it makes sense.
    "PR01",  # The same.
}
# Names that say all.
EASY = {"close", "closed"}


def public_modules() -> Iterator[ModuleType]:
    """The package and its modules without an underscore."""
    yield hwt
    for found in pkgutil.iter_modules(hwt.__path__):
        if not found.name.startswith("_"):
            yield importlib.import_module(f"hwt.{found.name}")


def members(kind: type) -> Iterator[Tuple[str, Any]]:
    """Public methods and properties that are written for this class."""
    if issubclass(kind, BaseException):
        return
    for name in sorted(dir(kind)):
        if name.startswith("_"):
            continue
        for base in kind.__mro__:
            if name in vars(base):
                break
        if not base.__module__.startswith("hwt"):
            continue
        value = inspect.getattr_static(kind, name)
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        if inspect.isfunction(value) or isinstance(value, property):
            yield name, value


def public_names() -> Dict[str, Any]:
    """Each public object once, by the name that users know it by."""
    found: Dict[str, Any] = {}
    seen = set()
    for module in public_modules():
        names = getattr(module, "__all__", None)
        if names is None:
            continue
        for name in names:
            value = getattr(module, name)
            if id(value) in seen or not (
                inspect.isfunction(value) or inspect.isclass(value)
            ):
                continue
            seen.add(id(value))
            found[f"{module.__name__}.{name}"] = value
            if inspect.isclass(value):
                for member, what in members(value):
                    found[f"{module.__name__}.{name}.{member}"] = what
    return found


NAMES = public_names()


def fields(value: Any) -> List[str]:
    """Names of what a record holds; [] of what is none."""
    if dataclasses.is_dataclass(value):
        return [
            field.name
            for field in dataclasses.fields(value)
            if not field.name.startswith("_")
        ]
    return list(getattr(value, "_fields", []))


def shown(name: str) -> bool:
    """An example of the class of a method, or of its module, calls it."""
    owner, _, member = name.rpartition(".")
    texts = [inspect.getdoc(NAMES.get(owner)) or ""]
    texts += [
        inspect.getdoc(value) or ""
        for other, value in NAMES.items()
        if other.startswith(f"{owner}.") and other != name
    ]
    lines = "\n".join(
        line
        for text in texts
        for line in text.splitlines()
        if line.strip().startswith((">>>", "..."))
    )
    return f".{member}(" in lines


def wants_example(name: str, value: Any) -> bool:
    """Functions, methods with arguments, and classes that are no records."""
    if name.rpartition(".")[2] in EASY:
        return False
    if inspect.isclass(value):
        return not (issubclass(value, BaseException) or fields(value))
    if isinstance(value, property):
        return False
    if inspect.isclass(NAMES.get(name.rpartition(".")[0])):
        return len(inspect.signature(value).parameters) > 1 and not shown(name)
    return True


def faults(name: str, value: Any) -> List[str]:
    """What is wrong with the text of a public name."""
    # Not by its name: that would import what lies at it.
    result = validate.validate(validate.get_doc_object(value))
    errors = dict(result["errors"])
    found = [
        f"{code} {text}"
        for code, text in result["errors"]
        if code not in TASTE
    ]
    if "GL08" in errors:
        return found
    text = inspect.getdoc(value) or ""
    if inspect.isclass(value) and fields(value):
        # As Parameters or as Attributes: who reads them does not make them.
        found = [fault for fault in found if not fault.startswith("PR0")]
        found += [
            f"field {field} is not explained"
            for field in fields(value)
            if not _explained(field, text)
        ]
    elif "PR01" in errors and not (
        # Many classes are made by methods of others alone.
        inspect.isclass(value) and "Parameters\n------" not in text
    ):
        found.append(f"PR01 {errors['PR01']}")
    if "EX01" in errors and wants_example(name, value):
        found.append("EX01 no example")
    return found


def _explained(field: str, text: str) -> bool:
    for line in text.splitlines():
        head, colon, _ = line.partition(" :")
        if colon and field in [part.strip() for part in head.split(",")]:
            return True
    return False


def test_modules_say_what_is_public() -> None:
    for module in public_modules():
        assert module.__doc__, f"{module.__name__} has no docstring"
        names = getattr(module, "__all__", None)
        assert names is not None, f"{module.__name__} has no __all__"
        assert len(set(names)) == len(names), f"{module.__name__}: twice"
        assert [n for n in names if not hasattr(module, n)] == []
    assert hwt.__all__ == sorted(hwt.__all__), "hwt.__all__ is not sorted"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_public_name_is_explained(name: str) -> None:
    found = faults(name, NAMES[name])
    assert found == [], "".join(f"\n  {name}: {fault}" for fault in found)


def docstrings() -> Dict[str, doctest.DocTest]:
    """The examples of all modules, also of private ones."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {}
    modules = [hwt] + [
        importlib.import_module(f"hwt.{module.name}")
        for module in pkgutil.iter_modules(hwt.__path__)
        if not module.name.startswith("_hwtdecode")
    ]
    for module in modules:
        for test in finder.find(module):
            if test.examples:
                found[test.name] = test
    return found


TESTS = docstrings()


@pytest.mark.parametrize("name", sorted(TESTS))
def test_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What examples write is gone afterwards.
    monkeypatch.chdir(tmp_path)
    test = TESTS[name]
    test.globs = {
        **test.globs,
        "hwt": hwt,
        "pt": EXAMPLES / "pt.hwt",
        "spe": EXAMPLES / "spe.hwt",
    }
    said: List[str] = []
    runner = doctest.DocTestRunner(
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    runner.run(test, out=said.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


def test_the_program_of_the_readme_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    program = "\n".join(
        line[4:]
        for line in readme.partition("## ")[0].splitlines()
        if line.startswith("    ")
    )
    assert "import hwt" in program
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out.count("\n") > 2


def test_faults_are_found() -> None:
    found = faults("hwt.errors.io_error", hwt.errors.io_error)
    assert [fault.split()[0] for fault in found] == ["RT01", "PR01", "EX01"]
    assert faults("hwt.library_version", hwt.library_version) == []


def test_modules_need_no_import_of_their_own() -> None:
    folder = Path(hwt.__file__).parent
    modules = {
        path.stem
        for path in folder.glob("*.py")
        if not path.stem.startswith("_")
    }
    program = (
        "import hwt, types\n"
        "found = {n: getattr(hwt, n) for n in dir(hwt)}\n"
        "print(*sorted(n for n, v in found.items()"
        " if isinstance(v, types.ModuleType) and v.__name__ == f'hwt.{n}'"
        " and n[0] != '_'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
    )
    assert set(done.stdout.split()) == modules
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hwt.nothing  # noqa: B018
