"""The oracle itself: numbers worked out by hand, and no tensor anywhere."""

import inspect
from math import e, sqrt

import pytest

from capsnet_tutorial import reference


def test_squash_by_hand():
    assert reference.squash([3.0, 4.0]) == pytest.approx([15 / 26, 20 / 26])
    assert reference.squash([0.0, 1.0]) == [0.0, 0.5]
    assert reference.squash([-2.0]) == pytest.approx([-0.8])
    assert reference.squash([0.0, 0.0]) == [0.0, 0.0]


def test_length_by_hand():
    assert reference.length([3.0, -4.0]) == 5
    assert reference.length([1.0, 1.0, 1.0]) == pytest.approx(sqrt(3))


def test_softmax_by_hand():
    assert reference.softmax([1.0, 0.0]) == pytest.approx([e / (e + 1), 1 / (e + 1)])
    assert reference.softmax([0.0, 0.0, 0.0]) == pytest.approx(3 * [1 / 3])
    assert reference.softmax([1000.0, 0.0]) == [1.0, 0.0]


def test_two_iterations_of_routing_by_hand():
    # Two children, two parents, one component. Both agree on the first parent, not on the second.
    u_hat = [[[2.0], [1.0]], [[2.0], [-1.0]]]
    v, c = reference.dynamic_routing(u_hat, num_iterations=1)
    assert c == [[[0.5, 0.5], [0.5, 0.5]]]
    assert v == [[0.8], [0.0]]  # inputs 2 and 0
    # Now b = 0.8 · 2 = 1.6 to the first parent and 0 to the second, for either child.
    v, c = reference.dynamic_routing(u_hat, num_iterations=2)
    share = e**1.6 / (e**1.6 + 1)
    assert c[1][0] == c[1][1] == pytest.approx([share, 1 - share])
    total = 4 * share
    assert v[0] == pytest.approx([total**2 / (1 + total**2)])
    assert v[1] == pytest.approx([0.0])


def test_logits_add_up_over_the_iterations():
    # One child pointing along (1, 0) for its first parent and nowhere for its second.
    _, c = reference.dynamic_routing([[[1.0, 0.0], [0.0, 0.0]]], num_iterations=3)
    b_2 = 0.5**2 / (1 + 0.5**2)
    share = e**b_2 / (e**b_2 + 1)
    b_3 = b_2 + share**2 / (1 + share**2)
    assert c[1][0][0] == pytest.approx(share)
    assert c[2][0][0] == pytest.approx(e**b_3 / (e**b_3 + 1))
    assert len(reference.dynamic_routing([[[1.0]]])[1]) == 3


def test_margin_loss_by_hand():
    assert reference.margin_loss([[0.0], [0.1], [0.05]], [1, 0, 0]) == pytest.approx(0.81)
    assert reference.margin_loss(10 * [[1.0]], [1] + 9 * [0]) == pytest.approx(3.645)
    assert reference.margin_loss([[0.6, 0.0], [0.0, 0.3]], [1, 1]) == pytest.approx(0.09 + 0.36)
    assert reference.margin_loss([[0.5]], [0], 0.9, 0.2, 2.0) == pytest.approx(0.18)


def test_mask_capsules_by_hand():
    v = [[0.9, 0.0], [0.6, -0.8], [0.0, 0.1]]
    assert reference.mask_capsules(v) == [[0.0, 0.0], [0.6, -0.8], [0.0, 0.0]]
    assert reference.mask_capsules(v, 2) == [[0.0, 0.0], [0.0, 0.0], [0.0, 0.1]]
    assert reference.mask_capsules(v, 0) == [[0.9, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_reconstruction_loss_by_hand():
    assert reference.reconstruction_loss([0.5, 0.0, 1.0], [0.0, 1.0, 1.0]) == 1.25


def test_images_of_different_sizes_are_not_compared():
    with pytest.raises(ValueError, match="longer"):
        reference.reconstruction_loss([0.5], [0.5, 0.5])


def test_the_oracle_is_independent_of_what_it_judges():
    source = inspect.getsource(reference)
    imports = [line for line in source.splitlines() if line.startswith(("import ", "from "))]
    assert imports == ["from math import exp, sqrt"]
