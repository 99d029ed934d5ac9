"""The systems, one file each; `baselines.registry` names them."""
