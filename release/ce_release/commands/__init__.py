"""The subcommands of ``ce-release``, a module each."""
