from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.recall.query.date_words import DATE_WORDS
from holdfast.recall.query.time_phrases import DATE_LANGUAGES, TimeRange, read_time_range

# A Wednesday.
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)
SPANS = {
    "yesterday": ("2026-11-17", "2026-11-18"),
    "today": ("2026-11-18", "2026-11-19"),
    "last week": ("2026-11-09", "2026-11-16"),
    "this week": ("2026-11-16", "2026-11-23"),
    "last month": ("2026-10-01", "2026-11-01"),
    "last year": ("2025-01-01", "2026-01-01"),
    "3 days ago": ("2026-11-15", "2026-11-16"),
    "two weeks ago": ("2026-11-01", "2026-11-08"),
    "last 10 days": ("2026-11-08", "2026-11-19"),
    "in October": ("2026-10-01", "2026-11-01"),
    "October 2025": ("2025-10-01", "2025-11-01"),
    "5 March 2026": ("2026-03-05", "2026-03-06"),
    "since March": ("2026-03-01", ""),
    "last Friday": ("2026-11-13", "2026-11-14"),
    "in 2025": ("2025-01-01", "2026-01-01"),
}
# The same questions in each language, in the order of `SPANS`.
QUESTIONS = {
    "de": (
        "Was ist gestern mit Redis passiert?",
        "Was wurde heute am Login geändert?",
        "Warum haben wir vorige Woche Redis abgeschaltet?",
        "Welche Fehler gab es diese Woche?",
        "Was haben wir letzten Monat zum Cache entschieden?",
        "Wie sah das Schema im vergangenen Jahr aus?",
        "Was haben wir vor drei Tagen am Login geändert?",
        "Was haben wir vor 2 Wochen am Login geändert?",
        "Welche Fehler gab es in den letzten 10 Tagen?",
        "Welche Fehler gab es im Oktober?",
        "Welche Fehler gab es im Oktober 2025?",
        "Was wurde am 5. März 2026 zum Cache entschieden?",
        "Welche Fehler gibt es seit März?",
        "Was haben wir letzten Freitag am Login geändert?",
        "Welche Datenbank hatten wir im Jahr 2025?",
    ),
    "fr": (
        "Que s'est-il passé hier avec Redis ?",
        "Qu'est-ce qui a changé aujourd'hui dans le login ?",
        "Pourquoi a-t-on coupé Redis la semaine dernière ?",
        "Quelles erreurs avons-nous eues cette semaine ?",
        "Qu'avons-nous décidé le mois dernier pour le cache ?",
        "Quel était le schéma l'année dernière ?",
        "Qu'a-t-on modifié il y a trois jours dans le login ?",
        "Qu'a-t-on modifié il y a 2 semaines dans le login ?",
        "Quelles erreurs dans les 10 derniers jours ?",
        "Quelles erreurs avons-nous eues en octobre ?",
        "Quelles erreurs avons-nous eues en octobre 2025 ?",
        "Qu'avons-nous décidé le 5 mars 2026 pour le cache ?",
        "Quelles erreurs avons-nous depuis mars ?",
        "Qu'a-t-on modifié vendredi dernier dans le login ?",
        "Quelle base avions-nous en 2025 ?",
    ),
    "es": (
        "¿Qué pasó ayer con Redis?",
        "¿Qué cambió hoy en el login?",
        "¿Por qué apagamos Redis la semana pasada?",
        "¿Qué errores hubo esta semana?",
        "¿Qué decidimos el mes pasado sobre la caché?",
        "¿Cómo era el esquema el año pasado?",
        "¿Qué cambiamos hace tres días en el login?",
        "¿Qué cambiamos hace 2 semanas en el login?",
        "¿Qué errores hubo en los últimos 10 días?",
        "¿Qué errores hubo en octubre?",
        "¿Qué errores hubo en octubre de 2025?",
        "¿Qué decidimos el 5 de marzo de 2026 sobre la caché?",
        "¿Qué errores hay desde marzo?",
        "¿Qué cambiamos el viernes pasado en el login?",
        "¿Qué base de datos teníamos en 2025?",
    ),
    "it": (
        "Che cosa è successo ieri con Redis?",
        "Che cosa è cambiato oggi nel login?",
        "Perché abbiamo spento Redis la settimana scorsa?",
        "Quali errori ci sono stati questa settimana?",
        "Che cosa abbiamo deciso il mese scorso sulla cache?",
        "Com'era lo schema l'anno scorso?",
        "Che cosa abbiamo cambiato tre giorni fa nel login?",
        "Che cosa abbiamo cambiato 2 settimane fa nel login?",
        "Quali errori negli ultimi 10 giorni?",
        "Quali errori abbiamo avuto a ottobre?",
        "Quali errori abbiamo avuto nell'ottobre 2025?",
        "Che cosa abbiamo deciso il 5 marzo 2026 sulla cache?",
        "Quali errori abbiamo da marzo?",
        "Che cosa abbiamo cambiato venerdì scorso nel login?",
        "Che database avevamo nel 2025?",
    ),
    "pt": (
        "O que aconteceu ontem com o Redis?",
        "O que mudou hoje no login?",
        "Por que desligamos o Redis na semana passada?",
        "Que erros houve nesta semana?",
        "O que decidimos no mês passado sobre o cache?",
        "Como era o esquema no ano passado?",
        "O que mudamos há três dias no login?",
        "O que mudamos 2 semanas atrás no login?",
        "Que erros houve nos últimos 10 dias?",
        "Que erros tivemos em outubro?",
        "Que erros tivemos em outubro de 2025?",
        "O que decidimos em 5 de março de 2026 sobre o cache?",
        "Que erros temos desde março?",
        "O que mudamos na sexta-feira passada no login?",
        "Que banco de dados a gente tinha em 2025?",
    ),
    "nl": (
        "Wat is er gisteren met Redis gebeurd?",
        "Wat is er vandaag aan de login veranderd?",
        "Waarom hebben we Redis vorige week uitgezet?",
        "Welke fouten waren er deze week?",
        "Wat hebben we vorige maand over de cache besloten?",
        "Hoe zag het schema er vorig jaar uit?",
        "Wat hebben we drie dagen geleden aan de login veranderd?",
        "Wat hebben we 2 weken geleden aan de login veranderd?",
        "Welke fouten waren er de afgelopen 10 dagen?",
        "Welke fouten waren er in oktober?",
        "Welke fouten waren er in oktober 2025?",
        "Wat hebben we op 5 maart 2026 over de cache besloten?",
        "Welke fouten zijn er sinds maart?",
        "Wat hebben we vorige vrijdag aan de login veranderd?",
        "Welke database hadden we in 2025?",
    ),
    "ru": (
        "Что вчера случилось с Redis?",
        "Что сегодня поменяли в логине?",
        "Почему мы отключили Redis на прошлой неделе?",
        "Какие ошибки были на этой неделе?",
        "Что мы решили в прошлом месяце про кэш?",
        "Как выглядела схема в прошлом году?",
        "Что мы поменяли три дня назад в логине?",
        "Что мы поменяли 2 недели назад в логине?",
        "Какие ошибки были за последние 10 дней?",
        "Какие ошибки были в октябре?",
        "Какие ошибки были в октябре 2025 года?",
        "Что решили 5 марта 2026 года про кэш?",
        "Какие ошибки идут с марта?",
        "Что мы поменяли в прошлую пятницу в логине?",
        "Какая база была у нас в 2025 году?",
    ),
    "ja": (
        "昨日Redisに何が起きた？",
        "今日ログインの何を変えた？",
        "先週なぜRedisを止めたの？",
        "今週のエラーは？",
        "先月キャッシュについて何を決めた？",
        "去年のスキーマはどうだった？",
        "三日前にログインの何を変えた？",
        "2週間前にログインの何を変えた？",
        "過去10日間のエラーは？",
        "10月のエラーは？",
        "2025年10月のエラーは？",
        "2026年3月5日にキャッシュについて何を決めた？",
        "3月以降のエラーは？",
        "先週の金曜日にログインの何を変えた？",
        "2025年のデータベースは？",
    ),
    "zh": (
        "昨天 Redis 出了什么问题？",
        "今天登录页改了什么？",
        "上周为什么关掉 Redis？",
        "这周有哪些错误？",
        "上个月关于缓存我们决定了什么？",
        "去年的表结构是怎样的？",
        "三天前登录页改了什么？",
        "2周前登录页改了什么？",
        "过去10天有哪些错误？",
        "十月有哪些错误？",
        "2025年10月有哪些错误？",
        "2026年3月5日关于缓存决定了什么？",
        "从3月有哪些错误？",
        "上周五登录页改了什么？",
        "2025年用的是什么数据库？",
    ),
    "ko": (
        "어제 Redis에 무슨 일이 있었어?",
        "오늘 로그인에서 뭐가 바뀌었어?",
        "지난주에 왜 Redis를 껐어?",
        "이번 주 오류는 뭐야?",
        "지난달에 캐시에 대해 뭘 결정했어?",
        "작년 스키마는 어땠어?",
        "3일 전에 로그인에서 뭘 바꿨어?",
        "2주 전에 로그인에서 뭘 바꿨어?",
        "지난 10일 동안 오류는?",
        "10월 오류는 뭐였어?",
        "2025년 10월 오류는 뭐였어?",
        "2026년 3월 5일에 캐시에 대해 뭘 결정했어?",
        "3월부터 오류는 뭐가 있어?",
        "지난주 금요일에 로그인에서 뭘 바꿨어?",
        "2025년에는 어떤 데이터베이스였어?",
    ),
}


def read(query: str) -> TimeRange | None:
    return read_time_range(query, NOW, lambda name: None)


def test_every_language_with_words_for_dates_is_asked_all_questions() -> None:
    assert QUESTIONS.keys() == DATE_WORDS.keys() == DATE_LANGUAGES
    assert all(len(questions) == len(SPANS) for questions in QUESTIONS.values())


@pytest.mark.parametrize(
    ("language", "meaning", "query"),
    [
        (language, meaning, query)
        for language, questions in QUESTIONS.items()
        for meaning, query in zip(SPANS, questions, strict=True)
    ],
)
def test_a_date_is_read_in_each_language(language: str, meaning: str, query: str) -> None:
    found = read(query)
    assert found is not None, f"{language}: {query}"
    days = (found.start.removesuffix("T00:00:00.000Z"), found.end.removesuffix("T00:00:00.000Z"))
    assert days == SPANS[meaning]
    assert found.phrase in query or " " in found.phrase


@pytest.mark.parametrize(
    "query",
    [
        "Was haben wir letzte Woche gemacht?",
        "Qu'est-ce qu'on a fait la semaine dernière ?",
        "¿Qué hicimos la semana pasada?",
        "Cosa abbiamo fatto la settimana scorsa?",
        "O que a gente fez na semana passada?",
        "Wat hebben we vorige week gedaan?",
        "Что мы сделали на прошлой неделе?",
        "先週は何をしましたか？",
        "我们上周做了什么？",
        "지난주에 뭐 했어?",
    ],
)
def test_a_question_about_nothing_but_a_time_is_known_as_such(query: str) -> None:
    found = read(query)
    assert found is not None
    assert found.only_time


@pytest.mark.parametrize(
    "query",
    [
        "Was haben wir letzte Woche am Login geändert?",
        "Qu'a-t-on modifié dans le login la semaine dernière ?",
        "¿Qué cambiamos en el login la semana pasada?",
        "Cosa abbiamo cambiato nel login la settimana scorsa?",
        "O que mudamos no login na semana passada?",
        "Wat hebben we vorige week aan de login veranderd?",
        "Что мы поменяли в логине на прошлой неделе?",
        "先週ログインの何を変えた？",
        "我们上周改了登录页的什么？",
        "지난주에 로그인에서 뭘 바꿨어?",
    ],
)
def test_a_question_about_something_at_a_time_asks_for_more_than_the_time(query: str) -> None:
    found = read(query)
    assert found is not None
    assert not found.only_time


@pytest.mark.parametrize(
    "query",
    [
        "Was machen wir nächste Woche mit Redis?",
        "Wer hat jeden Montag Dienst?",
        "Que fait-on la semaine prochaine avec Redis ?",
        "Qui est d'astreinte chaque lundi ?",
        "¿Qué hacemos la próxima semana con Redis?",
        "¿Quién está de guardia los lunes?",
        "Cosa facciamo la settimana prossima con Redis?",
        "Chi è reperibile ogni venerdì?",
        "O que fazemos na próxima semana com o Redis?",
        "Wat doen we volgende week met Redis?",
        "Wie heeft elke maandag dienst?",
        "Что делаем на следующей неделе с Redis?",
        "Кто дежурит каждый понедельник?",
        "来週のリリースは誰が担当？",
        "毎週火曜日に何をデプロイする？",
        "下周谁负责发布？",
        "每周一谁值班？",
        "다음 주 배포는 누가 해?",
        "매주 월요일에 누가 교대해?",
    ],
)
def test_what_lies_ahead_or_repeats_is_no_time_to_search_in(query: str) -> None:
    assert read(query) is None


def test_a_range_between_two_months_is_read() -> None:
    for query in (
        "Was wurde zwischen März und Mai zum Cache entschieden?",
        "¿Qué decidimos entre marzo y mayo sobre la caché?",
        "Что решили между мартом и маем про кэш?",
        "3月から5月までにキャッシュについて何を決めた？",
    ):
        found = read(query)
        assert found is not None
        assert (found.start[:10], found.end[:10]) == ("2026-03-01", "2026-06-01")


def test_a_range_may_start_at_a_version_in_any_language() -> None:
    released = datetime(2026, 6, 1, tzinfo=UTC)
    found = read_time_range(
        "Was hat sich seit v1.4.0 am Login geändert?",
        NOW,
        lambda name: released if name == "v1.4.0" else None,
    )
    assert found is not None
    assert found.start[:10] == "2026-06-01"
