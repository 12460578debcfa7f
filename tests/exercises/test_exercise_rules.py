"""The rules for tasks turn red: on toy tasks that break them."""

from __future__ import annotations

from typing import Any

import task_rules

from exercises.machine import Task, expect

HINTS = ("Look at the sum.", "Two of them.", "Add, then return.")


def toy(**changed: Any) -> Task:
    """A task that keeps every rule, but for what is changed."""
    options = {"text": "Write `double(x)`.", "hints": HINTS, **changed}
    task = Task("99.1", "Double", "warm-up", 5, "Sums", **options)

    @task.solution
    def by_sum() -> Any:
        def double(x: int) -> int:
            ### BEGIN SOLUTION
            doubled = x + x
            return doubled
            ### END SOLUTION

        return double

    @task.right
    def by_product() -> Any:
        def double(x: int) -> int:
            return 2 * x

        return double

    @task.part("one", idea="The double of one is two.")
    def one(double: Any) -> None:
        expect(double(1), 2)

    @task.part("three", idea="It is no square.")
    def three(double: Any) -> None:
        expect(double(3), 6)

    @task.wrong("no square")
    def always_two() -> Any:
        def double(x: int) -> int:
            return 2

        return double

    @task.wrong("The double of one")
    def wrong_for_one() -> Any:
        def double(x: int) -> int:
            return 6

        return double

    return task


def test_the_toy_keeps_every_rule() -> None:
    assert [line for rule in task_rules.ALL for line in rule(toy())] == []


def test_a_stub_that_passes_is_named() -> None:
    task = toy()
    task.started = task.solved
    assert task_rules.stub(task)[0] == "99.1: the stub passes"


def test_a_stub_that_is_judged_is_named() -> None:
    task = toy()
    task.make_stub = lambda: lambda x: None  # type: ignore[method-assign]
    assert task_rules.stub(task) == [
        "99.1: the stub is judged; it must be refused as still to write"
    ]


def test_a_right_answer_that_fails_is_named() -> None:
    task = toy()
    task.rights.append(task.wrongs[0].make)
    assert "always_two must pass and does not" in task_rules.right_answers(task)[0]


def test_a_task_with_one_way_to_write_it_is_named() -> None:
    task = toy()
    task.rights.clear()
    assert "written differently" in task_rules.right_answers(task)[0]


def test_a_wrong_answer_that_passes_is_named() -> None:
    task = toy()
    assert task.solved is not None
    task.wrong("anything")(task.solved)
    assert task_rules.wrong_answers(task) == ["99.1: by_sum passes"]


def test_a_wrong_answer_that_is_not_told_its_idea_is_named() -> None:
    task = toy()
    task.wrong("something else")(task.wrongs[0].make)
    assert "always_two is not told 'something else'" in task_rules.wrong_answers(task)[0]


def test_an_idle_part_is_named() -> None:
    task = toy()

    @task.part("idle", idea="It is a number.")
    def idle(double: Any) -> None:
        expect(callable(double), True)

    (line,) = task_rules.idle_parts(task)
    assert "dropping the part 'idle'" in line


def test_a_check_that_remembers_is_named() -> None:
    task, seen = toy(), []

    @task.part("remembers", idea="It comes back.")
    def remembers(double: Any) -> None:
        seen.append(1)
        expect(len(seen) < 3, True)

    assert "a check before it changed this one" in task_rules.again(task)[0]


def test_a_check_that_takes_the_shape_for_granted_is_named() -> None:
    task = toy()

    @task.part("digits", idea="Six has one digit.")
    def digits(double: Any) -> None:
        expect(double(3) + 1, 7)

    assert "judge the shape before you use it, 'digits'" in task_rules.forgot_to_return(task)[0]


def test_a_hint_that_holds_the_solution_is_named() -> None:
    task = toy(hints=("Think.", "Think again.", "Write `doubled  =  x + x`."))
    (line,) = task_rules.told_too_much(task)
    assert "holds a line of the solution" in line and "doubled = x + x" in line


def test_what_is_not_said_is_named() -> None:
    assert "something is not said" in task_rules.words(toy(hints=("", "a", "b")))[0]
    assert "three hints" in task_rules.words(toy(hints=("a", "a", "b")))[0]
