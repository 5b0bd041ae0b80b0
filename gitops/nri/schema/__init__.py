"""Which fields the policies have, of which type, and since which release of nri-plugins (pure)."""
