"""A cluster's add-ons as the user writes them, their releases, and their checks."""
