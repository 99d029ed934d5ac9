"""How MusiCRS is made, from Reddit dumps to the released dataset: `python -m builder_scripts --help`."""
