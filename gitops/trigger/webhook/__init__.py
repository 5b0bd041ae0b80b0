"""One module per forge: how a delivery is verified, and what it says."""
