"""What a run would change: pure, from desired, live and ownership to changes, grouped in waves."""
