"""What corpus maintainers use: plan, cut, verify, diff, export."""
