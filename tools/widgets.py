"""Write the file that the site's `<capsnet-digit>` loads: the decoder that lesson 4 trains.

    python tools/widgets.py decoder    train as lesson 4 does, which takes a minute, and write
                                       theme/widgets/decoder.bin and results/decoder_pixels.json

The record holds what PyTorch draws with the full weights, against which a test holds the file.
The file, little-endian, with its parts one after the other:

    uint32     bytes of the header
    header     JSON, filled up with spaces to whole words:
               {"layers": [[rows, columns], …], "labels": [class of each digit, …],
                "digit_dim": numbers a capsule, "pixels": pixels an image}
    float32    for each layer: a scale for each row, then a bias for each row
    float32    for each digit: the capsule of its class
    uint8      for each digit: its pixels, 255 for an intensity of 1
    int8       for each layer: its weights row by row; times the row's scale they are the layer's
"""

import json
import struct
import sys
from pathlib import Path

import torch
from experiments import DRAWING_RECIPE
from torch import Tensor, nn

from capsnet_tutorial import CapsNet, CapsNetConfig, Decoder, Digits, fit, sample_digits
from capsnet_tutorial.records import write_record

FILE = Path(__file__).resolve().parent.parent / "theme/widgets/decoder.bin"
REACH = 0.25
"""How far a slider moves a number of the capsule, as in the paper's Figure 4."""


def pack(decoder: Decoder, capsules: Tensor, digits: Digits) -> bytes:
    """Write a decoder, with one int8 scale a row, and some digits to draw, as the file above.

    Args:
        decoder: its layers `nn.Linear` are packed.
        capsules: the capsule of each digit's class, `[b, m]`.
        digits: the images and labels that they belong to.
    """
    layers = [layer for layer in decoder.layers if isinstance(layer, nn.Linear)]
    header = {
        "layers": [list(layer.weight.shape) for layer in layers],
        "labels": digits.labels.tolist(),
        "digit_dim": capsules.shape[1],
        "pixels": digits.images[0].numel(),
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    floats, weights = [], []
    for layer in layers:
        weight, bias = layer.weight.detach(), layer.bias.detach()
        scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
        floats += [scale, bias]
        weights.append((weight / scale[:, None]).round().to(torch.int8))
    images = (255 * digits.images).round().to(torch.uint8)
    parts = [part.to(torch.float32).numpy().astype("<f4") for part in [*floats, capsules]]
    parts += [part.numpy() for part in [images, *weights]]
    return struct.pack("<I", len(text)) + text + b"".join(part.tobytes() for part in parts)


def train() -> CapsNet:
    """Train the network of lesson 4."""
    torch.manual_seed(0)
    model = CapsNet(CapsNetConfig.small())
    fit(model, sample_digits()[0], **DRAWING_RECIPE, seed=0)
    return model


def decoder() -> None:
    """Pack the decoder with the first digit of each class that is held out and read rightly."""
    torch.set_num_threads(2)  # as the lessons run
    model, (images, labels) = train().requires_grad_(False), sample_digits()[1]
    v_j, lengths, _ = model(images)
    right = lengths.argmax(dim=1) == labels
    first = torch.tensor([int((right & (labels == k)).nonzero()[0]) for k in range(10)])
    chosen = Digits(images[first], labels[first])
    capsules = v_j[first, chosen.labels]
    FILE.write_bytes(pack(model.decoder, capsules, chosen))
    # Each digit as it is, and with all of its capsule's numbers moved at random.
    generator = torch.Generator().manual_seed(0)
    moves = REACH * (2 * torch.rand(capsules.shape, generator=generator) - 1)
    rows = []
    for offsets in (torch.zeros_like(capsules), moves):
        moved = v_j[first].clone()
        moved[torch.arange(10), chosen.labels] += offsets
        drawn = (255 * model.decode(moved, chosen.labels)).round().byte()
        pixels = [bytes(image.flatten().tolist()).hex() for image in drawn]
        rows.append({"offsets": offsets.tolist(), "pixels": pixels})
    write_record(
        "decoder_pixels",
        "python tools/widgets.py decoder",
        seed=0,
        data="sample digits: 4,000 to train; drawn: the first of each class held out, read rightly",
        **DRAWING_RECIPE,
        threads=torch.get_num_threads(),
        places=first.tolist(),
        labels=chosen.labels.tolist(),
        rows=rows,
    )


if __name__ == "__main__":
    if sys.argv[1:] != ["decoder"]:
        sys.exit("usage: python tools/widgets.py decoder")
    decoder()
