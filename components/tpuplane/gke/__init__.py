"""Components over GKE: a program creates them from arguments, a `Platform` from its plan, which has all settings."""
