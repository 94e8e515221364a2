"""GKE's slice controller and Kueue's slice controller, as the twin emulates them: dynamic slices of tpu7x."""
