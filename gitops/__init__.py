"""A GitOps reconciler for Gardener Shoots and NRI resource policies.

The pipeline is the order of the packages: `source` → `desired` → `live` → `plan` → `rollout` → `record`.
"""
