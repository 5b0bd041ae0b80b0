"""The only door to an API server.

A `Transport` carries one HTTP request and knows nothing of Kubernetes; a `Cluster` speaks Kubernetes over it and
raises the errors of `gitops.errors`. The official client underneath reads kubeconfigs, authenticates and pools
connections; objects travel as plain dicts, never through its generated models. TLS keys never touch a file.
"""
