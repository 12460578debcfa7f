"""What stands behind Host, a file an idea: names, routes, listings, grants, the way of one call."""
