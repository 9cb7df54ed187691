"""`--model NAME`: which model of the service is asked, for one command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.opinion_sessions import session_on_day
from tests.support.permitted_model_service import User, model_settings, serving

OSLO = "The ferry timetable of the harbour is printed in Oslo every spring."
QUESTION = "where is the ferry timetable printed"


@pytest.mark.parametrize("command", ["ask", "reflect"])
def test_a_command_asks_the_model_that_it_names_instead_of_that_of_the_settings(
    command: str, tmp_path: Path
) -> None:
    sessions = (session_on_day(1, OSLO), session_on_day(2, f"{OSLO} Mind that."))
    with serving() as service:
        settings = model_settings(service, 'reflection = "small"\nagent = "small"')
        user = User(tmp_path, settings, *sessions)
        user.env["HOLDFAST_BANK"] = "proj"
        user.run("ingest", "--embed", "none")
        service.asked.clear()
        user.run(command, QUESTION, "--bank", "proj", "--model", "large")
        assert {body["model"] for body in service.asked} == {"large"}
        service.asked.clear()
        user.run(command, QUESTION, "--bank", "proj")
        assert {body["model"] for body in service.asked} == {"small"}


@pytest.mark.parametrize("command", [("ask", QUESTION), ("reflect", QUESTION), ("refine",)])
def test_a_model_without_a_service_is_refused_with_what_to_set(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    user = User(tmp_path, "", session_on_day(1, OSLO))
    user.run("ingest", "--embed", "none")
    with pytest.raises(AssertionError, match=r"models\.use"):
        user.run(*command, "--model", "large")
