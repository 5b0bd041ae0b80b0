"""Tests of reading git, on real repositories."""
