"""The same checks on Google Cloud and on a twin, and the differences between both."""
