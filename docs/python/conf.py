"""How Sphinx makes the reference of the Python package.

HWT_DOCS_PACKAGE is the folder that has the package hwt, compiled.  This file is copied
to another folder, where it writes a page for each public module.
"""

import importlib
import inspect
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = Path(os.environ["HWT_DOCS_PACKAGE"])
sys.path.insert(0, str(PACKAGE))

import hwt  # noqa: E402
from sphinx.pycode import ModuleAnalyzer  # noqa: E402

project = "hwtdecode"
author = "The libhwtdecode developers"
copyright = author
version = release = hwt.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "myst_parser",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"hwtdecode {release} for Python"
# `hwt.open` in a docstring is a link where there is such a name.
default_role = "py:obj"
# Everything that readers need is in the pages.
html_show_sourcelink = False
html_copy_source = False

napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
# A class tells its attributes once: where its docstring lists them.
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autoclass_content = "class"
myst_heading_anchors = 3

# What the pages begin with; other public modules follow.
FIRST = ["hwt", "trace", "build", "events", "profile", "flame", "exports",
         "coverage", "memory", "histogram", "diff"]  # fmt: skip


def public_modules():
    """Names of the modules of the package that users may import."""
    names = [path.stem for path in (PACKAGE / "hwt").glob("*.py")]
    names = [name for name in names if not name.startswith("_")]
    return sorted(
        ["hwt", *names],
        key=lambda name: (
            FIRST.index(name) if name in FIRST else len(FIRST), name
        ),
    )  # fmt: skip


def comments_of(module):
    """What "#:" says of the values of a module."""
    analyzer = ModuleAnalyzer.for_module(module.__name__)
    analyzer.analyze()
    return {name: lines for (_, name), lines in analyzer.attr_docs.items()}


def entry(module, name):
    """What autodoc is told of a public name of a module, or where it is."""
    thing = getattr(module, name)
    home = getattr(thing, "__module__", None) or module.__name__
    kind = (
        "class" if isinstance(thing, type)
        else "function" if inspect.isroutine(thing) else "data"
    )  # fmt: skip
    elsewhere = home != module.__name__ and home.rsplit(".", 1)[-1] in MODULES
    if kind != "data" and elsewhere:
        role = "class" if kind == "class" else "func"
        return ["", f"``{name}`` is :{role}:`{home}.{name}`."]
    if kind == "data":
        said = comments_of(module).get(name, [])
        return ["", f".. py:data:: {module.__name__}.{name}", "",
                *(f"   {line}" for line in said)]
    lines = ["", f".. auto{kind}:: {module.__name__}.{name}"]
    if kind == "class":
        lines.append("   :members:")
        if issubclass(thing, tuple):
            lines.append("   :exclude-members: count, index")
        if not issubclass(thing, BaseException):
            lines.append("   :inherited-members: object, tuple")
    return lines


def page_of(name):
    """The page of a module: what it offers, in the order of names."""
    module = importlib.import_module("hwt" if name == "hwt" else f"hwt.{name}")
    title = f"``{module.__name__}``"
    lines = [title, "=" * len(title), "", f".. automodule:: {module.__name__}",
             "   :no-members:"]  # fmt: skip
    for public in module.__all__:
        lines += entry(module, public)
    return "\n".join([*lines, ""])


def write_if_new(path, text):
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


MODULES = public_modules()
for module in MODULES:
    write_if_new(HERE / "api" / f"{module}.rst", page_of(module))
write_if_new(
    HERE / "api" / "index.rst",
    "API by module\n=============\n\n.. toctree::\n\n"
    + "".join(f"   {module}\n" for module in MODULES),
)
