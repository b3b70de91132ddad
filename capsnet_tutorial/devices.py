"""Where to compute."""

import torch
from torch import nn


def choose_device(model: nn.Module, asked: torch.device | str | None = None) -> torch.device:
    """Return where a network shall compute: where it is asked to, else a CUDA GPU, else the CPU.

    A network that already lies on a GPU, of whatever kind, stays there. Apple's `mps` is used on
    request only.

    Args:
        model: the network.
        asked: a device, such as `"cpu"`, `"cuda:1"` or `"mps"`; None leaves the choice to us.

    Raises:
        RuntimeError: if torch knows no such device.

    >>> choose_device(nn.Linear(1, 1), "cpu")
    device(type='cpu')
    """
    if asked is not None:
        return torch.device(asked)
    here = next(model.parameters()).device
    if here.type == "cpu" and torch.cuda.is_available():
        return torch.device("cuda")
    return here
