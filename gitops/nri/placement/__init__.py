"""Where containers really run: what plugins tell of it, and whether that is what the policies say (pure)."""
