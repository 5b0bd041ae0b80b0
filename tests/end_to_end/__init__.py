"""Whole runs of the pipeline against real API servers, with real git repositories and acting gardenlets and agents."""
