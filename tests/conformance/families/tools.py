"""Running hwtdecode-flow, the program that decodes for the Intel PT cases."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .case import Case, Fail, Malformed, Skip

# The engine that decodes when none is named.
DEFAULT_ENGINE = "native"

DIFFERS, LIMIT = 1, 3
TIMEOUT = 1800


@dataclass(frozen=True)
class Tools:
    """What to decode with, and limits."""

    flow: Path
    engine: str | None = None
    max_insns: int | None = None
    decode_jobs: int = 1
    # The hwtdecode tool; None: it was not built.
    cli: Path | None = None

    @property
    def engine_in_use(self) -> str:
        """Return the name of the engine that will decode."""
        return self.engine or DEFAULT_ENGINE

    def within(self, insns: int) -> None:
        """Skip a case of more instructions than allowed."""
        if self.max_insns is not None and insns > self.max_insns:
            raise Skip(f"{insns} instructions, the limit is "
                       f"{self.max_insns}")

    def decode(self, case: Case, trace: str, options: Sequence[str],
               timeout: float = TIMEOUT) -> subprocess.CompletedProcess[str]:
        """Decode one raw stream of a case."""
        return decode_file(self, case.path(trace), options, timeout, trace)


def decode_file(tools: Tools, path: Path, options: Sequence[str],
                timeout: float = TIMEOUT, name: str | None = None
                ) -> subprocess.CompletedProcess[str]:
    """Decode a file; exit codes other than 0, 1 and 3 fail."""
    name = name or path.name
    command = [str(tools.flow), *options]
    if tools.engine is not None:
        command += ["--engine", tools.engine]
    if tools.decode_jobs > 1:
        command += ["--jobs", str(tools.decode_jobs)]
    command.append(str(path))
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise Fail(f"{name}: still decoding after {timeout:g} s") from None
    if done.returncode < 0:
        raise Fail(f"{name}: {tools.flow.name} died of signal "
                   f"{-done.returncode}")
    if done.returncode not in (0, DIFFERS, LIMIT):
        said = done.stderr.strip().splitlines()
        raise Fail(f"{name}: " + (said[-1] if said else
                                  f"exit code {done.returncode}"))
    for line in done.stdout.splitlines():
        if line.startswith("account: "):
            raise Fail(f"{name}: {line[9:]}")
    return done


def image_options(case: Case) -> list[str]:
    """Return the options that name the code of a case."""
    image = case.section("params").get("image", {})
    if isinstance(image, dict) and "file" in image:
        name = str(image["file"])
        size = case.path(name).stat().st_size
        address = int(str(image["vaddr"]), 16)
        return ["--image", f"{case.path(name)}:0:{size:x}:{address:x}"]
    options = []
    spec = str(image.get("spec", "image.txt")) if isinstance(image, dict) \
        else "image.txt"
    for line in case.lines(spec):
        words = line.rsplit(None, 3)
        if len(words) != 4:
            raise Malformed(f"{spec}: cannot read {line!r}")
        name, offset, size_text, address_text = words
        options += ["--image", f"{case.path(name)}:{offset}:{size_text}:"
                               f"{address_text}"]
    return options


def pt_options(case: Case) -> list[str]:
    """Return the options for the parameters of an Intel PT case."""
    params = case.section("params")
    options = image_options(case)
    cpu = params.get("cpu")
    if isinstance(cpu, dict):
        options += ["--cpu", f"{cpu['family']}/{cpu['model']}/"
                             f"{cpu.get('stepping', 0)}"]
    elif cpu is not None:
        options += ["--cpu", str(cpu)]
    if int(params.get("mtc_freq", -1)) >= 0:
        options += ["--mtc-freq", str(params["mtc_freq"])]
    if params.get("nom_freq"):
        options += ["--nom-freq", str(params["nom_freq"])]
    if params.get("cpuid_0x15_eax"):
        options += ["--cpuid15", f"{params['cpuid_0x15_eax']}/"
                                 f"{params['cpuid_0x15_ebx']}"]
    address_filter = params.get("ip_filter")
    if address_filter:
        start, end = (int(str(word), 16) for word in address_filter)
        options += ["--filter", f"{start:x}:{end:x}"]
    return options
