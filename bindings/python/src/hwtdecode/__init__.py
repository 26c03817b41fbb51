"""The package ``hwt`` by the name of its distribution.

``import hwtdecode as hwt`` says clearly when another distribution has put a
package ``hwt`` of its own in the place of this one, which that one cannot.
"""

from __future__ import annotations

import hwt as _hwt

if getattr(_hwt, "__distribution__", None) != "hwtdecode":
    raise ImportError(
        f"the package hwt in {_hwt.__path__[0]} is not that of hwtdecode: "
        "another distribution has overwritten it.  Both have a package of "
        "that name and cannot share an environment: make one of its own "
        "(python -m venv), or run pip uninstall hwt and pip install "
        "--force-reinstall hwtdecode"
    )

from hwt import *  # noqa: E402, F403
from hwt import __all__ as __all__  # noqa: E402
from hwt import __version__ as __version__  # noqa: E402
