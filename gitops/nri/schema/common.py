"""Fields that all policies have in their spec.

Source: the CRDs of nri-plugins v0.3.0 to v0.14.0 (deployment/helm/<policy>/crds), compared release by release.
"""

from __future__ import annotations

COMMON = """
agent object v0.8.0
agent.nodeResourceTopology bool v0.8.0
agent.podResourceAPI bool v0.8.0
availableResources map v0.3.0
availableResources{} string v0.3.0
control object v0.3.0
control.blockio object v0.9.0
control.blockio.enable bool v0.9.0
control.blockio.usePodQoSAsDefaultClass bool v0.9.0
control.cpu object v0.3.0
control.cpu.classes! map v0.3.0
control.cpu.classes{} object v0.3.0
control.cpu.classes{}.disabledCstates list v0.11.0
control.cpu.classes{}.disabledCstates[] string v0.11.0
control.cpu.classes{}.energyPerformancePreference uint v0.3.0
control.cpu.classes{}.freqGovernor string v0.8.0
control.cpu.classes{}.maxFreq uint v0.3.0
control.cpu.classes{}.minFreq uint v0.3.0
control.cpu.classes{}.uncoreMaxFreq uint v0.3.0
control.cpu.classes{}.uncoreMinFreq uint v0.3.0
control.rdt object v0.9.0
control.rdt.enable bool v0.9.0
control.rdt.force bool v0.10.0
control.rdt.options object v0.10.0
control.rdt.options.l2 object v0.10.0
control.rdt.options.l2.optional! bool v0.10.0
control.rdt.options.l3 object v0.10.0
control.rdt.options.l3.optional! bool v0.10.0
control.rdt.options.mb object v0.10.0
control.rdt.options.mb.optional! bool v0.10.0
control.rdt.partitions map v0.10.0
control.rdt.partitions{} object v0.10.0
control.rdt.partitions{}.classes map v0.10.0
control.rdt.partitions{}.classes{} object v0.10.0
control.rdt.partitions{}.classes{}.l2Allocation map v0.10.0
control.rdt.partitions{}.classes{}.l2Allocation{} object v0.10.0
control.rdt.partitions{}.classes{}.l2Allocation{}.code string v0.10.0
control.rdt.partitions{}.classes{}.l2Allocation{}.data string v0.10.0
control.rdt.partitions{}.classes{}.l2Allocation{}.unified string v0.10.0
control.rdt.partitions{}.classes{}.l3Allocation map v0.10.0
control.rdt.partitions{}.classes{}.l3Allocation{} object v0.10.0
control.rdt.partitions{}.classes{}.l3Allocation{}.code string v0.10.0
control.rdt.partitions{}.classes{}.l3Allocation{}.data string v0.10.0
control.rdt.partitions{}.classes{}.l3Allocation{}.unified string v0.10.0
control.rdt.partitions{}.classes{}.mbAllocation map v0.10.0
control.rdt.partitions{}.classes{}.mbAllocation{} list v0.10.0
control.rdt.partitions{}.classes{}.mbAllocation{}[] string v0.10.0
control.rdt.partitions{}.l2Allocation map v0.10.0
control.rdt.partitions{}.l2Allocation{} object v0.10.0
control.rdt.partitions{}.l2Allocation{}.code string v0.10.0
control.rdt.partitions{}.l2Allocation{}.data string v0.10.0
control.rdt.partitions{}.l2Allocation{}.unified string v0.10.0
control.rdt.partitions{}.l3Allocation map v0.10.0
control.rdt.partitions{}.l3Allocation{} object v0.10.0
control.rdt.partitions{}.l3Allocation{}.code string v0.10.0
control.rdt.partitions{}.l3Allocation{}.data string v0.10.0
control.rdt.partitions{}.l3Allocation{}.unified string v0.10.0
control.rdt.partitions{}.mbAllocation map v0.10.0
control.rdt.partitions{}.mbAllocation{} list v0.10.0
control.rdt.partitions{}.mbAllocation{}[] string v0.10.0
control.rdt.usePodQoSAsDefaultClass bool v0.9.0
instrumentation object v0.3.0
instrumentation.httpEndpoint string v0.3.0
instrumentation.logExportPeriod duration v0.13.0
instrumentation.logExporter string v0.13.0 otlp-http|otlp-grpc
instrumentation.metrics object v0.8.0
instrumentation.metrics.enabled list v0.8.0
instrumentation.metrics.enabled[] string v0.8.0
instrumentation.metrics.polled list v0.8.0
instrumentation.metrics.polled[] string v0.8.0
instrumentation.metricsExporter string v0.12.0 prometheus|otlp-http|otlp-grpc
instrumentation.prometheusExport bool v0.3.0
instrumentation.reportPeriod duration v0.3.0
instrumentation.samplingRatePerMillion int v0.3.0
instrumentation.tracingCollector string v0.3.0 otlp-http|otlp-grpc
log object v0.3.0
log.debug list v0.3.0
log.debug[] string v0.3.0
log.klog object v0.3.0
log.klog.add_dir_header bool v0.3.0
log.klog.alsologtostderr bool v0.3.0
log.klog.alsologtostderrthreshold string v0.13.0
log.klog.legacy_stderr_threshold_behavior bool v0.13.0
log.klog.log_backtrace_at string v0.3.0
log.klog.log_dir string v0.3.0
log.klog.log_file string v0.3.0
log.klog.log_file_max_size uint v0.3.0
log.klog.logtostderr bool v0.3.0
log.klog.one_output bool v0.3.0
log.klog.skip_headers bool v0.3.0
log.klog.skip_log_headers bool v0.3.0
log.klog.stderrthreshold string v0.3.0
log.klog.v int v0.3.0
log.klog.vmodule string v0.3.0
log.source bool v0.3.0
reservedResources! map v0.3.0
reservedResources{} string v0.3.0
"""
"""One field a line, as `gitops.nri.schema.fields` reads it."""
