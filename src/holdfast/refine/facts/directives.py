"""Finds directives in a person's message: "remember", "always", "from now on", "we decided".

Covers eleven languages. Such words occur in ordinary talk as well ("I always forget", "it never
worked"), so a weak word counts only at the start of an order. Questions, quotations and code never
count.
"""

from __future__ import annotations

import re

from holdfast.language import collapse_spaces, plain, sentences
from holdfast.refine.core.status_reports import reports_status
from holdfast.refine.facts.typed_text import typed_text
from holdfast.regex import regex

_QUOTED = regex(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|„[^“”\n]{1,300}[“”]|「[^」\n]{1,300}」|"
    r"『[^』\n]{1,300}』|(?<![\w])'[^'\n]{2,300}'(?![\w])"
)
_CODE = regex(r"`[^`\n]*`")

# Words that may come before an order.
_LEAD_IN = (
    r"(?:(?:ok(?:ay)?|yes|no|right|good|great|perfect|thanks|well|also|and|but|so|btw|by the way|"
    r"important|note|nb|again|once (?:again|more)|reminder|ja|nein|gut|also|oui|bon|sí|si|bueno|"
    r"bene|sim|não|goed|да|нет|и|"
    r"please|bitte|s['’]il te plaît|por favor|per favore|alsjeblieft|пожалуйста)[,.:!;–—-]*\s+)*"
)

# Phrases that state explicitly that something holds from now on.
_EXPLICIT_BY_LANGUAGE = {
    "en": r"\bfrom (?:now|here|today|this point) on(?:wards?)?\b|\bgoing forward\b|"
    r"\bin (?:the )?future,? (?:always|never|please|use|do|don['’]t)\b|"
    r"\bas of (?:today|now),? (?:we|use|all|every|the)\b|"
    r"\bmake it a (?:rule|habit)\b|\b(?:new|the|our|house|project|team) (?:rule|convention|policy)"
    r"(?: here| now)?(?: is\b|:)|"
    r"^(?:rule|convention|policy|decision)(?: (?:for|about|on) [^:.?!\n]{2,40})?\s*:|"
    r"\bwe(?:['’]ve| have|['’]d| had)? (?:just )?(?:decided|agreed|settled on|ruled)\b|"
    r"\bit (?:was|has been|is) (?:decided|agreed|settled)\b|\bthe decision is\b|"
    r"\b(?:we(?:['’]ve| have)?|i(?:['’]ve| have)?) changed (?:our|my) minds?\b|"
    r"^(?:scrap|forget|drop|ignore|revoke) (?:that|the|this|our|my) (?:\S+ )?(?:rule|convention|"
    r"policy|decision)\b|\bwe (?:no longer|don['’]t .{2,40} any ?more)\b|"
    r"\bsupersed(?:es?|ing) (?:the|our|my|what|that|last|any)\b|"
    r"\b(?:this replaces|replacing) (?:what we\b|(?:\S+ ){1,4}(?:rule|policy|convention|"
    r"decision)\b)",
    "de": r"\bab (?:jetzt|sofort|heute)\b|\bvon (?:nun|jetzt) an\b|\bkünftig\b|\bin zukunft\b|"
    r"\b(?:wir haben|haben wir|wurde|ist) (?:uns |das |es )?.{0,60}"
    r"\b(?:entschieden|beschlossen|geeinigt|vereinbart|festgelegt)\b|\bdie regel (?:ist|lautet)\b|"
    r"^regel(?: (?:für|zu) [^:.?!\n]{2,40})?\s*:",
    "fr": r"\bdésormais\b|\bdorénavant\b|\bà partir (?:de maintenant|d['’]aujourd['’]hui)\b|"
    r"\b(?:nous avons|on a|c['’]est|il a été) (?:décidé|convenu|acté)\b|\bla règle est\b|"
    r"^règle\s*:",
    "es": r"\ba partir de (?:ahora|hoy)\b|\bde ahora en adelante\b|"
    r"\b(?:hemos (?:decidido|acordado)|decidimos|acordamos|se decidió|quedamos en)\b|"
    r"\bla regla es\b|^regla\s*:",
    "it": r"\bd['’]ora in (?:poi|avanti)\b|\bda (?:ora|adesso|oggi) in (?:poi|avanti)\b|"
    r"\babbiamo (?:deciso|concordato|stabilito)\b|\bè stato deciso\b|\bla regola è\b|^regola\s*:",
    "pt": r"\ba partir de (?:agora|hoje)\b|\bde agora em diante\b|\bdaqui (?:para|pra) (?:a "
    r")?frente\b|\b(?:decidimos|combinamos|ficou decidido|foi decidido)\b|\ba regra é\b|^regra\s*:",
    "nl": r"\bvanaf (?:nu|vandaag)\b|\bvoortaan\b|"
    r"\b(?:we hebben|wij hebben|is|er is) .{0,60}\b(?:besloten|afgesproken)\b|\bde regel is\b",
    "ja": r"今後は|これからは|以後は|今日から(?:は)?|(?:こと|方針)に(?:し(?:ました|た)|決め|"
    r"決まり|決定)|(?:と|を|に)決(?:めました|めた|まりました|定しました|定した)|(?:ルール|方針|"
    r"規約)(?:は|として)",
    "zh": r"从(?:现在|今天|今)(?:起|开始|以后)|從(?:現在|今天)(?:起|開始)|今后|今後|以后(?:都|要|"
    r"请|不要|一律)|"
    r"我们(?:已经)?(?:决定|约定|商定|同意)|我們(?:已經)?(?:決定|約定)|规则是|規則是|一律",
    "ko": r"앞으로(?:는|도)?\s|이제부터|지금부터|오늘부터|하기로 (?:결정|합의|정)|기로 했|규칙은",
    "ru": r"\bотныне\b|\bвпредь\b|\bс (?:этого момента|сегодняшнего дня|сегодня)\b|"
    r"\bтеперь всегда\b|\bмы (?:решили|договорились|постановили)\b|\b(?:было )?решено\b|"
    r"\bправило\s*[:—-]",
}

# Openings of an order to keep something in mind.
_REMEMBER_BY_LANGUAGE = {
    "en": r"remember(?: this)?(?: that| to|[:,])\s*|"
    r"(?:keep|bear) in mind(?: that|:)|don['’]t (?:ever )?forget (?:that|to)\b|"
    r"(?:take|make a) note(?: that|:)|for (?:the record|future reference)[,:]",
    "de": r"merk(?:e|t)? (?:dir|euch)\b|denk(?:e|t)? (?:immer )?(?:dran|daran)\b|vergiss nicht\b|"
    r"behalte? im (?:kopf|hinterkopf)",
    "fr": r"(?:souviens-toi|rappelle-toi|souvenez-vous|rappelez-vous|retiens|retenez)\b|"
    r"n['’]oublie(?:z)? pas (?:que|de)\b",
    "es": r"(?:recuerda|recuerden|acuérdate|ten en cuenta|no olvides)\b(?: que| de)?",
    "it": r"(?:ricorda(?:ti|te)?|ricordatevi|tieni presente|non dimenticare)\b(?: che| di)?",
    "pt": r"(?:lembr(?:e|a|em)-(?:se|te)|lembra que|lembre que|não (?:se )?esqueç?a)\b",
    "nl": r"(?:onthoud|vergeet niet|denk eraan)\b",
    "ru": r"(?:запомни(?:те)?|помни(?:те)?|не забывай(?:те)?|имей(?:те)? в виду)\b",
}

# Words that bind only in an order: at its start, after "we", or after the verb of the order.
_ORDER_BY_LANGUAGE = {
    "en": r"(?:(?:you|we|agents?|everyone|all of us|developers?|nobody) )?"
    r"(?:should |must |shall |will |have to |need to |are to |ought to )?"
    r"(?:always|never|under no circumstances|in no case)\b(?! mind\b)|"
    r"do(?:n['’]t| not) ever\b|never ever\b",
    "de": r"(?:(?:wir|du|ihr|man) )?(?:(?:soll(?:en|st|t)?|muss|müssen|darf(?:st)?|dürfen) )?"
    r"(?:\w+(?:e|en|t) )?(?:immer|niemals|nie wieder|auf keinen fall|grundsätzlich)\b",
    "fr": r"(?:il faut |on doit |nous devons |tu dois )?(?:\w+(?:e|ez|is|s) )?(?:toujours|"
    r"jamais)\b|ne (?:\w+ ){1,3}jamais\b",
    "es": r"(?:(?:hay que|debes|debemos|tenemos que) )?(?:\w+(?:a|e|en|an|os) )?(?:siempre|nunca|"
    r"jamás)\b",
    "it": r"(?:(?:bisogna|devi|dobbiamo) )?(?:\w+(?:a|i|e|te|mo) )?(?:sempre|mai)\b|non \w+re "
    r"mai\b",
    "pt": r"(?:(?:deve|devemos|temos que|é preciso) )?(?:\w+(?:a|e|em|os) )?(?:sempre|nunca|"
    r"jamais)\b",
    "nl": r"(?:(?:we|wij|je|jullie) )?(?:(?:moet(?:en)?|mag|mogen) )?(?:\w+ )?(?:altijd|nooit)\b",
    "ru": r"(?:(?:мы|надо|нужно|следует) )?(?:\w+ )?(?:всегда|никогда)\b",
}
# Japanese, Chinese and Korean: there the end of the sentence shows that it is an order.
_CJK_ORDER = regex(
    r"(?:必ず|常に|絶対に?|決して).*(?:ください|下さい|こと|べき|禁止|ないで|しないように|"
    r"するように|るな|使う|する)[。.!！]?$|"
    r"(?:覚えて(?:おいて|ください|て)|忘れないで)|"
    r"^(?:请|請)?(?:记住|記住|牢记|别忘了|別忘了|务必|務必)|"
    r"(?:永远|永遠|绝对|絕對|千万|千萬)(?:不要|别|不能|不许|不得)|^(?:必须|必須|始终|始終)|"
    r"(?:我们|我們)(?:必须|必須|始终|始終|总是|總是)|"
    r"(?:기억해|잊지 ?마)|(?:항상|반드시|절대로?|무조건).*(?:세요|십시오|해라|할 것|하자|한다|"
    r"합니다|해야|마라?|말 것|말자|금지|줘|해)[.!]?$"
)
# Descriptions of how things are, not of how they should be.
_DESCRIBES = regex(
    r"^(?:(?:but|and|so|well|because|since|although|as|like|yeah|hm+|oh|why|when|if|while|ich|aber|"
    r"und)[, ]+)*(?:i|it|he|she|they|this|that|these|those|there|nothing|something|the|you|"
    r"i['’]ve|i['’]m|it['’]s|that['’]s|they['’]re|ich|es|er|sie|das|dies|der|die|je|j['’]ai|il|"
    r"elle|ils|ça|c['’]est|yo|él|ella|ellos|eso|esto|io|lui|lei|loro|eu|ele|ela|eles|isso|ik|het|"
    r"hij|zij|"
    r"dat|dit|я|он|она|оно|они|это)\s"
    r"(?:\S+\s){0,6}?(?:always|never|immer|nie|niemals|toujours|jamais|siempre|nunca|jamás|sempre|"
    r"mai|altijd|nooit|всегда|никогда)\b|"
    r"(?:我|他|她|它)(?:总是|總是|永远|從來|从来)|(?:私|僕|俺)は(?:いつも|必ず|常に)|(?:나는|저는|"
    r"난) 항상",
    re.IGNORECASE,
)
_OBLIGATION = regex(
    r"^(?:the|you|that|this|it) (?:\S+ ){0,4}?(?:must|should|shall|has to|have to|may|is to|are "
    r"to) (?:always|never)\b|\b(?:must|should|shall) (?:always|never)\b",
    re.IGNORECASE,
)
_SMALL_TALK = regex(
    r"\b(?:do|did|don['’]t|didn['’]t|can|could|if) (?:you|we|i|they) remember\b|\bi (?:don['’]t |"
    r"can['’]t )?remember\b|\bremember (?:when|how|me|the time|what)\b|\bnever ?mind\b|\bas "
    r"always\b|\balmost (?:always|never)\b|\b(?:is|are|was|were|be|gets?|got|has|have|had) "
    r"(?:always|never)\b|\b(?:always|never) (?:been|seen|had|was|were|works|worked|fails|failed|"
    r"returns|returned|happens|happened|gets|got|shows|showed|heard|finished|ends|runs|true|false|"
    r"null|empty|going to|knows|knew|the same|called|reached|executed|triggered)\b|"
    r"\b(?:siempre|nunca|sempre|mai) (?:me |mi )?(?:olvid|funcion|pasa|falla|falha|funzion|"
    r"dimentic)|\b(?:always|never) (?:again )?(?:right )?now\b|\bonce (?:again|more)\b(?![,:])|\b"
    r"this (?:time|once)\b|"
    r"\bwe decided (?:to )?(?:meet|talk|wait|see)\b",
    re.IGNORECASE,
)
_QUESTION = regex(
    r"[?？]\s*$|^(?:why|what|how|when|who|where|which|is|are|does|do|did|can|could|would|should|"
    r"will|have we|has|warum|wieso|wie|was|wann|pourquoi|comment|por qué|perché|por que|waarom|"
    r"почему)\b(?! not\b| only\b| never\b|n['’]t\b)(?!.*[.!]$)",
    re.IGNORECASE,
)
_EXPLICIT = regex("|".join(_EXPLICIT_BY_LANGUAGE.values()), re.IGNORECASE)
_REMEMBER = regex(f"^{_LEAD_IN}(?:{'|'.join(_REMEMBER_BY_LANGUAGE.values())})", re.IGNORECASE)
_ORDER = regex(f"^{_LEAD_IN}(?:{'|'.join(_ORDER_BY_LANGUAGE.values())})", re.IGNORECASE)
# A cheap test of the whole message. Anchored at word starts: without that, a long run of letters
# would be tried from each of its letters.
_ANY = "|".join(
    (*_EXPLICIT_BY_LANGUAGE.values(), *_REMEMBER_BY_LANGUAGE.values(), *_ORDER_BY_LANGUAGE.values())
)
_HINT = regex(rf"\b(?:{_ANY})", re.IGNORECASE)


def is_directive(sentence: str) -> bool:
    """Whether a person's sentence lays something down."""
    bare = collapse_spaces(_CODE.sub("CODE", _QUOTED.sub(" ", plain(sentence))))
    if _QUESTION.search(bare) or (_SMALL_TALK.search(bare) and not _OBLIGATION.search(bare)):
        return False
    if any(pattern.search(bare) for pattern in (_REMEMBER, _EXPLICIT, _OBLIGATION)):
        return True
    is_order = _ORDER.search(bare) or _CJK_ORDER.search(bare)
    return bool(is_order) and not (_DESCRIBES.search(bare) or reports_status(bare))


def find_directives(text: str) -> list[str]:
    """The sentences of a person's message that lay something down, in order."""
    typed = typed_text(text)
    if typed.isascii() and not _HINT.search(typed):
        return []
    return [sentence for sentence in sentences(typed) if is_directive(sentence)]
