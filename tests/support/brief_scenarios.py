"""A shop with a history: what was settled in it, much that was not, and prompts that report a
symptom months later in other words. Half of the prompts were held back while the brief was
being built; `HELD_BACK` names them."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

NOW = "2026-09-20T12:00:00.000Z"
SHOP = "/home/dev/shop"


class Talk(NamedTuple):
    """One session: the day, the files it edited, and what was said by turns."""

    day: str
    files: tuple[str, ...]
    said: tuple[str, ...]


class Change(NamedTuple):
    """One commit."""

    time: str
    author: str
    message: str
    files: tuple[str, ...]


class Case(NamedTuple):
    """A prompt, words that the brief for it must hold, and words that it must not."""

    prompt: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...] = ()


TALKS = (
    Talk(
        "2026-01-12",
        ("src/checkout/pay.py",),
        (
            "Reloading the checkout page charged two people twice. Please fix it in pay.py.",
            "The order was sent again with a new key. I can drop repeated charges of the same "
            "amount within a minute, or keep one idempotency key per cart.",
            "Dropping charges by amount is out: people do buy the same thing twice. We decided to "
            "keep one idempotency key per cart, and never to make a new one on retry.",
            "Done: the key lives with the cart in src/checkout/pay.py and is reused on retry.",
        ),
    ),
    Talk(
        "2026-02-03",
        ("src/search/rank.py",),
        (
            "Sort the search results by price by default.",
            "Results are sorted by price now in src/search/rank.py.",
        ),
    ),
    Talk(
        "2026-04-19",
        ("src/search/rank.py",),
        (
            "Sellers game the listing: they set a price of one cent to be shown on top. From now "
            "on results are ordered by relevance and never by price unless the buyer asks.",
            "Understood. Ranking in src/search/rank.py goes by relevance; price only breaks ties "
            "when the buyer picked it.",
        ),
    ),
    Talk(
        "2026-02-20",
        ("src/mail/send.py", "src/mail/queue.py"),
        (
            "Should a mail that bounces be tried again at once?",
            "Trying at once got us onto a blocklist in January. Decision: a bounced message waits "
            "at least six hours before the next attempt, because the provider counts attempts "
            "per hour.",
            "Agreed, put that into the queue. An immediate retry is rejected for good.",
            "The queue holds bounced messages for six hours now.",
        ),
    ),
    Talk(
        "2026-03-05",
        ("src/auth/session.py",),
        (
            "How long should a login last?",
            "We decided to keep sign-ins alive for thirty days; the token lives in a cookie.",
            "Fine.",
            "The lifetime is thirty days in src/auth/session.py.",
        ),
    ),
    Talk(
        "2026-06-22",
        ("src/auth/session.py",),
        (
            "The auditors complained about the thirty days. We decided that sign-ins end after "
            "twelve hours, no sliding renewal, whatever people say about comfort.",
            "The lifetime in src/auth/session.py is twelve hours and is not renewed on use.",
        ),
    ),
    Talk(
        "2026-03-28",
        ("src/stock/count.py", "src/stock/reserve.py"),
        (
            "Two buyers got the last lamp. What are the options?",
            "Either we lock the row while someone pays, or we reserve for ten minutes. Locking "
            "stalls the whole table during a sale.",
            "No row locks. We go with reservations of ten minutes; a reservation that ran out is "
            "released by the sweeper, not by the page.",
            "Reservations are in src/stock/reserve.py and the sweeper releases them.",
        ),
    ),
    Talk(
        "2026-05-14",
        ("src/export/report.py",),
        (
            "The monthly report has umlauts as question marks in Excel.",
            "Excel wants a byte order mark. I write utf-8-sig in src/export/report.py now. Note "
            "that the bank's importer must get plain utf-8, so its file must never carry the mark.",
            "Good. Remember that: the mark only for people, never for the bank's importer.",
            "Noted.",
        ),
    ),
    Talk(
        "2026-05-30",
        ("src/images/resize.py",),
        (
            "Thumbnails look blurry on phones with dense screens.",
            "The fix was to make them at twice the size. Memory of the worker went to 2 GB when "
            "it decoded in parallel, so we settled on one image at a time; parallel decoding was "
            "tried and reverted.",
            "Keep it that way.",
            "Yes.",
        ),
    ),
    Talk(
        "2026-06-10",
        ("src/api/limits.py",),
        (
            "Partners hit the rate limiter during their nightly import. Raise the limit?",
            "I would rather not raise it: the limiter protects the database.",
            "Right. Decision: the limit stays at 100 per second for everyone; partners get the "
            "bulk endpoint instead. No exceptions per customer.",
            "The bulk endpoint is in src/api/bulk.py; src/api/limits.py is untouched.",
        ),
    ),
    Talk(
        "2026-07-02",
        ("src/prices/round.py",),
        (
            "Totals are a cent off from what the tax office computes.",
            "The office rounds every line and then adds; we added first. We must round per line, "
            "half up, as the tax office does; rounding the sum was wrong.",
            "Yes, always per line, and do not use floats there.",
            "src/prices/round.py rounds per line with Decimal.",
        ),
    ),
    Talk(
        "2026-07-20",
        ("src/ui/cart.js",),
        (
            "The badge on the basket icon should update at once.",
            "I update it before the server answers. If the call fails the number goes back.",
        ),
    ),
    Talk(
        "2026-08-02",
        ("docs/readme.md",),
        ("Correct the spelling in the readme.", "Corrected four words in docs/readme.md."),
    ),
    Talk(
        "2026-08-15",
        ("src/stock/feed.py",),
        (
            "Write a feed of what is in stock for the price portals.",
            "The feed is in src/stock/feed.py and lists every item with a count above zero.",
        ),
    ),
    Talk(
        "2026-08-21",
        ("src/checkout/page.py",),
        (
            "The checkout page should show the delivery day.",
            "src/checkout/page.py shows the day that the carrier promises.",
        ),
    ),
    Talk(
        "2026-09-01",
        ("src/ui/login.js",),
        (
            "Make the login form remember the name of the user.",
            "The name is kept in the browser; src/ui/login.js fills it in.",
        ),
    ),
    Talk(
        "2026-09-10",
        ("tests/test_rank.py",),
        (
            "The ranking tests are slow, speed them up.",
            "The fixture is built once now; tests/test_rank.py takes two seconds.",
        ),
    ),
)

COMMITS = (
    Change(
        "2026-02-11T10:00:00Z",
        "Maria Lopez",
        "Store money as integer cents in the ledger\n\nDecimal columns were rejected: the old "
        "reporting database cannot read them. Every amount is an integer number of cents from "
        "now on; conversion happens at the border only.",
        ("src/ledger/entry.py", "src/ledger/schema.sql"),
    ),
    Change(
        "2026-03-15T10:00:00Z",
        "Jon Berg",
        "Keep deleted customers for ten years\n\nLegal decided against real deletion: invoices "
        "must stay readable. We anonymise the name and keep the row. Do not cascade the delete.",
        ("src/customers/remove.py",),
    ),
    Change(
        "2026-05-05T10:00:00Z",
        "Maria Lopez",
        "Read product feeds with the strict parser\n\nThe lenient parser let broken entities "
        "through and half a catalogue vanished. A feed with one bad item is refused as a whole "
        "rather than loaded in part.",
        ("src/feeds/parse.py",),
    ),
    Change("2026-06-01T10:00:00Z", "Jon Berg", "Bump the dependencies", ("requirements.txt",)),
    Change("2026-07-07T10:00:00Z", "Jon Berg", "Rename the colour picker", ("src/ui/picker.js",)),
    Change(
        "2026-08-28T10:00:00Z",
        "Maria Lopez",
        "Serve thumbnails from the cache folder",
        ("src/images/serve.py",),
    ),
)

BUILT_WITH = (
    Case(
        "A customer wrote that her card was billed two times for one order after her phone lost "
        "the connection while paying. Please find out why and fix it in the checkout.",
        ("idempotency key per cart", "by amount is out", "2026-01-12", "user"),
    ),
    Case(
        "Expensive articles come first in the search listing, cheap ones are on page nine. Users "
        "expect the cheapest offer on top. Fix the ranking of the results.",
        ("ordered by relevance and never by price", "2026-04-19"),
        ("Sort the search results by price by default",),
    ),
    Case(
        "People have to log in again every afternoon, support gets many complaints. Make the "
        "session last longer.",
        ("twelve hours", "2026-06-22"),
        ("sign-ins alive for thirty days; the token",),
    ),
    Case(
        "Confirmation mails arrive hours late when the first delivery attempt fails. They should "
        "be sent again right away.",
        ("six hours", "2026-02-20"),
    ),
    Case(
        "A partner gets 429 answers from our api at night. Increase the limit for them.",
        ("partners get the bulk endpoint", "2026-06-10"),
    ),
    Case(
        "Deleting a customer leaves the row in the table, the privacy page says it is removed. "
        "Make the delete real.",
        ("anonymise the name", "Jon Berg", "2026-03-15"),
    ),
    Case(
        "The amounts in the ledger show 1999 instead of 19.99, please change the column to a "
        "decimal.",
        ("integer number of cents", "Maria Lopez", "Decimal columns were rejected"),
    ),
    Case(
        "Making thumbnails for a big upload takes minutes. Use all the cores in resize.py.",
        ("one image at a time", "2026-05-30"),
    ),
)

HELD_BACK = (
    Case(
        "During the sale someone bought an article that was sold out a second before. We need a "
        "lock on the stock row while paying.",
        ("No row locks", "ten minutes", "2026-03-28"),
    ),
    Case(
        "The bank rejects our monthly export: it says the first line begins with strange bytes. "
        "Look at report.py.",
        ("never for the bank's importer", "2026-05-14"),
    ),
    Case(
        "Invoice sums differ by one cent from adding up the exact prices. Round only at the end.",
        ("round per line", "2026-07-02"),
    ),
    Case(
        "One article with a broken description blocks the import of the whole product feed. Skip "
        "the bad item and load the rest.",
        ("refused as a whole", "Maria Lopez", "2026-05-05"),
    ),
    Case(
        "Items stay unavailable although the buyer closed the window long ago. Release them from "
        "the page when it is closed.",
        ("released by the sweeper",),
    ),
    Case(
        "An order appears twice in the payment provider's list when the user presses the button "
        "again. Generate a fresh key for each request in pay.py?",
        ("idempotency key per cart",),
    ),
    Case(
        "Umlauts are broken again when colleagues open the monthly file in Excel.",
        ("byte order mark",),
    ),
    Case(
        "The auth cookie expires while people are still working; renew the token on every click.",
        ("twelve hours", "no sliding renewal"),
        ("sign-ins alive for thirty days; the token",),
    ),
)

NOTHING_KNOWN = (
    "hi",
    "continue",
    "yes please, go ahead",
    "thanks, that looks good",
    "/compact keep the plan",
    "/review",
    "<task-notification>\n<task-id>a1</task-id> the checkout key was changed\n</task-notification>",
    "fix it",
    "run the tests",
    "What is the capital of Australia?",
    "Write a haiku about the sea in autumn, in English, with seven syllables in the second line.",
    "Set up a Kubernetes cluster with Terraform on three nodes and an ingress controller.",
    "Translate the onboarding slides into Portuguese and keep the speaker notes.",
    "The camera of the drone drifts to the left when the gimbal firmware is flashed.",
    "Port the shader from GLSL to WGSL so that the water surface renders on WebGPU.",
    "Explain how the borrow checker treats two-phase borrows of a vector.",
    "Add dark mode to the settings screen of the mobile app.",
    "Convert this Jupyter notebook into a package with a pyproject file.",
)


def make_shop(folder: Path, embed: bool = False) -> Holdfast:
    """The shop's memory, and a little of a farm's."""
    for number, talk in enumerate(TALKS, start=1):
        _script(number, talk).write(folder / "p")
    farm = Talk("2026-09-11", (), ("We decided to shear llamas in May.", "In May, then."))
    _script(90, farm, "/home/dev/farm").write(folder / "p")
    settings = Settings(home=folder / "home", claude_dir=folder)
    memory = Holdfast(with_empty_memory(settings), now=lambda: NOW)
    memory.ingest(memory.ingestion.find([folder / "p"]))
    memory.ingestion.ingest_git(_repository(folder / "repo"), "shop")
    if embed:
        memory.ingestion.embed()
    return memory


def _script(number: int, talk: Talk, cwd: str = SHOP) -> Script:
    start = datetime.fromisoformat(f"{talk.day}T09:00:00+00:00").astimezone(UTC)
    script = Script(f"{number:08d}-0000-4000-8000-000000000001", cwd=cwd, start=start)
    for place, text in enumerate(talk.said):
        if place % 2 and place == len(talk.said) - 1:
            for file in talk.files:
                path = f"{cwd}/{file}"
                script.tool("Edit", "updated", file_path=path, old_string="a", new_string="b")
        (script.assistant if place % 2 else script.user)(text)
    return script


def _repository(top: Path) -> Path:
    top.mkdir()
    _git(top, "init", "-q", "-b", "main")
    for change in COMMITS:
        for name in change.files:
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(change.message)
        _git(top, "add", "-A")
        _git(top, "commit", "-q", "-m", change.message, time=change.time, author=change.author)
    return top


def _git(top: Path, *arguments: str, time: str = "", author: str = "Ann Ex") -> None:
    dates = {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time} if time else {}
    identity = ("-c", f"user.name={author}", "-c", "user.email=dev@x.org")
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(top), **dates}
    subprocess.run(["git", *identity, "-C", str(top), *arguments], check=True, env=env)
