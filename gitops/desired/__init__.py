"""What git declares, composed per shoot; pure, given an Artifact."""
