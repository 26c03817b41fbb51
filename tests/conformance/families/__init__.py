"""One module for each kind of conformance case.

A module has `run(case, tools)`: it returns what was compared, or raises
`Skip` or `Fail`.
"""

from __future__ import annotations

from types import ModuleType

from . import (coresight, cs_fixtures, cs_perf, etm_gen, hwt_raw, perf_data,
               perf_script,
               pt_captured, pt_fixtures, pt_gen, pt_libxdc, pt_lldb,
               pt_perfdata, pt_probes, pt_ptt, spe, spe_fixtures, spe_gen)

MODULES: dict[str, ModuleType] = {
    "coresight-ete": coresight,
    "coresight-etm": coresight,
    "coresight-perf": cs_perf,
    "cs-bad": cs_fixtures,
    "cs-good": cs_fixtures,
    "etm-gen": etm_gen,
    "hwt-raw": hwt_raw,
    "perf-data": perf_data,
    "perf-script": perf_script,
    "pt-bad": pt_fixtures,
    "pt-captured": pt_captured,
    "pt-gen": pt_gen,
    "pt-good": pt_fixtures,
    "pt-libxdc": pt_libxdc,
    "pt-lldb": pt_lldb,
    "pt-perfdata": pt_perfdata,
    "pt-probes": pt_probes,
    "pt-ptt": pt_ptt,
    "spe": spe,
    "spe-bad": spe_fixtures,
    "spe-gen": spe_gen,
    "spe-good": spe_fixtures,
}
