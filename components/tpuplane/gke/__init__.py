"""Components over GKE: a program creates them from arguments, and a `Platform` from its plan. The plan has all settings."""
