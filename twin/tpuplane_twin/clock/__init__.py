"""The twin's times: those of GKE, divided by the speed of the twin."""
