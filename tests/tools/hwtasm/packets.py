"""Intel PT packet encoder: one text line, one packet.

Source: Intel SDM vol. 3C, chapter "Intel Processor Trace", "Packet
Definitions"; the trigger packet and event trace are in its newer editions.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import AsmError
from .source import ByteStream, parse_fields
from .values import evaluate, little, number

PSB = bytes.fromhex("0282" * 8)

# Packets without operands.
FIXED = {
    "pad": b"\x00", "psb": PSB, "psbend": b"\x02\x23", "ovf": b"\x02\xf3",
    "stop": b"\x02\x83",
}

# Low five bits of the packets with an IP payload.
IP_HEADERS = {"tip": 0x0d, "tip.pge": 0x11, "tip.pgd": 0x01, "fup": 0x1d}

# Payload bytes by IP compression mode.
IP_BYTES = {0: 0, 1: 2, 2: 4, 3: 6, 4: 6, 6: 8}

TNT8_MAX = 6
TNT64_MAX = 47
CYC_MAX = 15


def tnt_bits(text: str) -> list[int]:
    """Return branch outcomes, oldest first: 1 taken, 0 not taken."""
    letters = text.replace(".", "").replace(" ", "").lower()
    if not letters or set(letters) - set("tn"):
        raise AsmError(f"TNT bits are T and N, oldest first: {text!r}")
    return [int(letter == "t") for letter in letters]


def tnt8(bits: list[int]) -> bytes:
    """Encode a short TNT packet."""
    if not 0 < len(bits) <= TNT8_MAX:
        raise AsmError(f"a short TNT holds 1 to {TNT8_MAX} bits")
    value = 1
    for bit in bits:
        value = value << 1 | bit
    return bytes([value << 1])


def tnt64(bits: list[int]) -> bytes:
    """Encode a long TNT packet."""
    if len(bits) > TNT64_MAX:
        raise AsmError(f"a long TNT holds up to {TNT64_MAX} bits")
    value = 1
    for bit in bits:
        value = value << 1 | bit
    return b"\x02\xa3" + little(value, 6)


def ip_payload(mode: int, ip: int) -> bytes:
    """Return the payload bytes of an IP in a compression mode."""
    if mode not in IP_BYTES:
        raise AsmError(f"IP compression is 0, 1, 2, 3, 4 or 6, not {mode}")
    return little(ip, IP_BYTES[mode])


def ip_restore(mode: int, payload: int, last: int) -> int:
    """Return the address that a payload stands for after `last`."""
    if mode == 1:
        return last & ~0xffff | payload
    if mode == 2:
        return last & ~0xffffffff | payload
    if mode == 3:
        return payload | (0xffff << 48 if payload >> 47 & 1 else 0)
    if mode == 4:
        return last & 0xffff << 48 | payload
    return payload


def cyc(cycles: int, size: int = 0) -> bytes:
    """Encode a cycle count: 5 bits, then 7 bits per byte.

    It takes ``size`` bytes, or as few as it can.
    """
    if cycles < 0:
        raise AsmError("cycles do not go back")
    least = 1 + (max(0, cycles.bit_length() - 5) + 6) // 7
    size = size or least
    if not least <= size <= CYC_MAX:
        raise AsmError(f"{cycles} cycles take {least} to {CYC_MAX} bytes")
    out = bytearray([(cycles & 31) << 3 | (4 if size > 1 else 0) | 3])
    for i in range(1, size):
        low = cycles >> (5 + 7 * (i - 1)) & 0x7f
        out.append(low << 1 | (1 if i + 1 < size else 0))
    return bytes(out)


class Stream(ByteStream):
    """Collects packets; keeps the last IP to catch wrong compressions."""

    def __init__(self, labels: Mapping[str, int]) -> None:
        super().__init__(labels)
        self.last_ip = 0

    def encode(self, text: str) -> bytes:
        """Return the bytes of one packet."""
        name, _, rest = text.strip().partition(" ")
        words = rest.split()
        if name in FIXED:
            if words == [] or name == "pad":
                if name == "psb":
                    self.last_ip = 0
                return FIXED[name] * (number(words[0]) if words else 1)
            raise AsmError(f"{name} has no operands")
        if name in IP_HEADERS:
            return self._ip(name, words)
        return super().encode(text)

    def _ip(self, name: str, words: list[str]) -> bytes:
        mode = number(words[0])
        force = words[-1] == "!"
        value = " ".join(words[1:len(words) - force])
        ip = evaluate(value, self.labels) if value else 0
        if (mode == 0) == bool(value):
            raise AsmError("an IP packet is `mode ip`, or `0` alone")
        data = ip_payload(mode, ip)
        if mode != 0:
            got = ip_restore(mode, int.from_bytes(data, "little"),
                             self.last_ip)
            if got != ip and not force:
                raise AsmError(f"mode {mode} gives {got:#x}, not {ip:#x}")
            self.last_ip = got
        return bytes([mode << 5 | IP_HEADERS[name]]) + data

    def _fields(self, words: list[str], known: str) -> dict[str, int]:
        """Return name=value operands; flags alone count as 1."""
        return {**dict.fromkeys(known.split(), 0),
                **parse_fields(words, known, self.labels)}

    def _p_tnt(self, words: list[str]) -> bytes:
        return tnt8(tnt_bits("".join(words)))

    def _p_tnt64(self, words: list[str]) -> bytes:
        return tnt64(tnt_bits("".join(words)) if words else [])

    def _p_mode_exec(self, words: list[str]) -> bytes:
        leaf = {"16": 0, "64": 1, "32": 2}.get(words[0])
        if leaf is None or words[1:] not in ([], ["if"]):
            raise AsmError("mode.exec is 16, 32 or 64, then `if`")
        return bytes([0x99, leaf | (4 if words[1:] else 0)])

    def _p_mode_tsx(self, words: list[str]) -> bytes:
        bits = {"begin": 1, "commit": 0, "abort": 2}.get(words[0])
        if bits is None or len(words) != 1:
            raise AsmError("mode.tsx is begin, commit or abort")
        return bytes([0x99, 0x20 | bits])

    def _p_pip(self, words: list[str]) -> bytes:
        field = self._fields(words, "cr3 nr")
        if field["cr3"] & 31 or field["cr3"] >> 52:
            raise AsmError("CR3 is bits 51 to 5")
        return b"\x02\x43" + little(field["cr3"] >> 4 | field["nr"], 6)

    def _p_vmcs(self, words: list[str]) -> bytes:
        base = number(words[0])
        if base & 0xfff or base >> 52:
            raise AsmError("a VMCS address is bits 51 to 12")
        return b"\x02\xc8" + little(base >> 12, 5)

    def _p_tsc(self, words: list[str]) -> bytes:
        return b"\x19" + little(number(words[0]), 7)

    def _p_tma(self, words: list[str]) -> bytes:
        field = self._fields(words, "ctc fc")
        if field["ctc"] >> 16 or field["fc"] >> 9:
            raise AsmError("TMA holds 16 bits of CTC and 9 of FC")
        return (b"\x02\x73" + little(field["ctc"], 2) + b"\x00"
                + little(field["fc"], 2))

    def _p_mtc(self, words: list[str]) -> bytes:
        return b"\x59" + little(number(words[0]), 1)

    def _p_cyc(self, words: list[str]) -> bytes:
        return cyc(number(words[0]), *(number(word) for word in words[1:2]))

    def _p_cbr(self, words: list[str]) -> bytes:
        return b"\x02\x03" + little(number(words[0]), 1) + b"\x00"

    def _p_mnt(self, words: list[str]) -> bytes:
        return b"\x02\xc3\x88" + little(number(words[0]), 8)

    def _p_ptw(self, words: list[str]) -> bytes:
        size, value = number(words[0]), number(words[1])
        if size not in (4, 8) or words[2:] not in ([], ["ip"]):
            raise AsmError("ptw is `4|8 payload [ip]`")
        code = 0x12 | (0x20 if size == 8 else 0) | (0x80 if words[2:] else 0)
        return bytes([0x02, code]) + little(value, size)

    def _p_exstop(self, words: list[str]) -> bytes:
        return bytes([0x02, 0xe2 if self._fields(words, "ip")["ip"] else 0x62])

    def _p_mwait(self, words: list[str]) -> bytes:
        field = self._fields(words, "hints ext")
        return (b"\x02\xc2" + little(field["hints"], 4)
                + little(field["ext"], 4))

    def _p_pwre(self, words: list[str]) -> bytes:
        field = self._fields(words, "state sub hw")
        return b"\x02\x22" + bytes([field["hw"] << 7,
                                    field["state"] << 4 | field["sub"]])

    def _p_pwrx(self, words: list[str]) -> bytes:
        field = self._fields(words, "last deepest wake")
        return b"\x02\xa2" + bytes([field["last"] << 4 | field["deepest"],
                                    field["wake"], 0, 0, 0])

    def _p_bbp(self, words: list[str]) -> bytes:
        field = self._fields(words, "type size")
        if field["size"] not in (4, 8) or field["type"] >> 5:
            raise AsmError("bbp is type=0..31 size=4|8")
        return b"\x02\x63" + bytes([field["type"]
                                    | (0x80 if field["size"] == 4 else 0)])

    def _p_bip(self, words: list[str]) -> bytes:
        field = self._fields(words, "id value size")
        if field["size"] not in (4, 8) or field["id"] >> 5:
            raise AsmError("bip is id=0..31 size=4|8 value=...")
        return (bytes([field["id"] << 3 | 4])
                + little(field["value"], field["size"]))

    def _p_bep(self, words: list[str]) -> bytes:
        return bytes([0x02, 0xb3 if self._fields(words, "ip")["ip"] else 0x33])

    def _p_cfe(self, words: list[str]) -> bytes:
        field = self._fields(words, "type vector ip")
        if field["type"] >> 5:
            raise AsmError("a CFE type has 5 bits")
        return b"\x02\x13" + bytes([field["type"] | field["ip"] << 7,
                                    field["vector"]])

    def _p_evd(self, words: list[str]) -> bytes:
        field = self._fields(words, "type payload")
        if field["type"] >> 6:
            raise AsmError("an EVD type has 6 bits")
        return (b"\x02\x53" + bytes([field["type"]])
                + little(field["payload"], 8))

    def _p_trig(self, words: list[str]) -> bytes:
        counted = any(word.startswith("icnt=") for word in words)
        field = self._fields(words, "vector icnt ip mult")
        flags = (field["ip"] << 7 | counted << 6 | field["mult"] << 5)
        tail = little(field["icnt"], 2) if counted else b""
        return b"\xd9" + bytes([flags, field["vector"]]) + tail


def packets(text: str) -> bytes:
    """Return the bytes of packets, one a line, without code or labels."""
    stream = Stream({})
    for line_no, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        try:
            stream.add(line)
        except AsmError as error:
            raise AsmError(str(error), line_no) from None
        except (ValueError, IndexError, KeyError) as error:
            raise AsmError(f"cannot encode {line!r}: {error}",
                           line_no) from None
    return bytes(stream.data)
