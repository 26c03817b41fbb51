"""ETMv4 and ETE packet encoder: one text line, one packet.

Sources: Arm Embedded Trace Macrocell Architecture Specification ETMv4
(IHI 0064), chapter "Descriptions of Trace Protocols"; Arm Architecture
Reference Manual (DDI 0487), chapter "ETE packet descriptions", which has
those marked ETE.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import AsmError
from .source import ByteStream, groups_of_7, parse_fields
from .values import evaluate, little, number

ASYNC = bytes(11) + b"\x80"

# Packets without operands.
FIXED = {
    "async": ASYNC, "discard": b"\x00\x03", "overflow": b"\x00\x05",
    "on": b"\x04", "fret": b"\x05", "exret": b"\x07", "ignore": b"\x70",
    # ETE
    "tstart": b"\x0a", "tcommit": b"\x0b", "tsmark": b"\x88",
    "pereset": b"\x06\x01\x70", "tfail": b"\x06\x31\x70",
}

# Formats 4 and 5 are of these sequences only, oldest first.
ATOMS_4 = {"NEEE": 0xdc, "NNNN": 0xdd, "NENE": 0xde, "ENEN": 0xdf}
ATOMS_5 = {"NEEEE": 0xf5, "NNNNN": 0xd5, "NENEN": 0xd6, "ENENE": 0xd7}
ATOMS_6_MIN, ATOMS_6_MAX = 4, 24

# Headers by form of the address: IS0, then IS1.
ADDRESS = {"short": (0x95, 0x96), "long32": (0x9a, 0x9b),
           "long64": (0x9d, 0x9e)}
ADDRESS_CONTEXT = {"long32": (0x82, 0x83), "long64": (0x85, 0x86)}
SOURCE = {"short": (0xb4, 0xb5), "long32": (0xb6, 0xb7),
          "long64": (0xb8, 0xb9)}
Q_ADDRESS = {"short": (0xa5, 0xa6), "long32": (0xaa, 0xab)}

CONTEXT_FIELDS = "el ns sf nse vmid cid"

# Atoms that a cancel or a mispredict carries.
MISPREDICT_ATOMS = {"": 0, "E": 1, "EE": 2, "N": 3}

# Addresses that exact matches can name.
HISTORY = 3


def atoms_of(text: str) -> str:
    """Return letters E and N, oldest first."""
    letters = text.replace(".", "").replace(" ", "").upper()
    if not letters or set(letters) - set("EN"):
        raise AsmError(f"atoms are E and N, oldest first: {text!r}")
    return letters


class EtmStream(ByteStream):
    """Collects packets; keeps addresses to catch wrong compressions."""

    def __init__(self, labels: Mapping[str, int], vmid_bytes: int = 1) -> None:
        super().__init__(labels)
        self.vmid_bytes = vmid_bytes
        self.history = [0] * HISTORY

    def encode(self, text: str) -> bytes:
        """Return the bytes of one packet."""
        if text.strip() in FIXED:
            if text.strip() == "async":
                self.history = [0] * HISTORY
            return FIXED[text.strip()]
        return super().encode(text)

    def _fields(self, words: list[str], known: str) -> dict[str, int]:
        return parse_fields(words, known, self.labels)

    # Atoms.

    def _p_atom(self, words: list[str]) -> bytes:
        """Formats 1 to 3, by the number of atoms."""
        letters = atoms_of("".join(words))
        headers = {1: 0xf6, 2: 0xd8, 3: 0xf8}
        if len(letters) not in headers:
            raise AsmError("atom is of 1 to 3; see atom4, atom5 and atom6")
        bits = sum(int(letter == "E") << i
                   for i, letter in enumerate(letters))
        return bytes([headers[len(letters)] | bits])

    def _p_atom4(self, words: list[str]) -> bytes:
        return bytes([ATOMS_4[atoms_of("".join(words))]])

    def _p_atom5(self, words: list[str]) -> bytes:
        return bytes([ATOMS_5[atoms_of("".join(words))]])

    def _p_atom6(self, words: list[str]) -> bytes:
        """`atom6 COUNT E|N`: E atoms, the last one as told."""
        count, last = number(words[0]), words[1]
        if not ATOMS_6_MIN <= count <= ATOMS_6_MAX or last not in ("E", "N"):
            raise AsmError("atom6 is `4..24 E|N`")
        return bytes([(0xe0 if last == "N" else 0xc0) + count - ATOMS_6_MIN])

    # Addresses.

    def _keep(self, address: int) -> None:
        self.history = [address, *self.history[:HISTORY - 1]]

    def _address(self, form: str, address: int, low: int) -> bytes:
        """Return the payload; `low` is the first bit that is carried."""
        first = address >> low & 0x7f
        if form == "short":
            top = low + 7
            if (address ^ self.history[0]) >> top == 0:
                data = bytes([first])
            else:
                data = bytes([first | 0x80, address >> top & 0xff])
                top += 8
        else:
            second = address >> 9 & 0x7f if low == 2 else address >> 8 & 0xff
            data = bytes([first, second]) + little(address >> 16, 2)
            top = 32
            if form == "long64":
                data += little(address >> 32, 4)
                top = 64
        got = address & ((1 << top) - 1) | self.history[0] >> top << top
        if got >> low != (address & (1 << 64) - 1) >> low:
            raise AsmError(f"{form} gives {got:#x}, not {address:#x}")
        self._keep(address)
        return data

    def _with_address(self, headers: Mapping[str, tuple[int, int]],
                      words: list[str]) -> tuple[bytes, list[str]]:
        """`FORM ADDRESS [is1] rest`: header and payload, and the rest."""
        form, text, rest = words[0], words[1], words[2:]
        if form not in headers:
            raise AsmError(f"no such form of address: {form}")
        is1 = rest[:1] == ["is1"]
        address = evaluate(text, self.labels)
        return (bytes([headers[form][is1]])
                + self._address(form, address, 1 if is1 else 2),
                rest[1:] if is1 else rest)

    def _match(self, header: int, words: list[str]) -> bytes:
        entry = number(words[0])
        if not 0 <= entry < HISTORY:
            raise AsmError("an exact match names entry 0, 1 or 2")
        self._keep(self.history[entry])
        return bytes([header + entry])

    def _p_addr(self, words: list[str]) -> bytes:
        if words[0] == "match":
            return self._match(0x90, words[1:])
        data, rest = self._with_address(ADDRESS, words)
        if rest:
            raise AsmError("addr is `FORM ADDRESS [is1]`")
        return data

    def _p_src(self, words: list[str]) -> bytes:
        """ETE."""
        if words[0] == "match":
            return self._match(0xb0, words[1:])
        return self._with_address(SOURCE, words)[0]

    def _context(self, words: list[str]) -> bytes:
        field = self._fields(words, CONTEXT_FIELDS)
        data = bytes([field.get("el", 0) | field.get("nse", 0) << 3
                      | field.get("sf", 0) << 4 | field.get("ns", 0) << 5
                      | int("vmid" in field) << 6 | int("cid" in field) << 7])
        if "vmid" in field:
            data += little(field["vmid"], self.vmid_bytes)
        if "cid" in field:
            data += little(field["cid"], 4)
        return data

    def _p_ctx(self, words: list[str]) -> bytes:
        """Alone: the same as before."""
        return b"\x81" + self._context(words) if words else b"\x80"

    def _p_addr_ctx(self, words: list[str]) -> bytes:
        data, rest = self._with_address(ADDRESS_CONTEXT, words)
        return data + self._context(rest)

    # Synchronisation.

    def _p_tinfo(self, words: list[str]) -> bytes:
        field = self._fields(words, "cc trans key spec cyct")
        sections = []
        control = 0
        if "cc" in field or "trans" in field:
            control |= 1
            sections.append(groups_of_7(field.get("cc", 0)
                                        | field.get("trans", 0) << 6, 1))
        for bit, name in ((2, "key"), (4, "spec"), (8, "cyct")):
            if name in field:
                control |= bit
                sections.append(groups_of_7(field[name], 5))
        return bytes([1, control]) + b"".join(sections)

    # Exceptions.

    def _p_ex(self, words: list[str]) -> bytes:
        """`ex TYPE ee=1|2 [pending]`; types over 31 take two bytes."""
        field = self._fields(words[1:], "ee pending long")
        kind = number(words[0])
        first = (field["ee"] & 1) | (kind & 31) << 1 | field["ee"] >> 1 << 6
        if kind < 32 and not field.get("pending") and not field.get("long"):
            return bytes([6, first])
        return bytes([6, first | 0x80,
                      kind >> 5 | field.get("pending", 0) << 5])

    # Time and cycles.

    def _p_ts(self, words: list[str]) -> bytes:
        """`ts N [bytes=N] [cc=N]`: with the low groups of bits only."""
        field = self._fields(words[1:], "bytes cc")
        value = evaluate(words[0], self.labels)
        if value >> 56 or field.get("bytes", 0) == 9:
            data = groups_of_7(value & (1 << 56) - 1, 8, 8)
            data = data[:7] + bytes([data[7] | 0x80, value >> 56])
        else:
            data = groups_of_7(value, 8, field.get("bytes", 0))
        if "cc" in field:
            return b"\x03" + data + groups_of_7(field["cc"], 3)
        return b"\x02" + data

    def _p_cc1(self, words: list[str]) -> bytes:
        """`cc1 [commit=N] [N]`; without N the count is not known."""
        commit = [word for word in words if word.startswith("commit=")]
        count = [number(word) for word in words if word not in commit]
        data = b"\x0e" if count else b"\x0f"
        if commit:
            data += groups_of_7(self._fields(commit, "commit")["commit"], 4)
        return data + (groups_of_7(count[0], 3) if count else b"")

    def _p_cc2(self, words: list[str]) -> bytes:
        field = self._fields(words, "f a b")
        if field["a"] >> 4 or field["b"] >> 4:
            raise AsmError("cc2 is `[f] a=0..15 b=0..15`")
        return bytes([0x0c | field.get("f", 0), field["a"] << 4 | field["b"]])

    def _p_cc3(self, words: list[str]) -> bytes:
        field = self._fields(words, "a b")
        if field["a"] >> 2 or field["b"] >> 2:
            raise AsmError("cc3 is `a=0..3 b=0..3`")
        return bytes([0x10 | field["a"] << 2 | field["b"]])

    # Speculation.

    def _p_commit(self, words: list[str]) -> bytes:
        return b"\x2d" + groups_of_7(number(words[0]), 4)

    def _p_cancel(self, words: list[str]) -> bytes:
        """`cancel N [mispredict]`: format 1."""
        if words[1:] not in ([], ["mispredict"]):
            raise AsmError("cancel is `N [mispredict]`")
        return (bytes([0x2e | len(words) - 1])
                + groups_of_7(number(words[0]), 4))

    def _p_cancel2(self, words: list[str]) -> bytes:
        """One P0 element, a mispredict and atoms behind it."""
        return bytes([0x34 | MISPREDICT_ATOMS["".join(words)]])

    def _p_cancel3(self, words: list[str]) -> bytes:
        """`cancel3 2..5 [E]`: P0 elements, a mispredict, and an atom."""
        count = number(words[0])
        if not 2 <= count <= 5 or words[1:] not in ([], ["E"]):
            raise AsmError("cancel3 is `2..5 [E]`")
        return bytes([0x38 | count - 2 << 1 | len(words) - 1])

    def _p_mispredict(self, words: list[str]) -> bytes:
        return bytes([0x30 | MISPREDICT_ATOMS["".join(words)]])

    # The rest.

    def _p_event(self, words: list[str]) -> bytes:
        mask = number(words[0])
        if not 0 < mask < 16:
            raise AsmError("event is a mask of 1 to 15")
        return bytes([0x70 | mask])

    def _p_q(self, words: list[str]) -> bytes:
        """`q`, `q N`, `q N FORM ADDRESS [is1]`, `q N match ENTRY`."""
        if not words:
            return b"\xaf"
        count = groups_of_7(number(words[0]), 5)
        if len(words) == 1:
            return b"\xac" + count
        if words[1] == "match":
            return self._match(0xa0, words[2:]) + count
        return self._with_address(Q_ADDRESS, words[1:])[0] + count

    def _p_ite(self, words: list[str]) -> bytes:
        """ETE: `ite el=N VALUE`."""
        field = self._fields(words[:1], "el")
        return bytes([0x09, field["el"]]) + little(
            evaluate(words[1], self.labels), 8)
