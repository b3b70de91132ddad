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


def check_compiler(device: torch.device | str) -> None:
    """Compile something tiny, to learn whether this machine can compile a network at all.

    Args:
        device: where to compute.

    Raises:
        ValueError: if it can't, because there is no C++ compiler, or no Triton for a GPU.
    """
    probe = nn.ReLU()
    try:
        probe.compile()
        probe(torch.zeros(1, device=device))
    except RuntimeError as error:
        reason = str(error).removeprefix("backend='inductor' raised:").split("\n\n")[0]
        raise ValueError(
            f"this machine can't compile a network ({' '.join(reason.split())}): leave --compile "
            "out, or install a C++ compiler"
        ) from None


def place(model: nn.Module, device: torch.device) -> nn.Module:
    """Move a network to a device, its filters in the order in which convolutions run fastest there.

    Args:
        model: the network, moved in place.
        device: where to.

    Returns:
        The network. On a CUDA GPU a pixel's channels lie side by side; on a CPU that brings
        nothing.

    >>> place(nn.Linear(1, 1), torch.device("cpu")).weight.device
    device(type='cpu')
    """
    model.to(device)
    if device.type == "cuda":
        for module in model.modules():
            if isinstance(module, nn.Conv2d):
                module.to(memory_format=torch.channels_last)
    return model


def native_bfloat16(device: torch.device) -> bool:
    """Say whether a processor multiplies bfloat16 itself; others imitate it, and slowly.

    >>> native_bfloat16(torch.device("meta"))
    False
    """
    if device.type == "cuda":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(False)
    if device.type == "cpu":
        # Names of Intel's and AMD's, then of ARM's instructions. A torch that can't say has none.
        able = getattr(torch.cpu, "get_capabilities", dict)()
        return any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return False
