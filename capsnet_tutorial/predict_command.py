"""`capsnet-tutorial predict`: which digit a picture shows, and what the network makes of it."""

from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from capsnet_tutorial.checkpoints import load_checkpoint
from capsnet_tutorial.plotting_training import digit_grid
from capsnet_tutorial.predicting import read_picture
from capsnet_tutorial.runs import CHECKPOINT


@torch.no_grad()
def predict(run: Path, pictures: list[Path], out: Path | None = None) -> int:
    """Print the digit in each picture and its capsules' lengths, and write what the network draws.

    Args:
        run: the folder of the run whose network is asked.
        pictures: files, each with one digit.
        out: folder for the drawings; by default the run's.

    Returns:
        The exit code, 0.

    Raises:
        ValueError: if a file is no picture or shows no digit; then nothing is written.
        OSError: if a file or the run isn't there.
    """
    model = load_checkpoint(run / CHECKPOINT).model
    prepared = [read_picture(path) for path in pictures]
    out = out or run
    out.mkdir(parents=True, exist_ok=True)
    for path, image in zip(pictures, prepared, strict=True):
        output = model(image[None])
        digit = int(output.lengths[0].argmax())
        lengths = ", ".join(f"{k}: {length:.2f}" for k, length in enumerate(output.lengths[0]))
        written = _write_drawing(out, f"{path.stem}-read-as-{digit}", image, output.reconstruction)
        print(f"{path}: {digit}\n  lengths {lengths}\n  drawn in {written}")
    return 0


def _write_drawing(
    folder: Path,
    name: str,
    image: Float[Tensor, "1 h w"],
    reconstruction: Float[Tensor, "1 1 h w"] | None,
) -> Path:
    """Write the prepared picture and, beside it, its reconstruction, under a name that is free."""
    images, captions = image[None], ["prepared"]
    if reconstruction is not None:
        images, captions = torch.cat([images, reconstruction]), ["prepared", "reconstructed"]
    drawing = digit_grid(images, captions, columns=2, what="A digit", framed=True).png
    number = 1
    while True:
        path = folder / (f"{name}.png" if number == 1 else f"{name}-{number}.png")
        try:
            with path.open("xb") as file:
                file.write(drawing)
        except FileExistsError:
            number += 1
        else:
            return path
