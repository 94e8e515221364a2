"""The checks of the rules. Their descriptions, and conditions on single properties, are in `data/`."""
