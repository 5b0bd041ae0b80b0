"""Measurements, each as a ratio against a peer in the same run; nothing here is asserted.

python -m tests.benchmarks.list_shoots     LIST of Shoots, per object: the sandbox against the real API server
python -m tests.benchmarks.sandbox_start   start and memory of a landscape with 5 000 Shoots
python -m tests.benchmarks.board_pages     pages of the dashboard over 5 000 shoots, and what telling it costs a rollout
"""
