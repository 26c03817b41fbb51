"""Distributions as pictures: bars over a logarithmic axis, as SVG."""

from __future__ import annotations

import html
import math
import unicodedata
import zlib
from typing import Any, Iterable, NamedTuple, Sequence

from hwt._words import plural

__all__ = ["Bucket"]


class Bucket(NamedTuple):
    """Values that lie near each other.

    Attributes
    ----------
    first, last : int
        From `first` to `last`, which is one of them.
    n : int
        How many there are.
    """

    first: int
    last: int
    n: int


_WIDTH, _HEIGHT = 720, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 16, 70, 40
#: Doublings that the axis has at least.
_MIN_SPAN = 4.0
_MAX_BARS = 72
_MAX_STEPS = 128


def format_value(value: float, unit: str) -> str:
    """A value as people read it, for instance ``1.5 ms``."""
    if unit == "ns":
        for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
            if value >= size:
                return f"{value / size:.4g} {name}"
        return f"{value:.4g} ns"
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.4g}{name}"
    return f"{value:.4g}"


def _bar_of(value: int, steps: int) -> int:
    """Number of the bar of a value.

    Values below `steps`, a power of 2, have a bar each; above, as many as
    `steps` are in each doubling.  So a bucket lies in one bar.
    """
    if value < steps:
        return value
    octave = max(value.bit_length() - steps.bit_length(), 0)
    return steps + octave * steps + (value >> octave) - steps


def _range_of(bar: int, steps: int) -> tuple[int, int]:
    """First value of a bar, and the one above its last."""
    if bar < steps:
        return bar, bar + 1
    octave = (bar - steps) // steps
    first = (steps + (bar - steps) % steps) << octave
    return first, first + (1 << octave)


def _bars(buckets: Sequence[Bucket]) -> list[tuple[int, int, int]]:
    """At most so many bars as fit: first value, end, count."""
    low, high = buckets[0].first, buckets[-1].last
    steps = _MAX_STEPS
    while (
        steps > 1 and _bar_of(high, steps) - _bar_of(low, steps) >= _MAX_BARS
    ):
        steps //= 2
    counts: dict[int, int] = {}
    for bucket in buckets:
        bar = _bar_of(bucket.first, steps)
        counts[bar] = counts.get(bar, 0) + bucket.n
    return [(*_range_of(bar, steps), n) for bar, n in sorted(counts.items())]


def _log(value: float) -> float:
    """Place on the axis: 0 is one doubling below 1."""
    return math.log2(value) if value >= 1 else value - 1


def xml_text(text: str, most: int = 120) -> str:
    r"""Make text safe to show: what would hide or turn it is ``\xNN``."""
    out = []
    for char in text[:most]:
        if unicodedata.category(char) in (
            "Cc",
            "Cf",
            "Cs",
            "Co",
            "Cn",
            "Zl",
            "Zp",
        ):
            code = ord(char)
            out.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
        else:
            out.append(char)
    tail = "…" if len(text) > most else ""
    return html.escape("".join(out) + tail)


def percentiles(
    buckets: Sequence[Bucket], above: int = 0
) -> list[tuple[str, int]]:
    """Percentiles as far as buckets tell; `above` values are in none."""
    total = sum(b.n for b in buckets) + above
    found = []
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        left = max(math.ceil(total * share), 1)
        for bucket in buckets:
            left -= bucket.n
            if left <= 0:
                found.append((name, bucket.first))
                break
    return found


def distribution_svg(
    buckets: Sequence[Bucket],
    *,
    title: str,
    unit: str,
    marks: Sequence[tuple[str, int]] = (),
    notes: Iterable[str] = (),
) -> str:
    """Draw a distribution; see :meth:`Histogram.svg`."""
    notes = list(notes)
    total = sum(b.n for b in buckets)
    desc = [f"{plural(total, 'value')}", *notes]
    body: list[str] = []
    if buckets:
        span = (
            f"from {format_value(buckets[0].first, unit)} to "
            f"{format_value(buckets[-1].last, unit)}"
        )
        desc.insert(1, span)
        desc += [f"{name}: {format_value(v, unit)}" for name, v in marks]
        body = _plot(buckets, unit, marks)
    else:
        body = [
            f'<text x="{_WIDTH // 2}" y="{_HEIGHT // 2}" '
            'text-anchor="middle">no values</text>'
        ]
    shown = xml_text(title, 64)
    under = xml_text("; ".join(notes), 110)
    no = f"{zlib.crc32(repr((title, desc, body)).encode('utf-8', 'replace')):08x}"
    return "".join(
        (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" style="max-width:100%;height:auto" '
            'role="img" fill="currentColor" font-size="12" '
            'font-family="system-ui,sans-serif" '
            f'aria-labelledby="hwt-t{no} hwt-d{no}">',
            f'<title id="hwt-t{no}">{xml_text(title, 300)}</title>',
            f'<desc id="hwt-d{no}">{xml_text("; ".join(desc), 600)}</desc>',
            f'<text x="{_LEFT}" y="18" font-size="14" '
            f'font-weight="600">{shown}</text>',
            f'<text x="{_LEFT}" y="35" opacity="0.75">{under}</text>',
            *body,
            "</svg>",
        )
    )


def _plot(
    buckets: Sequence[Bucket], unit: str, marks: Sequence[tuple[str, int]]
) -> list[str]:
    bars = _bars(buckets)
    low, high = _log(bars[0][0]), _log(bars[-1][1])
    pad = max(_MIN_SPAN - (high - low), 0) / 2
    low, high = low - pad, high + pad
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    most = max(n for _, _, n in bars)
    total = sum(n for _, _, n in bars)
    floor = _HEIGHT - _BOTTOM

    def x_of(value: float) -> float:
        return _LEFT + wide * (_log(value) - low) / (high - low)

    out = []
    for count in _count_ticks(most):
        y = floor - tall * count / most
        out.append(
            f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" '
            'stroke="currentColor" stroke-opacity="0.15"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" '
            f'opacity="0.75">{format_value(count, "")}</text>'
        )
    for first, end, n in bars:
        left, right = x_of(first), x_of(end)
        # What is there is seen.
        height = max(tall * n / most, 1.5)
        gap = 1 if right - left > 4 else 0
        last = f" to {format_value(end - 1, unit)}" if end - first > 1 else ""
        tip = xml_text(
            f"{format_value(first, unit)}{last}: {n} ({100 * n / total:.1f}%)"
        )
        out.append(
            f'<rect x="{left:.1f}" y="{floor - height:.1f}" '
            f'width="{max(right - left - gap, 1):.1f}" '
            f'height="{height:.1f}" fill="#3987c9"><title>{tip}</title></rect>'
        )
    out.append(
        f'<path d="M{_LEFT} {floor}H{_WIDTH - _RIGHT}" stroke="currentColor"/>'
    )
    for value in _value_ticks(bars[0][0], bars[-1][1]):
        x = x_of(value)
        out.append(
            f'<path d="M{x:.1f} {floor}v5" stroke="currentColor"/>'
            f'<text x="{x:.1f}" y="{floor + 18}" text-anchor="middle" '
            f'opacity="0.75">{format_value(value, unit)}</text>'
        )
    if unit != "ns":
        out.append(
            f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 6}" '
            f'text-anchor="end" opacity="0.75">{html.escape(unit)}</text>'
        )
    out += _marks(marks, x_of, unit, floor)
    return out


def _marks(
    marks: Sequence[tuple[str, int]], x_of: Any, unit: str, floor: int
) -> list[str]:
    """Lines of percentiles, with texts that do not lie on each other."""
    names: dict[int, str] = {}
    for name, value in marks:
        names[value] = f"{names[value]}, {name}" if value in names else name
    out = []
    ends = [-1e9, -1e9]
    for value, name in names.items():
        x = min(max(x_of(value), _LEFT), _WIDTH - _RIGHT)
        label = f"{name} {format_value(value, unit)}"
        half = 3.2 * len(label)
        at = min(max(x, _LEFT + half), _WIDTH - _RIGHT - half)
        row = 0 if at - half > ends[0] else 1
        ends[row] = at + half
        out.append(
            f'<path d="M{x:.1f} {_TOP - 3 - 13 * row}V{floor}" '
            'stroke="#c8530a" stroke-dasharray="4 3"/>'
            f'<text x="{at:.1f}" y="{_TOP - 6 - 13 * row}" '
            f'text-anchor="middle" font-size="11" fill="#c8530a">'
            f"{html.escape(label)}</text>"
        )
    return out


def _count_ticks(most: int) -> list[int]:
    """Up to 4 round numbers."""
    step = 10 ** (len(str(most)) - 1)
    for part in (5, 2, 1):
        if step % part == 0 and most // (step // part) <= 4:
            step //= part
            break
    else:
        while most // step > 4:
            step *= 2
    return list(range(step, most + 1, step))


def _value_ticks(low: int, high: int) -> list[int]:
    """Powers of 10; between them 2 and 5, if there is room; else fewer."""
    decades = [10**i for i in range(20)]
    for parts in ((1, 2, 5), (1, 3), (1,)):
        ticks = [p * d for d in decades for p in parts if low <= p * d <= high]
        if low == 0:
            ticks.insert(0, 0)
        if len(ticks) <= 9:
            return ticks or [low]
    return ticks[:: math.ceil(len(ticks) / 9)]
