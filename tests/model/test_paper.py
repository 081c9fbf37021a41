"""The token form of the paper and the curve form of the specification give the same tags.

The cost of every request is 4096 bytes here, so 4096 bytes are one token. Times are whole
nanoseconds and rates divide them, so that nothing is rounded.
"""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.model.htbs import Policy
from tests.model.paper import Tokens, add_request
from tests.model.reservation import SECOND, Params, Request
from tests.unit.strategies import examples, lists

COST = 4096
rates = st.sampled_from([1, 10, 200, 1000])  # requests/s
depths = st.integers(1, 8)


def both(reservations, arrivals):
    """The tags by both forms, in real time: [(flow, t, (S, F) by tokens, (S, F) by the curve)].

    `arrivals` are (pause in ns, flow, how many requests are dispatched before).
    """
    papers = [Tokens(depth, Fraction(rate), Fraction(1, 20)) for rate, depth in reservations]
    policy = Policy(1, 0)
    flows = [policy.init_flow(Params(rate * COST, depth * COST, SECOND // 20), 0)
             for rate, depth in reservations]
    now, tags = 0, []
    for pause, i, served in arrivals:
        now += pause
        for _ in range(served):
            flow = policy.choose(now).flow
            if flow is not None:
                policy.dispatch(flow, now)
                papers[flows.index(flow)].pending.pop(0)
        t = Fraction(now, SECOND)
        paper = add_request(papers, i, t)
        start = Fraction(policy.arrive(flows[i], Request(COST), now).start - policy.drift, SECOND)
        tags.append((i, t, paper, (start, start + Fraction(1, 20))))
    return tags


def test_a_burst_and_more():
    """2 tokens, 10 requests/s: two requests conform, the others are entitled 100 ms apart."""
    tags = both([(10, 2)], [(0, 0, 0)] * 5)
    assert [10 * paper[0] for _, _, paper, _ in tags] == [0, 0, 1, 2, 3]
    assert all(paper == ours for _, _, paper, ours in tags)


@given(rates, depths, lists(st.integers(0, 12), 60))
def test_same_tags_at_whole_tokens(rate, depth, pauses):
    """Whenever there is a whole number of tokens, the tags are equal."""
    arrivals = [(pause * SECOND // rate, 0, 0) for pause in pauses]
    assert all(paper == ours for _, _, paper, ours in both([(rate, depth)], arrivals))


@given(rates, st.lists(depths, min_size=2, max_size=4),
       lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), 80))
def test_same_tags_for_several(rate, depth, arrivals):
    """The same for several flows, while a pending request keeps the virtual clock from jumping."""
    arrivals = [(pause * SECOND // rate, i % len(depth), 0) for pause, i in arrivals]
    assert all(paper == ours for _, _, paper, ours in both([(rate, d) for d in depth], arrivals))


@given(rates, depths, lists(st.integers(0, 3 * SECOND), 60))
def test_between_tokens_ours_is_exact(rate, depth, pauses):
    """Between whole tokens both forms agree on what conforms, and the curve gives the exact tag.

    A request that lacks a part of a token is entitled when that part has come. The paper's MaxS
    adds the time of a whole token to the tag before: that may be later, by less than 1/rho.
    """
    arrivals = [(pause, 0, 0) for pause in pauses]
    for _, t, paper, ours in both([(rate, depth)], arrivals):
        assert (paper[0] <= t) == (ours[0] <= t)
        assert 0 <= paper[0] - ours[0] < Fraction(1, rate)


@examples(200)
@given(rates, st.lists(depths, min_size=2, max_size=3),
       lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 4)), 40))
def test_drift_makes_no_flow_worse_off(rate, depth, arrivals):
    """When the virtual clock jumps, no tag by the curve is later than the paper's.

    The paper moves the tags of backlogged flows, but no tokens; the specification moves the whole
    curve of each flow. Rates are equal, so that tokens stay whole.
    """
    arrivals = [(pause * SECOND // rate, i % len(depth), served) for pause, i, served in arrivals]
    for _, _, paper, ours in both([(rate, d) for d in depth], arrivals):
        assert ours <= paper


@examples(100)
@given(rates, st.lists(depths, min_size=2, max_size=3),
       lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)), 20))
def test_same_tags_after_drift(rate, depth, arrivals):
    """The same tags by both forms if the clock jumps while all flows are out of tokens.

    Each flow sends its burst at once, and more than is served afterwards. The clock jumps when the
    bursts are served, and at most arrivals from then on.
    """
    more = 20 * (3 + 1) + 1
    begin = [(0, i, 0) for i, each in enumerate(depth) for _ in range(each + more)]
    arrivals = [(pause * SECOND // rate, i % len(depth), served) for pause, i, served in arrivals]
    tags = both([(rate, each) for each in depth],
                [*begin, (0, 0, sum(depth)), *arrivals])
    assert all(paper == ours for _, _, paper, ours in tags)
    _, _, (start, _), _ = tags[len(begin)]
    assert start == Fraction(more, rate), "the tag did not move back by the time of one request"
