"""What a run would change: pure, from desired, live and ownership to changes with their fields, grouped in waves."""
