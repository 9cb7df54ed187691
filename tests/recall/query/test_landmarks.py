from __future__ import annotations

import pytest

from holdfast.recall.query.query import Landmark, LandmarkKind, is_version, read_landmark


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        ("release", Landmark(LandmarkKind.RELEASE)),
        ("last release", Landmark(LandmarkKind.RELEASE)),
        ("most recent deploy", Landmark(LandmarkKind.RELEASE)),
        ("v2", Landmark(LandmarkKind.RELEASE, "2")),
        ("V1.4.0", Landmark(LandmarkKind.RELEASE, "1.4.0")),
        ("1.4.0-rc1", Landmark(LandmarkKind.RELEASE, "1.4.0-rc1")),
        ("version 2", Landmark(LandmarkKind.RELEASE, "2")),
        ("v2 release", Landmark(LandmarkKind.RELEASE, "2")),
        ("last session", Landmark(LandmarkKind.SESSION)),
        ("previous conversation", Landmark(LandmarkKind.SESSION)),
        ("last commit", Landmark(LandmarkKind.COMMIT)),
        ("commit 3f2a91c", Landmark(LandmarkKind.COMMIT, "3f2a91c")),
        ("3f2a91c", Landmark(LandmarkKind.COMMIT, "3f2a91c")),
    ],
)
def test_the_name_of_a_landmark_is_recognised(said: str, mark: Landmark) -> None:
    assert read_landmark(said) == mark


@pytest.mark.parametrize(
    "said", ["", "last", "parser", "5", "defaced", "release parser", "session 2", "v2 of the api"]
)
def test_other_words_are_not_landmarks(said: str) -> None:
    assert read_landmark(said) is None


@pytest.mark.parametrize(
    ("tag", "version", "same"),
    [
        ("v2.0.0", "2", True),
        ("2", "2.0", True),
        ("holdfast-v1.4.0", "1.4", True),
        ("v2.1.0", "2", False),
        ("v20", "2", False),
        ("v2.0.0-rc1", "2.0.0", False),
        ("nightly", "2", False),
        ("v1.0", "", False),
    ],
)
def test_a_tag_matches_the_version_it_names(tag: str, version: str, same: bool) -> None:
    assert is_version(tag, version) is same
