"""The language host for Python: it runs programs, policy packs and component plugins."""
