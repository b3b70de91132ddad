"""The command `capsnet-tutorial`: what a terminal can ask of the package."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NoReturn

from capsnet_tutorial.augmentation import AUGMENTATIONS
from capsnet_tutorial.evaluate_command import evaluate_run
from capsnet_tutorial.options import DATA, PRECISIONS, PRESETS
from capsnet_tutorial.predict_command import predict
from capsnet_tutorial.recipes import preset_recipe
from capsnet_tutorial.train_command import INTERRUPTED, train

REFUSED = 2
"""Exit code where the input is to blame."""

BENCHMARK = Path(__file__).resolve().parent.parent / "benchmarks" / "step.py"
DATA_DIR_HELP = "folder with MNIST/raw [$CAPSNET_DATA, or ~/.cache/capsnet-tutorial]"


class Parser(argparse.ArgumentParser):
    """A parser that says in one sentence what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2."""
        self.exit(REFUSED, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and turn whatever the user can mend into one sentence.

    Args:
        arguments: words of the command line behind the command's name; by default this program's.

    Returns:
        The exit code: 0 if all went well, 2 if the input is to blame, 130 after Ctrl-C.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)  # so that a log can be followed
    words = vars(_parser().parse_args(arguments))
    run_command = words.pop("run_command")
    try:
        return run_command(words)
    except KeyboardInterrupt:
        print("capsnet-tutorial: stopped", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, ModuleNotFoundError) as error:
        said = str(error) or type(error).__name__
        print("capsnet-tutorial:", *said.split(), file=sys.stderr)
        return REFUSED


def _parser() -> Parser:
    """Return the parser of all commands."""
    parser = Parser(prog="capsnet-tutorial", description="Train and try capsule networks.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    _add_train(commands)
    _add_evaluate(commands)
    _add_predict(commands)
    _add_bench(commands)
    return parser


def _add_train(commands: argparse._SubParsersAction) -> None:
    """Add `train`. What isn't said stays unsaid, so that a resumed run can be asked for it."""
    train_ = commands.add_parser(
        "train",
        help="train a network in a folder of its own",
        description="Train a capsule network. What you don't say is taken from the table below.",
        epilog=_table_of_defaults(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    train_.set_defaults(run_command=_train)
    add = train_.add_argument
    yes_or_no = argparse.BooleanOptionalAction
    add("--data", choices=DATA, help="digits to learn from: 4,000, or all 60,000 of MNIST [sample]")
    add("--preset", choices=PRESETS, help="size of the network: small, or the paper's [small]")
    add("--routing", type=int, metavar="N", help="routing iterations [3]")
    add("--stop-gradient", action=yes_or_no, help="gradients in the last iteration only [no]")
    add("--reconstruction", action=yes_or_no, help="with a decoder [yes]")
    add("--epochs", type=int, metavar="N", help="passes over the digits")
    add("--batch-size", type=int, metavar="N", help="digits a step")
    add("--learning-rate", type=float, metavar="X", help="at the first step")
    add(
        "--precision",
        choices=PRECISIONS,
        help="of convolutions and matrix products; auto is bf16 where the processor has it",
    )
    add("--compile", action=yes_or_no, help="compile the network first [no]")
    add("--device", help="cpu, cuda, cuda:1 or mps [cuda where there is one, else cpu]")
    add("--seed", type=_seed, metavar="N", help="of first weights, order and moves [0]")
    add("--data-dir", type=_path, help=DATA_DIR_HELP)
    add("--augment", choices=list(AUGMENTATIONS), help="what happens to each image first [shift]")
    add("--out", type=_path, help="the run's folder, new or empty [runs/PRESET-DATA]")
    add("--resume", action="store_true", help="go on with the run in that folder")


def _add_evaluate(commands: argparse._SubParsersAction) -> None:
    """Add `evaluate`."""
    help_ = "judge a finished run's network by test digits"
    evaluate_ = commands.add_parser("evaluate", help=help_, description=help_)
    evaluate_.set_defaults(run_command=lambda words: evaluate_run(**words))
    evaluate_.add_argument("run", type=_path, metavar="RUN", help="the run's folder")
    evaluate_.add_argument("--data", choices=DATA, help="whose test digits [the run's]")
    evaluate_.add_argument("--data-dir", type=_path, help=DATA_DIR_HELP)


def _add_predict(commands: argparse._SubParsersAction) -> None:
    """Add `predict`."""
    help_ = "read digits in pictures, and draw what the network makes of them"
    predict_ = commands.add_parser("predict", help=help_, description=help_)
    predict_.set_defaults(run_command=lambda words: predict(**words))
    predict_.add_argument("run", type=_path, metavar="RUN", help="the run's folder")
    predict_.add_argument(
        "pictures",
        type=_path,
        nargs="+",
        metavar="IMAGE",
        help="a picture of one digit, of any size, dark on light or light on dark",
    )
    predict_.add_argument("--out", type=_path, help="folder for the drawings [RUN]")


def _add_bench(commands: argparse._SubParsersAction) -> None:
    """Add `bench`, whose options are those of the program that it runs."""
    help_ = "time a training step of the paper's network (bench --help lists options)"
    # No character begins an option here, so that all words are passed on.
    bench_ = commands.add_parser("bench", help=help_, add_help=False, prefix_chars="\0")
    bench_.set_defaults(run_command=lambda words: _bench(words["words"]))
    bench_.add_argument("words", nargs="*")


def _bench(words: Sequence[str]) -> int:
    """Run the repository's benchmark."""
    if not BENCHMARK.is_file():
        raise FileNotFoundError(
            f"there is no {BENCHMARK}: bench needs the repository, not the installed package alone"
        )
    return subprocess.run([sys.executable, str(BENCHMARK), *words]).returncode


def _train(words: dict) -> int:
    """Train with what the command line said."""
    apart = {name: words.pop(name) for name in ("out", "resume", "data_dir") if name in words}
    return train(words, **apart)


def _table_of_defaults() -> str:
    """Say what `train` does if nothing is said."""
    lines = ["preset  data    epochs  batch size  learning rate  precision"]
    for size, data in product(PRESETS, DATA):
        recipe = preset_recipe(size, data)
        precision = "auto" if size == "paper" else "fp32"
        lines.append(
            f"{size:7} {data:7} {recipe.epochs:6}  {recipe.batch_size:10}  "
            f"{recipe.learning_rate:13}  {precision:>9}"
        )
    return "\n".join(lines)


def _path(text: str) -> Path:
    """Read a path; an empty text, as of an unset variable, would mean the folder one is in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a path is needed, got an empty text")
    return Path(text)


def _seed(text: str) -> int:
    """Read a seed that torch takes."""
    if not 0 <= (seed := int(text)) < 2**63:
        raise argparse.ArgumentTypeError(f"a seed lies between 0 and 2^63 - 1, got {text}")
    return seed
