"""Pipeline from Reddit dumps to a dataset in the format of MusiCRS: `python -m builder_scripts --help`."""
