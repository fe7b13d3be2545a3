"""Moving tables in and out by the API: between endpoints, and from and to files. A client like any other."""
