"""What problem authors use: scaffold, lint, validate."""
