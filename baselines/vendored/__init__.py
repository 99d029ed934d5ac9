"""Networks that no library carries. Their files import torch, so a system imports them when it needs them."""
