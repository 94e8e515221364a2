"""Stand-in Pulumi providers: served only where the official plugins are not installed."""
