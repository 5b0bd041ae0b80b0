"""What starts a run: webhooks of forges, a plain git server's hook, and the clock. No I/O: all is passed in."""
