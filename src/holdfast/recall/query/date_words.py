"""Words for dates in ten languages, each with the English that means the same. No code is here
beyond the two records; `foreign_dates` reads the tables.

A pattern is a regular expression in lower case; in the languages with spaces it stands for whole
words. `{n}`, `{unit}`, `{month}`, `{weekday}`, `{season}`, `{day}` and `{year}` stand for the words
and numbers of the language, and for their English in what the pattern means. What lies ahead or
repeats is translated too ("next", "every"), because the reader must know not to read it.
"""

from __future__ import annotations

from typing import NamedTuple

Phrases = tuple[tuple[str, str], ...]


class DateWords(NamedTuple):
    """The words of a language. `months`, `weekdays` (from Monday), `units` and `seasons` are
    patterns in the order of their English ones; `numbers` are patterns by their English. What
    stands in `following` directly after a date means the preposition before it. Words of `empty`
    say nothing beside a time: "what did we do last week?"."""

    units: tuple[str, ...]
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    numbers: dict[str, str]
    phrases: Phrases
    seasons: tuple[str, ...] = ()
    following: Phrases = ()
    empty: str = ""
    spaced: bool = True


def _counts(said: str, **more: str) -> dict[str, str]:
    """The numbers from one to ten, each a pattern, and others by their English."""
    return {str(n): word for n, word in enumerate(said.split(), 1)} | more


_DIGIT_MONTHS = tuple(f"0?{n}" for n in range(1, 13))

GERMAN = DateWords(
    units=("minuten?", "stunden?", r"tag(?:e|en|es)?", "wochen?", r"monat(?:e|en|s)?",
           r"quartal(?:e|en|s)?", r"jahr(?:e|en|es|s)?"),
    months=("januar|jänner", "februar|feber", "märz|maerz", "april", "mai", "juni", "juli",
            "august", "september", "oktober", "november", "dezember"),
    weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend",
              "sonntag"),
    seasons=("frühling|frühjahr", "sommer", "herbst", "winter"),
    numbers=_counts("ein(?:e[mnr]?)? zwei drei vier fünf sechs sieben acht neun zehn",
                    few="ein(?:igen?| paar)|wenigen", several="mehreren?"),
    phrases=(
        ("vorgestern", "day before yesterday"), ("gestern", "yesterday"), ("heute", "today"),
        ("gestern abend", "yesterday evening"), ("gestern nachmittag", "yesterday afternoon"),
        ("gestern (?:morgen|früh|vormittag)", "yesterday morning"),
        ("letzte nacht", "last night"), ("heute (?:morgen|früh|vormittag)", "this morning"),
        ("kürzlich|neulich|in letzter zeit", "recently"), ("vor {n} {unit}", "{n} {unit} ago"),
        ("(?:letzten?|vergangenen?) {n} {unit}", "last {n} {unit}"),
        ("(?:letzte|vorige|vergangene)[mnrs]? {unit}", "last {unit}"),
        ("vorletzte[mnrs]? {unit}", "{unit} before last"), ("diese[mnrs]? {unit}", "this {unit}"),
        ("(?:letzte|vorige|vergangene)[mnrs]? {weekday}", "last {weekday}"),
        ("(?:letzte|vorige|vergangene)[mnrs]? {month}", "last {month}"),
        ("(?:letzte|vorige|vergangene)[mnrs]? {season}", "last {season}"),
        ("(?:letzte|vorige|vergangene)[mns]? wochenende", "last weekend"),
        ("am wochenende", "on the weekend"), ("am {weekday}|{weekday}", "on {weekday}"),
        (r"{day}\.? {month}(?: {year})?", "{day} {month} {year}"),
        ("{month} {year}", "{month} {year}"), ("im {month}", "in {month}"), ("{month}", "{month}"),
        ("anfang {month}", "early {month}"), ("mitte {month}", "mid {month}"),
        ("ende {month}", "late {month}"), ("im {season}", "in the {season}"),
        ("im jahre? {year}|in {year}", "in {year}"), ("{season} {year}", "{season} {year}"),
        ("seit|ab", "since"), ("vor", "before"), ("nach", "after"), ("bis(?: zum)?", "until"),
        ("zwischen", "between"), ("und", "and"), ("von|vom", "from"),
        ("(?:nächste|kommende)[mnrs]?", "next"), ("jede[mnrs]?", "every"),
    ),
    empty="gemacht machten tun getan gearbeitet arbeit passiert passierte geschehen geschah "
    "geändert änderung änderungen neu neues los zusammenfassung überblick fasse zusammen sitzung "
    "sitzungen commits commit erledigt lief gelaufen projekt gewesen",
)  # fmt: skip

FRENCH = DateWords(
    units=("minutes?", "heures?", "jours?", "semaines?", "mois", "trimestres?",
           "ans?|années?"),
    months=("janvier", "février|fevrier", "mars", "avril", "mai", "juin", "juillet", "août|aout",
            "septembre", "octobre", "novembre", "décembre|decembre"),
    weekdays=("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    seasons=("printemps", "été", "automne", "hiver"),
    numbers=_counts("une? deux trois quatre cinq six sept huit neuf dix", few="quelques",
                    several="plusieurs"),
    phrases=(
        ("avant-hier", "day before yesterday"), ("hier", "yesterday"),
        ("hier soir", "yesterday evening"), ("hier matin", "yesterday morning"),
        ("hier après-midi", "yesterday afternoon"), ("aujourd['’]hui", "today"),
        ("ce matin", "this morning"), ("cette nuit|la nuit dernière", "last night"),
        ("récemment|dernièrement|ces derniers temps", "recently"),
        ("il y a {n} {unit}", "{n} {unit} ago"),
        ("{n} derni(?:er|ère)s {unit}|derni(?:er|ère)s {n} {unit}", "last {n} {unit}"),
        ("{unit} (?:derni(?:er|ère)|passée?|précédente?)", "last {unit}"),
        ("(?:cette|cet|ce) {unit}", "this {unit}"),
        ("{weekday} (?:dernier|passé)", "last {weekday}"), ("{month} dernier", "last {month}"),
        ("{season} dernier", "last {season}"), ("week-end (?:dernier|passé)", "last weekend"),
        ("ce week-end", "this weekend"), ("{weekday}", "on {weekday}"),
        ("{day}(?:er)? {month}(?: {year})?", "{day} {month} {year}"),
        ("{month} {year}", "{month} {year}"),
        ("en {month}|au mois (?:de |d['’]){month}", "in {month}"), ("{month}", "{month}"),
        ("début {month}", "early {month}"), ("mi-{month}", "mid {month}"),
        ("fin {month}", "late {month}"), ("en {year}", "in {year}"),
        ("{season} {year}", "{season} {year}"),
        ("(?:en |au |cet ){season}", "in the {season}"), ("depuis", "since"), ("avant", "before"),
        ("après", "after"), ("jusqu['’](?:à|en|au)", "until"), ("entre", "between"), ("et", "and"),
        ("{unit} prochaine?", "next {unit}"), ("{weekday} prochain", "next {weekday}"),
        ("chaque|tous les|toutes les", "every"),
    ),
    empty="fait faits faire travaillé travaillait travail passé arrivé changé changements "
    "changement nouveau nouveautés neuf résumé résume bilan session sessions commit commits projet "
    "terminé",
)  # fmt: skip

SPANISH = DateWords(
    units=("minutos?", "horas?", "d[ií]as?", "semanas?", "mes(?:es)?", "trimestres?", "años?"),
    months=("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
            "sep?tiembre", "octubre", "noviembre", "diciembre"),
    weekdays=("lunes", "martes", "mi[ée]rcoles", "jueves", "viernes", "s[áa]bado", "domingo"),
    seasons=("primavera", "verano", "otoño", "invierno"),
    numbers=_counts("un[ao]? dos tres cuatro cinco seis siete ocho nueve diez",
                    few="un[ao]s(?: poc[ao]s)?|algun[ao]s", several="vari[ao]s"),
    phrases=(
        ("anteayer|antier|antes de ayer", "day before yesterday"), ("ayer", "yesterday"),
        ("ayer por la mañana", "yesterday morning"), ("ayer por la tarde", "yesterday afternoon"),
        ("anoche|ayer por la noche", "last night"), ("hoy", "today"),
        ("esta mañana", "this morning"), ("recientemente|últimamente|hace poco", "recently"),
        ("hace {n} {unit}", "{n} {unit} ago"),
        ("[úu]ltim[ao]s {n} {unit}", "last {n} {unit}"),
        ("{unit} (?:pasad[ao]|anterior)|[úu]ltim[ao] {unit}", "last {unit}"),
        ("est[ea] {unit}", "this {unit}"),
        ("{weekday} pasado|pasado {weekday}", "last {weekday}"),
        ("{month} pasado|pasado {month}", "last {month}"), ("{season} pasad[ao]", "last {season}"),
        ("fin de semana pasado", "last weekend"), ("el {weekday}", "on {weekday}"),
        ("{day} de {month}(?: del? {year})?", "{day} {month} {year}"),
        ("{month}(?: del?)? {year}", "{month} {year}"), ("en {month}", "in {month}"),
        ("{month}", "{month}"), ("(?:a )?principios de {month}", "early {month}"),
        ("(?:a )?mediados de {month}", "mid {month}"),
        ("(?:a )?(?:finales|fines) de {month}", "late {month}"),
        ("en {year}|en el año {year}", "in {year}"), ("{season} de {year}", "{season} {year}"),
        ("en {season}", "in the {season}"), ("desde", "since"), ("antes del?", "before"),
        ("después del?|tras", "after"), ("hasta", "until"), ("entre", "between"), ("y", "and"),
        ("próxim[ao] {unit}|{unit} (?:próxim[ao]|que viene)", "next {unit}"),
        ("próximo {weekday}|{weekday} que viene", "next {weekday}"),
        ("cada|tod[ao]s l[ao]s", "every"), ("los {weekday}", "every {weekday}"),
    ),
    empty="hecho hicimos hice hizo trabajado trabajamos trabajo trabajó pasó pasado ocurrió cambió "
    "cambiado cambios nuevo novedades resumen resume resumir sesión sesiones commits proyecto "
    "avances",
)  # fmt: skip

ITALIAN = DateWords(
    units=("minut[oi]", "or[ae]", "giorn[oi]", "settiman[ae]", "mes[ei]", "trimestr[ei]",
           "ann[oi]"),
    months=("gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto",
            "settembre", "ottobre", "novembre", "dicembre"),
    weekdays=("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    seasons=("primavera", "estate", "autunno", "inverno"),
    numbers=_counts("un(?:[ao]|['’])? due tre quattro cinque sei sette otto nove dieci",
                    few="alcun[ei]|qualche|poch[ei]", several="divers[ei]|parecch(?:i|ie)"),
    phrases=(
        ("l['’]altro ieri|avantieri|ieri l['’]altro", "day before yesterday"),
        ("ieri", "yesterday"), ("ieri sera", "yesterday evening"),
        ("ieri mattina", "yesterday morning"), ("ieri pomeriggio", "yesterday afternoon"),
        ("oggi", "today"), ("stamattina|stamani|questa mattina", "this morning"),
        ("la notte scorsa|stanotte", "last night"),
        ("recentemente|di recente|ultimamente", "recently"),
        ("{n} ?{unit} fa", "{n} {unit} ago"),
        ("(?:ultim|scors|passat)[ie] {n} {unit}", "last {n} {unit}"),
        ("{unit} (?:scors[ao]|passat[ao]|precedente)|scors[ao] {unit}", "last {unit}"),
        ("quest(?:[ao]|['’]) ?{unit}", "this {unit}"),
        ("{weekday} scors[ao]|scors[ao] {weekday}", "last {weekday}"),
        ("{month} scorso|scorso {month}", "last {month}"), ("{season} scors[ao]", "last {season}"),
        ("(?:fine settimana|weekend) scorso|scorso (?:fine settimana|weekend)", "last weekend"),
        ("{weekday}", "on {weekday}"), ("{day}° {month}(?: {year})?", "{day} {month} {year}"),
        ("{day} {month}(?: (?:del )?{year})?", "{day} {month} {year}"),
        ("{month}(?: del)? {year}", "{month} {year}"),
        ("(?:a|ad|in|nel mese di) {month}", "in {month}"), ("{month}", "{month}"),
        ("(?:a )?inizio {month}", "early {month}"), ("(?:a )?metà {month}", "mid {month}"),
        ("(?:a )?fine {month}", "late {month}"), ("nel {year}", "in {year}"),
        ("{season} {year}", "{season} {year}"), ("(?:in |d['’]){season}", "in the {season}"),
        ("da|dal|dall['’]|dalla", "since"), ("prima (?:di|dell?a?|dell['’])", "before"),
        ("dopo", "after"), ("fino (?:a|ad|al|alla)", "until"), ("tra|fra", "between"), ("e", "and"),
        ("prossim[ao] {unit}|{unit} prossim[ao]", "next {unit}"),
        ("prossim[ao] {weekday}|{weekday} prossim[ao]", "next {weekday}"), ("ogni", "every"),
        ("(?:il|la|di) {weekday}", "every {weekday}"),
    ),
    empty="fatto facemmo fatta lavorato lavoro lavorava successo accaduto cambiato cambiamenti "
    "modifiche novità nuovo riassunto riassumi riepilogo sessione sessioni commit progetto",
)  # fmt: skip

PORTUGUESE = DateWords(
    units=("minutos?", "horas?", "dias?", "semanas?", "m[eê]s(?:es)?", "trimestres?", "anos?"),
    months=("janeiro", "fevereiro", "março|marco", "abril", "maio", "junho", "julho", "agosto",
            "setembro", "outubro", "novembro", "dezembro"),
    weekdays=("segunda(?:-feira)?", "terça(?:-feira)?", "quarta(?:-feira)?", "quinta(?:-feira)?",
              "sexta(?:-feira)?", "s[áa]bado", "domingo"),
    seasons=("primavera", "verão", "outono", "inverno"),
    numbers=_counts("uma? (?:dois|duas) três quatro cinco seis sete oito nove dez",
                    few="alguns|algumas|uns|umas|poucos|poucas", several="vári[ao]s"),
    phrases=(
        ("anteontem|antes de ontem", "day before yesterday"), ("ontem", "yesterday"),
        ("ontem (?:de|pela) manhã", "yesterday morning"), ("ontem à tarde", "yesterday afternoon"),
        ("ontem à noite|na noite passada", "last night"), ("hoje", "today"),
        ("hoje (?:de|pela) manhã|esta manhã", "this morning"),
        ("recentemente|ultimamente|há pouco(?: tempo)?", "recently"),
        ("(?:há|faz) {n} {unit}(?: atrás)?|{n} {unit} atrás", "{n} {unit} ago"),
        ("[úu]ltim[ao]s {n} {unit}", "last {n} {unit}"),
        ("{unit} (?:passad[ao]|anterior)|[úu]ltim[ao] {unit}", "last {unit}"),
        ("n?(?:est|ess)[ea] {unit}", "this {unit}"),
        ("{weekday} passad[ao]|[úu]ltim[ao] {weekday}", "last {weekday}"),
        ("{month} passado", "last {month}"), ("{season} passad[ao]", "last {season}"),
        ("(?:fim de semana|final de semana) passado", "last weekend"),
        ("(?:na|no) {weekday}", "on {weekday}"),
        ("{day}º? de {month}(?: de {year})?", "{day} {month} {year}"),
        ("{month}(?: de)? {year}", "{month} {year}"), ("em {month}", "in {month}"),
        ("{month}", "{month}"), ("(?:no )?(?:início|começo) de {month}", "early {month}"),
        ("meados de {month}", "mid {month}"), ("(?:no )?(?:fim|final) de {month}", "late {month}"),
        ("em {year}", "in {year}"), ("{season} de {year}", "{season} {year}"),
        ("n[ao] {season}", "in the {season}"), ("desde|a partir de", "since"),
        ("antes d[eao]", "before"), ("depois d[eao]|após", "after"), ("até", "until"),
        ("entre", "between"), ("e", "and"),
        ("próxim[ao] {unit}|{unit} que vem", "next {unit}"),
        ("próxim[ao] {weekday}|{weekday} que vem", "next {weekday}"),
        ("cada|tod[ao]s? [ao]s?|tod[ao]", "every"),
    ),
    empty="fez feito fizemos fiz fizeram trabalhamos trabalhou trabalhei trabalho aconteceu mudou "
    "mudanças novo novidades resumo resuma sessão sessões commits projeto rolou",
)  # fmt: skip

DUTCH = DateWords(
    units=("minu(?:ut|ten)", "u(?:ur|ren)", "dag(?:en)?", "we(?:ek|ken)", "maand(?:en)?",
           "kwarta(?:al|len)", "ja(?:ar|ren)"),
    months=("januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus",
            "september", "oktober", "november", "december"),
    weekdays=("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
    seasons=("lente|voorjaar", "zomer", "herfst|najaar", "winter"),
    numbers=_counts("(?:een|één) twee drie vier vijf zes zeven acht negen tien",
                    few="een paar|enkele|enige", several="meerdere|verschillende"),
    phrases=(
        ("eergisteren", "day before yesterday"), ("gisteren", "yesterday"),
        ("gister(?:en)?avond", "yesterday evening"),
        ("gister(?:en)?(?:ochtend|morgen)", "yesterday morning"),
        ("gister(?:en)?middag", "yesterday afternoon"), ("vannacht|afgelopen nacht", "last night"),
        ("vandaag", "today"), ("vanmorgen|vanochtend", "this morning"),
        ("onlangs|recentelijk|de laatste tijd", "recently"),
        ("{n} {unit} geleden", "{n} {unit} ago"),
        ("(?:afgelopen|laatste|voorbije) {n} {unit}", "last {n} {unit}"),
        ("(?:vorige?|afgelopen|verleden|voorbije) {unit}", "last {unit}"),
        ("(?:deze|dit) {unit}", "this {unit}"),
        ("(?:vorige|afgelopen) {weekday}", "last {weekday}"),
        ("(?:vorige|afgelopen) {month}", "last {month}"),
        ("(?:vorige|afgelopen) {season}", "last {season}"),
        ("(?:vorig|afgelopen) weekend", "last weekend"), ("(?:op )?{weekday}", "on {weekday}"),
        ("{day} {month}(?: {year})?", "{day} {month} {year}"), ("{month} {year}", "{month} {year}"),
        ("in {month}", "in {month}"), ("{month}", "{month}"), ("begin {month}", "early {month}"),
        ("half {month}|midden {month}", "mid {month}"), ("eind {month}", "late {month}"),
        ("in {year}", "in {year}"), ("{season} (?:van )?{year}", "{season} {year}"),
        ("in de {season}", "in the {season}"), ("sinds|sedert|vanaf", "since"),
        ("voor|vóór", "before"), ("na", "after"), ("tot(?: en met)?", "until"),
        ("tussen", "between"), ("en", "and"), ("van", "from"),
        ("volgende?|komende", "next"), ("elke?|iedere?", "every"),
    ),
    empty="gedaan deden deed doen gewerkt werkten werk gebeurd gebeurde veranderd veranderde "
    "wijzigingen nieuw nieuws samenvatting overzicht sessie sessies commits project",
)  # fmt: skip

RUSSIAN = DateWords(
    units=("минут[аыу]?", "час(?:а|ов|ы)?", "дн(?:я|ей|и)|день", r"недел[яюие]|недель",
           "месяц(?:а|е|ев|ы)?", "квартал(?:а|е|ов)?", "год(?:а|у|ы|ов)?|лет"),
    months=("январ[ьяеюё]м?", "феврал[ьяеюё]м?", "март(?:а|е|у|ом)?", "апрел[ьяеюё]м?",
            "ма(?:й|я|е|ю|ем)", "июн[ьяеюё]м?", "июл[ьяеюё]м?", "август(?:а|е|у|ом)?",
            "сентябр[ьяеюё]м?", "октябр[ьяеюё]м?", "ноябр[ьяеюё]м?", "декабр[ьяеюё]м?"),
    weekdays=("понедельник[ауе]?", "вторник[ауе]?", "сред[ауеы]", "четверг[ауе]?", "пятниц[ауеы]",
              "суббот[ауеы]", "воскресень[еяю]"),
    seasons=("весн(?:а|ой|ы|у)", "лет(?:о|ом)", "осень(?:ю)?", "зим(?:а|ой|ы|у)"),
    numbers=_counts("одн(?:у|ого)|один дв(?:а|е|ух) тр(?:и|ёх|ех) четыр(?:е|ёх|ех) пят[ьи] "
                    "шест[ьи] сем[ьи] вос[её]?м[ьи] девят[ьи] десят[ьи]",
                    few="нескольк(?:о|их)|пар[уы]"),
    phrases=(
        ("позавчера", "day before yesterday"), ("вчера", "yesterday"),
        ("вчера вечером", "yesterday evening"), ("вчера утром", "yesterday morning"),
        ("вчера дн[её]м", "yesterday afternoon"), ("прошлой ночью", "last night"),
        ("сегодня", "today"), ("сегодня утром", "this morning"),
        ("недавно|в последнее время", "recently"), ("{n} {unit} назад", "{n} {unit} ago"),
        ("{unit} (?:тому )?назад", "1 {unit} ago"),
        ("последни[ех] {n} {unit}", "last {n} {unit}"),
        ("(?:в |на |за )?прошл(?:ой|ом|ую|ый|ое|ого|ая) {unit}", "last {unit}"),
        ("(?:в |на |за )?позапрошл(?:ой|ом|ую|ый|ое|ого|ая) {unit}", "{unit} before last"),
        ("(?:в |на |за )?эт(?:ой|ом|у|от|ого) {unit}", "this {unit}"),
        ("(?:в )?прошл(?:ый|ую|ое) {weekday}", "last {weekday}"),
        ("(?:в )?прошл(?:ый|ом) {month}", "last {month}"),
        ("прошл(?:ой|ым) {season}", "last {season}"),
        ("(?:в |на )?прошлы[ех] выходны[ех]", "last weekend"),
        ("(?:в|во) {weekday}", "on {weekday}"),
        (r"{day}(?:-го)? {month}(?: {year}(?: года?| г\.?)?)?", "{day} {month} {year}"),
        ("{month} {year}(?: года?)?", "{month} {year}"), ("в {month}", "in {month}"),
        ("{month}", "{month}"), ("в начале {month}", "early {month}"),
        ("в середине {month}", "mid {month}"), ("в конце {month}", "late {month}"),
        ("в {year}(?: году)?", "in {year}"), ("{season} {year}(?: года)?", "{season} {year}"),
        ("с|со|начиная с", "since"), ("до", "before"), ("после", "after"), ("по", "until"),
        ("между", "between"), ("и", "and"), ("следующ(?:ей|ем|ую|ий|его|ее)", "next"),
        ("кажд(?:ый|ую|ое|ые|ого)|по {weekday}", "every"),
    ),
    empty="сделал сделали сделано сделала делали делал делать работали работал работа работы "
    "произошло происходило случилось изменилось изменения изменили поменялось нового новое новости "
    "итоги сводка резюме сессия сессии сессию коммиты проект проекте проекту было",
)  # fmt: skip

JAPANESE = DateWords(
    units=("分(?:間)?", "時間", "日(?:間)?", "週(?:間)?", "[かヶカヵケ箇]月(?:間)?", "四半期",
           "年(?:間)?"),
    months=_DIGIT_MONTHS,
    weekdays=("月曜日?", "火曜日?", "水曜日?", "木曜日?", "金曜日?", "土曜日?", "日曜日?"),
    seasons=("春", "夏", "秋", "冬"),
    numbers=_counts("一 二 三 四 五 六 七 八 九 十", few="数"),
    phrases=(
        ("一昨日|おととい", "day before yesterday"), ("昨日|きのう", "yesterday"),
        ("今日|本日", "today"), ("昨夜|昨晩|ゆうべ", "last night"), ("今朝", "this morning"),
        ("最近|先日|この前", "recently"), ("先々週|先先週", "week before last"),
        ("先週", "last week"), ("今週", "this week"), ("先週末", "last weekend"),
        ("先々月", "month before last"), ("先月", "last month"), ("今月", "this month"),
        ("一昨年|おととし", "year before last"), ("去年|昨年", "last year"),
        ("今年|本年", "this year"), ("前四半期", "last quarter"), ("今四半期", "this quarter"),
        ("{n}{unit}(?:ほど|くらい|ぐらい)?前", "{n} {unit} ago"),
        ("(?:この|ここ|過去|直近の?){n}{unit}", "last {n} {unit}"),
        ("先週の?{weekday}", "{weekday} last week"), ("今週の?{weekday}", "{weekday} this week"),
        ("{weekday}", "on {weekday}"), ("{year}年{month}月{day}日", "{day} {month} {year}"),
        ("{year}年の?{month}月", "{month} {year}"), ("{month}月{day}日", "{day} {month}"),
        ("{month}月", "in {month}"), ("昨年の?{month}月|去年の?{month}月", "{month} last year"),
        ("{month}月(?:上旬|初め|初旬)", "early {month}"), ("{month}月中旬", "mid {month}"),
        ("{month}月(?:下旬|末)", "late {month}"), ("{year}年", "in {year}"),
        ("{year}年の?{season}", "{season} {year}"), ("(?:去年|昨年)の?{season}", "last {season}"),
        ("毎[週月日朝晩年]の?", "every"), ("(?:来[週月年]|再来週)の?|明日|次の", "next"),
    ),
    following=(("から|以降|以来", "since"), ("まで", "until"), ("以前|より前|の前", "before"),
               ("より後|の後", "after")),
    empty="し(?:た|ました|て)|やっ|やりました|起[きこ]|変わ|作業|変更|進捗|要約|内容|仕事|セッション|コミット|"
    "プロジェクト|出来事|話|進め|行|私|僕|我々",
    spaced=False,
)  # fmt: skip

CHINESE = DateWords(
    units=("分钟|分鐘", "个?小时|個?小時|个?钟头", "天|日", "周|週|个?星期|個?星期|个?礼拜|個?禮拜",
           "个?月|個?月", "个?季度|個?季度", "年"),
    months=tuple(
        f"0?{n}|{said}"
        for n, said in enumerate("一 二 三 四 五 六 七 八 九 十 十一 十二".split(), 1)
    ),
    weekdays=tuple(
        f"(?:周|週|星期|礼拜|禮拜){sign}" for sign in "一 二 三 四 五 六 [日天]".split()
    ),
    seasons=("春天?", "夏天?", "秋天?", "冬天?"),
    numbers=_counts("一 [二两兩] 三 四 五 六 七 八 九 十", few="[几幾]"),
    phrases=(
        ("前天", "day before yesterday"), ("昨[天日]", "yesterday"), ("今[天日]", "today"),
        ("昨晚|昨天晚上|昨夜", "last night"), ("今早|今天早上|今天上午", "this morning"),
        ("昨天上午|昨天早上", "yesterday morning"), ("昨天下午", "yesterday afternoon"),
        ("最近|近来|近期|近日|前几天|前幾天", "recently"),
        ("上上个?(?:周|週|星期|礼拜)", "week before last"),
        ("上[个個]?(?:周|週|星期|礼拜|禮拜)", "last week"), ("上周末|上週末", "last weekend"),
        ("(?:这|這|本)[个個]?(?:周|週|星期|礼拜|禮拜)", "this week"),
        ("上上[个個]月", "month before last"), ("上[个個]?月", "last month"),
        ("(?:这|這)[个個]月|本月", "this month"), ("前年", "year before last"),
        ("去年", "last year"), ("今年", "this year"), ("上[个個]?季度", "last quarter"),
        ("(?:这|這)[个個]季度|本季度", "this quarter"),
        ("{n}{unit}(?:以|之)?前", "{n} {unit} ago"),
        ("(?:最近|过去|過去|近){n}{unit}", "last {n} {unit}"),
        ("上[个個]?{weekday}", "{weekday} last week"),
        ("(?:这|這|本){weekday}", "{weekday} this week"),
        ("{weekday}", "on {weekday}"),
        ("{year} ?年 ?{month} ?月 ?{day} ?[日号號]", "{day} {month} {year}"),
        ("{year} ?年 ?{month} ?月", "{month} {year}"),
        ("{month} ?月 ?{day} ?[日号號]", "{day} {month}"),
        ("{month} ?月份?", "in {month}"), ("去年{month} ?月份?", "{month} last year"),
        ("{month} ?月初", "early {month}"), ("{month} ?月中旬?", "mid {month}"),
        ("{month} ?月底", "late {month}"), ("{year} ?年", "in {year}"),
        ("{year} ?年{season}", "{season} {year}"), ("去年{season}", "last {season}"),
        ("自?从|自從|從|自", "since"), ("到|至", "until"),
        ("每[个個]?(?:周|週|天|月|年|星期|礼拜)?", "every"),
        ("下[个個]?(?:周|週|月|星期|礼拜|季度)|明[天年]", "next"),
    ),
    following=(("以来|以來|以后|以後|起|开始", "since"), ("之后|之後", "after"),
               ("以前|之前|前", "before"), ("为止", "until")),
    empty="做|干|發生|发生|改动|改|变化|变|更新|进展|工作|总结|總結|会话|提交|项目|事情|事|内容|完成|我|过|有|都|"
    "的|了|在|是|们|這|这|些|一下",
    spaced=False,
)  # fmt: skip

KOREAN = DateWords(
    units=("분", "시간", "일", "주일?", "개월|달", "분기", "년|해"),
    months=_DIGIT_MONTHS,
    weekdays=("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"),
    seasons=("봄", "여름", "가을", "겨울"),
    numbers=_counts("한 두 세 네 다섯 여섯 일곱 여덟 아홉 열", few="몇|며"),
    phrases=(
        ("그저께|그제|엊그제", "day before yesterday"), ("어제", "yesterday"), ("오늘", "today"),
        ("어젯밤|간밤|어제 ?저녁", "last night"), ("오늘 ?아침", "this morning"),
        ("최근|요즘|얼마 ?전", "recently"), ("지지난 ?주|저저번 ?주", "week before last"),
        ("(?:지난|저번) ?주", "last week"), ("이번 ?주", "this week"),
        ("(?:지난|저번) ?주말", "last weekend"), ("지지난 ?달", "month before last"),
        ("(?:지난|저번) ?달", "last month"), ("이번 ?달", "this month"),
        ("재작년", "year before last"), ("작년|지난 ?해", "last year"), ("올해|금년", "this year"),
        ("지난 ?분기", "last quarter"), ("이번 ?분기", "this quarter"),
        ("{n} ?{unit} ?전", "{n} {unit} ago"), ("하루 ?전", "1 day ago"),
        ("이틀 ?전", "2 days ago"), ("사흘 ?전", "3 days ago"),
        ("(?:지난|최근) ?{n} ?{unit}", "last {n} {unit}"),
        ("지난 ?주 ?{weekday}", "{weekday} last week"),
        ("이번 ?주 ?{weekday}", "{weekday} this week"),
        ("지난 ?{weekday}", "last {weekday}"), ("{weekday}", "on {weekday}"),
        ("{year}년 ?{month}월 ?{day}일", "{day} {month} {year}"),
        ("{year}년 ?{month}월", "{month} {year}"), ("{month}월 ?{day}일", "{day} {month}"),
        ("{month}월", "in {month}"), ("(?:작년|지난 ?해) ?{month}월", "{month} last year"),
        ("{month}월 ?초", "early {month}"), ("{month}월 ?중순", "mid {month}"),
        ("{month}월 ?말", "late {month}"), ("{year}년", "in {year}"),
        ("{year}년 ?{season}", "{season} {year}"), ("(?:작년|지난) ?{season}", "last {season}"),
        ("매[주달월일년]", "every"), ("다음 ?[주달해]?|내일|내년", "next"),
    ),
    following=(("부터|이후", "since"), ("까지", "until"), ("이전|전", "before"),
               ("후|뒤", "after")),
    empty=r"했\S*|한|하던|일|일이|작업\S*|진행\S*|변경\S*|일어\S*|있었\S*|바뀐|바뀌\S*|바꿨\S*|요약\S*|정리\S*|"
    r"세션\S*|커밋\S*|프로젝트\S*|우리\S*|내가|에|에는|에서|의|은|는|것|게|거|줘|해|나요",
    spaced=False,
)  # fmt: skip

DATE_WORDS = {
    "de": GERMAN, "fr": FRENCH, "es": SPANISH, "it": ITALIAN, "pt": PORTUGUESE, "nl": DUTCH,
    "ru": RUSSIAN, "ja": JAPANESE, "zh": CHINESE, "ko": KOREAN,
}  # fmt: skip
