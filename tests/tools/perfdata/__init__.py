"""A writer of Linux perf.data files: records, attributes, header, damage."""


class PerfDataError(Exception):
    """A mistake in what a scenario asks for."""
