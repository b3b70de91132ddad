"""Time a training step of the paper's model, whole and in parts, beside yardsticks: `make bench`.

All are timed in turn in one process, the machine's own rate of matrix products among them, so that
ratios hold where milliseconds don't. `--json NAME` writes results/NAME.json.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from measuring import (
    bytes_kept_by_autograd,
    floating_point_operations,
    interleaved_medians,
    matrix_product,
    peak_bytes,
)
from torch import Tensor
from yardsticks import FULL, HALF, LADDER, PLAIN

from capsnet_tutorial import CapsNet, CapsNetConfig, CapsNetOutput, capsnet_loss, lengths, routing
from capsnet_tutorial.layers import DigitCaps
from capsnet_tutorial.records import write_record

SEED = 0
TINY = CapsNetConfig(conv_channels=8, primary_types=2)
ALLOCATOR_VARIABLES = ("MALLOC_", "THP_MEM_", "GLIBC_TUNABLES", "LD_PRELOAD", "PYTORCH_")


class Step:
    """A model, a batch and an optimiser: call it to take one training step."""

    def __init__(
        self,
        digit: type[DigitCaps],
        bf16: bool,
        channels_last: bool,
        fused: bool,
        args: argparse.Namespace,
    ):
        torch.manual_seed(SEED)
        config = TINY if args.tiny else CapsNetConfig()
        self.model = model = CapsNet(config)
        model.digit.__class__ = digit  # the same weights
        memory_format = torch.channels_last if channels_last else torch.contiguous_format
        model.to(args.device, memory_format=memory_format)
        self.run = model
        self.bf16 = bf16
        self.images = torch.rand(args.batch, *config.image_shape, device=args.device)
        self.labels = torch.randint(config.num_classes, (args.batch,), device=args.device)
        self.optimizer = torch.optim.Adam(model.parameters(), fused=fused)

    def autocast(self) -> torch.autocast:
        """Return the context in which the forward pass runs."""
        return torch.autocast(self.images.device.type, torch.bfloat16, enabled=self.bf16)

    def __call__(self) -> None:
        """Take one training step."""
        with self.autocast():
            output = self.run(self.images, self.labels)
            loss = capsnet_loss(output, self.images, self.labels).total
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def parts(self) -> dict[str, Callable[[], object]]:
        """Return the parts of a step, each forward and backward."""
        model, images, labels = self.model, self.images, self.labels
        with torch.no_grad(), self.autocast():
            u = model.primary(model.conv(images).relu())
            u_hat = model.digit.predict(u)
            capsules = model.digit(u)

        def both_passes(function: Callable[..., Tensor], *inputs: Tensor) -> Callable[[], object]:
            leaves = [x.detach().requires_grad_() for x in inputs]

            def run() -> None:
                with self.autocast():
                    out = function(*leaves)
                wanted = [*leaves, *model.parameters()]
                torch.autograd.grad(out, wanted, torch.ones_like(out), allow_unused=True)

            return run

        def decode(capsules: Tensor) -> Tensor:
            output = CapsNetOutput(capsules, lengths(capsules), model.decode(capsules, labels))
            return capsnet_loss(output, images, labels).total

        return {
            "convolutions": both_passes(lambda: model.primary(model.conv(images).relu())),
            "û": both_passes(model.digit.predict, u),
            "routing": both_passes(routing.dynamic_routing, u_hat),
            "decoder and losses": both_passes(decode, capsules),
            "optimiser": self.optimizer.step,
        }


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Time all steps, the parts of ours and a matrix product in turn; count work and memory."""
    bf16 = args.precision == "bf16"
    ladder = [row for row in LADDER if bf16 or row[0] != HALF]
    settings = {
        name: (digit, half and bf16, last, fused) for name, digit, half, last, fused in ladder
    }
    ours = HALF if bf16 else FULL
    step = Step(*settings[ours], args)
    step()
    result = {"peak_bytes": peak_bytes(step.images.device)}  # before the yardsticks are built
    result["kept_bytes"] = bytes_kept_by_autograd(step, step.model)
    result["operations"] = floating_point_operations(step)

    steps = {name: Step(*settings[name], args) for name in settings if name != ours}
    steps = {name: step if name == ours else steps[name] for name in settings}
    if args.compile:
        modes = {"compiled": "default", "compiled, in CUDA graphs": "reduce-overhead"}
        for name in list(modes)[: 2 if args.device.startswith("cuda") else 1]:
            steps[name] = Step(*settings[ours], args)
            steps[name].run = torch.compile(steps[name].model, mode=modes[name])
    result["kept_bytes_plain"] = bytes_kept_by_autograd(steps[PLAIN], steps[PLAIN].model)

    size = 64 if args.tiny else 2048 if args.device == "cpu" else 8192
    dtype = torch.bfloat16 if bf16 else torch.float32
    product = matrix_product(size, dtype, step.images.device)
    timed = {**steps, **step.parts(), "matrix product": product}
    seconds = interleaved_medians(timed, args.rounds, step.images.device)
    rate = 2 * size**3 / seconds.pop("matrix product")
    return result | {
        "ours": ours,
        "steps": {name: seconds[name] for name in steps},
        "parts": {name: seconds[name] for name in step.parts()},
        "matrix_rate": rate,
        "share": result["operations"] / seconds[ours] / rate,
    }


def report(result: dict[str, Any]) -> str:
    """Say in a table what was measured."""
    ours = result["steps"][result["ours"]]
    lines = [f"{'step':<36}{'ms':>9}{'of ours':>9}"]
    lines += [f"{k:<36}{1e3 * s:9.1f}{s / ours:9.2f}" for k, s in result["steps"].items()]
    lines += ["", f"{'part of ours (' + result['ours'] + ')':<36}{'ms':>9}{'of ours':>9}"]
    lines += [f"{k:<36}{1e3 * s:9.1f}{s / ours:9.2f}" for k, s in result["parts"].items()]
    mib = 2**20
    lines += [
        "",
        f"{result['operations'] / 1e9:.1f} GFLOP a step; matrix products run at "
        f"{result['matrix_rate'] / 1e9:,.0f} GFLOP/s, and our step at {result['share']:.0%} of it",
        f"autograd keeps {result['kept_bytes'] / mib:,.0f} MiB "
        f"({result['kept_bytes_plain'] / mib:,.0f} MiB for {PLAIN}); "
        f"{result['peak_bytes'] / mib:,.0f} MiB were in use at most",
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write a record if one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="bf16")
    parser.add_argument("--batch", type=int, default=100, help="images a step")
    parser.add_argument("--rounds", type=int, default=9, help="times that each step is timed")
    parser.add_argument("--compile", action="store_true", help="also time our step compiled")
    parser.add_argument("--tiny", action="store_true", help="a tiny model, to try this program")
    parser.add_argument("--json", metavar="NAME", help="write results/NAME.json")
    args = parser.parse_args(argv)
    result = measure(args)
    print(report(result))
    if args.json:
        options = {k: v for k, v in vars(args).items() if k != "json"}
        write_record(
            args.json,
            shlex.join(["python", "benchmarks/step.py", *(sys.argv[1:] if argv is None else argv)]),
            SEED,
            f"{args.batch} random images",
            args.device,
            options=options,
            threads=torch.get_num_threads(),
            variables={k: v for k, v in os.environ.items() if k.startswith(ALLOCATOR_VARIABLES)},
            **result,
        )


if __name__ == "__main__":
    main()
