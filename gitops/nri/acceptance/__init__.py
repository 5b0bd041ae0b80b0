"""Whether a policy is accepted on a machine, decided before any node sees it (pure).

One rule is one small function; `table.py` lists them in the order in which the plugin looks; `check.py` asks them.
Source: nri-plugins v0.14.0, cmd/plugins/balloons/policy, cmd/plugins/topology-aware/policy, pkg/apis/config.
"""
