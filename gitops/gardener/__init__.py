"""What Gardener means: the fields of a Shoot, and when a Shoot is done (pure)."""
