"""Settings beside the types that are refused.

Sources: nri-plugins pkg/instrumentation/instrumentation.go, pkg/irq/irq.go (ValidateAllowedPatterns) and
pkg/resmgr/cpuclass/internal/cpufreq/cpufreq.go (Configure).
"""

from __future__ import annotations

from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.globs import BadPatternError, check_glob
from gitops.nri.acceptance.spec import Policy, text, texts


def two_metrics_exporters(policy: Policy) -> Faults:
    """Saying prometheusExport is another way to say `metricsExporter: prometheus`."""
    instrumentation = policy.spec.get("instrumentation") or {}
    exporter = text(instrumentation, "metricsExporter")
    if instrumentation.get("prometheusExport") and exporter not in ("", "prometheus"):
        message = f"prometheusExport is true and metricsExporter is {exporter!r}"
        yield Fault(("spec", "instrumentation", "metricsExporter"), message, "keep one of them")


def malformed_interrupt_glob(policy: Policy) -> Faults:
    """The interrupts that may be controlled are told by globs."""
    for position, pattern in enumerate(texts(policy.spec, "controllableInterrupts")):
        try:
            check_glob(pattern)
        except BadPatternError as error:
            at = ("spec", "controllableInterrupts", position)
            yield Fault(at, f"controllableInterrupts: {error}", "close every [ and write \\\\ for a backslash")


def unknown_turbo_domain(policy: Policy) -> Faults:
    """Turbo priorities compete in a package or in the whole system."""
    domain = text(policy.spec, "turboDomain")
    if domain not in ("", "package", "system"):
        at = ("spec", "turboDomain")
        yield Fault(at, f"there is no turboDomain {domain!r}", "use package or system")
