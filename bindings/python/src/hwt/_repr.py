"""How objects look in a notebook: small, escaped, and without decoding.

Names come out of traces and files, and whoever made those may want to run
something there.  So all text goes through `safe`, and everything has a size
that it does not exceed.  No colours are set: a table is readable without a
style sheet, and on dark ground.
"""

from __future__ import annotations

import html
import unicodedata
from typing import Any, Iterable, Mapping, Sequence

MOST_ROWS = 20
MOST_COLUMNS = 12
MOST_CHARACTERS = 80
MOST_WIDTH = 110
MOST_NOTES = 10

#: Of `title` attributes and notes.
_LONG = 400

# Categories of characters that are not shown as they are: controls, marks that
# turn the direction of what follows, halves of pairs, those of no meaning, and
# separators of lines.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")

# Numbers that are names: no commas in them.
_IDS = frozenset(
    (
        "address asid column context cpu cr3 epoch file_off from_line id "
        "image_id ip line number offset parent pid port ppid section source "
        "stream stream_off target tid to_address to_file_off to_line user "
        "vmid"
    ).split()
)


def plain(text: object, most: int = MOST_CHARACTERS) -> str:
    """Text in which every character can be seen, cut off at a length.

    Parameters
    ----------
    text : object
        Of anything its `str`.
    most : int
        Characters of the result, with the one that says that some are missing.

    Returns
    -------
    str
    """
    out: list[str] = []
    n = 0
    # A name of 64 KiB is not looked at as a whole.
    for c in str(text)[: most + 1]:
        if unicodedata.category(c) in _HIDDEN:
            c = ascii(c)[1:-1]
        n += len(c)
        if n > most:
            kept = "".join(out)
            return kept[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
        out.append(c)
    return "".join(out)


def safe(text: object, most: int = MOST_CHARACTERS) -> str:
    """The same as HTML, for elements and for quoted attributes."""
    return html.escape(plain(text, most), quote=True)


def count(n: int, what: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def cell(value: object, name: str = "", unit: str = "") -> str:
    """A value of a table, as text that is not escaped."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if unit == "address" or name in ("ip", "target", "address"):
            return hex(value)
        return str(value) if name in _IDS else f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return str(value)


def card(
    kind: str,
    name: str = "",
    facts: Iterable[tuple[str, str]] = (),
    body: str = "",
) -> str:
    """A heading, some facts and more HTML in a box.

    Parameters
    ----------
    kind, name : str
        What it is, and which one.
    facts : iterable of (str, str)
        What is told, and the text of it; escaped here.
    body : str
        HTML.

    Returns
    -------
    str
    """
    said = "".join(
        f"<tr><th {_LEFT}>{safe(key)}</th>"
        f"<td {_LEFT}>{safe(value, _LONG)}</td></tr>"
        for key, value in facts
    )
    heading = f"<strong>{safe(kind)}</strong>"
    if name:
        heading += f" <code>{safe(name, _LONG)}</code>"
    table = f"<table><tbody>{said}</tbody></table>" if said else ""
    return f'<div {_BOX}><p {_TIGHT}>{heading}</p>{table}{body}</div>'


def closed_html(kind: str, name: str = "") -> str:
    """What is left of a closed object.

    Parameters
    ----------
    kind : str
        For instance ``hwt.Trace``.
    name : str, optional
        Which one.

    Returns
    -------
    str
    """
    which = f" <code>{safe(name, _LONG)}</code>" if name else ""
    return f"<p><strong>{safe(kind)}</strong>{which}: closed</p>"


_LEFT = 'style="text-align:left;vertical-align:top"'
_RIGHT = 'style="text-align:right;vertical-align:top"'
_PRE = 'style="white-space:pre-wrap"'
_BOX = 'style="overflow-x:auto"'
_TIGHT = 'style="margin:0.3em 0"'


def notes_html(notes: Iterable[object]) -> str:
    """What is missing, a line each.

    Parameters
    ----------
    notes : iterable
        Texts.

    Returns
    -------
    str
        Empty without notes.
    """
    listed = list(notes)
    lines = [safe(note, _LONG) for note in listed[:MOST_NOTES]]
    if len(listed) > MOST_NOTES:
        lines.append(safe(f"and {count(len(listed) - MOST_NOTES, 'note')}"))
    if not lines:
        return ""
    return f"<p {_TIGHT}><small>{'<br>'.join(lines)}</small></p>"


class _Column:
    """A column of a table that is shown."""

    def __init__(self, name: str, source: Any) -> None:
        self.name = name
        self.values: Sequence[Any] = source.to_list()[:MOST_ROWS]
        self.unit = str(getattr(source, "unit", None) or "")
        self.meaning = str(getattr(source, "meaning", None) or "")
        self.known = any(value is not None for value in self.values)
        self.is_text = any(isinstance(value, str) for value in self.values)
        self.style = _LEFT if self.is_text else _RIGHT

    def head(self) -> str:
        # `self_ns` says its unit already.
        said = self.unit in ("", "address", self.name)
        said = said or self.name.endswith(f"_{self.unit}")
        unit = "" if said else safe(self.unit)
        told = f' title="{safe(self.meaning, _LONG)}"' if self.meaning else ""
        below = f"<br><small>{unit}</small>" if unit else ""
        return f"<th {self.style}{told}>{safe(self.name)}{below}</th>"

    def width(self) -> int:
        """Characters that it takes, about."""
        texts = [cell(v, self.name, self.unit) for v in self.values]
        widths = [min(len(text), MOST_CHARACTERS) for text in texts]
        return 3 + max([len(self.name), len(self.unit) * 3 // 4, *widths])

    def cell(self, row: int) -> str:
        value = self.values[row]
        # Of lines of source their indent is kept.
        text = cell(value, self.name, self.unit).replace("\t", "    ")
        shown = safe(text)
        if not self.is_text:
            return f"<td {self.style}>{shown}</td>"
        # Texts of any direction stay in their cell.
        cut = len(text) > MOST_CHARACTERS
        more = f' title="{safe(text, _LONG)}"' if cut else ""
        return f"<td {self.style}{more}><bdi {_PRE}>{shown}</bdi></td>"


def _names_html(what: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    some = ", ".join(plain(name) for name in names[:MOST_ROWS])
    if len(names) > MOST_ROWS:
        some += f" and {len(names) - MOST_ROWS} more"
    return f"<p {_TIGHT}><small>{what}: {safe(some, 2 * _LONG)}</small></p>"


def table_html(table: Any) -> str:
    """The first rows and columns of a table.

    Parameters
    ----------
    table : Table or Batch
        With ``columns``, ``column(name)`` and a length; ``title``, ``notes``
        and ``head(n)`` are used where they are there.

    Returns
    -------
    str
        At most `MOST_ROWS` rows of `MOST_COLUMNS` columns; those of which
        nothing is known in these rows are named below.
    """
    rows = len(table)
    first = table.head(MOST_ROWS) if hasattr(table, "head") else table
    n = min(rows, MOST_ROWS)
    shown: list[_Column] = []
    hidden: list[str] = []
    unknown: list[str] = []
    room = MOST_WIDTH
    for name in table.columns:
        if hidden or len(shown) == MOST_COLUMNS:
            hidden.append(name)
            continue
        column = _Column(name, first.column(name))
        if n > 0 and not column.known:
            unknown.append(name)
            continue
        room -= column.width()
        # A page is not wider, and one that has to be moved hides as much.
        if room < 0 and shown:
            hidden.append(name)
        else:
            shown.append(column)
    heads = "".join(column.head() for column in shown)
    lines = "".join(
        "<tr>" + "".join(column.cell(row) for column in shown) + "</tr>"
        for row in range(n)
    )
    title = safe(getattr(table, "title", "") or type(table).__name__, _LONG)
    told = count(rows, "row")
    if rows > n:
        told += f", the first {n} of them here"
    return (
        f"<div {_BOX}><p {_TIGHT}><strong>{title}</strong>: {told}</p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
        + _names_html("more columns", hidden)
        + _names_html("not known here", unknown)
        + notes_html(getattr(table, "notes", ()))
        + "</div>"
    )


def rows_html(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A small table of texts.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    rows : iterable of sequences
        Values; more than `MOST_ROWS` are counted.

    Returns
    -------
    str
    """
    listed = list(rows)
    columns = [
        _Column(name, _Values([row[i] for row in listed[:MOST_ROWS]]))
        for i, name in enumerate(names)
    ]
    heads = "".join(column.head() for column in columns)
    lines = "".join(
        "<tr>" + "".join(column.cell(i) for column in columns) + "</tr>"
        for i in range(min(len(listed), MOST_ROWS))
    )
    more = len(listed) - MOST_ROWS
    return (
        f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
        + (notes_html([f"and {more:,} more"]) if more > 0 else "")
    )


class _Values:
    """A list that looks like a column."""

    def __init__(self, values: list[object]) -> None:
        self._values = values

    def to_list(self) -> list[object]:
        return self._values


def _path(trace: Any) -> str:
    path = getattr(trace, "_path", None)
    return "" if path is None else str(path)


def trace_html(trace: Any) -> str:
    """What a trace says of itself; nothing is decoded.

    Parameters
    ----------
    trace : Trace
        Open or closed.

    Returns
    -------
    str
    """
    if trace.closed:
        return closed_html("hwt.Trace", _path(trace))
    info = trace.info
    told = [
        count(getattr(info, name), what)
        for name, what in (
            ("n_streams", "stream"),
            ("n_bytes", "byte"),
            ("n_records", "record"),
            ("n_images", "image"),
        )
        if getattr(info, name, None) is not None
    ]
    clock = getattr(trace, "clock", None)
    if clock:
        told.append(f"clock {clock}")
    damage = len(trace.damage)
    if damage:
        told.append(f"damaged in {count(damage, 'place')}")
    body = f"<p {_TIGHT}>{safe(', '.join(told), _LONG)}</p>"
    if len(trace.streams):
        rows = [
            (s.id, s.tech, s.cpu, s.tid, s.n_bytes) for s in trace.streams
        ]
        names = ("stream", "technology", "cpu", "tid", "bytes")
        # Of threads or of processors: a column that says nothing is left out.
        keep = [i for i in range(5) if any(row[i] is not None for row in rows)]
        body += rows_html(
            [names[i] for i in keep], [[row[i] for i in keep] for row in rows]
        )
    return card("hwt.Trace", _path(trace), (), body)


def plan_html(plan: Any) -> str:
    """What a plan would read: filters, columns, rows that were seen before.

    Parameters
    ----------
    plan : Events
        Nothing of its trace is decoded.

    Returns
    -------
    str
    """
    facts = [("rows of", str(plan.what))]
    filters: Mapping[str, Any] = getattr(plan, "filters", {})
    for name, value in list(filters.items())[:MOST_ROWS]:
        facts.append((str(name), _shown(value)))
    try:
        fields = plan.schema
    except ValueError as failure:
        # The trace is closed, or the plan is none of this trace.
        facts.append(("columns", str(failure)))
        return card("hwt.Events", "plan, not decoded", facts)
    names = [field.name for field in fields]
    facts.append(
        ("columns", ", ".join(plain(n) for n in names[:3 * MOST_COLUMNS]))
    )
    rows = [
        (f.name, f.type, f.unit or None, f.meaning or None)
        for f in fields[:MOST_ROWS]
    ]
    body = (
        f"<details><summary>{count(len(names), 'column')}</summary>"
        + rows_html(("column", "type", "unit", "meaning"), rows)
        + _names_html("more columns", names[MOST_ROWS:])
        + "</details>"
    )
    head = getattr(plan, "_head", None)
    if head is not None:
        body += table_html(head)
    return card("hwt.Events", "plan, not decoded", facts, body)


def _shown(value: object) -> str:
    """A filter: not the repr of a million numbers."""
    if isinstance(value, (list, tuple, set, frozenset)):
        some = [plain(_shown(v)) for v in list(value)[:8]]
        if len(value) > 8:
            some.append(f"and {len(value) - 8} more")
        return ", ".join(some)
    return cell(value) if isinstance(value, (int, float)) else str(value)
