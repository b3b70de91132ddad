"""The command `capsnet-tutorial` with a tiny network and few pictures: what tests start."""

import sys
from functools import partial

import torch
from PIL import Image

from capsnet_tutorial import CapsNetConfig, Digits, load_checkpoint, recipes
from capsnet_tutorial.cli import main

NUM_TRAIN, NUM_VALIDATION, NUM_TEST = 43, 9, 20


def few_digits():
    """Return 52 pictures to learn from and 20 to judge by: a bar in a place for each class."""
    generator = torch.Generator().manual_seed(0)
    return bars(NUM_TRAIN + NUM_VALIDATION, generator), bars(NUM_TEST, generator)


def bars(count, generator):
    """Return pictures of bars, with noise on them."""
    labels = torch.arange(count) % 10
    images = torch.zeros(count, 1, 28, 28)
    for image, label in zip(images, labels.tolist(), strict=True):
        image[0, 2 + 2 * label : 6 + 2 * label, 6:22] = 0.8
    noise = torch.rand(images.shape, generator=generator)
    return Digits((images + noise / 10).clamp(0, 1), labels)


def make_tiny(patch=setattr):
    """Put a tiny network and few pictures in the place of the small network and the sample."""
    tiny = partial(CapsNetConfig, conv_channels=4, primary_types=1)
    patch(CapsNetConfig, "small", lambda **changes: tiny(**changes))
    patch(recipes, "sample_digits", few_digits)
    preset_recipe = recipes.preset_recipe

    def few_epochs(size, data):
        chosen = preset_recipe(size, data)
        changes = {"epochs": 4, "batch_size": 8, "num_validation": NUM_VALIDATION}
        return recipes.replace(chosen, **changes) if data == "sample" else chosen

    from capsnet_tutorial import cli, evaluate_command, options

    for module in (cli, evaluate_command, options, recipes):
        patch(module, "preset_recipe", few_epochs)


SHORT = ["--device=cpu", "--epochs=4"]


def weights(folder):
    """Return the weights that a run's checkpoint holds."""
    return [
        weight for _, weight in load_checkpoint(folder / "checkpoint.pt").model.named_parameters()
    ]


def same_weights(first, second):
    """Say whether two runs ended in the same weights, to the last bit."""
    return all(a.equal(b) for a, b in zip(weights(first), weights(second), strict=True))


def content(folder):
    """Return the bytes of every file in a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def picture(path, number):
    """Write one of the test pictures, dark on light and larger."""
    image = few_digits()[1].images[number, 0]
    Image.fromarray((255 - 255 * image).byte().numpy()).resize((90, 90)).save(path)


if __name__ == "__main__":
    make_tiny()
    sys.exit(main())
