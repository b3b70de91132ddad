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
# # Routing by agreement
#
# A capsule network finds wholes by letting parts vote. This lesson is about the vote: who gets how much of whom, and how a few rounds decide it.
#
# ## Goal
#
# You will be able to do one round of routing on paper, read the loop that does it for a whole batch, and say what goes wrong when its softmax runs over the other axis. This takes 25 minutes. You need [the lesson on squashing](01_squashing.ipynb).

# %%
import torch

from capsnet_tutorial.plotting_routing import prediction_arrows

from_first = [[1.0, 0.2], [0.9, 0.9], [0.1, 0.0]]
from_second = [[0.9, 0.3], [-0.9, -0.8], [0.0, 0.1]]
u_hat = torch.tensor([from_first, from_second])
torch.set_printoptions(sci_mode=False)
prediction_arrows(u_hat)

# %% [markdown]
# ## Idea: parts that agree make a whole
#
# A network sees parts and has to find the whole that they belong to. Two eyes and a mouth make a face only if they sit where one and the same face would have them.
#
# So each part makes a guess: *if I belonged to a face, it would be here, this large, turned like this*. If several parts guess the same face, the face is probably there. They then give more of themselves to that face, and less to wholes that nobody else believes in.
#
# The picture at the top shows two parts that guess at three wholes. About whole 0 they agree. About whole 1 they contradict each other. About whole 2 they hardly say anything, and what they say is at right angles. The dot product tells how well two arrows agree. Here it is for each whole.

# %%
first, second = u_hat
(first * second).sum(dim=-1)

# %% [markdown]
# ## By hand: couplings, one round
#
# Some names. A part is a capsule **below**, or a child; we count children with $i$. A whole is a capsule **above**, or a parent; we count parents with $j$. A child's guess about a parent is a **prediction vector**. Ours are two numbers long, so `u_hat` holds two children, three parents, two components. We count from 0, as the code does.
#
# How much a child gives to a parent is their **coupling**. At first a child knows nothing of the others, so it gives each of the three parents one third.

# %%
children, parents, components = u_hat.shape
c_ij = torch.full((children, parents), 1 / parents)
c_ij

# %% [markdown]
# Each parent adds up what it gets: one third of child 0's guess and one third of child 1's. For parent 0 that is $\tfrac13 (1.0 + 0.9)$ to the right and $\tfrac13 (0.2 + 0.3)$ upwards.
#
# The guesses about parent 1 nearly cancel: $\tfrac13 (0.9 - 0.9) = 0$ and $\tfrac13 (0.9 - 0.8) = 0.033$. Parent 2 gets 0.033 each way.

# %%
s_j = (c_ij[:, :, None] * u_hat).sum(dim=0)
s_j

# %% [markdown]
# Squash it, as in lesson 1. Parent 0 is the longest by far, though both children spoke up even louder for parent 1.

# %%
from capsnet_tutorial import lengths, squash

v_j = squash(s_j)
print(v_j)
print("lengths:", lengths(v_j))

# %% [markdown]
# Now each child compares its guess with what came out. To compare it with every other guess would take many products. The parent is made of them all, so one comparison with it does the work. The **agreement** is the dot product of guess and parent: large if both are long and point the same way, negative if they point against each other. Child 0 agrees with parent 0: $1.0 \cdot 0.2903 + 0.2 \cdot 0.0764 = 0.3056$.
#
# Agreement is added to a score, and the scores decide the next couplings. That was one round.

# %%
a_ij = (u_hat * v_j).sum(dim=-1)
a_ij

# %% [markdown]
# ## Math
#
# Child $i$ makes its guess about parent $j$ with a matrix that is learned:
#
# $$
# \hat{u}_{j|i} = W_{ij}\, u_i
# $$
#
# The score of child $i$ for parent $j$ is called a **routing logit**, $b_{ij}$. It starts at 0. A round has four steps (the paper's Procedure 1, Equations 2 and 3):
#
# $$
# c_{ij} = \frac{\exp b_{ij}}{\sum_k \exp b_{ik}}
# $$
#
# $$
# s_j = \sum_i c_{ij}\, \hat{u}_{j|i}, \qquad v_j = \operatorname{squash}(s_j)
# $$
#
# $$
# b_{ij} \leftarrow b_{ij} + v_j \cdot \hat{u}_{j|i}
# $$
#
# The first step is a softmax: it turns any scores into shares that add up to 1. Look at the letter under its sum: $k$ runs over the **parents**, with the child $i$ held fixed. So each child has a total of 1 to give, and shares it out.
#
# | symbol | meaning | axes |
# |---|---|---|
# | $u_i$ | the vector of child $i$ | `i n` |
# | $W_{ij}$ | matrix from child $i$ to parent $j$ | `i j m n` |
# | $\hat{u}_{j\vert i}$ | prediction vector | `i j m` |
# | $b_{ij}$, $c_{ij}$ | logit and coupling | `i j` |
# | $s_j$, $v_j$ | parent before and after squash | `j m` |
#
# `n` counts a child's numbers, `m` a parent's: 8 and 16 in the paper, 2 here. With a batch of images, all but $W_{ij}$ get an axis `b` in front. Every image has logits of its own.

# %% [markdown]
# ## Code: loops, then all at once
#
# Here is the procedure in plain loops, letter by letter. It is slow, and you can check each line against the formulas. It returns the parents, and the couplings of each round.

# %%
from capsnet_tutorial import reference
from capsnet_tutorial.annotations import annotate

annotate(reference.dynamic_routing)

# %% [markdown]
# And here is the function that the network uses. A sum over an index became an `einsum`: the letters before the arrow name the axes that go in, and a letter that is missing after it is summed over. So `bij,bijm->bjm` multiplies each guess by its coupling and sums over the children `i`. (As an axis, `b` counts images. It has nothing to do with the logits `b_ij`.)
#
# Mind `softmax(dim=2)`: axis 2 is `j`, the parents. The pitfalls come back to it. `dynamic_routing` checks its input and calls this function; in training it computes the same in another order, [for speed](../docs/routing_gradient.md).

# %%
from capsnet_tutorial import routing

annotate(routing._route)

# %% [markdown]
# Both compute the same. This cell would fail if they did not.

# %%
from capsnet_tutorial import dynamic_routing

by_loops, couplings = reference.dynamic_routing(u_hat.tolist(), 3)
v_j, trace = dynamic_routing(u_hat[None], 3, return_trace=True)

assert torch.allclose(v_j[0], torch.tensor(by_loops), atol=1e-6)
assert torch.allclose(
    trace.c_ij[:, 0], torch.tensor(couplings), atol=1e-6
)
v_j[0]

# %% [markdown]
# ## Picture: three rounds
#
# Three rounds of our example, from the trace that was just computed. Read from left to right. Both children move their weight to the parent on which they agree. By the third round it has half of all they give.
#
# Each row adds up to 1, but for the rounding of what is printed. That is the first thing to check in any code for routing.

# %%
from capsnet_tutorial.plotting_routing import coupling_rounds

per_child = trace.c_ij[:, 0].sum(dim=2)
assert torch.allclose(per_child, torch.ones(3, children))
coupling_rounds(trace.c_ij[:, 0])

# %% [markdown]
# ### The order of capsules does not matter
#
# Swap the children, and the parents stay as they are. Swap the parents, and the same parents come out, swapped.

# %%
swapped = dynamic_routing(u_hat[None].flip(1))
assert torch.allclose(swapped, v_j, atol=1e-6)

swapped = dynamic_routing(u_hat[None].flip(2))
assert torch.allclose(swapped, v_j.flip(1), atol=1e-6)
print("the same parents both times")

# %% [markdown]
# ### Nor does it matter how the world is turned
#
# Turn all guesses by the same angle, and the parents turn along. The couplings stay: they come from dot products, and those see only angles between vectors, and lengths.

# %%
angle = torch.tensor(0.7)
cos, sin = angle.cos(), angle.sin()
turn = torch.tensor([[cos, -sin], [sin, cos]])
turned, turned_trace = dynamic_routing(
    u_hat[None] @ turn.T, return_trace=True
)
assert torch.allclose(turned, v_j @ turn.T, atol=1e-6)
assert torch.allclose(turned_trace.c_ij, trace.c_ij, atol=1e-6)
print("turned parents, the same couplings")

# %% [markdown]
# ### How many rounds
#
# The paper uses 3. With more of them the network makes up its mind more firmly: after 100 rounds both children give everything to parent 0. But a child that gives all it has to one parent learns nothing from the others: with a coupling of 0, no gradient comes back. And the time grows with each round.

# %%
print("rounds  length  couplings of parent 0")
for rounds in (1, 2, 3, 10, 100):
    v, t = dynamic_routing(u_hat[None], rounds, return_trace=True)
    shares = t.c_ij[-1, 0, :, 0].tolist()
    print(f"{rounds:6} {lengths(v)[0, 0]:7.3f}", end="  ")
    print("{:.3f} and {:.3f}".format(*shares))

# %% [markdown]
# ## Pitfalls: the axis, and what hides it
#
# ### The wrong axis
#
# Write `softmax(dim=1)` and the children are normalised instead: now each *parent* has a total of 1 to hand out. The shapes are the same, the code runs, and it often learns. Of fifteen public implementations that we read, four do this throughout and one in all rounds but the last.
#
# Sum over the parents to find out.

# %%
from capsnet_tutorial import mistakes

wrong = mistakes.routing_over_children(u_hat[None])[0].c_ij[0]
print("per child: ", wrong.sum(dim=1))
print("per parent:", wrong.sum(dim=0))

# %% [markdown]
# ### Move it yourself
#
# On the site, the picture that this cell draws is live: step through the rounds, drag the guesses, and switch the axis. In Jupyter it stands still and shows three rounds over the wrong axis. Their columns add up to 1 each, and their rows don't.

# %%
from capsnet_tutorial.widgets import show_widget

wrong = mistakes.routing_over_children(u_hat[None])
show_widget(
    "routing", coupling_rounds(torch.stack([r.c_ij[0] for r in wrong]))
)

# %% [markdown]
# ### Why nobody notices
#
# The paper's network, which [lesson 5](05_capsnet.ipynb) builds, has 1,152 children and ten parents, the **digit capsules**, one for each digit. Our small one for CPUs has 288 children.
#
# Over 1,152 children the wrong softmax starts at 1/1152 instead of 1/10. So every parent's input is 115 times smaller than it should be, and squash makes a short vector shorter still. How large the first, random weights $W_{ij}$ are is called their spread: their standard deviation. A large one makes up for some of the loss. The last three rows of the table show it: with a spread of 1, the wrong axis learns far better than with a smaller one.
#
# Now mend the axis alone, and keep that spread. With 1,152 children the digit capsules start at 0.9 on average: all ten classes are sure at once, where squash is flat. With 288 children they start at 0.3 and still learn, though worse than with a smaller spread. So a spread that is too large hides the wrong axis. Axis and spread must be right together.
#
# The table was recorded: the small network, three passes over 4,000 digits, judged on 1,000 others, one seed. The lengths are means over ten digit capsules and 200 digits before training, with 288 children, as trained, and with 1,152.

# %%
from capsnet_tutorial.records import read_record

record = read_record("axis_and_scale")
print("               length at the start")
print("axis      spread    288     1152  accuracy")
for row in record["rows"]:
    print(
        f"{row['axis']:9} {row['std']:5} {row['length_288']:8.1g}"
        f" {row['length_1152']:8.1g} {row['accuracy']:9.1%}"
    )
print(f"seed {record['seed']}, {record['epochs']} epochs,", end=" ")
print(f"{record['device']}, torch {record['torch']}")

# %% [markdown]
# ### A riddle
#
# One published series of articles runs the softmax over the children in all rounds but the last, and reports that this works best. It starts its matrices with a spread of 0.0147. Let us imitate it: the paper's network with that spread, at the start of training, with four rounds.
#
# In the first three rounds the capsules are so short that the logits hardly leave 0. So the last softmax, over the parents, gives nearly 1/10 to each. The article's routing is one round of sharing evenly, in disguise.

# %%
from capsnet_tutorial import CapsNet, sample_digits

torch.manual_seed(0)
digits, _ = sample_digits()
model = CapsNet()
torch.nn.init.normal_(model.digit.weight, std=0.0147)
with torch.no_grad():
    u = model.primary(model.conv(digits.images[::100]).relu())
    guesses = model.digit.predict(u)
guesses.shape

# %%
rounds = mistakes.routing_over_children_but_last(guesses)
print("round  mean length  smallest c  largest c")
for number, r in enumerate(rounds, 1):
    c, length = r.c_ij, lengths(r.v_j).mean()
    print(f"{number:5} {length:12.2e} {c.min():11.6f} {c.max():10.6f}")

# %% [markdown]
# ### Logits shared by the batch
#
# Three of the fifteen average the agreement over all images. Then what an image turns out to be depends on which images lie beside it. Here is one image, alone and next to another one: with our function nothing changes, with shared logits its parents move.

# %%
torch.manual_seed(1)
pair = torch.stack([u_hat, torch.randn_like(u_hat)])
ours = dynamic_routing(pair)[0]
assert torch.allclose(ours, v_j[0], atol=1e-6)

shared = mistakes.routing_shared_over_batch
alone, beside = (shared(u)[-1].v_j[0] for u in (pair[:1], pair))
print("parent 0 alone:          ", alone[0])
print("parent 0 beside another: ", beside[0])

# %% [markdown]
# ### Stopping the gradient
#
# Routing is a computation like any other, so gradients flow back through all rounds, as in the authors' code. Some implementations cut them in all rounds but the last, which saves time. The output is the same, the gradient is not: the couplings then count as constants. This cell takes the gradient of parent 0's length both ways. (The package takes the full one without autograd's detours: [one product](../docs/routing_gradient.md) gives all of it.)


# %%
def gradient(stop):
    u = u_hat[None].clone().requires_grad_()
    v = dynamic_routing(u, stop_gradient=stop)
    (gradient,) = torch.autograd.grad(lengths(v)[0, 0], u)
    return gradient


full, stopped = gradient(False), gradient(True)
missing = (full - stopped).norm() / full.norm()
print(f"difference: {missing:.0%} of the full gradient's length")

# %% [markdown]
# ### Memory
#
# A batch that doesn't fit into memory fails because of the prediction vectors: they are the largest thing in the network. Going back through the rounds makes more of that size, so a smaller batch is the first cure. For one batch of 100 images, 1,152 children, 10 parents of 16 numbers and 4 bytes for each number:

# %%
size = 100 * 1152 * 10 * 16 * 4
print(f"{size / 2**20:.0f} MiB for one u_hat")

# %% [markdown]
# ## Check yourself
#
# **1.** There is one parent only. What are its couplings?
#
# <details>
# <summary>Answer</summary>
#
# All 1: with one parent there is nothing to share out. Routing is then a plain sum, squashed.
#
# </details>
#
# **2.** All guesses are zero. What does routing return?
#
# <details>
# <summary>Answer</summary>
#
# Zeros, because squash turns zero into zero. The couplings stay even, because all agreements are zero.
#
# </details>
#
# **3.** There are ten parents. What is a coupling in the first round?
#
# <details>
# <summary>Answer</summary>
#
# One tenth for every pair, whatever the guesses are.
#
# </details>

# %%
one_parent = u_hat[None, :, :1]
_, t = dynamic_routing(one_parent, return_trace=True)
assert (t.c_ij == 1).all()

v, t = dynamic_routing(torch.zeros(1, 4, 10, 16), return_trace=True)
assert (v == 0).all()
assert torch.allclose(t.c_ij, torch.tensor(0.1))

# %% [markdown]
# **An exercise.** Do the second round's couplings yourself. You have the agreements `a_ij` of the first round. All logits were 0 before.
#
# Replace the line that starts with `return`, and run the cell until it prints `solved`. A solution comes next.
#
# <details>
# <summary>Hint</summary>
#
# The logits are now $0 + a_{ij}$. Equation 3 turns them into couplings. Mind which axis is `j`.
#
# </details>


# %%
def second_couplings(a_ij):
    return torch.full_like(a_ij, 1 / 3)  # your turn: still even


mine = second_couplings(a_ij)
solved = torch.allclose(mine, trace.c_ij[1, 0], atol=1e-6)
print("solved" if solved else "not solved yet")

# %% [markdown]
# **A solution.** The example has no batch, so `a_ij` has the axes `i j`, and the parents are its axis 1.


# %%
def solution(a_ij):
    return a_ij.softmax(dim=1)


assert torch.allclose(solution(a_ij), trace.c_ij[1, 0], atol=1e-6)
solution(a_ij)

# %% [markdown]
# ## How this differs from the paper
#
# - The paper updates the logits once more after the last round. No output depends on that, so we leave it out.
# - The paper allows logits that start from learned values. Its models keep them at 0, and so do we.
# - Half-precision numbers are widened to float32 inside, as in lesson 1.
# - The authors' code adds a bias to every parent's input. The paper has none, and neither have we.
#
# ## Summary
#
# - A child guesses at every parent. Couplings say how much of itself it gives to each.
# - A round: softmax over the **parents**, weighted sum, squash, add the agreement to the logits.
# - For each child the couplings add up to 1. In the first round all are equal.
# - The softmax's axis and the spread of the first weights belong together.
#
# **Next**: [the margin loss](03_margin.ipynb), which says how long each parent should be.
