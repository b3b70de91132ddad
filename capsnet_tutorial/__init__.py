"""Capsule networks with routing by agreement: the code that the lessons import and the tests prove."""

from capsnet_tutorial.capsnet import (
    CapsNet,
    CapsNetConfig,
    CapsNetLoss,
    CapsNetOutput,
    capsnet_loss,
)
from capsnet_tutorial.layers import DigitCaps, PrimaryCaps
from capsnet_tutorial.margin import margin_loss
from capsnet_tutorial.reconstruction import Decoder, mask_capsules, reconstruction_loss
from capsnet_tutorial.routing import RoutingTrace, dynamic_routing
from capsnet_tutorial.squashing import lengths, squash

__all__ = [
    "CapsNet",
    "CapsNetConfig",
    "CapsNetLoss",
    "CapsNetOutput",
    "Decoder",
    "DigitCaps",
    "PrimaryCaps",
    "RoutingTrace",
    "capsnet_loss",
    "dynamic_routing",
    "lengths",
    "margin_loss",
    "mask_capsules",
    "reconstruction_loss",
    "squash",
]
