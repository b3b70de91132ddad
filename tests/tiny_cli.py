"""The command `capsnet-tutorial` with a tiny network and few digits: what tests start."""

import sys
from functools import partial

from capsnet_tutorial import CapsNetConfig, Digits, recipes, sample_digits
from capsnet_tutorial.cli import main

NUM_TRAIN, NUM_VALIDATION, NUM_TEST = 43, 9, 20


def few_digits():
    """Return 52 digits to learn from and 20 to judge by."""
    train, test = sample_digits()
    return spread(train, NUM_TRAIN + NUM_VALIDATION), spread(test, NUM_TEST)


def spread(digits, count):
    """Return some digits of all classes: they come sorted."""
    step = len(digits.labels) // count
    return Digits(*(part[::step][:count] for part in digits))


def make_tiny(patch=setattr):
    """Put a tiny network and few digits in the place of the small network and the sample."""
    tiny = partial(CapsNetConfig, conv_channels=4, primary_types=1)
    patch(CapsNetConfig, "small", lambda **changes: tiny(**changes))
    patch(recipes, "sample_digits", few_digits)
    preset_recipe = recipes.preset_recipe

    def few_epochs(size, data):
        chosen = preset_recipe(size, data)
        changes = {"epochs": 4, "batch_size": 8, "num_validation": NUM_VALIDATION}
        return recipes.replace(chosen, **changes) if data == "sample" else chosen

    from capsnet_tutorial import cli, options

    for module in (cli, options, recipes):
        patch(module, "preset_recipe", few_epochs)


if __name__ == "__main__":
    make_tiny()
    sys.exit(main())
