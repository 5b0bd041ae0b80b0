"""What NRI resource policies mean: which node uses which policy, and whether it accepted it (pure)."""
