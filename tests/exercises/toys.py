"""Small tasks for the tests of the machine."""

from __future__ import annotations

from typing import Any

from exercises.machine import Task, expect

HINTS = ("First.", "Second.", "Third.")


def toy(answer: Any = None) -> Task:
    """Two parts: f(1) is 1, f(2) is 2. With ``answer``, of its kind; else a plain function."""
    task = Task("99.1", "Give it back", "warm-up", 5, "Sums", "Write `f(x)`.", HINTS)

    @task.solution
    def as_it_is() -> Any:
        def f(x: Any) -> Any:
            ### BEGIN SOLUTION
            return x
            ### END SOLUTION

        return f

    if answer is not None:
        task.make_stub = lambda: answer  # type: ignore[method-assign]

    @task.part("one", idea="One is one.")
    def one(f: Any) -> None:
        expect(f(1), 1, when="one is given")

    @task.part("two", idea="Two is two.")
    def two(f: Any) -> None:
        expect(f(2), 2)

    return task


def async_toy(*, real_time: bool = False) -> Task:
    """The same for ``async def f(x)``, in one part."""
    task = Task("99.2", "Give it back later", "warm-up", 5, "Sums", "Write `f(x)`.", HINTS)

    @task.solution
    def as_it_is() -> Any:
        async def f(x: Any) -> Any:
            ### BEGIN SOLUTION
            return x
            ### END SOLUTION

        return f

    @task.part("one", idea="One is one.", real_time=real_time)
    async def one(f: Any) -> None:
        expect(await f(1), 1)

    return task
