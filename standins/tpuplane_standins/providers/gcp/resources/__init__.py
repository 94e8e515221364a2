"""One class per kind of resource: the requests that create, read, update and delete it, and their order."""
