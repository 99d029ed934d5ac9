"""Networks that no library provides. Their files import torch, so a system imports them at first use."""
