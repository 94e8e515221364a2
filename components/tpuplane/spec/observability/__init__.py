"""Dashboard, alerts and metrics as the user writes them, and their data."""
