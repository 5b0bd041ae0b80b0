"""Which fields are whose: sets of paths, three-way merge of owned fields, equality by meaning (pure).

An API server remembers ownership for server-side apply. For objects whose lists are atomic that memory is not
enough (`Shoot.spec.extensions`), so what we declared last time is kept as a field set of our own.
"""

FIELD_MANAGER = "shoot-gitops"
"""Our name in managed fields, on every API server."""
