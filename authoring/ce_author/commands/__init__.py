"""The subcommands of ``ce-author``, one a module."""
