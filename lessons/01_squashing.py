# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Squashing
#
# A **capsule** is a small group of numbers, read as one arrow. It stands for one thing that may be in an image, such as the digit 4. The arrow's **length** says how sure the network is that the thing is there. Its **direction** says what the thing looks like.
#
# ## Goal
#
# A sure capsule should have a length near 1, and an unsure one a length near 0. But the sums that make up a capsule can have any length. **Squashing** is the step between.
#
# You will be able to squash a vector on paper, read the three lines of code that squash a whole batch, and name four ways to write them that break. This takes 20 minutes. You need to know what a vector is, and what a gradient is for.

# %%
from capsnet_tutorial import plotting

plotting.capsule_picture()

# %% [markdown]
# ## Idea: keep the direction, bound the length
#
# A dashed line is an arrow as it arrives. The solid arrow on top of it is the same one, squashed.
#
# Look at the directions first: none of them changes. Squashing never alters what a capsule says about the looks of its thing.
#
# Now look at the lengths. However long an arrow was, it ends inside the circle. The longest, of length 2, keeps 0.8 and comes closest to the circle. The shortest comes closest to nothing. So long arrows end near 1 and short ones near 0, and a length can be read as a score between 0 and 1, much like a probability.

# %%
import torch

from capsnet_tutorial import squash

arrows = torch.tensor([[1.2, 1.6], [-0.96, 0.28], [0.4, -0.3]])
plotting.before_and_after(arrows, squash(arrows))

# %% [markdown]
# ## By hand: three and four
#
# Take the vector (3, 4). You may remember it from school: the squares are 9 and 16, their sum is 25, so the length is 5.
#
# The squashed length is the squared length divided by one more than itself: 25 divided by 26.

# %%
squared = 3**2 + 4**2
length = squared**0.5
squashed_length = squared / (1 + squared)
print(f"length before: {length}")
print(f"length after:  25/26 = {squashed_length:.4f}")

# %% [markdown]
# To get the vector itself, make it one unit long, which keeps its direction, and then stretch it to the new length. Dividing by 5 gives (0.6, 0.8). Multiplying by 25/26 gives the answer.
#
# Do the same with (0.3, 0.4) on paper before you read on. Its squared length is 0.25, so the new length is 0.25 divided by 1.25.

# %%
for x, y in [(3, 4), (0.3, 0.4)]:
    squared = x**2 + y**2
    length = squared**0.5
    stretch = squared / (1 + squared) / length
    print(f"({x}, {y}) becomes ({x * stretch:.3f}, {y * stretch:.3f})")

# %% [markdown]
# ## Math
#
# In the paper this is Equation 1. The first factor is the new length, and the second is the direction:
#
# $$
# v_j = \frac{\lVert s_j \rVert^2}{1 + \lVert s_j \rVert^2}\; \frac{s_j}{\lVert s_j \rVert}
# $$
#
# | Symbol | Meaning | Shape |
# |---|---|---|
# | $j$ | which capsule | a whole number |
# | $s_j$ | its total input, the arrow that arrives | $m$ numbers |
# | $v_j$ | its output, the squashed arrow | $m$ numbers |
# | $\lVert s_j \rVert$ | the length: root of the sum of squares | one number |
# | $m$ | how many numbers a capsule has | a whole number |
#
# In the paper's network each of the ten digits has a capsule of $m = 16$ numbers. Ours on this page have 2, so that they can be drawn.

# %%
s_j = torch.tensor([3.0, 4.0])
norm = s_j.norm()
v_j = norm**2 / (1 + norm**2) * (s_j / norm)
v_j

# %% [markdown]
# ### One division less
#
# One length cancels, because it is squared above and stands once below:
#
# $$
# v_j = s_j\, \frac{\lVert s_j \rVert}{1 + \lVert s_j \rVert^2}
# $$
#
# This is the form that our code computes. It has the same value wherever the first form has one. At $s_j = 0$ the first form divides zero by zero. The second multiplies zero by 0/1, which is zero.

# %%
shorter_form = s_j * (norm / (1 + norm**2))
assert torch.allclose(shorter_form, v_j)

zero = torch.zeros(2)
zero * (zero.norm() / (1 + zero.norm() ** 2))

# %% [markdown]
# ## Code: loops, then all at once
#
# The package holds each of the paper's formulas twice: once in loops, once fast. The module [`reference`](../capsnet_tutorial/reference.py) spells them out with loops over plain numbers. It is slow and easy to check by eye.

# %%
from capsnet_tutorial import reference
from capsnet_tutorial.annotations import annotate

annotate(reference.squash)

# %% [markdown]
# The module [`squashing`](../capsnet_tutorial/squashing.py) does it for many vectors at once, in three lines. On the left are the notes that stand in the file, beside the lines that they speak of.
#
# `wide` is the input in float32, if it came in a narrower type. `norm` holds every vector's length. `keepdim` leaves an axis of size 1 in place of the summed one.

# %%
annotate(squash)

# %% [markdown]
# Do the two agree? This cell squashes a thousand random vectors of 16 numbers, from very short to very long, in both ways. If one result differed, `assert` would stop the lesson, and this page would not be built.

# %%
torch.manual_seed(0)
scales = torch.logspace(-3, 3, 1000, dtype=torch.float64)
many = torch.randn(1000, 16, dtype=torch.float64) * scales[:, None]
by_loops = torch.tensor(
    [reference.squash(s) for s in many.tolist()], dtype=torch.float64
)
difference = (squash(many) - by_loops).abs().max().item()
assert difference < 1e-12
print("no number differs by 1e-12 or more")

# %% [markdown]
# All axes but the last one count vectors. The later lessons share one example: two capsules below send a vector to each of three capsules above. That makes six vectors, and one call squashes them all. (The paper writes these vectors $\hat{u}$, hence the name `u_hat`; the next lesson explains them.)
#
# Each length comes out below 1. The four vectors with a length around 1 end between 0.47 and 0.62, and the two short ones nearly vanish.

# %%
from capsnet_tutorial import lengths

from_first = [[1.0, 0.2], [0.9, 0.9], [0.1, 0.0]]
from_second = [[0.9, 0.3], [-0.9, -0.8], [0.0, 0.1]]
u_hat = torch.tensor([from_first, from_second])
print("before:", *lengths(u_hat).flatten().numpy().round(2))
print("after: ", *lengths(squash(u_hat)).flatten().numpy().round(2))

# %%
annotate(lengths)

# %% [markdown]
# ## Picture: the curve and its slope
#
# A vector with one number is just a length, so 501 such vectors draw the whole curve. `autograd.grad` adds the slope at each place: how much the length after changes when the length before does.

# %%
before = torch.linspace(0, 5, 501, requires_grad=True)
after = lengths(squash(before[:, None]))
(slope,) = torch.autograd.grad(after.sum(), before)

plotting.squash_curve(before.detach(), after.detach(), slope)

# %% [markdown]
# A network learns through slopes, so the dashed line matters. On this page $n$ is the length before:
#
# $$
# \frac{\mathrm{d}}{\mathrm{d} n}\, \frac{n^2}{1 + n^2} = \frac{2n}{(1 + n^2)^2}
# $$
#
# It is largest at $n = 1/\sqrt{3}$, about 0.58. It is 0 at length 0, and falls towards 0 again as the length grows. A capsule that starts much too long hardly learns, and neither does one that starts much too short. This decides how large the weights of a new network should be, as the lesson on the whole network shows.

# %%
n = before.detach()
assert torch.allclose(slope, 2 * n / (1 + n**2) ** 2, atol=1e-6)

steepest = n[slope.argmax()].item()
print(f"steepest on this grid: {steepest:.2f}")
print(f"1 / sqrt(3):           {3**-0.5:.4f}")
assert abs(steepest - 3**-0.5) < 0.005

# %% [markdown]
# ### Move it yourself
#
# On the site, the picture that this cell draws is live: drag the ring, or type 3 and 4, and watch the slope fade as the arrow gets long or short. In Jupyter it stands still and shows where the live one starts.

# %%
from capsnet_tutorial.widgets import show_widget

start = torch.tensor([[1.6, 1.2]])
show_widget("squash", plotting.before_and_after(start, squash(start)))

# %% [markdown]
# ## Pitfalls: four ways to break it
#
# So short a function, and so easily broken. The module [`mistakes_squashing`](../capsnet_tutorial/mistakes_squashing.py) holds four broken ones. The first three share the code below. They differ in the epsilon, a tiny number that is meant to keep the division from failing.
#
# - *literal*: Equation 1 as it is printed, no epsilon
# - *inside*: 1e-7 added under the root
# - *outside*: 1e-7 added to the root
# - *narrow*: our formula, but computed in the type of its input
#
# The next three cells run all four, and ours beside them.

# %%
from capsnet_tutorial import mistakes

variants = {
    "literal": mistakes.squash_literal,
    "inside": mistakes.squash_epsilon_inside,
    "outside": mistakes.squash_epsilon_outside,
    "narrow": mistakes.squash_narrow,
    "ours": squash,
}
annotate(mistakes.paper_squash)

# %% [markdown]
# ### A vector of zeros
#
# A capsule gets nothing but zeros when the image is black there and no bias is added. One NaN, "not a number", is enough to ruin a training: it spreads to each weight that it touches.
#
# *Literal* divides zero by zero. *Outside* looks safe, because its value is right. But a root is infinitely steep at zero, and on the way back infinity times zero is NaN. *Narrow* is safe here; its fault comes last.

# %%
print("at 0      value   gradient")
for name, function in variants.items():
    s = torch.zeros(2, requires_grad=True)
    v = function(s)
    (gradient,) = torch.autograd.grad(v.sum(), s)
    print(f"{name:8} {v[0].item():6} {gradient[0].item():10}")

# %% [markdown]
# In November 2026 we read fifteen public implementations, and asked what their squash does at exactly zero. **Eight give NaN, as a value and as a gradient.** One more gives the right value and a NaN gradient. Six are right in both.
#
# In fairness, zeros are rare in practice. The authors' own code is among the eight, and it adds a bias of 0.1, which keeps its vectors away from zero. Networks with this fault have been trained all the same. They are safe only as long as no zero comes.

# %% [markdown]
# ### A very short vector
#
# A vector of length 0.0001 has a squared length of 1e-8. Beside it, an epsilon of 1e-7 is not tiny but ten times as large. *Inside* returns less than a third of the right length. Of the first three, it alone had no NaN at zero. It pays with accuracy.
#
# Is that bad? A short capsule says "not here" either way. But the slope of the length is 0.44 of the right one, and by that slope a capsule learns that it should be longer.

# %%
n = 1e-4
right_length, right_slope = n**2 / (1 + n**2), 2 * n / (1 + n**2) ** 2
print("at 1e-4   length    slope   (1 is right)")
for name, function in variants.items():
    s = torch.tensor([0.6 * n, 0.8 * n], requires_grad=True)
    length = function(s).norm()
    (gradient,) = torch.autograd.grad(length, s)
    slope = gradient.norm().item() / right_slope
    print(f"{name:8} {length.item() / right_length:7.3f} {slope:8.3f}")

# %% [markdown]
# ### A long vector in half precision
#
# GPUs are faster with 16-bit numbers. The largest float16 is 65,504. The vector (192, 256) has length 320, which fits, and a squared length of 102,400, which doesn't: it becomes infinity.
#
# Infinity divided by infinity is NaN. *Narrow* is worse in a way: 320 divided by infinity is 0. The surest capsule of all reports that nothing is there, and no error is raised.

# %%
s = torch.tensor([192.0, 256.0], dtype=torch.float16)
print("float16, length 320")
for name, function in variants.items():
    v = function(s).float()
    print(f"{name:8} length {v.norm().item():.3f}")

# %% [markdown]
# ### Why ours needs no epsilon
#
# The only denominator in our form is one plus a square. It is never below 1, so there is nothing to protect. Zeros stay zeros, and short vectors keep every digit.
#
# One corner is left: squash needs the length, and the length has no slope at zero, like the tip of a cone. PyTorch's `vector_norm` answers 0 there, and a root written out by hand doesn't. So we use the first.
#
# Half types are computed in float32 and turned back at the end. The result is at most 1, so it always fits.

# %%
s = torch.zeros(2, requires_grad=True)
torch.linalg.vector_norm(s).backward()
print("vector_norm:", s.grad)

s.grad = None
torch.sqrt((s**2).sum()).backward()
print("plain root: ", s.grad)

# %% [markdown]
# ## Check yourself
#
# **1.** A vector has length 1. How long is it after squashing?
#
# <details>
# <summary>Answer</summary>
#
# One half: 1 divided by 1 + 1.
#
# </details>
#
# **2.** Which length before gives 0.9 after?
#
# <details>
# <summary>Answer</summary>
#
# A length of 3. Its square is 9, and 9 divided by 10 is 0.9.
#
# </details>
#
# **3.** Someone squashes along the wrong axis: the one that counts capsules. The shapes still fit. What is lost?
#
# <details>
# <summary>Answer</summary>
#
# The direction of each capsule, since each of its numbers is now scaled by a factor of its own. Its length no longer has a bound of 1 either: below, one ends with a length of 1.19.
#
# </details>

# %%
assert squash(torch.tensor([1.0, 0.0])).norm() == 0.5

print("length 3 becomes", round(squash(torch.tensor([3.0])).item(), 4))

two = torch.tensor([[3.0, 3.0], [0.1, 2.0]])
for name, dim in [("right axis", -1), ("wrong axis", 0)]:
    out = squash(two, dim=dim)
    print(name, "vectors:", *out.numpy().round(2), end="  ")
    print("lengths:", lengths(out).numpy().round(2))

# %% [markdown]
# **An exercise.** Write the way back: a function that takes a squashed vector and returns the vector that it came from. Start from the lengths. If $p$ is the length after and $n$ the one before, then $p = n^2 / (1 + n^2)$.
#
# Replace the line `return v`, and run the cell until it prints `solved`. A solution comes next.
#
# <details>
# <summary>Hint</summary>
#
# Solve for $n^2$ first. Then the vector is to be stretched by $n / p$.
#
# </details>


# %%
def unsquash(v):
    return v  # your turn: this gives it back as it is


vectors = torch.tensor([[3.0, 4.0], [0.3, -0.4], [-1.0, 2.0]])
back = unsquash(squash(vectors))
solved = torch.allclose(back, vectors, atol=1e-5)
print("solved" if solved else "not solved yet")

# %% [markdown]
# **A solution.** From $p\,(1 + n^2) = n^2$ follows $n^2 = p / (1 - p)$. A zero vector needs a case of its own, as in the pitfalls above: here $n / p$ would divide zero by zero. Nothing is lost by squashing, except to rounding: the longer a vector was, the closer $p$ is to 1, and the fewer digits are left in $1 - p$.


# %%
def solution(v):
    p = lengths(v)[:, None]
    n = (p / (1 - p)).sqrt()
    stretch = torch.where(p > 0, n / p, torch.zeros_like(p))
    return v * stretch


assert torch.allclose(solution(squash(vectors)), vectors, atol=1e-5)
assert (solution(torch.zeros(1, 2)) == 0).all()
solution(squash(vectors))

# %% [markdown]
# ## How this differs from the paper
#
# - The value is that of Equation 1. We compute it in the form with one division less, so it also has a value at zero, which the paper's formula leaves open.
# - Half types are computed in float32. The paper doesn't speak of types.
# - Section 2 of the paper reads the length as the probability that the thing is there. Nothing in the formula makes it a *true* probability: three digit capsules may well have lengths that add up to 2. It is a score between 0 and 1 that training pushes up and down.

# %% [markdown]
# ## Summary
#
# - A capsule's length says how sure it is, and its direction says what its thing looks like.
# - Squashing keeps the direction and turns a length $n$ into $n^2 / (1 + n^2)$.
# - (3, 4) has length 5 and comes out with length 25/26.
# - The slope is largest at $1/\sqrt{3}$. It is 0 at length 0 and falls towards 0 for long vectors.
# - Divide by one plus the square, never by the length, and square in float32.
#
# **Next** comes [routing by agreement](02_routing.ipynb): where the total input $s_j$ comes from, and how capsules below decide to which capsule above they belong.
