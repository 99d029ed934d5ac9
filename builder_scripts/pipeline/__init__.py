"""`all`: the whole way from dumps to a scored dataset, by one file of settings."""
