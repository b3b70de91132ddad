"""How to time a step fairly, and how to count its work and memory, on a CPU or a CUDA GPU."""

import statistics
import sys
import time
from collections.abc import Callable, Mapping

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


def interleaved_medians(
    functions: Mapping[str, Callable[[], object]], rounds: int, device: torch.device
) -> dict[str, float]:
    """Call all functions in turn, `rounds` times over, and return the median seconds of each.

    What slows the machine for a while slows them all, so their ratios keep. A first round, in which
    memory is found and code compiled, does not count.
    """
    repeats = 10 if device.type == "cuda" else 1  # a GPU's step is over before a clock is read
    times = {name: [] for name in functions}
    for counted in [False] + [True] * rounds:
        for name, function in functions.items():
            seconds = timed(function, repeats, device)
            if counted:
                times[name].append(seconds)
    return {name: statistics.median(found) for name, found in times.items()}


def timed(function: Callable[[], object], repeats: int, device: torch.device) -> float:
    """Return the seconds that one call takes, once the device has finished it."""
    synchronise(device)
    began = time.perf_counter()
    for _ in range(repeats):
        function()
    synchronise(device)
    return (time.perf_counter() - began) / repeats


def synchronise(device: torch.device) -> None:
    """Wait until a GPU has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def matrix_product(size: int, dtype: torch.dtype, device: torch.device) -> Callable[[], object]:
    """Return a product of two square matrices, of 2 · size³ operations."""
    a, b = torch.randn(2, size, size, device=device).to(dtype)
    return lambda: a @ b


def floating_point_operations(step: Callable[[], object]) -> int:
    """Count the operations of a step's convolutions and matrix products."""
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def bytes_kept_by_autograd(step: Callable[[], object], model: nn.Module) -> int:
    """Return how much memory autograd keeps between the passes, beside the weights."""
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept = {}

    def pack(x: torch.Tensor) -> torch.Tensor:
        storage = x.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        step()
    return sum(kept.values())


def peak_bytes(device: torch.device) -> int:
    """Return the most memory that was in use at once so far: the GPU's, or the process's."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    import resource  # Linux and macOS have it

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
