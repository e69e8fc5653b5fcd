"""The questions that quickstart derives from somebody's own documents."""

from __future__ import annotations

from pathlib import Path

from ragpg.cli.demo import HANDBOOK_ANSWER, HANDBOOK_QUESTIONS, Question, derive_questions, distinct, numbers


def write(folder: Path, **texts: str) -> list[Path]:
    files: list[Path] = []
    for name, text in texts.items():
        file = folder / f"{name}.md"
        file.write_text(text)
        files.append(file)
    return files


def test_distinctive_headings_win(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        one="# General notes\n\nGeneral notes.\n\n## Descaling the boiler\n\nUse citric acid.\n",
        two="# General notes\n\nGeneral notes.\n\n## Greasing the bearing\n\nUse lithium grease.\n",
        three="# General notes\n\nGeneral notes.\n",
    )
    texts = [question.text for question in derive_questions(files)]
    assert set(texts[:2]) == {"Descaling the boiler", "Greasing the bearing"}
    assert texts[2:] == ["General notes"]


def test_one_question_a_document(tmp_path: Path) -> None:
    (file,) = write(
        tmp_path, one="# Boiler care\n\n## Descaling the boiler\n\nx\n\n## Draining the boiler\n\ny\n"
    )
    assert len(derive_questions([file])) == 1


def test_documents_without_headings(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("the pump in the cellar must be primed before it is switched on, or it overheats.\n")
    (question,) = derive_questions([file])
    assert question.text == "the pump in the cellar must be primed"


def test_bad_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (tmp_path / "empty.md").write_bytes(b"")
    assert derive_questions(sorted(tmp_path.iterdir())) == []


def test_the_handbook_holds_what_is_asked() -> None:
    from ragpg.db.resources import handbook_dir

    text = (handbook_dir() / "engineering/error-codes.md").read_text(encoding="utf-8")
    assert HANDBOOK_QUESTIONS[0].text in text
    assert "group:hr-leads" in HANDBOOK_QUESTIONS[-1].principals
    assert "group:hr-leads" in (handbook_dir() / "hr/.ragpg.yaml").read_text(encoding="utf-8")
    assert HANDBOOK_ANSWER.asked_as == ["group:staff"]


def test_a_question_asked_as_two_callers_counts_once() -> None:
    assert distinct(HANDBOOK_QUESTIONS) == 3
    assert numbers(HANDBOOK_QUESTIONS) == ["1", "2", "3a", "3b"]
    assert numbers([Question("one"), Question("two")]) == ["1", "2"]
