"""Tests of the sandbox itself; that it answers like a real server is shown in tests/conformance."""
