"""`gitops serve`: one process to run for years. Webhooks, schedule, dashboard, metrics and logs."""
