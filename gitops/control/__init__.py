"""What people ask of a rollout: to stand still, to go on with what they approved, to go back."""
