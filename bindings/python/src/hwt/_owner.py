"""Who else has a package ``hwt``: two distributions cannot share a name."""

from __future__ import annotations

import os
import sys
from typing import List, Optional, Set

DISTRIBUTION = "hwtdecode"
PACKAGE = "hwt"
_METADATA = (".dist-info", ".egg-info", ".egg-link")


def _names(folder: str) -> List[str]:
    try:
        return os.listdir(folder or os.curdir)
    except OSError:
        return []


def _own_entries(site: str, names: List[str]) -> Optional[Set[str]]:
    """What the installer put into our folder; None: nobody says."""
    for name in names:
        if name.startswith(f"{DISTRIBUTION}-") and name.endswith(_METADATA):
            try:
                with open(
                    os.path.join(site, name, "RECORD"), encoding="utf-8"
                ) as record:
                    lines = record.read().splitlines()
            except (OSError, ValueError):
                return None
            return {
                line.split(",")[0].split("/")[1].strip('"')
                for line in lines
                if line.startswith(f"{PACKAGE}/")
            }
    return None


def suspicious(package: str) -> bool:
    """Something hints at another owner; cheap, since every import asks.

    A distribution of the name of the package, or files in our folder that
    our installer did not put there.
    """
    site = os.path.dirname(os.path.abspath(package))
    for folder in {*sys.path, site}:
        for name in _names(folder):
            if name.startswith(f"{PACKAGE}-") and name.endswith(_METADATA):
                return True
            if name == f"{PACKAGE}.egg-link":
                return True
    own = _own_entries(site, _names(site))
    if own is None:
        return False
    there = {name for name in _names(package) if name != "__pycache__"}
    return not there <= own


def _claims(distribution: object) -> bool:
    read = getattr(distribution, "read_text")
    top_level = read("top_level.txt")
    if top_level is not None:
        return PACKAGE in top_level.split()
    files = read("RECORD") or read("installed-files.txt") or ""
    return any(
        line.strip('"').startswith(f"{PACKAGE}/")
        for line in files.splitlines()
    )


def others() -> List[str]:
    """The other owners, for instance ``["hwt 3.8"]``; looks at all."""
    from importlib import metadata

    found = set()
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"] or ""
        if name.lower() != DISTRIBUTION and _claims(distribution):
            found.add(f"{name} {distribution.version}")
    return sorted(found)


def check(package: str) -> None:
    """Refuse to be imported from a folder, or a path, that two share."""
    if not suspicious(package):
        return
    owners = others()
    if owners:
        names = [owner.split()[0] for owner in owners]
        raise ImportError(
            f"the package '{PACKAGE}' is of two distributions, {DISTRIBUTION} "
            f"and {', '.join(owners)}; keep each in a virtual environment of "
            f"its own, or run: pip uninstall {DISTRIBUTION} "
            f"{' '.join(names)}, and install the one that is wanted again",
            name=PACKAGE,
            path=package,
        )
