"""What a cluster needs to run the pipeline, as text: manifests, the rights they need, and a Dockerfile.

Nothing here speaks to a cluster. What is printed is decided by the overlays and by `Settings`, and by nothing else.
"""
