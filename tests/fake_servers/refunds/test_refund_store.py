"""The order store: who sees what, and that one key makes one draft, whoever asks at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.data import ORDERS, Order
from fake_servers.refunds.rules import Draft, Wanted, check_refund
from fake_servers.refunds.store import OrderStore

WANTED = Wanted("ord_4821", 4250, "EUR", "run-1.ord_4821.4250")
WORKERS = 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "orders.sqlite"
    store = OrderStore(path)
    store.seed()
    store.close()
    return path


@pytest.fixture
def store(path: Path) -> Iterator[OrderStore]:
    store = OrderStore(path)
    yield store
    store.close()


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(Refusal) as raised:
        action()
    return raised.value.code


# -- who sees what --------------------------------------------------------------------------------


def test_an_order_is_read_as_it_was_stored(store: OrderStore) -> None:
    assert store.order("ord_4821", "robin") == ORDERS[0]


def test_an_absent_order_and_somebody_elses_are_refused_alike(store: OrderStore) -> None:
    refusals = []
    for order_id in ("ord_7001", "ord_9999"):
        with pytest.raises(Refusal) as raised:
            store.order(order_id, "robin")
        refusals.append(raised.value.to_json())
    assert refusals[0] == refusals[1]
    assert store.order("ord_7001", "kim").account_id == "acc_2002"


def test_a_right_that_is_taken_away_counts_at_once_for_drafts_too(store: OrderStore) -> None:
    store.draft_once(WANTED, "robin")
    assert store.draft(WANTED.operation_key or "", "robin").wanted == WANTED
    store.grant("kim", "acc_1001")
    store.revoke("robin", "acc_1001")
    assert code_of(lambda: store.order("ord_4821", "robin")) == "ORDER_NOT_FOUND"
    assert code_of(lambda: store.draft(WANTED.operation_key or "", "robin")) == "DRAFT_NOT_FOUND"
    assert code_of(lambda: store.draft_once(WANTED, "robin")) == "ORDER_NOT_FOUND"


def test_a_draft_of_somebody_elses_order_is_as_absent_as_the_order(store: OrderStore) -> None:
    assert code_of(lambda: store.draft_once(WANTED, "kim")) == "ORDER_NOT_FOUND"
    assert store.drafts() == []


# -- one key, one draft ---------------------------------------------------------------------------


def test_the_same_key_and_body_give_the_same_draft(store: OrderStore) -> None:
    first, new = store.draft_once(WANTED, "robin", "agent")
    again, new_again = store.draft_once(WANTED, "robin", "agent")
    assert (new, new_again) == (True, False)
    assert first == again == Draft("draft_1", WANTED, "returns-2026-08", "robin", "agent")


@pytest.mark.parametrize(
    "other",
    [
        {"amount_minor": 4249},
        {"currency": "USD"},
        {"order_id": "ord_4822"},
        {"reason": "damaged"},
    ],
)
def test_the_same_key_with_another_body_is_a_conflict(
    store: OrderStore, other: dict[str, str]
) -> None:
    store.draft_once(WANTED, "robin")
    changed = replace(WANTED, **other)  # type: ignore[arg-type]
    assert code_of(lambda: store.draft_once(changed, "robin")) == "OPERATION_KEY_CONFLICT"
    assert len(store.drafts()) == 1


def test_a_key_belongs_to_who_used_it(store: OrderStore) -> None:
    store.draft_once(WANTED, "robin")
    hers = Wanted("ord_7001", 9900, "USD", WANTED.operation_key)
    _, new = store.draft_once(hers, "kim")
    assert new and len(store.drafts()) == 2


def test_without_a_key_every_request_makes_a_draft(store: OrderStore) -> None:
    keyless = replace(WANTED, operation_key=None)
    assert [store.draft_once(keyless, "robin")[1] for _ in range(2)] == [True, True]
    assert len(store.drafts()) == 2


def test_a_repeat_gives_the_draft_although_the_order_has_changed_since(store: OrderStore) -> None:
    made, _ = store.draft_once(WANTED, "robin")
    store.put_order(replace(ORDERS[0], refundable_amount_minor=0))
    assert store.draft_once(WANTED, "robin") == (made, False)
    another = replace(WANTED, operation_key="run-2.ord_4821")
    assert code_of(lambda: store.draft_once(another, "robin")) == "ORDER_NOT_REFUNDABLE"


def test_a_draft_outlives_the_store_that_made_it(path: Path, store: OrderStore) -> None:
    made, _ = store.draft_once(WANTED, "robin")
    other = OrderStore(path)
    assert other.draft_once(WANTED, "robin") == (made, False)
    other.close()


def all_at_once(path: Path, wanted: Callable[[int], Wanted]) -> list[tuple[Draft, bool] | str]:
    """What each of WORKERS gets. All have looked the key up before any of them writes."""
    gate = threading.Barrier(WORKERS)

    def check(order: Order, asked: Wanted) -> None:
        gate.wait(timeout=30)
        check_refund(order, asked)

    def work(number: int) -> tuple[Draft, bool] | str:
        store = OrderStore(path)
        try:
            return store.draft_once(wanted(number), "robin", check=check)
        except Refusal as refusal:
            return refusal.code
        finally:
            store.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, range(WORKERS)))


def test_one_key_used_by_32_connections_at_once_makes_one_draft(path: Path) -> None:
    answers = all_at_once(path, lambda number: WANTED)
    assert all(isinstance(answer, tuple) for answer in answers)
    assert {answer[0] for answer in answers} == {answers[0][0]}
    assert [answer[1] for answer in answers].count(True) == 1


def test_one_key_used_for_32_bodies_at_once_makes_one_draft_and_31_conflicts(path: Path) -> None:
    answers = all_at_once(path, lambda number: replace(WANTED, amount_minor=1 + number))
    assert answers.count("OPERATION_KEY_CONFLICT") == WORKERS - 1
    store = OrderStore(path)
    assert len(store.drafts()) == 1
    store.close()
