"""One loaded graph with its tokenizer: texts to token ids, token ids to vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf, NoSuchFile
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as KernelMissing

from models.base import Vectors
from models.e5_layout import GRAPH, IDS, TOKEN_VECTORS, VECTORS, UnpackedModel
from models.e5_tokenizer import E5Tokenizer
from search_config.errors import ModelUnavailable

# Tokens of one run. The activations of 512 tokens stay in a core's cache; measured on two cores,
# texts of 14, 60 and 235 tokens are embedded fastest in runs of about this size, and 4,096 tokens cost 20% more each.
MAX_BATCH_TOKENS = 512

# What the runtime raises for a graph that it can't take; its classes share no base but Exception.
_UNLOADABLE = (Fail, InvalidGraph, InvalidProtobuf, KernelMissing, NoSuchFile)

Ids = NDArray[np.int64]
Read = TypeVar("Read")


class E5Session:
    """Safe for use by several threads."""

    def __init__(self, model: UnpackedModel, *, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        # One thread a run, and runs side by side: threads that share each of a run's hundreds of operators meet after
        # every one, which costs a fifth of the time, or the core of a neighbour while they wait spinning.
        options.intra_op_num_threads = 1
        # The graph is written as it should run. The higher levels would put back the joint operator that it avoids.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        graph = model.folder / GRAPH
        try:
            self._session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        except _UNLOADABLE as error:
            raise ModelUnavailable(
                "The embedded model can't be loaded by this onnxruntime.",
                where=str(graph),
                remedy="Install the pinned version: pip install -c constraints.txt onnxruntime",
            ) from error
        self.tokenizer = E5Tokenizer(model.folder)
        self._model = model
        self._threads = threads

    def sequence(self, text: str, *, is_query: bool) -> Ids:
        """The ids that the model reads: start, prompt, text, end; cut at the window."""
        model = self._model
        prompt = model.query_prompt if is_query else model.passage_prompt
        room = model.window - len(prompt) - 2
        return np.concatenate([[model.bos], prompt, self.tokenizer.ids(text)[:room], [model.eos]]).astype(np.int64)

    def run(self, sequences: Sequence[Ids]) -> Vectors:
        """Unit vectors `(n, hidden)` of sequences of any lengths, in their order.

        A sequence has the same vector whatever it is run with, up to the order of the last sum (1e-7): a batch holds
        sequences of one length, none is padded, and nothing is computed across them.
        """
        return self._in_batches(sequences, self._run_batch)[0]

    def read(self, sequences: Sequence[Ids], read: Callable[[Vectors], Read]) -> tuple[Vectors, list[Read]]:
        """The same vectors, and what `read` makes of each sequence's token states `(length, hidden)`.

        States are handed over batch by batch and not kept: those of one long passage are as large as 500 vectors.
        """

        def run_batch(batch: Sequence[Ids]) -> tuple[Vectors, list[Read]]:
            vectors, states = self._session.run([VECTORS, TOKEN_VECTORS], {IDS: np.stack(batch)})
            return vectors, [read(rows) for rows in states]

        return self._in_batches(sequences, run_batch)

    def text_tokens(self, *, is_query: bool) -> slice:
        """Where the text's own tokens stand in a sequence: without start, prompt and end."""
        prompt = self._model.query_prompt if is_query else self._model.passage_prompt
        return slice(1 + len(prompt), -1)

    def _in_batches(
        self, sequences: Sequence[Ids], run: Callable[[Sequence[Ids]], tuple[Vectors, list[Read]]]
    ) -> tuple[Vectors, list[Read]]:
        cut = batches(sequences)
        work = [[sequences[index] for index in batch] for batch in cut]
        if len(work) == 1 or self._threads == 1:
            parts = [run(batch) for batch in work]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                # Longest first: the last to finish is a short one.
                parts = list(pool.map(run, work[::-1]))[::-1]
        order = [index for batch in cut for index in batch]
        vectors = np.concatenate([part for part, _ in parts])
        restored = np.empty_like(vectors)
        restored[order] = vectors
        made = [one for _, part in parts for one in part]
        return restored, [one for _, one in sorted(zip(order, made, strict=bool(made)), key=lambda pair: pair[0])]

    def _run_batch(self, sequences: Sequence[Ids]) -> tuple[Vectors, list[None]]:
        vectors: Vectors = self._session.run([VECTORS], {IDS: np.stack(sequences)})[0]
        return vectors, []


def batches(sequences: Sequence[Ids]) -> list[list[int]]:
    """Cut the sequences' indices, sorted by rising length, into batches of one length, of at most `MAX_BATCH_TOKENS`.

    A sequence that is longer by itself is a batch of its own.
    """
    cut: list[list[int]] = []
    for index in sorted(range(len(sequences)), key=lambda index: len(sequences[index])):
        length = len(sequences[index])
        fits = cut and len(sequences[cut[-1][0]]) == length and (len(cut[-1]) + 1) * length <= MAX_BATCH_TOKENS
        if fits:
            cut[-1].append(index)
        else:
            cut.append([index])
    return cut
