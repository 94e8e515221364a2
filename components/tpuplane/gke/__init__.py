"""Components over GKE: a program makes them from arguments, and a `Platform` from its plan. The plan decides all."""
