"""The subcommands of ``ce-eval``, one a module."""
