"""Where torch works."""

import torch

from pairgram.errors import ParameterError

DEVICES = ("auto", "cpu", "cuda", "mps")


def resolve_device(name: str) -> torch.device:
    """Device of a name; "auto" is a CUDA card where there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    there = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
    }
    if not there[name]():
        raise ParameterError(f"device={name!r} is not available here. Use device='auto'.")
    return torch.device(name)
