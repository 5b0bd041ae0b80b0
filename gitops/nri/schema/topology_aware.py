"""Fields that TopologyAwarePolicy has besides the common ones.

Source: the CRDs of nri-plugins v0.3.0 to v0.14.0 (deployment/helm/<policy>/crds), compared release by release.
"""

from __future__ import annotations

TOPOLOGY_AWARE = """
colocateNamespaces bool v0.3.0
colocatePods bool v0.3.0
controllableInterrupts list v0.14.0
controllableInterrupts[] string v0.14.0
cpuClasses list v0.14.0
cpuClasses[] object v0.14.0
cpuClasses[].disabledCstates list v0.14.0
cpuClasses[].disabledCstates[] string v0.14.0
cpuClasses[].energyPerformancePreference uint v0.14.0 >=0
cpuClasses[].freqGovernor string v0.14.0
cpuClasses[].maxFreq frequency v0.14.0
cpuClasses[].minFreq frequency v0.14.0
cpuClasses[].name! string v0.14.0
cpuClasses[].pctMaxFreq frequency v0.14.0
cpuClasses[].pctMinFreq frequency v0.14.0
cpuClasses[].pctPriority string v0.14.0 high|low
cpuClasses[].publishExtendedResource bool v0.14.0
cpuClasses[].sstClosID int v0.14.0 >=0
cpuClasses[].turboPriority int v0.14.0 >=0
cpuClasses[].uncoreMaxFreq frequency v0.14.0
cpuClasses[].uncoreMinFreq frequency v0.14.0
defaultCPUPriority string v0.3.0 high|normal|low|none
defaultExclusiveCPUClass string v0.14.0
namespaceSchedulingClasses map v0.12.1
namespaceSchedulingClasses{} string v0.12.1
pinCPU bool v0.3.0
pinMemory bool v0.3.0
podQoSSchedulingClasses map v0.12.1
podQoSSchedulingClasses{} string v0.12.1
preferIsolatedCPUs bool v0.3.0
preferSharedCPUs bool v0.3.0
reservedPoolCPUClass string v0.14.0
reservedPoolNamespaces list v0.3.0
reservedPoolNamespaces[] string v0.3.0
schedulingClasses list v0.12.1
schedulingClasses[] object v0.12.1
schedulingClasses[].deadline uint v0.12.1
schedulingClasses[].flags list v0.12.1 reset-on-fork|reclaim|dl-overrun|keep-policy|keep-params|
util-clamp-min|util-clamp-max
schedulingClasses[].flags[] string v0.12.1
schedulingClasses[].ioClass string v0.12.1 none|rt|be|idle
schedulingClasses[].ioPriority int v0.12.1
schedulingClasses[].name! string v0.12.1
schedulingClasses[].nice int v0.12.1
schedulingClasses[].period uint v0.12.1
schedulingClasses[].policy string v0.12.1 none|other|fifo|rr|batch|iso|idle|deadline
schedulingClasses[].priority int v0.12.1
schedulingClasses[].runtime uint v0.12.1
sharedPoolCPUClass string v0.14.0
unlimitedBurstable string v0.11.0 system|package|die|numa|l3cache
"""
"""One field a line, as `gitops.nri.schema.fields` reads it."""
