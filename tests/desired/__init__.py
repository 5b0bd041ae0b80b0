"""Tests of composition: no cluster, no git, files in memory."""
