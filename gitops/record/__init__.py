"""What was done and why it stopped: written to the garden after every run that did or learned something."""
