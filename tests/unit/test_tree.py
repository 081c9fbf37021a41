"""The tree of backlogged reservations against a list."""

import ctypes

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.host import WRAP, memory
from tests.unit.strategies import examples, lists, within

# Insert a node with tags at this distance from the base, or remove the n-th node.
moments = within(0, 1 << 61, 1, 2)
steps = st.one_of(st.tuples(moments, moments), st.tuples(moments, moments), st.integers(0, 30))


class Tree:
    """The C's tree, and a list of (start, finish, node) by finish tag to compare it with."""

    def __init__(self, lib):
        self.lib, self.tree, self.like = lib, memory(lib, "tree"), []
        lib.htbs_tree_init(self.tree)

    def insert(self, start: int, finish: int) -> None:
        """Insert a node behind those with the same finish tag."""
        node = memory(self.lib, "node")
        self.lib.host_node_set(node, start % WRAP, finish % WRAP)
        self.lib.htbs_tree_insert(self.tree, node)
        place = sum(other <= finish for _, other, _ in self.like)
        self.like.insert(place, (start, finish, node))

    def remove(self, place: int) -> None:
        """Remove a node."""
        _, _, node = self.like.pop(place)
        self.lib.htbs_tree_remove(self.tree, node)

    def check(self) -> None:
        """Same order, same smallest start tag, and every node has that of its subtree."""
        node, inside = self.lib.host_tree_first(self.tree), []
        while node:
            inside.append(node)
            node = self.lib.host_tree_next(node)
        assert inside == [ctypes.addressof(node) for _, _, node in self.like]
        assert self.lib.host_tree_consistent(self.tree)
        if inside:
            smallest = min(start for start, _, _ in self.like) % WRAP
            assert self.lib.host_tree_min_start(self.tree) == smallest
            self._check_entitled()

    def _check_entitled(self) -> None:
        """At each start tag, and 1 ns before: the first node with a start tag not after v."""
        for v in {start - early for start, _, _ in self.like for early in (0, 1)}:
            entitled = [ctypes.addressof(node) for start, _, node in self.like if start <= v]
            assert self.lib.htbs_tree_entitled(self.tree, v % WRAP) == next(iter(entitled), None)


@examples(300)
@given(within(0, WRAP - 1, WRAP - (1 << 60)), lists(steps, 60))
def test_like_a_list(lib, base, script):
    """After every insertion and removal, also where the tags wrap."""
    tree = Tree(lib)
    for step in script:
        if isinstance(step, tuple):
            tree.insert(base + step[0], base + step[1])
        elif tree.like:
            tree.remove(step % len(tree.like))
        tree.check()


def test_equals_stand_in_the_order_of_insertion(lib):
    """Among equal finish tags, the node that was inserted first is first."""
    tree = Tree(lib)
    for start in (3, 1, 2):
        tree.insert(start, 10)
    tree.insert(0, 9)
    tree.check()
    assert [start for start, _, _ in tree.like] == [0, 3, 1, 2]
