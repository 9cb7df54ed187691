from __future__ import annotations

from holdfast.brief.goal.first_prompt import is_common, saved_commands
from holdfast.language import stem

COMMON = (
    "able actually add again ahead already also always another answer anything app application "
    "apply around ask back bad best better big bit bug bugs build came case change changed "
    "changes check clean code come commit complete correct create current day days different does "
    "done easy edit end error errors everything exist exists expect expected explain fail fails "
    "failed feature file files find fine first fix fixed fixes follow following found full "
    "function give good got great guide handle happen happens help idea implement implementation "
    "improve include instead issue issues keep know last later leave line list little long look "
    "looks lot made main make makes making many maybe mean minutes missing move much name needed "
    "needs never new next nice nothing number old open part parts people perhaps place plan point "
    "possible problem project properly provide put question read ready really reason refactor "
    "remove result results return review right run running says second see seems set show side "
    "simple since single small something soon start starts step stop task tell test tests text "
    "thing things think time times today tomorrow tried two type understand update updated user "
    "users wait way week whether whole without word words work working works write wrong year "
)


def test_words_of_many_prompts_are_common_in_all_their_forms() -> None:
    assert [word for word in COMMON.split() if not is_common(stem(word))] == []
    subjects = "retry uploader account harbour alert gauge redis timeout invoice"
    assert [word for word in subjects.split() if is_common(stem(word))] == []


def test_requests_that_are_made_again_and_again_are_saved_commands() -> None:
    command = "Check the logs of staging, update the documents and commit them"
    often = [command, "Continue", "Fix the printer"] * 3
    assert saved_commands(often) == {command}
    assert not saved_commands([command, command])
