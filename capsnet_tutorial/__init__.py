"""Capsule networks with routing by agreement: what the lessons import and the tests prove."""

from capsnet_tutorial.augmentation import random_shift
from capsnet_tutorial.capsnet import CapsNet, CapsNetLoss, CapsNetOutput, capsnet_loss
from capsnet_tutorial.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from capsnet_tutorial.config import CapsNetConfig
from capsnet_tutorial.data import Digits, mnist, sample_digits, split
from capsnet_tutorial.evaluation import Evaluation, evaluate
from capsnet_tutorial.history import Epoch, History
from capsnet_tutorial.layers import DigitCaps, PrimaryCaps
from capsnet_tutorial.margin import margin_loss
from capsnet_tutorial.reconstruction import Decoder, mask_capsules, reconstruction_loss
from capsnet_tutorial.routing import RoutingTrace, dynamic_routing
from capsnet_tutorial.squashing import lengths, squash
from capsnet_tutorial.training import fit

__all__ = [
    "CapsNet",
    "CapsNetConfig",
    "CapsNetLoss",
    "CapsNetOutput",
    "Checkpoint",
    "Decoder",
    "DigitCaps",
    "Digits",
    "Epoch",
    "Evaluation",
    "History",
    "PrimaryCaps",
    "RoutingTrace",
    "capsnet_loss",
    "dynamic_routing",
    "evaluate",
    "fit",
    "lengths",
    "load_checkpoint",
    "margin_loss",
    "mask_capsules",
    "mnist",
    "random_shift",
    "reconstruction_loss",
    "sample_digits",
    "save_checkpoint",
    "split",
    "squash",
]
