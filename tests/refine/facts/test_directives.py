from __future__ import annotations

import pytest

from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.model.trust import Trust
from holdfast.refine.facts.directives import find_directives, is_directive
from holdfast.refine.facts.junk_filter import JunkReason, junk_reason
from holdfast.refine.facts.typed_text import MAX_TYPED_CHARS

LAID_DOWN = """\
Rule for uploads: at most 10 MB per file, images only.
Convention about branch names: the ticket first.
Regel für Uploads: höchstens 10 MB.
Remember that we deploy on Tuesdays.
Always run the linter before you commit.
From now on use pnpm.
Never push to main directly.
We decided to keep SQLite.
please always write tests first
ok, from now on we squash commits
You should never edit generated files.
The API must never return HTML.
Don't ever commit secrets.
Merk dir: wir deployen nur dienstags.
Ab sofort verwenden wir pnpm.
Verwende immer einfache Anführungszeichen.
Niemals direkt auf main pushen.
Wir haben beschlossen, SQLite zu behalten.
Souviens-toi que la base est en lecture seule.
Utilise toujours pnpm.
Désormais on utilise pnpm.
Ne pousse jamais sur main.
Nous avons décidé de garder SQLite.
Recuerda que usamos pnpm.
Usa siempre pnpm.
A partir de ahora usamos pnpm.
Nunca hagas push a main.
Hemos decidido usar SQLite.
Ricorda che usiamo pnpm.
Usa sempre pnpm.
D'ora in poi usiamo pnpm.
Non fare mai push su main.
Abbiamo deciso di usare SQLite.
Lembre-se de que usamos pnpm.
Use sempre pnpm.
A partir de agora usamos pnpm.
Nunca faça push para main.
Decidimos usar SQLite.
Onthoud dat we pnpm gebruiken.
Gebruik altijd pnpm.
Vanaf nu gebruiken we pnpm.
Push nooit naar main.
We hebben besloten SQLite te houden.
今後はpnpmを使ってください。
必ずテストを書いてください。
絶対にmainにpushしないでください。
SQLiteを使うことにしました。
覚えておいて、デプロイは火曜日だけです。
记住，我们只在周二部署。
从现在起使用pnpm。
永远不要直接推送到main。
我们决定使用SQLite。
必须先写测试。
기억해 주세요, 배포는 화요일에만 합니다.
앞으로는 pnpm을 사용하세요.
항상 테스트를 먼저 작성하세요.
절대 main에 직접 푸시하지 마세요.
SQLite를 쓰기로 했습니다.
Запомни: деплой только по вторникам.
Отныне используем pnpm.
Всегда пиши тесты.
Никогда не пушь в main.
Мы решили оставить SQLite."""

TALK = """\
I always forget the flag.
It always fails on CI.
Never mind.
The test never passes.
Do you remember what we decided?
Why do we always retry?
I remember it differently.
Remember when we broke prod?
The error says "never call this twice".
This has never worked.
It never worked on Windows.
Nothing ever works, as always.
The log shows `always true` here.
Ich vergesse immer die Option.
Es schlägt immer fehl.
Das hat nie funktioniert.
J'oublie toujours cette option.
Ça ne marche jamais.
Siempre olvido la opción.
Yo nunca lo entiendo.
Non funziona mai.
Io dimentico sempre.
Eu sempre esqueço.
Ik vergeet altijd de optie.
私はいつも忘れます。
テストは必ず失敗しました。
我总是忘记这个选项。
나는 항상 잊어버려요.
Я всегда забываю.
Это никогда не работало.
Should we always use pnpm?
The server is always running in the background and it is slow.
The button never appears after the second click.
what did we decide about retries"""


@pytest.mark.parametrize("sentence", LAID_DOWN.splitlines())
def test_directives_are_found_in_many_languages(sentence: str) -> None:
    assert is_directive(sentence)
    assert find_directives(sentence)


@pytest.mark.parametrize("sentence", TALK.splitlines())
def test_ordinary_talk_is_no_directive(sentence: str) -> None:
    assert not is_directive(sentence)


def test_quotations_and_code_are_no_directives() -> None:
    assert find_directives("> Always use tabs.\n\nWhat do you make of this comment?") == []
    assert find_directives("```\n# never call this twice\n```\nThis fails, please fix it.") == []
    assert find_directives('The review says "always use tabs here", which I find odd.') == []


def test_only_the_short_ends_of_a_pasted_text_count() -> None:
    pasted = "\n\n".join(
        ["Please implement this plan.", *["Always do step one first."] * 99, "Go."]
    )
    assert len(pasted) > MAX_TYPED_CHARS and find_directives(pasted) == []
    ends = pasted.replace("Go.", "From now on plans go into docs/plans.")
    assert find_directives(ends) == ["From now on plans go into docs/plans."]


def a_claim(text: str, kind: ClaimKind = ClaimKind.RULING, share: float = 1.0) -> Claim:
    return Claim("b", "c", "s", "x", "t", 1, "", kind, text, Trust.USER, True, share=share)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Never again!", JunkReason.SHORT),
        ("always run the whole test suite again now", JunkReason.ONE_OFF),
        ("From now on wait for my review in this session.", JunkReason.ONE_OFF),
        ("From now on I'm not sure that the cache is right, can you help?", JunkReason.TALK),
        ("Always do it like that.", JunkReason.SHORT),
        ("From now on make it work like the same thing.", JunkReason.VAGUE),
        ("We decided to use SQLite for the queue.", None),
        ("Never push to the main branch.", None),
        ("Always run make check before you commit.", None),
        ("Always run `make check`.", None),
        ("From now on make tests pass like that.", JunkReason.VAGUE),
        ("Always make sure that it works.", JunkReason.VAGUE),
        ("Always use pnpm.", None),
        ("From now on, use uv.", None),
        ("Never push.", None),
        ("Don't worry about the tests, we decided to drop them.", JunkReason.TALK),
        ('{"rule": "never", "outcome": "always allow"}', JunkReason.PASTED),
        ("! [remote rejected] we decided -> main", JunkReason.PASTED),
    ],
)
def test_statements_that_nobody_could_act_on_are_dropped(text: str, why: JunkReason | None) -> None:
    assert junk_reason(a_claim(text)) is why


def test_a_decision_in_a_pasted_text_is_dropped() -> None:
    text = "We should not rebuild the index on every run."
    assert junk_reason(a_claim(text, ClaimKind.DECISION, share=0.05)) is JunkReason.PASTED
    assert junk_reason(a_claim(text, ClaimKind.DECISION)) is None
