"""Recognises questions by forms that a question mark does not show: those inside a sentence that
says nothing else ("I wonder why …"), and in other languages than English questions, one-time
requests and admissions of not knowing. People who type to an agent leave the mark away, and titles
drop it. The forms of English are in `recall.core.statements` and `refine.distil`.

The words are those of grammar (interrogatives) and the verbs in which one asks an agent for a piece
of work. What shall hold from now on ("immer", "jamais") is worded with others, and is a statement.
"""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.function_words import language_of
from holdfast.regex import regex

_WONDERS = regex(
    r"(?:(?:ok(?:ay)?|so|and|but|also|well|hm+|hi|hey|hello|btw|now)[,.:! ]+)*"
    r"(?:i(?:['’](?:m|d|ve)| am| would)? |(?:we|it)(?:['’]re| are|['’]s| is)? |do (?:you|we) |"
    r"does anyone |can(?:not|['’]t)? |would |could )*(?:still |just |really |also |now )*"
    r"(?:wonder(?:ing)?|curious|unclear|unsure|not (?:sure|certain|clear)|any idea|no idea|"
    r"(?:like|love|want|need) to (?:know|understand|find out)|"
    r"(?:do not|don['’]t) (?:know|understand|remember|recall|see)|"
    r"(?<=you )(?:know|remember|recall)|(?<=we )(?:know|remember|recall)|(?<=anyone )know|"
    r"trying to (?:understand|find out|figure out|remember|recall))\b"
    r"(?: \w+){0,3}? (?:why|how|where|when|who|what|which|whether|if)\b"
    r"(?!.*(?:[:;—]|, (?:and|which|so)\b|\b(?:but|because|although|however)\b))",
    re.IGNORECASE,
)
_LEAD_IN = {
    "de": r"(?:(?:ok(?:ay)?|also|und|aber|hallo|hi|bitte|nun|so|kannst du|könntest du|"
    r"ich möchte,? dass du|lass uns|mal)[,.:! ]+)*",
    "fr": r"(?:(?:ok|alors|et|mais|bonjour|salut|bon|peux[ -]tu|pourrais[ -]tu|pouvez[ -]vous|"
    r"s['’]il (?:te|vous) pla[iî]t)[,.:! ]+)*",
    "es": r"¿?(?:(?:ok|vale|bueno|hola|y|pero|entonces|por favor|puedes|podrías|podemos)[,.:! ]+)*"
    r"¿?",
    "it": r"(?:(?:ok|allora|ciao|e|ma|bene|per favore|per piacere|puoi|potresti)[,.:! ]+)*",
    "pt": r"(?:(?:ok|então|olá|oi|e|mas|bem|por favor|pode|você pode|poderia)[,.:! ]+)*",
    "nl": r"(?:(?:ok(?:é|ay)?|dus|en|maar|hallo|hoi|alsjeblieft|alstublieft|nu|kun je|kan je|"
    r"zou je)[,.:! ]+)*",
    "ru": r"(?:(?:ок|ладно|а|и|но|так|привет|пожалуйста|можешь|можете|давай(?:те)?)[,.:! ]+)*",
    "pl": r"(?:(?:ok|dobra|a|i|ale|więc|cześć|proszę|czy możesz|możesz)[,.:! ]+)*",
}
# How a question begins. Words that begin a clause as well ("quand", "когда") need the verb after
# them, or no comma in the sentence.
_ASKS = {
    "de": r"ich (?:frage mich|wüsste gern|wundere mich|weiß nicht)\b|weißt du\b|"
    r"(?:(?:warum|wieso|weshalb|weswegen|wozu|woher|wohin|wofür|womit|wodurch|wovon|worauf|"
    r"worüber|woran|worin|wie ?viele?|wie (?:lange|oft|weit|groß|hoch|schnell))\b|"
    r"(?:(?:an|auf|aus|bei|bis|für|in|mit|nach|seit|von|zu|ab|unter|über) )?"
    r"(?:wer|wen|wem|wessen|was|wo|wann|welche[rsnm]?|wie(?! (?:besprochen|vereinbart|gesagt|immer|"
    r"bisher|üblich|gehabt|geplant|folgt|oben|unten|gewünscht|beschlossen|erwartet|abgemacht|"
    r"erwähnt)\b))\b(?=[^,]*$))",
    "fr": r"je me demande\b|je voudrais savoir\b|sais-tu\b|savez-vous\b|"
    r"(?:(?:pourquoi|comment|combien|d['’]où|où|qu['’](?:est-ce|a)|est-ce qu)|"
    r"(?:(?:à|au bout de|de|dans|depuis|en|pour|sur|avec|par|vers|chez|jusqu['’]à) )?"
    r"(?:qui|quoi|combien|quel(?:le)?s?(?! que\b)|quand)\b(?=[^,]*$)|"
    r"(?:que|[^,]{1,60}) \w+-(?:t-)?(?:il|elle|on|nous|vous|ils|elles)\b)|que (?:doit|peut|faut)\b",
    "es": r"me pregunto\b|quisiera saber\b|quiero saber\b|sabes\b|"
    r"(?:(?:(?:por|para|con|de|en|a|desde|hasta|sobre|tras) )?(?:qué|quién(?:es)?|cuándo|"
    r"dónde|adónde|cómo|cuál(?:es)?|cuánt[oa]s?)|por ?que)\b",
    "it": r"mi (?:chiedo|domando)\b|vorrei sapere\b|sai\b|"
    r"(?:(?:perch[éèe]|come mai|(?:che )?cosa)\b|"
    r"(?:(?:in|da|a|di|con|per|su|dopo|ogni|entro|fino a) )?"
    r"(?:quale|quali|qual|che|chi|dove|quant[oaie]|quando)\b(?=[^,]*$)|"
    r"come (?:si|è|sono|abbiamo|ha|hanno|facciamo|funziona|viene|dobbiamo|va)\b)",
    "pt": r"(?:eu )?me pergunto\b|(?:eu )?(?:gostaria de|quero) saber\b|(?:você )?sabe\b|"
    r"(?:(?:por ?qu[eê]|o que)\b|"
    r"(?:(?:em|de|com|a|para|por|até|desde) )?(?:quem|qual|quais|onde|aonde|quant[oa]s?|que|quando)"
    r"\b(?=[^,]*$)|como (?:é|foi|foram|são|se|fazemos|funciona|vamos|devem(?:os)?|está)\b)",
    "nl": r"ik vraag me af\b|ik wil(?: graag)? weten\b|weet (?:je|jij)\b|"
    r"(?:(?:waarom|hoeveel|waar\w*|sinds wanneer|tot wanneer)\b|"
    r"(?:(?:in|op|met|voor|van|uit|bij|aan|tot|naar) )?(?:wanneer|hoe|wie|wat|welke?)\b"
    r"(?=[^,]*$))",
    "ru": r"интересно\b|хочу знать\b|(?:ты |вы )?знаешь\b|"
    r"(?:(?:почему|зачем|отчего|сколько|откуда|из-за чего)\b|"
    r"(?:(?:в|во|на|с|из|от|до|для|по|к|у|за|через|после|при|из-за) )?"
    r"(?:когда|где|куда|кто|кого|кому|кем|что|чего|чему|чем|как|как(?:ой|ая|ое|ие|им|их|ую|ого|"
    r"ому|ом))\b(?=[^,]*$)|[^,.]{2,30}\b(?-i:ли)\b)",
    "pl": r"zastanawiam się\b|chciał(?:bym|abym) wiedzieć\b|wiesz\b|"
    r"(?:(?:dlaczego|czemu|skąd|dokąd|czy|czyj\w*)\b|"
    r"(?:(?:w|we|na|z|ze|od|do|dla|po|o|przez|za|jako) )?"
    r"(?:kiedy|gdzie|kto|kogo|komu|kim|co|czego|czym|jak|jak(?:i|a|ie|ą|im|ich|iego|iej)|ile|ilu|"
    r"któr\w+)\b(?=[^,]*$))",
}
# The verb of a request, in the forms in which one asks an agent.
_REQUESTS = {
    "de": r"(?:analysier|änder|antwort|bau|behandel|behebe?|beheb|beschreib|dokumentier|entfern|"
    r"erklär|erstell|ergänz|finde?|fix|füg|führ|gib|hilf|implementier|installier|korrigier|lies|"
    r"lösch|mach|öffne|optimier|prüf|reparier|schau|schreib|sieh|such|sag|starte?|teste?|"
    r"übersetz|überprüf|untersuch|vergleich|zeig|fass|list)(?:e|en|t)?\b",
    "fr": r"(?:ajoute|analyse|aide|change|cherche|compare|compile|construis|continue|corrige|crée|"
    r"décris|déploie|dis|documente|donne|écris|efface|exécute|explique|fais|implémente|installe|"
    r"lance|lis|liste|mets|montre|optimise|ouvre|regarde|renomme|répare|réponds|résume|supprime|"
    r"teste|traduis|trouve|vérifie)(?:z|s|r)?(?:-\w+)*\b",
    "es": r"(?:a[ñn]ade|agrega|analiza|arregla|averigua|ayuda|borra|busca|cambia|comprueba|compara|"
    r"continúa|corrige|crea|describe|despliega|di|documenta|elimina|encuentra|escribe|ejecuta|"
    r"explica|haz|implementa|instala|investiga|lee|lista|mira|muestra|optimiza|prueba|renombra|"
    r"repara|resume|revisa|traduce|verifica)(?:r|me|nos|lo|la|los|las)*\b",
    "it": r"(?:aggiungi|aiuta|analizza|apri|cambia|cerca|compara|confronta|continua|controlla|"
    r"correggi|crea|cancella|descrivi|dimmi|documenta|elenca|elimina|esegui|fai|guarda|implementa|"
    r"installa|leggi|mostra|ottimizza|prova|rinomina|ripara|riassumi|scopri|scrivi|sistema|spiega|"
    r"testa|traduci|trova|verifica)(?:re|mi|ci|lo|la|li|le)*\b",
    "pt": r"(?:adicion[ae]|ajud[ae]|analis[ae]|apag[ae]|arrum[ae]|busc[ae]|compar[ae]|continu[ae]|"
    r"conserte|conserta|corrij[ae]|corrige|cri[ae]|descrev[ae]|descubr[ae]|descobre|diga|"
    r"document[ae]|encontr[ae]|escrev[ae]|execut[ae]|expliqu?e|explica|faça|faz|implement[ae]|"
    r"instal[ae]|investigu?e|lei[ae]|list[ae]|mostr[ae]|mud[ae]|otimiz[ae]|procur[ae]|remov[ae]|"
    r"renome[ie]?[ae]|resum[ae]|revis[ae]|test[ae]|traduz[a]?|verifi(?:que|ca)|veja)"
    r"(?:r|-me|-nos)*\b",
    "nl": r"(?:analyseer|bekijk|bouw|controleer|corrigeer|doe|documenteer|fix|geef|help|herschrijf|"
    r"implementeer|installeer|kijk|lees|maak|onderzoek|open|optimaliseer|repareer|schrijf|start|"
    r"test|toon|vat|verander|vergelijk|verwijder|vertaal|vertel|vind|voeg|voer|wijzig|zeg|zoek)\b",
    "ru": r"(?:выясни|вычисли|добавь|запусти|измени|исправь|исследуй|найди|напиши|объясни|опиши|"
    r"открой|перепиши|переведи|переименуй|покажи|помоги|почини|посмотри|поправь|проанализируй|"
    r"проверь|протестируй|прочитай|расскажи|реализуй|сделай|скажи|создай|сравни|удали|узнай|"
    r"установи|обнови|оптимизируй)(?:те)?\b",
    "pl": r"(?:dodaj|dowiedz|napisz|napraw|opisz|otwórz|pokaż|pomóż|popraw|porównaj|powiedz|"
    r"przeanalizuj|przeczytaj|przetestuj|przetłumacz|sprawdź|stwórz|usuń|uruchom|utwórz|wyjaśnij|"
    r"wypisz|zainstaluj|zaimplementuj|zaktualizuj|zbadaj|zmień|znajdź|zobacz|zoptymalizuj|zrób)"
    r"(?:cie)?\b",
}
# In German and Dutch the verb may come last: "bitte den Import prüfen".
_REQUESTS_AT_END = regex(
    r"\b(?:analysieren|ändern|beheben|beschreiben|dokumentieren|entfernen|erklären|erstellen|"
    r"ergänzen|herausfinden|hinzufügen|implementieren|korrigieren|löschen|optimieren|prüfen|"
    r"reparieren|nachsehen|schreiben|suchen|testen|übersetzen|überprüfen|untersuchen|vergleichen|"
    r"zeigen|zusammenfassen|analyseren|bekijken|controleren|nakijken|onderzoeken|repareren|"
    r"uitleggen|uitzoeken|toevoegen|verwijderen|schrijven|samenvatten)$",
    re.IGNORECASE,
)
# What shall hold longer than the work at hand, in these languages.
_HOLDS_ON = regex(
    r"\b(?:immer|nie|niemals|ab (?:jetzt|sofort|heute)|künftig|stets|nur|weil|grundsätzlich|"
    r"toujours|jamais|désormais|dorénavant|à partir de|parce qu\w*|"
    r"siempre|nunca|jamás|a partir de|en adelante|porque(?! (?:dejamos|usamos)\b)|"
    r"sempre|mai|d['’]ora in poi|da ora in poi|"
    r"a partir de agora|daqui em diante|"
    r"altijd|nooit|voortaan|vanaf nu|omdat|"
    r"всегда|никогда|отныне|впредь|потому|"
    r"zawsze|nigdy|od teraz|ponieważ)\b",
    re.IGNORECASE,
)
_NOT_KNOWN = regex(
    r"\b(?:dazu|darüber|davon|hierzu) (?:habe ich|haben wir|finde ich|gibt es|weiß ich|ist) "
    r"(?:nichts|kein\w*)\b|\bich (?:weiß (?:es |das )?nicht|(?:habe|finde) (?:dazu |darüber )?"
    r"(?:kein\w* (?:eintr\w+|aufzeichnung\w*|hinweis\w*|information\w*)|nichts (?:dazu|darüber)))|"
    r"\bje n['’](?:ai|ai trouvé|en ai) (?:aucun\w*|pas d\w*|rien)\b[^.]*|\bje ne sais pas\b|"
    r"\bil n['’]y a (?:aucun\w*|pas de) (?:trace|mention|information|enregistrement|souvenir)|"
    r"\bno (?:tengo|hay|encuentro|encontré|consta)\b[^.]{0,30}\b(?:registros?|información|"
    r"constancia|mención|datos|nada)\b|\bno lo sé\b|"
    r"\bnon (?:ho|c['’]è|trovo|ho trovato|risulta)\b[^.]{0,30}\b(?:registr\w+|tracc\w+|"
    r"informazion\w+|menzion\w+|nulla|niente)\b|\bnon lo so\b|"
    r"\bnão (?:tenho|há|encontrei|consta|encontro)\b[^.]{0,30}\b(?:regist\w+|informaç\w+|menç\w+|"
    r"nada)\b|\bnão sei\b|"
    r"\b(?:ik heb|ik vind|er is|er zijn) (?:daar |hier )?(?:geen|niets)\b[^.]{0,30}(?:over|van|"
    r"bekend|gevonden)|\bik weet (?:het|dat) niet\b|"
    r"\b(?:нет|не наш[её]л|не нашла|не могу найти|не нахожу)\b[^.]{0,30}(?:запис|информаци|"
    r"упоминани|сведени)|\bя не знаю\b|"
    r"\b(?:nie mam|brak|nie znalaz\w+|nie ma)\b[^.]{0,30}(?:zapis|informacj|wzmian)|\bnie wiem\b|"
    r"(?:記録|情報|記載|メモリ)[^。]{0,20}(?:ありません|見つかりません|ないです|なし)|わかりません|"
    r"(?:没有|沒有|找不到|未找到|查不到)[^。]{0,12}(?:记录|記錄|信息|資訊|资料|資料)|"
    r"(?:记录|記錄|记忆|記憶)(?:中|里|裡)?(?:没有|沒有|找不到|查不到)|我不知道|"
    r"(?:기록|정보|메모리)[^.]{0,12}(?:없|찾을 수 없|찾지 못)|모르겠|모릅니다",
    re.IGNORECASE,
)
# Japanese, Chinese and Korean: the end of a sentence, or a word anywhere in it.
_CJK_ASKS = {
    "ja": regex(
        r"(?:か|かな|だっけ|んだろう|でしょう)[。.]?$|は$|"
        r"(?:何|いつ|どこ|どう|どの|どれ|どんな|誰|だれ|なぜ|いくつ|いくら)(?:[^。]*[^。るただ]|[^、。]*)$"
    ),
    "zh": regex(
        r"(?<![没沒無无])(?:为什么|為什麼|为何|為何|为啥|怎么|怎麼|什么|什麼|多少|多久|哪|谁|誰)"
        r"(?!都|也)[^。，,]*$|[吗嗎呢][。.]?$"
    ),
    "ko": regex(
        r"(?:나요|까요|습니까|입니까|합니까|됩니까|는지|인가|던가|이유는|했지)$|"
        r"(?<![가-힣])(?:왜|언제|어디|누가|누구|어떻게|어떤|어느|무엇|뭐|뭘|무슨|몇|며칠|얼마)"
        r"[^.]*[^.다]$"
    ),
}
_CJK_REQUESTS = {
    "ja": regex(
        r"(?:調べ|確認し|教え|直し|修正し|追加し|書い|作っ|作成し|見つけ|探し|説明し|実装し|更新し|削除し|"
        r"まとめ|テストし|実行し|分析し|レビューし|変更し|見せ|読ん)(?:て|で)(?:ください|下さい|ほしい|欲しい|"
        r"くれ|もらえますか|もらえる|みて)?[。.!！]?$"
    ),
    "zh": regex(
        r"^(?:(?:请|請|麻烦|麻煩|帮我|幫我|帮忙|能不能|可以|先|再)+(?:你|您)?|(?=..?(?:一?下|一遍|看看)))"
        r"(?:查|找|看一?下|看看|检查|檢查|告诉|告訴|解释|解釋|说明|說明|修复|修復|修改|添加|增加|写|寫|实现|"
        r"實現|更新|删除|刪除|总结|總結|列出|分析|调查|調查|测试|測試|运行|運行|优化|優化|重构|重構|生成|创建|"
        r"創建|确认|確認|继续|繼續)"
    ),
    "ko": regex(
        r"(?:찾아|알아봐|알아내|확인해|설명해|알려|고쳐|수정해|추가해|작성해|만들어|보여|구현해|업데이트해|"
        r"삭제해|정리해|요약해|검토해|조사해|분석해|실행해|테스트해)\s?(?:줘|주세요|주십시오|봐|줄래|라)?[.!]?$"
    ),
}
_ENDS_WITH_VERB = ("de", "nl")
_CJK_HOLDS_ON = regex(
    r"必ず|常に|今後|これから|絶対|いつも|ため|必须|必須|总是|總是|永远|永遠|以后|以後|今后|一律|因为|因為|"
    r"항상|반드시|절대|앞으로|때문"
)
_QUESTION_PATTERNS = {
    code: regex(rf"{_LEAD_IN[code]}(?:{pattern})", re.IGNORECASE) for code, pattern in _ASKS.items()
}
_REQUEST_PATTERNS = {
    code: regex(rf"{_LEAD_IN[code]}(?:{pattern})", re.IGNORECASE)
    for code, pattern in _REQUESTS.items()
}
# One of these is in every sentence that says that nothing is known.
_NOT_KNOWN_SIGNS = (
    *("nichts", " kein", "nicht", "je n", "il n", "no tengo", "no hay", "no enc", "no consta"),
    *("no lo s", "non ", "não ", "geen", "niets", "niet", "нет", "не ", "nie ", "brak"),
    *(
        "記録",
        "情報",
        "記載",
        "メモリ",
        "わかりません",
        "没有",
        "沒有",
        "找不到",
        "未找到",
        "查不到",
    ),
    *("记忆", "記憶", "不知道", "기록", "정보", "메모리", "모르겠", "모릅니다"),
)


def wonders(sentence: str) -> bool:
    """Whether a sentence contains a question and says nothing else: "I'd like to know why …"."""
    return _WONDERS.match(sentence) is not None


def is_foreign_question(sentence: str) -> bool:
    """Whether a sentence of another language than English asks something, without a mark."""
    bare = _bare(sentence)
    for code in _languages(bare):
        if code in _CJK_ASKS and _CJK_ASKS[code].search(bare):
            return True
        pattern = _QUESTION_PATTERNS.get(code)
        if pattern is not None and not bare.endswith(".") and pattern.match(bare):
            return True
    return False


def is_foreign_request(sentence: str) -> bool:
    """Whether a sentence of another language than English asks for something to be done once."""
    bare = _bare(sentence)
    for code in _languages(bare):
        if code in _CJK_REQUESTS and _CJK_REQUESTS[code].search(bare):
            return _CJK_HOLDS_ON.search(bare) is None
        if code in _REQUEST_PATTERNS and (
            _REQUEST_PATTERNS[code].match(bare)
            or (code in _ENDS_WITH_VERB and _REQUESTS_AT_END.search(bare.rstrip(".!")))
        ):
            return _HOLDS_ON.search(bare) is None
    return False


def says_unknown_in_foreign_words(sentence: str) -> bool:
    """Whether a sentence of another language than English says that nothing is known."""
    lowered = sentence.lower()
    may = any(sign in lowered for sign in _NOT_KNOWN_SIGNS)
    return may and _NOT_KNOWN.search(sentence) is not None


def _bare(sentence: str) -> str:
    return sentence.strip(" \"'“”«»„*_`")


@lru_cache(1024)
def _languages(text: str) -> tuple[str, ...]:
    return language_of(text).codes
