"""Problems where they are kept: in folders, in packs, on the hub."""
