"""Audit packs: the same bytes for the same input, every changed byte found, limits first."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path

import pytest

from evaluation.evidence.canonical import canonical_json, readable_json
from evaluation.evidence.export import to_csv, to_xlsx
from evaluation.evidence.file import CaseFile
from evaluation.evidence.folder import case_folders, load_case, save_case
from evaluation.evidence.limits import LIMITS
from evaluation.evidence.pack import MANIFEST, archive, build_pack, manifest_of
from evaluation.evidence.sheet import sheet_html
from evaluation.evidence.verify import STRUCTURE, verify_pack
from search_config.errors import AlreadyExists, EvidenceCorrupt, InvalidDataset
from tests.unit.evidence.cases import case, file
from tests.unit.evidence.test_decisions import decided

EXAMPLES = Path(__file__).parents[3] / "examples" / "evidence"
# Bytes that are changed one by one in the larger pack.
SAMPLE = 400
# In the small one every byte that is a multiple of this is changed, a prime to all its structures; all of them take two
# minutes and were run by hand.
STRIDE = 31


@pytest.fixture(scope="module")
def small() -> bytes:
    """The smallest pack: a refusal, without the schemas' bulk changed."""
    return build_pack([CaseFile(case("אין תשובה.", (), refused=True))])


@pytest.fixture(scope="module")
def pack() -> bytes:
    return build_pack([decided(decided(file(), 0, "supported", "dana"), 0, "not_supported", "noa")])


def changed(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def test_two_builds_are_identical_and_the_order_of_cases_does_not_matter() -> None:
    files = [file(), CaseFile(case(refused=True)), file(case("Parking is free [2]."))]
    assert build_pack(files) == build_pack(list(reversed(files)))
    assert verify_pack(build_pack(files)).holds
    assert to_csv(files) == to_csv(files)
    assert to_xlsx(files) == to_xlsx(files)


def test_changed_bytes_all_over_the_small_pack_are_found(small: bytes) -> None:
    assert verify_pack(small).holds
    places = range(0, len(small), STRIDE)
    assert [place for place in places if verify_pack(changed(small, place, place % 8)).holds] == []


def test_every_changed_byte_of_the_archives_own_is_found() -> None:
    """Headers, times, directory and end: what no hash of a part covers."""
    data = archive({MANIFEST: readable_json(manifest_of({}, ())), "a": b"x"})
    assert [place for place in range(len(data)) if verify_pack(changed(data, place, place % 8)).holds] == []


def test_changed_bytes_of_every_part_are_found_and_the_part_is_named(pack: bytes) -> None:
    chosen = random.Random(7)  # a sample, not a secret
    with zipfile.ZipFile(io.BytesIO(pack)) as packed:
        for info in packed.infolist():
            start = info.header_offset + 30 + len(info.filename.encode())
            for _ in range(5):
                place = start + chosen.randrange(info.file_size)
                found = verify_pack(changed(pack, place, chosen.randrange(8)))
                assert (found.holds, found.part) == (False, info.filename)
    for _ in range(SAMPLE):
        assert not verify_pack(changed(pack, chosen.randrange(len(pack)), chosen.randrange(8))).holds


@pytest.mark.parametrize("edit", [lambda data: data + b"\0", lambda data: b"\0" + data, lambda data: data[:-1]])
def test_bytes_around_the_archive_are_found(pack: bytes, edit: object) -> None:
    assert callable(edit)
    assert verify_pack(edit(pack)).part == STRUCTURE


def parts_of(pack: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(pack)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def repacked(parts: dict[str, bytes], missing: dict[str, str]) -> bytes:
    """A pack whose manifest fits its parts, as a forger would make it."""
    ids = sorted({name.split("/")[1] for name in parts if name.startswith("cases/")})
    whole: dict[str, bytes | str] = {name: data for name, data in parts.items() if name != MANIFEST}
    return archive({**parts, MANIFEST: readable_json(manifest_of({**whole, **missing}, ids))})


def test_a_record_changed_together_with_the_manifest_is_found(pack: bytes) -> None:
    parts = parts_of(pack)
    missing = {
        part["path"]: part["why_missing"]
        for part in json.loads(parts[MANIFEST])["parts"]
        if part["status"] == "missing"
    }
    assert repacked(parts, missing) == pack
    name = next(one for one in parts if one.endswith("/case.json"))
    forged = json.loads(parts[name])
    forged["answer"] = forged["answer"].replace("46", "64")
    assert verify_pack(repacked({**parts, name: canonical_json(forged)}, missing)).part == name
    name = next(one for one in parts if one.endswith("/rows.json"))
    rows = json.loads(parts[name])[1:]
    assert verify_pack(repacked({**parts, name: readable_json(rows)}, missing)).part == name
    name = next(one for one in parts if one.endswith("/passages.json"))
    assert verify_pack(repacked({**parts, name: readable_json([])}, missing)).part == name
    added = {**parts, "extra.txt": b"x"}
    assert verify_pack(archive(added)).part == "extra.txt"
    without = {one: data for one, data in parts.items() if not one.endswith("/rows.json")}
    assert str(verify_pack(archive(without)).part).endswith("/rows.json")


def test_the_manifest_lists_what_is_missing_and_why(small: bytes) -> None:
    found = verify_pack(small)
    assert {name.rsplit("/", 1)[1] for name in found.missing} == {
        "claims.json", "rows.json", "decisions.json", "notes.json", "passages.json", "proposals.json",
    }  # fmt: skip
    manifest = json.loads(parts_of(small)[MANIFEST])
    assert all(part["why_missing"] for part in manifest["parts"] if part["status"] == "missing")


def test_sheet_and_tables_open_with_their_limits_in_both_languages(pack: bytes) -> None:
    html = parts_of(pack)["sheet.html"].decode()
    assert '<html lang="he" dir="rtl">' in html
    for title, lines in LIMITS.values():
        assert html.index(title) < html.index("הקביעות</h2>")
        assert to_csv([file()]).decode("utf-8-sig").index(title) < to_csv([file()]).decode("utf-8-sig").index("case_id")
        assert all(line in html for line in lines)
    # Disagreement stands before any figure.
    assert html.index("מחלוקות בין בודקים") < html.index("ספירה לפי קביעה")


def test_the_sheet_escapes_what_it_shows() -> None:
    html = sheet_html([file(case("<script>alert(1)</script> is <b>bold</b> [1]."))]).decode()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_cell_that_looks_like_a_formula_is_a_text() -> None:
    table = to_csv([file(case("=SUM(A1) is a formula."))]).decode("utf-8-sig")
    assert "'=SUM(A1)" in table


def test_a_folder_keeps_a_case_and_is_never_written_over(tmp_path: Path) -> None:
    known = decided(file(), 0, "supported", "dana")
    save_case(tmp_path / "one", known)
    before = (tmp_path / "one" / "case.json").read_bytes()
    loaded = load_case(tmp_path / "one")
    assert (loaded.case, loaded.sets, loaded.decisions) == (known.case, known.sets, known.decisions)
    with pytest.raises(AlreadyExists):
        save_case(tmp_path / "one", file(case("Another answer.")))
    assert (tmp_path / "one" / "case.json").read_bytes() == before
    assert case_folders(tmp_path) == (tmp_path / "one",)
    with pytest.raises(InvalidDataset):
        case_folders(tmp_path / "nothing")
    (tmp_path / "one" / "decisions.json").write_text('[{"format": "x"}]', encoding="utf-8")
    with pytest.raises(EvidenceCorrupt):
        load_case(tmp_path / "one")


def test_the_examples_make_a_pack_that_holds() -> None:
    found = verify_pack(build_pack([load_case(folder) for folder in case_folders(EXAMPLES)]))
    assert (found.holds, found.cases) == (True, 10)


def test_a_score_that_is_a_whole_number_holds_in_a_pack() -> None:
    """The canonical form writes 1.0 as 1: the parts beside the case must not differ from it by that."""
    one = case().model_copy(update={"retrieval": {"weights": {"bm25": 1.0}, "score": 0.0, "far": 1e21}})
    assert verify_pack(build_pack([file(one)])).holds
