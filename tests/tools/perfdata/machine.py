"""A machine of which the header tells all that perf 6.1 knows to tell.

Source: Linux, tools/perf/util/header.c.
"""

from __future__ import annotations

from .features import Features

ARGUMENTS = ["perf", "record", "-e", "intel_pt//u", "--", "./first",
             "an argument"]
SAMPLE_TIME = (5000009500, 5000015000)
CLOCK_DATA = (1, 1700000000000000000, 5000000000)
TEXTS = {"hostname": "machine", "osrelease": "6.1.0-x", "version": "6.1.187",
         "arch": "x86_64", "cpudesc": "Fixture CPU @ 2.00GHz",
         "cpuid": "GenuineIntel,6,143,8"}
MEMORY = 16 << 20


def describe(have: Features) -> dict[str, object]:
    """Add the features; return what those say that the library reads."""
    have.strings(**TEXTS)
    have.nrcpus(2, 4)
    have.total_mem(MEMORY)
    have.cmdline(ARGUMENTS)
    have.cpu_topology(["0-3"], ["0-1", "2-3"],
                      [(0, 0), (0, 0), (1, 0), (1, 0)], ["0-3"])
    have.numa_topology([(0, MEMORY, MEMORY // 2, "0-3")])
    have.flag("BRANCH_STACK")
    have.pmu_mappings({4: "cpu", 1: "software", 8: "intel_pt"})
    have.group_desc([("group", 0, 2)])
    have.cache([(1, 64, 64, 8, "Data", "32K", "0-1"),
                (3, 64, 16384, 12, "Unified", "12288K", "0-3")])
    have.sample_time(*SAMPLE_TIME)
    have.mem_topology(128 << 20, [(0, 70, (1 << 70) - 1)])
    have.clockid(1)
    have.bpf_prog_info([])
    have.bpf_btf({7: bytes(24)})
    have.compressed()
    have.cpu_pmu_caps({"branches": "32", "max_precise": "3"})
    have.clock_data(*CLOCK_DATA)
    have.hybrid_topology({"cpu_core": "0-1", "cpu_atom": "2-3"})
    have.pmu_caps({"cpu_core": {"branches": "32"}, "cpu_atom": {}})
    return {**TEXTS, "nrcpus_online": 2, "nrcpus_available": 4,
            "total_mem": MEMORY, "cmdline": ARGUMENTS,
            "sample_time": list(SAMPLE_TIME),
            "clock_data": list(CLOCK_DATA)}
