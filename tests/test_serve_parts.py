"""The small parts of the server: search, rate, metrics, addresses."""

import platform
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.errors import PairgramError, ParameterError
from pairgram.serve.finder import Finder
from pairgram.serve.memory import give_back, resident_bytes
from pairgram.serve.metrics import SECONDS, Metrics
from pairgram.serve.rate import MOST_ADDRESSES, RateLimit
from pairgram.serve.run import bind, check_token, is_loopback

pytestmark = pytest.mark.quick

words = st.text("ab \t\nÄß1", max_size=6)


@given(st.lists(st.tuples(words, words), max_size=12), words, st.integers(1, 5))
def test_search_finds_what_a_plain_loop_finds(nodes, typed, most):
    names, texts = [n for n, _ in nodes], [t for _, t in nodes]
    wanted = typed.casefold().split()
    rows = [
        " ".join(n.casefold().split()) + "\t" + " ".join(t.casefold().split()) for n, t in nodes
    ]
    ids = [f"{i} {name}" for i, name in enumerate(names)]
    rows = [f"{i} " + row for i, row in enumerate(rows)]
    plain = {ids[i] for i, row in enumerate(rows) if wanted and all(w in row for w in wanted)}
    found = Finder(ids, texts).find(typed, most)
    assert len(found) == len(set(found)) == min(most, len(plain))
    assert set(found) <= plain


def test_search_puts_ids_before_texts_and_whole_ones_first():
    names = ["other", "J45x", "J45", "Y"]
    texts = ["the J45 of it", "asthma, mild", "asthma", "j45"]
    assert Finder(names, texts).find("j45", 9) == ["J45", "J45x", "Y", "other"]
    assert Finder(names, None).find("J45", 1) == ["J45"]
    assert Finder([], []).find("a", 1) == []


@given(st.lists(st.floats(0, 3), min_size=1, max_size=60), st.floats(0.5, 20))
def test_no_more_than_the_rate_passes(gaps, rate):
    limit, times = RateLimit(rate), np.cumsum(gaps)
    passed = [t for t in times if limit.wait("a", t) == 0]
    for i, begin in enumerate(passed):
        for j in range(i, len(passed)):
            assert j - i + 1 <= max(1, 2 * rate) + rate * (passed[j] - begin) + 1e-6
    wait = limit.wait("a", times[-1])
    if wait:
        assert limit.wait("a", times[-1] + wait + 1e-6) == 0


def test_rates_are_of_single_addresses_and_memory_is_bounded():
    limit = RateLimit(0.5)
    assert limit.wait("a", 0.0) == 0.0
    assert limit.wait("a", 0.0) == pytest.approx(2.0)
    assert limit.wait("b", 0.0) == 0.0
    for i in range(MOST_ADDRESSES + 5):
        limit.wait(str(i), 1.0)
    assert len(limit._left) == MOST_ADDRESSES
    assert [RateLimit(0).wait("a", 0.0) for _ in range(3)] == [0.0] * 3


@given(st.lists(st.floats(0, 20), max_size=30))
def test_histograms_count_what_lies_below(values):
    metrics = Metrics()
    for value in values:
        metrics.request("/a", 200, value)
    samples = parse(metrics.text({"gauge": ("A number.", 3.5)}))
    for bound in SECONDS:
        key = f'pairgram_request_seconds_bucket{{le="{bound:g}"}}'
        assert samples[key] == sum(value <= bound for value in values)
    assert samples['pairgram_request_seconds_bucket{le="+Inf"}'] == len(values)
    assert samples["pairgram_request_seconds_count"] == len(values)
    assert samples["pairgram_request_seconds_sum"] == pytest.approx(sum(values), rel=1e-6)
    assert samples["gauge"] == 3.5


def parse(text):
    """Samples of Prometheus's text form, by name and labels; every line must be well formed."""
    samples, typed = {}, set()
    for line in text.splitlines():
        if line.startswith("# "):
            kind, name = line.split()[1:3]
            assert kind in ("HELP", "TYPE")
            typed.add(name)
            continue
        found = re.fullmatch(r'([a-z_:]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+\})? (\S+)', line)
        assert found, line
        assert any(found[1].startswith(name) for name in typed)
        samples[line.rpartition(" ")[0]] = float(found[3])
    return samples


def test_labels_are_escaped_and_memory_is_known():
    metrics = Metrics()
    metrics.request('/a"b\\c\n', 200, 0.1)
    assert 'route="/a\\"b\\\\c\\n"' in metrics.text({})
    assert resident_bytes() > 1e7


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's heap")
def test_holes_in_the_heap_go_back_to_the_system():
    blocks = [bytearray(b"x" * 50_000) for _ in range(2_000)]
    del blocks[::2]
    before = resident_bytes()
    give_back()
    assert before - resident_bytes() > 1e7
    assert len(blocks) == 1_000  # the rest stays


def test_other_addresses_need_a_token():
    assert check_token("127.0.0.1", None) is False
    assert check_token("0.0.0.0", "secret") is True
    with pytest.raises(ParameterError, match="can be reached from other machines"):
        check_token("0.0.0.0", None)
    for token in ("", " ", "a\nb", "ä"):
        with pytest.raises(ParameterError, match="token"):
            check_token("127.0.0.1", token)
    assert not is_loopback("example.org")


def test_a_port_in_use_is_one_clear_line():
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(PairgramError, match=r"cannot be listened at: .*; choose another"):
            bind("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(PairgramError, match="cannot be listened at"):
        bind("no such host.invalid", 0)
