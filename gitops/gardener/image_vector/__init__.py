"""Image vectors as Gardener reads, merges and searches them, and what an overwrite really does.

The source of every rule is gardener pkg/utils/imagevector.
"""
