"""The order service's database: SQLite, one connection a store, many stores over one file.

That an operation key makes one draft is a constraint of the database and not of the code above
it, so it holds for every instance, thread and process over that file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.data import ACCESS, ORDERS, Order
from fake_servers.refunds.rules import Draft, Wanted, check_refund, same_draft

SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    order_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    status TEXT NOT NULL,
    currency TEXT NOT NULL,
    refundable_amount_minor INTEGER NOT NULL CHECK (refundable_amount_minor >= 0),
    policy_version TEXT NOT NULL,
    internal TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS access (
    subject TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (subject, account_id)
);
CREATE TABLE IF NOT EXISTS drafts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    order_id TEXT NOT NULL REFERENCES orders,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    operation_key TEXT,
    reason TEXT,
    policy_version TEXT NOT NULL,
    subject TEXT NOT NULL,
    actor TEXT NOT NULL,
    UNIQUE (subject, operation_key)
);
"""
BUSY = 10.0  # seconds that a write waits for another connection's write

Check = Callable[[Order, Wanted], None]


class OrderStore:
    """Orders, who may see them, and refund drafts, in the database at ``path``.

    Every read is of what ``subject`` may see: there is no way to ask for an order without saying
    for whom. Use a store in the thread that made it.
    """

    def __init__(self, path: str | Path) -> None:
        self._db = sqlite3.connect(path, timeout=BUSY, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.executescript(SCHEMA)

    # -- orders and access ------------------------------------------------------------------------

    def seed(
        self,
        orders: Iterable[Order] = ORDERS,
        access: Mapping[str, Iterable[str]] = ACCESS,
    ) -> None:
        """Put orders and rights in; what is there already is replaced."""
        for order in orders:
            self.put_order(order)
        for subject, accounts in access.items():
            for account_id in accounts:
                self.grant(subject, account_id)

    def put_order(self, order: Order) -> None:
        """Add or replace one order."""
        row = {**vars(order), "internal": json.dumps(order.internal)}
        columns, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        changed = ", ".join(f"{name} = excluded.{name}" for name in row)
        self._db.execute(
            f"INSERT INTO orders ({columns}) VALUES ({marks}) "
            f"ON CONFLICT (order_id) DO UPDATE SET {changed}",
            row,
        )

    def grant(self, subject: str, account_id: str) -> None:
        """Let ``subject`` see the account's orders."""
        self._db.execute("INSERT OR IGNORE INTO access VALUES (?, ?)", (subject, account_id))

    def revoke(self, subject: str, account_id: str) -> None:
        """Take that right away; it counts from the next request on."""
        self._db.execute(
            "DELETE FROM access WHERE subject = ? AND account_id = ?", (subject, account_id)
        )

    def order(self, order_id: str, subject: str) -> Order:
        """An order that ``subject`` may see.

        Raises: Refusal ORDER_NOT_FOUND, the same whether it is absent or somebody else's.
        """
        row = self._db.execute(
            "SELECT orders.* FROM orders JOIN access USING (account_id) "
            "WHERE order_id = ? AND subject = ?",
            (order_id, subject),
        ).fetchone()
        if row is None:
            raise Refusal("ORDER_NOT_FOUND")
        return Order(**{**dict(row), "internal": json.loads(row["internal"])})

    # -- drafts -----------------------------------------------------------------------------------

    def draft(self, operation_key: str, subject: str) -> Draft:
        """The draft that ``subject`` made under this key, on an order that they may still see.

        Raises: Refusal DRAFT_NOT_FOUND.
        """
        rows = self._db.execute(
            "SELECT drafts.* FROM drafts JOIN orders USING (order_id) "
            "JOIN access USING (account_id) "
            "WHERE operation_key = :key AND drafts.subject = :who AND access.subject = :who",
            {"key": operation_key, "who": subject},
        ).fetchall()
        if not rows:
            raise Refusal("DRAFT_NOT_FOUND")
        return _draft(rows[0])

    def draft_once(
        self, wanted: Wanted, subject: str, actor: str = "", *, check: Check = check_refund
    ) -> tuple[Draft, bool]:
        """The draft for what is wanted, and whether it is new.

        A key that was used gives its draft again, also when the order has changed since.

        Raises: Refusal ORDER_NOT_FOUND, OPERATION_KEY_CONFLICT, and what ``check`` raises.
        """
        order = self.order(wanted.order_id, subject)
        if earlier := self._under(wanted.operation_key, subject):
            return same_draft(earlier[0], wanted), False
        check(order, wanted)
        # Others may be here with the same key: the look-up above decided nothing. This does.
        made = self._db.execute(
            "INSERT INTO drafts (order_id, amount_minor, currency, operation_key, reason, "
            "policy_version, subject, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (subject, operation_key) DO NOTHING RETURNING *",
            (*vars(wanted).values(), order.policy_version, subject, actor),
        ).fetchall()
        if made:
            return _draft(made[0]), True
        return same_draft(self._under(wanted.operation_key, subject)[0], wanted), False

    def drafts(self) -> list[Draft]:
        """Every draft of everybody, in the order they were made: for tests and lessons."""
        return [_draft(row) for row in self._db.execute("SELECT * FROM drafts ORDER BY number")]

    def _under(self, operation_key: str | None, subject: str) -> list[Draft]:
        rows = self._db.execute(
            "SELECT * FROM drafts WHERE operation_key = ? AND subject = ?",
            (operation_key, subject),
        ).fetchall()
        return [_draft(row) for row in rows]

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._db.close()


def _draft(row: sqlite3.Row) -> Draft:
    wanted = Wanted(**{name: row[name] for name in Wanted.__dataclass_fields__})
    number = f"draft_{row['number']}"
    return Draft(number, wanted, row["policy_version"], row["subject"], row["actor"])
