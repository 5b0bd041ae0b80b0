"""Fields that only BalloonsPolicy has.

Source: the CRDs of nri-plugins v0.3.0 to v0.14.0 (deployment/helm/<policy>/crds), compared release by release.
"""

from __future__ import annotations

BALLOONS = """
allocatorTopologyBalancing bool v0.3.0
balloonTypes list v0.3.0
balloonTypes[] object v0.3.0
balloonTypes[].allocatorPriority string v0.3.0 high|normal|low|none
balloonTypes[].allocatorTopologyBalancing bool v0.3.0
balloonTypes[].componentCreation string v0.12.0 |all|balance-balloons
balloonTypes[].components list v0.10.0
balloonTypes[].components[] object v0.10.0
balloonTypes[].components[].balloonType! string v0.10.0
balloonTypes[].cpuClass string v0.3.0
balloonTypes[].groupBy string v0.3.0
balloonTypes[].hideHyperthreads bool v0.7.0
balloonTypes[].irqClaim list v0.14.0
balloonTypes[].irqClaim[] string v0.14.0
balloonTypes[].irqMode string v0.14.0
balloonTypes[].loads set v0.9.0
balloonTypes[].loads[] string v0.9.0
balloonTypes[].matchExpressions list v0.3.0
balloonTypes[].matchExpressions[] object v0.3.0
balloonTypes[].matchExpressions[].key! string v0.3.0
balloonTypes[].matchExpressions[].operator! string v0.3.0 Equals|NotEqual|In|NotIn|Exists|NotExist|AlwaysTrue|
Matches|MatchesNot|MatchesAny|MatchesNone
balloonTypes[].matchExpressions[].values list v0.3.0
balloonTypes[].matchExpressions[].values[] string v0.3.0
balloonTypes[].maxBalloons int v0.3.0
balloonTypes[].maxCPUs int v0.3.0
balloonTypes[].memoryTypes set v0.8.0
balloonTypes[].memoryTypes[] string v0.8.0 DRAM|HBM|PMEM
balloonTypes[].minBalloons int v0.3.0
balloonTypes[].minCPUs int v0.3.0
balloonTypes[].name! string v0.3.0
balloonTypes[].namespaces list v0.3.0
balloonTypes[].namespaces[] string v0.3.0
balloonTypes[].pinMemory bool v0.8.0
balloonTypes[].preferCloseToDevices list v0.3.0
balloonTypes[].preferCloseToDevices[] string v0.3.0
balloonTypes[].preferCoreType string v0.7.1 efficient|performance
balloonTypes[].preferIsolCpus bool v0.7.1
balloonTypes[].preferNewBalloons bool v0.3.0
balloonTypes[].preferPerNamespaceBalloon bool v0.3.0
balloonTypes[].preferSpreadOnPhysicalCores bool v0.3.0
balloonTypes[].preferSpreadingPods bool v0.3.0
balloonTypes[].schedulingClass string v0.12.1
balloonTypes[].shareIdleCPUsInSame string v0.3.0 |system|package|die|numa|l2cache|core|thread
balloonTypes[].showContainersInNrt bool v0.9.0
controllableInterrupts list v0.14.0
controllableInterrupts[] string v0.14.0
cpuClasses list v0.13.0
cpuClasses[] object v0.13.0
cpuClasses[].disabledCstates list v0.13.0
cpuClasses[].disabledCstates[] string v0.13.0
cpuClasses[].energyPerformancePreference uint v0.13.0 >=0
cpuClasses[].freqGovernor string v0.13.0
cpuClasses[].maxFreq frequency v0.13.0
cpuClasses[].minFreq frequency v0.13.0
cpuClasses[].name! string v0.13.0
cpuClasses[].pctMaxFreq frequency v0.13.0
cpuClasses[].pctMinFreq frequency v0.13.0
cpuClasses[].pctPriority string v0.13.0 high|low
cpuClasses[].publishExtendedResource bool v0.13.0
cpuClasses[].sstClosID int v0.13.0 >=0
cpuClasses[].turboPriority int v0.13.0 >=0
cpuClasses[].uncoreMaxFreq frequency v0.13.0
cpuClasses[].uncoreMinFreq frequency v0.13.0
idleCPUClass string v0.3.0
loadClasses list v0.9.0
loadClasses[] object v0.9.0
loadClasses[].level! string v0.9.0 l2cache|core
loadClasses[].name! string v0.9.0
loadClasses[].overloadsLevelInBalloon bool v0.9.0
pinCPU bool v0.3.0
pinMemory bool v0.3.0
preferSpreadOnPhysicalCores bool v0.3.0
preserve object v0.8.0
preserve.matchExpressions list v0.8.0
preserve.matchExpressions[] object v0.8.0
preserve.matchExpressions[].key! string v0.8.0
preserve.matchExpressions[].operator! string v0.8.0 Equals|NotEqual|In|NotIn|Exists|NotExist|AlwaysTrue|
Matches|MatchesNot|MatchesAny|MatchesNone
preserve.matchExpressions[].values list v0.8.0
preserve.matchExpressions[].values[] string v0.8.0
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
showContainersInNrt bool v0.9.0
turboDomain string v0.13.0 package|system
"""
"""One field a line, as `gitops.nri.schema.fields` reads it."""
