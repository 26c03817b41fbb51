"""How a CoreSight case was recorded: trace units, registers, frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import AsmError
from .etm import EtmStream
from .source import ByteStream
from .swtrace import ItmStream, StmStream
from .values import number

FRAMINGS = ("none", "memory", "tpiu", "dstream")

# Name of a protocol, as other corpora have it, and its registers where a case
# does not say otherwise.  TRCIDR0: return stack, cycle counts, 64-bit time
# stamps, committed at once; TRCIDR2: 64-bit addresses, 32-bit context ID, VMID
# of a byte.
PROTOCOLS: dict[str, tuple[str, dict[str, int]]] = {
    "etmv4": ("ETMV4I", {
        "TRCCONFIGR": 0x1, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100f443,
        "TRCIDR2": 0x488, "TRCIDR8": 0}),
    "ete": ("ETE", {
        "TRCCONFIGR": 0x1, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100fff0,
        "TRCIDR2": 0x488, "TRCIDR8": 0, "TRCDEVARCH": 0x47705a13}),
    "stm": ("STM", {"STMTCSR": 0x1}),
    "itm": ("ITM", {}),
}
ARCHS = {"v7": "ARCH_V7", "v8": "ARCH_V8", "v8.3": "ARCH_AA64"}
PROFILES = ("a", "r", "m")
DEFAULT_ID = 0x10


@dataclass
class Unit:
    """One source of trace."""

    protocol: str
    trace_id: int
    arch: str = "v8.3"
    profile: str = "a"
    registers: dict[str, int] = field(default_factory=dict)

    def stream(self, labels: Mapping[str, int]) -> ByteStream | StmStream:
        """Return an encoder of the protocol."""
        if self.protocol == "stm":
            return StmStream(labels)
        if self.protocol == "itm":
            return ItmStream(labels)
        size = self.registers["TRCIDR2"] >> 10 & 31
        return EtmStream(labels, size)

    def params(self) -> dict[str, object]:
        """Return what case.json says of the source."""
        registers = {**self.registers, "TRCTRACEIDR": self.trace_id}
        return {"protocol": PROTOCOLS[self.protocol][0],
                "arch_ver": ARCHS[self.arch],
                "core_profile": self.profile.upper(),
                "regs": {name: f"{value:#x}"
                         for name, value in registers.items()}}


@dataclass
class Sink:
    """What all sources wrote to."""

    framing: str
    units: list[Unit]

    def params(self) -> dict[str, object]:
        """Return what case.json says of it."""
        return {"framing": self.framing,
                "sources": [unit.params() for unit in self.units]}


def _unit(key: str, value: str) -> Unit:
    """`unit [ID]: PROTOCOL [arch=A] [profile=P] [REGISTER=N]`."""
    protocol, *words = value.split()
    if protocol not in PROTOCOLS:
        raise AsmError(f"no such protocol: {protocol}")
    _, _, told = key.partition(" ")
    unit = Unit(protocol, number(told) if told else DEFAULT_ID,
                registers=dict(PROTOCOLS[protocol][1]))
    for word in words:
        name, equals, text = word.partition("=")
        if name == "arch" and text in ARCHS:
            unit.arch = text
        elif name == "profile" and text in PROFILES:
            unit.profile = text
        elif equals and name.isupper():
            unit.registers[name] = number(text)
        else:
            raise AsmError(f"a unit has no {word}")
    return unit


def read_sink(header: Mapping[str, str]) -> Sink:
    """Read the header lines `unit` and `framing`."""
    framing = header.get("framing", "none")
    units = [_unit(key, value) for key, value in header.items()
             if key.split(" ")[0] == "unit"]
    if framing not in FRAMINGS or not units:
        raise AsmError("the case needs a unit, and a framing that exists")
    if framing == "none" and len(units) != 1:
        raise AsmError("several units need frames")
    return Sink(framing, units)
