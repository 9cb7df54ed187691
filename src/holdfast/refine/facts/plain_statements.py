"""Finds plain statements: how something is to be, said without a word that makes it a rule.

"Uploads are capped at 10 MB" and "70 will do" lay nothing down by themselves, so they are no facts.
They count where one amends another in a later session (`amendments`). So this is about form alone:
what may have been laid down (`may_be_amended`), what refers to it (`refers_back`), whether it still
holds in part (`changes_in_part`), and what an agent reports as changed (`reported_changes`).
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.function_words import language_of
from holdfast.language import collapse_spaces, is_chatter, plain, sentences
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.refine.core.named_supersession import names_superseded, supersession_sentences
from holdfast.refine.core.statement_similarity import NUMBER_WORDS
from holdfast.refine.core.status_reports import reports_status
from holdfast.refine.facts.typed_text import typed_text
from holdfast.regex import regex


class PlainStatementLimits(NamedTuple):
    """Which messages are read. Longer ones are specifications or pasted text, whose sentences
    depend on each other."""

    min_chars: int = 6
    max_chars: int = 260  # of a statement
    max_message_chars: int = 600
    # A message up to this length is one statement, because people continue a thought in the next
    # sentence; of a longer one, each sentence is a statement, at most so many.
    max_whole_chars: int = 240
    max_statements: int = 3
    # What is read of an agent's closing message.
    max_reported: int = 2
    max_reported_chars: int = 180


_LIMITS = PlainStatementLimits()

_QUESTION = regex(
    r"[?？]\s*$|^(?:(?:also|and|so|but|ok(?:ay)?|btw|hm+)[, ]+)*(?:why|what|how|when|who|where|"
    r"which|is|are|was|were|does|do we|do you|did|can (?:we|you|i)|could|would|should (?:we|i)|has|"
    r"have we|any idea|warum|wieso|wie|was|pourquoi|comment|por qué|perché)\b",
    re.IGNORECASE,
)
# For this time only, or only tried.
_ONE_OFF = regex(
    r"\b(?:for (?:this|that) (?:commit|pr|pull|task|session|branch|run|one|demo|test|moment)|"
    r"in this (?:commit|pr|task|session|run|step)|this (?:time|once)|just (?:this )?once|"
    r"for (?:now|the moment|the time being)|right now|not yet|just yet|tonight|tomorrow|today|"
    r"until (?:i|we|you|the)\b|temporar\w+|experiment\w*|throw (?:it|that) away|just to "
    r"(?:compare|see|check|test)|try (?:out|what|it|this|that|how)|scratch|diesmal|vorerst|"
    r"pour l['’]instant|por ahora|voorlopig)\b",
    re.IGNORECASE,
)
# Talk about the work at hand: reports, guesses, links, files and slash commands. It says nothing
# about how things are to be from then on.
_TALK = regex(
    r"https?://|^/[\w:.-]+(?:\s+\S+)?$|@\w|[{}<>|\\]|^[\[`]|[\[(]\d|\w\(|\S/\S+/|\b(?:maybe|perhaps|probably|assume|seems?|"
    r"looks? like|currently|somehow|investigate|not found|error:|(?:is|are) not \w+ing|"
    r"that['’]?s (?:actually )?(?:not|wrong)|look(?:ing)? (?:at|into)|find (?:a|out|the)|"
    r"make sure|ensure|makes sense|wondering|worried|helped|i['’](?:m|ve|d)|"
    r"i (?:have|need|want|thought|think|guess|see|"
    r"saw|got|tried|did|had|just|was)|this (?:branch|pr|issue|bug|file|error|comment|change|task)|"
    r"(?:is|are|was|were|keeps?|still|suddenly) (?:\w+ )?(?:failing|broken|wrong|crashing|stuck|"
    r"missing|slow|flaky|hanging)|crash(?:es|ed)|fail(?:s|ed) (?:with|on|at|because)|"
    r"doesn['’]?t work|not working|traceback)\b",
    re.IGNORECASE,
)
# Talk about an error at hand, and what an editor puts in for a terminal or a file.
_AT_HAND = regex(
    r"#(?:terminal\w*|codebase|selection|file|problems|changes)\b|\bscreenshots?\b|"
    r"\bplease,? (?:fix|check|look)\b|(?:^|[,.;:!] ?|\b(?:and|to|then|just) )"
    r"fix (?:it|this|that|them|these|those)\b|\bneeds? fixing\b|"
    r"\b(?:there (?:is|are|was|were)|another|some|still|getting|get) (?:\w+ ){0,2}"
    r"(?:errors?|issues?|bugs?|problems?)\b|"
    r"\bcheck (?:the )?(?:logs?|terminal|console|output|errors?)\b",
    re.IGNORECASE,
)
# The same as in _TALK, _PERSONAL and _TASK in other languages: what somebody sees, wants, does or
# tells another to do, and what fails.
_TALK_BY_LANGUAGE = {
    "de": r"ich|mir|mich|meine?[mnrs]?|du|dir|dich|deine?[mnrs]?|schau\w*|zeig\w*|behebe?|"
    r"korrigier\w*|füge?|mach|macht|erstell\w*|prüf\w*|fehler\w*|(?:funktioniert|geht|klappt) "
    r"(?:immer noch )?nicht|kaputt|aktuell|derzeit|immer noch",
    "fr": r"je|j['’]\w+|moi|mon|mes|tu|toi|regarde\w*|corrige\w*|ajoute\w*|montre\w*|vérifie\w*|"
    r"actuellement|toujours pas|ne (?:marche|fonctionne|s['’]affiche)|erreurs?|bugs?|peux-tu",
    "es": r"ve[os]|vemos|not[oeé]|creo|quiero|quisiera|necesito|necesitamos|tengo|hice|gener[eé]|"
    r"dije|vi|puedo|pude|me|mis?|te|vos|f[ií]jate|av[ií]same|mir[aá]|dale|prob(?:emos|[aá]|é)|"
    r"arregl\w+|corr(?:e|é|í|egí|ige|egir)|invest[ií]g\w+|revis\w+|agreg\w+|elimin\w+|"
    r"sac[aá](?:l[ao]s?)?|hac[eé](?:l[ao]s?)?|mostr\w+|pon[eé](?:l[ao]s?)?|implement[aá]\w*|"
    r"actualmente|sigue|siguen|todav[ií]a|falla\w*|errores|error|mal|deber[ií]an?|"
    r"no (?:se )?(?:funciona|anda|carga|aparece|entiend|ve|muestra|ejecuta|guarda|esta|está|"
    r"están|estan|cambi|desaparec|hac)\w*|captura|cuando (?:abro|creo|hago|voy|pongo|actualizo|"
    r"cambio|inclu\w+)",
    "it": r"io|mi|mio|mia|tu|guarda|correggi|aggiungi|mostra\w*|verifica|attualmente|"
    r"non (?:funziona|appare|carica|vedo)|error[ei]|ancora",
    "pt": r"eu|me|meus?|minhas?|você|vc|veja|corrija|corrige|adicion[ae]|mostre|verifique|"
    r"atualmente|ainda não|não (?:funciona|aparece|carrega|vejo)|erros?|quero|preciso",
    "ru": r"я|мне|мо[йяеё]|ты|тебе|исправь\w*|добавь\w*|покажи\w*|проверь\w*|сделай\w*|"
    r"посмотри\w*|сейчас|не работает|ошибк\w*|хочу|нужно",
}
# What somebody wants or tells another to do.
_PERSONAL = regex(r"\b(?:i|i['’]\w+|me|my|mine|you|your)\b", re.IGNORECASE)
# An order that is carried out and done with.
_TASK = regex(
    r"^(?:(?:ok(?:ay)?|yes|no|good|great|thanks|now|then|next|so|and|also|please|pls|hi|hey|"
    r"alright|let['’]?s)[,.:! ]+)*(?:(?:fix|implement|add|write|rewrite|create|look|find|show|"
    r"explain|investigate|debug|refactor|read|continue|tell|give|help|go ahead|do|finish|make|"
    r"search|verify|remove|delete|rename|install|generate|summari[sz]e|analy[sz]e|compare|think|"
    r"see|resume|proceed|retry it|rebase|revert|undo|wait|skip|ensure|at the)\b|(?:list|test|build|"
    r"commit|push|merge|open|update|review|start|deploy|check|run|clean|move|use|stop) (?:the|this|"
    r"that|it|a|an|all|my|our|me|your|and|to)\b)",
    re.IGNORECASE,
)
# The order to carry out what was just laid down: "Please implement that in src/upload.py."
_CARRY_OUT = regex(
    r"^(?:(?:please|pls|then|now|so|and|bitte|dann|por favor)[, ]+)+(?:implement|change|adapt|"
    r"adjust|apply|update|fix|add|write|create|make|do|edit|use|set|run|ändere|passe)\b|"
    r"^(?:implement|apply|adapt|adjust)\b|\b(?:accordingly|entsprechend)\b",
    re.IGNORECASE,
)
# What is said to hold: a verb of state or an order of habit, a share, a limit or a default.
_NORM = regex(
    r"\b(?:is|are|be|go|goes|stays?|needs?|gets?|must|has to|have to|may|can|should|shall|will|"
    r"returns?|supports?|expires?|uses?|covers?|keeps?|starts?|contains?|accepts?|allows?|runs?|"
    r"comes?|lives?|live|logs?|sends?|offers?|rejects?|retr(?:y|ies)|caches?|pins?|stores?|"
    r"rotates?|releases?|deploys?|rounds?|sorts?|names?|always|never|no|every|each|all|only|"
    r"without|default|at most|at least|max(?:imum)?|min(?:imum)?|per|mandatory|required|allowed|"
    r"forbidden|sind|ist|werden|wird|muss|müssen|soll|sollen|darf|dürfen|gilt|gelten|beträgt|"
    r"läuft|laufen|liegt|liegen|kommt|kommen|immer|kein\w*|est|sont|doit|doivent|toujours|chaque|"
    r"passe|passent|va|vont|utilise|es|son|debe|deben|siempre|cada|usa|usan|va|van|tiene|tienen|"
    r"guardamos|usamos)\b|:\s",
    re.IGNORECASE,
)
# A value that is set, whatever the verb and the language: "with bcrypt, cost 12", "after four
# attempts". A number that only names a part of the work is none.
_SETS_VALUE = regex(
    r"(?<![\w.#-])\d+(?:[.,]\d+)*(?:e-?\d+)?(?![\w-])|"
    rf"\b(?:{'|'.join(word for word, number in NUMBER_WORDS.items() if number != '1')}) (?!of\b)\w",
    re.IGNORECASE,
)
_NUMBERED = regex(
    r"(?:\b(?:phase|step|option|issue|pr|task|part|section|line|page|point|item|case|chapter|ticket|"
    r"milestone|round|session|agent)s?\s+|#)\d[\d.]*",
    re.IGNORECASE,
)
# Somebody takes back what they said, and then says what is right.
_TAKES_BACK = regex(
    r"^(?:(?:sorry|wait|oops|hm+|no|nein|pardon|perdón)[,.!: ]+)*(?:"
    r"(?:that|this|it|what i (?:said|wrote|told you)|i) (?:is|was) (?:wrong|incorrect|mistaken|"
    r"a mistake|not (?:right|correct|true))|my (?:mistake|bad)|i (?:misspoke|got (?:that|it) "
    r"wrong)|das (?:war|ist|stimmt) (?:falsch|nicht|ein Fehler)|c['’](?:était|est) (?:faux|une "
    r"erreur)|es[to]o? (?:estaba|está|era) (?:mal|equivocado|un error)|era sbagliato)"
    r"(?: before| earlier| vorhin)?\s*[:;,.—–-]+\s*",
    re.IGNORECASE,
)
# An order about the work at hand ("fold it into the plan"), or what a tool says of it.
_ABOUT_WORK = regex(
    r"^(?:\w+ (?:it|this|that|them|these|those)|finished|completed|compiled|built|found|ran|passed|"
    r"took)\b",
    re.IGNORECASE,
)
# Nothing but orders to go on: "ok, commit and push".
_GO_ON = regex(
    r"(?:(?:ok(?:ay)?|now|please|pls|then|great|good|thanks|looks good|lgtm)\W+)*"
    r"(?:(?:commit|push|continue|proceed|merge|deploy|ship it|release|next|retry|resume)"
    r"(?:\W+(?:and|then|please|pls|now))*\W*)+",
    re.IGNORECASE,
)
# Says that something else holds from then on, whatever that is.
_CHANGES = regex(
    r"\b(?:switch(?:es|ed)?|mov(?:e|es|ed|ing)|migrat\w+|chang(?:e|es|ed)|bump(?:ed)?|rais(?:e|ed)|"
    r"lower(?:ed)?|swap(?:ped)?|replac\w+|let['’]?s (?:go|use|take|have|make)|from now on|"
    r"no longer|any ?more|instead|go(?:es)? back to|make it|now|it is\s*[.!]?$|won['’]?t|dead|"
    r"overkill|correction|ab (?:sofort|jetzt)|künftig|nicht mehr|désormais|dorénavant|finalement|"
    r"ahora|a partir de|ya no|mejor)\b|: \S+ please\b",
    re.IGNORECASE,
)
# Whatever else is said, the earlier does not hold any more.
_REPLACES_SURELY = regex(
    r"\b(?:instead of|rather than|no longer|scrap(?:ped)?|forget (?:the|that|about|what)|"
    r"supersed\w+|replac\w+|obsolete|(?:was|were) a mistake|g[ai]ve up|"
    r"war (?:Quatsch|Unsinn|falsch|ein Fehler)|était une erreur|fue un error|"
    r"new (?:deal|rule|policy)|from \S+(?: \S+){0,2} to "
    r"\S+|nicht mehr|statt|ya no|ne .{1,30} plus)\b",
    re.IGNORECASE,
)
# Says that the earlier holds, with an exception or with something added.
_IN_PART = regex(
    r"\b(?:also|too|as well|in addition|additionally|next to|besides|on top of|both|included|"
    r"except(?:ion|ions)?|exempt|exclud\w+|apart from|other than|unless|does(?: not|n['’]?t) "
    r"(?:apply|need|count|have to)|do(?: not|n['’]?t) (?:apply|need|have to)|need(?: not|n['’]?t)|"
    r"no need|leave \S+(?: \S+){0,2} (?:out|alone)|take \S+(?: \S+){0,3} out|(?:may|can) stay|"
    r"(?:is|are) (?:fine|ok(?:ay)?|enough|allowed)|freely|only|goes for|holds for|applies to|"
    r"counts?|the same (?:for|goes)|same \S+(?: \S+){0,2} for|auch|außer|zusätzlich|dazu|"
    r"aussi|sauf|pas besoin|en plus|también|además|excepto|salvo|anche|tranne|também|exceto|ook|"
    r"behalve|тоже|кроме)\b|も|也|"
    # Only things of some size: "bookings under 50 euros go through".
    r"^(?:[^\s,;:.]+ ){1,4}?(?:under|below|above|over|(?:less|more|smaller|larger|bigger|older|"
    r"younger|longer|shorter) than|unter|über|moins de|plus de|menos de|más de) \S?\d\S*"
    r"(?: [^\s,;:.]+){0,2}? (?:is|are|go|goes|need|needs|may|can|must|do|does|don['’]?t|"
    r"doesn['’]?t|get|gets|have|has|stay|stays|pass|passes|will|won['’]?t|brauchen|dürfen|gehen|sind|passent|"
    r"vont|sont|pueden|van|son)\b",
    re.IGNORECASE,
)
# Refers to something that was laid down, so that few words of it have to be repeated.
_REFERS_BACK = regex(
    r"\b(?:the|that|our|this) (?:\S+ ){0,3}(?:rule|decision|policy|convention|agreement|scheme|"
    r"thing)\b|\bwhat we (?:said|agreed|decided)|\bwe (?:agreed|decided|settled|said)\b|"
    r"\bremember the\b|\bnew (?:deal|rule|policy)\b|\bactually,? keep\b|\bon second thoughts?\b|"
    r"\bchanged (?:our|my) minds?\b|^.{3,60}: (?:actually|scrap|forget|now|it is now)\b|"
    r"\bdas mit de[nmr]\b|\b(?:die|unsere) (?:\S+ )?(?:Regel|Entscheidung|Abmachung|"
    r"Vereinbarung)\b|\b(?:la|notre) (?:règle|décision|convention)\b|"
    r"\b(?:la|nuestra) (?:regla|decisión|norma)\b",
    re.IGNORECASE,
)
_PROPOSAL = regex(
    r"\b(?:could|would|might|may want|should (?:we|i)|shall (?:we|i)|can (?:also )?be|propos\w+|"
    r"suggest\w*|recommend\w*|option|alternativ\w*|if you|unless you|consider|plan to|going to|"
    r"i['’]ll|i will|let me)\b",
    re.IGNORECASE,
)
# What an agent reports as changed: the old is named beside the new.
_REPORTED = regex(
    r"\b(?:instead of|rather than|no longer|any ?more|from \S+(?: \S+){0,3} to \S+|replac(?:ed|es) "
    r".{2,60} (?:with|by)|(?:lowered|raised|reduced|increased|bumped|switched|moved|changed|"
    r"migrated|swapped) .{2,80} (?:to|over|with)|now .{2,80}(?:, not| instead)|statt|nicht mehr|"
    r"ya no|au lieu de)\b",
    re.IGNORECASE,
)


def find_plain_statements(message: str) -> list[str]:
    """The statements of a person's message that may amend another or be amended later."""
    typed = typed_text(message)
    if len(typed) > _LIMITS.max_message_chars or "\n\n" in typed.strip():
        return []
    stated = [s for s in sentences(typed) if not (_QUESTION.search(plain(s)) or reports_status(s))]
    while len(stated) > 1 and _CARRY_OUT.search(plain(stated[-1])):
        stated.pop()
    whole = collapse_spaces(" ".join(stated))
    found = [whole] if len(whole) <= _LIMITS.max_whole_chars else stated
    kept = [text for text in found if _is_statement(_TAKES_BACK.sub("", plain(text)))]
    return kept[: _LIMITS.max_statements]


def _is_statement(text: str) -> bool:
    has_length = _LIMITS.min_chars <= len(text) <= _LIMITS.max_chars
    is_talk = _TALK.search(text) or _AT_HAND.search(text) or _talks_in_another_language(text)
    return has_length and not (
        _ONE_OFF.search(text) or _PROPOSAL.search(text) or is_talk or is_chatter(text)
    )


@cache
def _talk_in(language: str) -> re.Pattern[str] | None:
    words = _TALK_BY_LANGUAGE.get(language)
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE) if words is not None else None


def _talks_in_another_language(text: str) -> bool:
    """Whether somebody speaks, in another language than English, of the work at hand."""
    patterns = map(_talk_in, language_of(text).codes)
    return any(pattern.search(text) for pattern in patterns if pattern is not None)


def may_be_amended(text: str) -> bool:
    """Whether a statement says how something is to be, so that a later one may change it."""
    first = _first_sentence(text)
    sets_value = _SETS_VALUE.search(_NUMBERED.sub("", first)) and not _ABOUT_WORK.match(first)
    return bool(_NORM.search(first) or sets_value) and may_be_corrected(text)


def may_be_corrected(text: str) -> bool:
    """Whether a statement says how something is, so that a later one may give that up in so many
    words; not what is to be done, what fails or what somebody does or wants."""
    first = _first_sentence(text)
    is_work = _TASK.match(first) or _TALK.search(first) or _PERSONAL.search(first)
    return not (is_work or is_chatter(first))


def _first_sentence(text: str) -> str:
    return next(iter(sentences(_TAKES_BACK.sub("", plain(text)))), "")


def only_goes_on(text: str) -> bool:
    """Whether a message is nothing but an order to go on, which changes nothing."""
    return _GO_ON.fullmatch(plain(text).strip()) is not None


def part_sentences(text: str) -> list[str]:
    """The sentences of a statement that make an exception or add something."""
    return [sentence for sentence in sentences(text) if _IN_PART.search(plain(sentence))]


def refers_back(text: str) -> bool:
    """Whether a statement refers to something that was laid down before."""
    return bool(_REFERS_BACK.search(plain(text))) or names_superseded(text)


def says_change(text: str) -> bool:
    """Whether a text says that something else holds from then on."""
    return bool(_CHANGES.search(plain(text)))


def says_surely(text: str) -> bool:
    """Whether a statement says in so many words what becomes of another."""
    words = plain(text)
    return bool(_REPLACES_SURELY.search(words) or _IN_PART.search(words) or names_superseded(text))


def changes_in_part(text: str, summary: str) -> bool:
    """Whether what a statement amends still holds in part: it makes an exception or adds something.
    `summary` is what the agent made of it."""
    if names_superseded(text):
        return False
    text, summary = plain(text), plain(summary)
    if _REPLACES_SURELY.search(text) or _REPLACES_SURELY.search(summary):
        return False
    return bool(_IN_PART.search(text))


def reported_changes(message: str) -> list[str]:
    """The sentences of an agent's closing message that report what was changed."""
    named = supersession_sentences(message)
    found = [
        sentence
        for sentence in sentences(message)
        if _LIMITS.min_chars <= len(sentence) <= _LIMITS.max_reported_chars
        and _REPORTED.search(plain(sentence))
        and not _PROPOSAL.search(plain(sentence))
        and not _QUESTION.search(plain(sentence))
        and not any(sentence in one for one in named)
    ]
    return [*named, *found][: _LIMITS.max_reported]
