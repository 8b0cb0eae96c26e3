"""The modern queries in plain Python, event by event: slow, and with nothing of the statements' SQL."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from tests.nexmark.judge.batch.tables import Event, Row

from causeway.nexmark.model import MODERN

Answer = Iterable[tuple[Any, ...]]

AUCTION = tuple(MODERN.streams["auction"].names)
BID = ("auction", "bidder", "price", "dateTime", "extra")
WHOLE_BID = tuple(MODERN.streams["bid"].names)


def reading(query: str, rules: str, events: list[Event]) -> Counter[tuple[Any, ...]]:
    """What a query must answer to the events, given in order of their delivery."""
    return Counter(READINGS[query](events, rules))


def rows(events: list[Event], stream: str) -> list[Row]:
    return [{**row, "arrival": arrival} for arrival, (name, row) in enumerate(events) if name == stream]


def part(row: Row, columns: Iterable[str]) -> tuple[Any, ...]:
    return tuple(row.get(column) for column in columns)


def told(time: int, form: str) -> str:
    return datetime.fromtimestamp(time / 1000, UTC).strftime(form)


def half_up(total: int, count: int) -> int:
    return (2 * total + count) // (2 * count)


def mean(prices: list[int], rules: str) -> float | int:
    if rules == "beam":
        return half_up(sum(prices), len(prices))
    return sum(prices) // len(prices) if rules == "flink" else sum(prices) / len(prices)


def winners(events: list[Event], rules: str) -> list[tuple[Row, Row]]:
    """Auctions with their winning bids, in order of closing."""
    if rules == "beam":
        return walk_as_beam(events)
    found = []
    for auction in rows(events, "auction"):
        best = None
        for bid in rows(events, "bid"):
            after_expiry = bid["dateTime"] - auction["expires"]
            if bid["auction"] != auction["id"] or bid["dateTime"] < auction["dateTime"]:
                continue
            if rules == "flink":
                if after_expiry > 0:
                    continue
                order = (-bid["price"], bid["dateTime"], bid["arrival"])
            else:
                if after_expiry >= 0 or bid["price"] < auction["reserve"]:
                    continue
                order = (-bid["price"], bid["dateTime"], bid["bidder"], bid["arrival"])
            if best is None or order < best[0]:
                best = (order, bid)
        if best is not None:
            found.append((auction, best[1]))
    return sorted(found, key=lambda pair: (pair[0]["expires"], pair[0]["id"]))


def walk_as_beam(events: list[Event]) -> list[tuple[Row, Row]]:
    """One event at a time: first close what had expired by the last one, then take the next."""
    in_order = sorted(events, key=lambda event: event[1]["dateTime"])
    is_open: dict[int, Row] = {}
    best: dict[int, Row] = {}
    early: list[Row] = []
    found = []

    def close(now: float) -> None:
        expired = sorted((a["expires"], a["id"]) for a in is_open.values() if a["expires"] <= now)
        for _, auction in expired:
            closed = is_open.pop(auction)
            if auction in best:
                found.append((closed, best[auction]))

    def take(bid: Row) -> None:
        if bid["price"] >= is_open[bid["auction"]]["reserve"]:
            standing = best.get(bid["auction"])
            if standing is None or bid["price"] > standing["price"]:
                best[bid["auction"]] = bid

    for stream, row in in_order:
        if stream == "person":
            continue
        if stream == "auction":
            is_open[row["id"]] = row
            for bid in [bid for bid in early if bid["auction"] == row["id"]]:
                take(bid)
        elif row["auction"] in is_open:
            take(row)
        else:
            early.append(row)
        close(row["dateTime"])
    close(float("inf"))
    return found


def q0(events: list[Event], rules: str) -> Answer:
    return (part(bid, BID) for bid in rows(events, "bid"))


def q1(events: list[Event], rules: str) -> Answer:
    for auction, bidder, price, time, extra in q0(events, rules):
        yield auction, bidder, price * 89 // 100 if rules == "beam" else price * Decimal("0.908"), time, extra


def q2(events: list[Event], rules: str) -> Answer:
    return ((bid["auction"], bid["price"]) for bid in rows(events, "bid") if bid["auction"] % 123 == 0)


def q3(events: list[Event], rules: str) -> Answer:
    for auction in rows(events, "auction"):
        for person in rows(events, "person"):
            local = person["state"] in ("OR", "ID", "CA") and auction["category"] == 10
            in_time = rules != "ours" or person["dateTime"] < auction["expires"]
            if auction["seller"] == person["id"] and local and in_time:
                yield person["name"], person["city"], person["state"], auction["id"]


def q4(events: list[Event], rules: str) -> Answer:
    categories = defaultdict(list)
    for auction, bid in winners(events, rules):
        categories[auction["category"]].append((auction["expires"], bid["price"]))
    for category, closings in categories.items():
        last = max(expires for expires, _ in closings)
        since = last // 5000 * 5000 if rules == "beam" else 0
        yield category, mean([price for expires, price in closings if expires >= since], rules)


def q5(events: list[Event], rules: str) -> Answer:
    period = 5000 if rules == "beam" else 2000
    times = [bid["dateTime"] for bid in rows(events, "bid")]
    start = min(times) // period * period - 10_000
    while start <= max(times):
        counts = Counter(
            bid["auction"] for bid in rows(events, "bid") if start <= bid["dateTime"] < start + 10_000
        )
        for auction, num in counts.items():
            if num == max(counts.values()):
                yield (start, start + 10_000, auction, num) if rules == "ours" else (auction, num)
        start += period


def q6(events: list[Event], rules: str) -> Answer:
    sellers: dict[int, list[Row]] = defaultdict(list)
    found = winners(events, rules)
    if rules == "flink":
        found.sort(key=lambda pair: (pair[1]["dateTime"], pair[0]["id"]))
    for auction, bid in found:
        kept = sellers[auction["seller"]]
        if len(kept) == (11 if rules == "flink" else 10):
            kept.remove(min(kept, key=lambda bid: bid["dateTime"]) if rules == "beam" else kept[0])
        kept.append(bid)
    return ((seller, mean([bid["price"] for bid in kept], rules)) for seller, kept in sellers.items())


def q7(events: list[Event], rules: str) -> Answer:
    windows: dict[int, list[Row]] = defaultdict(list)
    for bid in sorted(rows(events, "bid"), key=lambda bid: bid["dateTime"]):
        windows[bid["dateTime"] // 10_000].append(bid)
    for window, bids in windows.items():
        highest = max(bid["price"] for bid in bids)
        ties = [bid for bid in bids if bid["price"] == highest]
        if rules == "beam":
            ties = ties[-1:]
        if rules == "flink":
            at_end = [bid for bid in windows.get(window + 1, []) if bid["dateTime"] == (window + 1) * 10_000]
            ties += [bid for bid in at_end if bid["price"] == highest]
        for bid in ties:
            yield part(bid, ("auction", "price", "bidder", "dateTime", "extra"))


def q8(events: list[Event], rules: str) -> Answer:
    found = []
    for person in rows(events, "person"):
        for auction in rows(events, "auction"):
            same_window = person["dateTime"] // 10_000 == auction["dateTime"] // 10_000
            if same_window and person["id"] == auction["seller"]:
                last = auction["reserve"] if rules == "beam" else person["dateTime"] // 10_000 * 10_000
                found.append((person["id"], person["name"], last))
    return found if rules == "beam" else set(found)


def q9(events: list[Event], rules: str) -> Answer:
    return ((*part(auction, AUCTION), *part(bid, BID)) for auction, bid in winners(events, rules))


def q10(events: list[Event], rules: str) -> Answer:
    for bid in rows(events, "bid"):
        yield (*part(bid, BID), told(bid["dateTime"], "%Y-%m-%d"), told(bid["dateTime"], "%H:%M"))


def q11(events: list[Event], rules: str) -> Answer:
    bidders = defaultdict(list)
    for bid in rows(events, "bid"):
        bidders[bid["bidder"]].append(bid["dateTime"])
    for bidder, times in bidders.items():
        session: list[int] = []
        for time in sorted(times):
            if session and time - session[-1] > 10_000:
                yield bidder, len(session), session[0], session[-1] + 10_000
                session = []
            session.append(time)
        yield bidder, len(session), session[0], session[-1] + 10_000


def q12(events: list[Event], rules: str) -> Answer:
    return Counter(bid["bidder"] for bid in rows(events, "bid")).items()


def q13(events: list[Event], rules: str) -> Answer:
    for bid in rows(events, "bid"):
        yield (*part(bid, ("auction", "bidder", "price", "dateTime")), f"value {bid['auction'] % 10_000}")


def q14(events: list[Event], rules: str) -> Answer:
    for bid in rows(events, "bid"):
        euros = bid["price"] * Decimal("0.908")
        hour = int(told(bid["dateTime"], "%H"))
        time = "dayTime" if hour in range(8, 19) else "otherTime" if hour in (7, 19) else "nightTime"
        if 1_000_000 < euros < 50_000_000:
            counted = bid["extra"].count("c")
            yield bid["auction"], bid["bidder"], euros, time, bid["dateTime"], bid["extra"], counted


def ranks(bids: list[Row]) -> list[list[Row]]:
    """All bids, and those of each rank of price."""
    bounds = pairwise((0, 10_000, 1_000_000, float("inf")))
    of_rank = [[bid for bid in bids if low <= bid["price"] < high] for low, high in bounds]
    return [bids, *of_rank]


def grouped(events: list[Event], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    groups = defaultdict(list)
    for bid in rows(events, "bid"):
        groups[(*part(bid, columns), told(bid["dateTime"], "%Y-%m-%d"))].append(bid)
    return groups


def statistics(bids: list[Row]) -> list[int]:
    return [
        *(len(some) for some in ranks(bids)),
        *(len({bid["bidder"] for bid in some}) for some in ranks(bids)),
        *(len({bid["auction"] for bid in some}) for some in ranks(bids)),
    ]


def q15(events: list[Event], rules: str) -> Answer:
    return ((*day, *statistics(bids)) for day, bids in grouped(events).items())


def q16(events: list[Event], rules: str) -> Answer:
    for key, bids in grouped(events, "channel").items():
        yield (*key, told(max(bid["dateTime"] for bid in bids), "%H:%M"), *statistics(bids))


def q17(events: list[Event], rules: str) -> Answer:
    for key, bids in grouped(events, "auction").items():
        prices = [bid["price"] for bid in bids]
        average = sum(prices) // len(prices) if rules == "flink" else sum(prices) / len(prices)
        yield *key, *(len(some) for some in ranks(bids)), min(prices), max(prices), average, sum(prices)


def q18(events: list[Event], rules: str) -> Answer:
    last: dict[tuple[int, int], Row] = {}
    for bid in rows(events, "bid"):
        key = (bid["bidder"], bid["auction"])
        order = ("dateTime",) if rules == "flink" else ("dateTime", "price")
        if key not in last or part(bid, order) >= part(last[key], order):
            last[key] = bid
    return (part(bid, WHOLE_BID) for bid in last.values())


def q19(events: list[Event], rules: str) -> Answer:
    auctions = defaultdict(list)
    for bid in rows(events, "bid"):
        auctions[bid["auction"]].append(bid)
    for bids in auctions.values():
        if rules == "flink":
            bids.sort(key=lambda bid: -bid["price"])
        else:
            bids.sort(key=lambda bid: (-bid["price"], bid["dateTime"], bid["bidder"]))
        for number, bid in enumerate(bids[:10], start=1):
            yield (*part(bid, WHOLE_BID), number)


def q20(events: list[Event], rules: str) -> Answer:
    for bid in rows(events, "bid"):
        for auction in rows(events, "auction"):
            if auction["id"] == bid["auction"] and auction["category"] == 10:
                yield (*part(bid, WHOLE_BID), *part(auction, AUCTION[1:]))


def q21(events: list[Event], rules: str) -> Answer:
    for bid in rows(events, "bid"):
        number = {"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}.get(bid["channel"].lower())
        if number is None and (found := re.search("(?:&|^)channel_id=([^&]*)", bid["url"])):
            number = found[1]
        if number is not None:
            yield (*part(bid, ("auction", "bidder", "price", "channel")), number)


def q22(events: list[Event], rules: str) -> Answer:
    for bid in rows(events, "bid"):
        directories = [*bid["url"].split("/")[3:6], None, None, None][:3]
        yield (*part(bid, ("auction", "bidder", "price", "channel")), *directories)


READINGS: dict[str, Callable[[list[Event], str], Answer]] = {
    f"q{number}": globals()[f"q{number}"] for number in range(23)
}
