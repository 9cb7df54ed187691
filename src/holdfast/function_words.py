"""Which language a question is in, and the words of it that only ask or join: "warum", "pourquoi",
"почему", "なぜ". An answer need not contain them.

Knows the eleven languages in which rules are recognised, and of some others only how to tell that a
text is in them. English is what a text in Latin letters is taken for unless its words say
otherwise; its own stop words are `language.STOPWORDS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from holdfast.language import STOPWORDS, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex

ENGLISH = "en"

# Question words, articles, prepositions, pronouns, auxiliary verbs, verbs that ask to be told, and
# those of which a question asks the content ("decided"), as `terms.QUESTION_WORDS` of English.
_FUNCTION_WORDS = {
    "de": "entschieden entscheiden entschied beschlossen besprochen gesagt gefragt mich dich ihn "
    "ihm ihnen kam warum wieso weshalb weswegen wozu wann wo woher wohin wer wen wem wessen was "
    "wie wieviel wieviele welche welcher welches welchem welchen womit wodurch worin woran worauf "
    "worüber wofür wovon wobei seit bis der die das den dem des ein eine einer eines einem einen "
    "und oder aber nicht kein keine keinen mit von vom zu zum zur im am an in auf aus bei beim "
    "nach vor für über unter durch ohne gegen um ab ist sind war waren sein wird werden wurde "
    "wurden worden kann können konnte soll sollen sollte muss müssen darf dürfen hat haben hatte "
    "hatten habe gibt gab ich du er sie es wir ihr mir dir uns euch sich man auch noch nur schon "
    "sehr mehr wenn dann dass ob weil als also doch mal denn hier dort diese dieser dieses diesem "
    "diesen unser unsere unserer unseren mein meine dein deine seine viel viele oft lange sag sage "
    "zeig zeige erkläre nochmal eigentlich genau bitte alle alles etwas jetzt",
    "fr": "décidé décidée décidons décider discuté dit pourquoi quand où comment combien qui que "
    "quoi quel quelle quels quelles lequel laquelle lesquels dont est-ce est sont était étaient "
    "été être sera a as ai ont avait avons avez avoir le la les l un une du de d des et ou mais "
    "donc ne n pas plus moins dans sur sous avec sans pour par en au aux à chez vers entre depuis "
    "jusqu jusque se s y il elle on nous vous ils elles je j tu ce c cet cette ces cela ça ci mon "
    "ton son ma ta sa mes tes ses notre nos votre vos leur leurs si aussi très bien déjà encore "
    "tout toute tous toutes même faut peut peux peuvent doit doivent fait faire dis dites montre "
    "explique t qu m comme lors afin quelqu",
    "es": "decidimos decidió decidido decidir hablamos hablado dijo dijimos dicho qué que quién "
    "quien quiénes quienes cuándo cuando dónde donde cómo como cuál cual cuáles cuales cuánto "
    "cuanto cuánta cuántos cuantos cuántas cuantas porque por para el la los las un una unos unas "
    "lo al del de a en con sin sobre entre desde hasta hacia y e o u pero ni no sí si es son era "
    "eran fue fueron ser está están estaba estar ha han he hemos había haber hay se me te nos os "
    "le les su sus mi mis tu tus nuestro nuestra nuestros nuestras este esta esto estos estas ese "
    "esa eso esos esas aquel más menos muy ya también tampoco aún todo toda todos todas puedo "
    "puede podemos pueden debe deben tiene tenemos tengo hace hacer dime muéstrame explica yo él "
    "ella ellos usted",
    "it": "deciso decisa decidere discusso detto perché perche quando dove come cosa che chi quale "
    "quali qual quanto quanta quanti quante il lo la i gli le l un uno una del dello della dei "
    "degli delle di d a al allo alla ai agli alle da dal dallo dalla dai dalle in nel nello nella "
    "nei negli nelle su sul sulla sui con per tra fra e ed o ma se non né è sono era erano stato "
    "stata stati essere ha hanno ho abbiamo aveva avere viene vengono si ci ne mi ti vi lui lei "
    "loro noi voi io tu questo questa questi queste quello quella quelli ciò mio mia suo sua "
    "nostro nostra nostri più meno molto già anche ancora tutto tutta tutti tutte può posso "
    "possiamo deve devono fa fare dimmi mostra spiega dopo entro fino",
    "pt": "decidimos decidiu decidido decidir falamos disse dissemos por que porque porquê quê "
    "quem quando onde como qual quais quanto quanta quantos quantas o a os as um uma uns umas do "
    "da dos das no na nos nas ao à aos às de em com sem para pra pelo pela pelos pelas sobre entre "
    "desde até e ou mas nem não sim se é são era eram foi foram ser está estão estava estar tem "
    "têm temos tinha ter há houve vai vamos eu você ele ela nós eles elas me te lhe seu sua seus "
    "suas meu minha nosso nossa nossos nossas este esta isto esse essa isso esses essas aquele "
    "aquela gente mais menos muito já também ainda todo toda todos todas pode posso podemos deve "
    "devem precisa faz fazer diga mostre explique",
    "nl": "besloten beslist besluiten besproken gezegd waarom wanneer waar waarheen waarvoor "
    "waarmee waarin waaraan hoe hoeveel wie wat welke welk wiens de het een en of maar niet geen "
    "van op te ten ter tot met voor naar bij uit in aan om door over onder na sinds zonder tegen "
    "tussen is zijn was waren wordt worden werd werden ben bent heeft hebben had hadden kan kunnen "
    "kon moet moeten mag mogen zal zullen ik je jij jullie hij zij ze wij we ons onze mijn jouw "
    "hun dat die dit deze er hier daar ook nog wel al als dan dus toch nu veel meer vaak lang alle "
    "alles iets zeg toon uitleg",
    "ru": "решили решил решила решено решить обсудили обсуждали сказал сказали говорили такой "
    "такая такое такие почему зачем отчего когда где куда откуда кто кого кому кем чей чья чьи что "
    "чего чему чем как какой какая какое какие каких каким каком какую какого какому который "
    "которая которое которые которых сколько насколько и в во не на я с со а то все всё она так "
    "его но да ты к ко у же вы за бы по только ее её мне было вот от меня еще ещё нет о об обо из "
    "ему теперь даже ну ли если уже или ни быть был была были будет него до вас вам них тебя их он "
    "оно они сам без раз тоже себя под тогда этот эта это эти этого этому этом этой эту того тому "
    "том тот та те потому мой моя наш наша наше наши нашего нашей свой своя свои при для мы нас "
    "нам нами после над перед через про между есть можно нужно надо могу может можем скажи покажи "
    "объясни также очень там тут здесь из-за каком-то",
    "pl": "zdecydowaliśmy zdecydowano postanowiliśmy ustaliliśmy mówiliśmy dlaczego czemu kiedy "
    "gdzie dokąd skąd kto kogo komu kim czyj czyja czyją co czego czym jak jako jaki jaka jakie "
    "jakim jakich jakiej jaką jakiego który która które których którym którą ile ilu i a w we z ze "
    "na do od po przy przez przed nad pod za o u dla bez oraz lub albo ale nie tak czy że żeby bo "
    "ponieważ jest są był była było były będzie być się to ten ta te tego tej tym tych mam ma mamy "
    "mają może mogą można musi muszę muszą ja ty on ona my wy oni nas nam nasz nasza nasze naszego "
    "mój moja swój już jeszcze też także tylko bardzo teraz wszystko powiedz pokaż",
    "sv": "varför när var vart vem vems vad hur vilken vilket vilka och är inte det ett en har "
    "hade på till från vi ni jag med som av där att för om den de så kan ska skulle måste",
    "tr": "neden niçin nerede nereye nasıl hangi kim kimin ne kaç ve bir için değil ile bu şu da "
    "de mi mı mu mü olarak var yok daha çok biz siz ama veya",
    "cs": "proč kdy kde kam odkud kdo koho čí co jak jaký jaká jaké který která které kolik a v ve "
    "na do od po při před pro bez nebo ale ne že aby protože je jsou byl byla bylo být se si to "
    "ten ta my nás už ještě také jen",
}  # fmt: skip
# Function words above that are words, names or abbreviations of English as well, or of code: they
# do not tell the language.
_ENGLISH_TOO = frozenset(
    "a ab ai al all alle also am an api app art as ate avant bei ben bent bin bu by c case ce "
    "chez chi ci co come comment con d da dan das de december del dem den der des die dime dis "
    "dit do dos dove e een en era es est este fa fait fare fast fra gab genau gift ha had has hat "
    "he ho i il im in io is j ja kan l la lange las le lo los m ma mag mal male man mars max me "
    "mes meses met mi min mit mu my n na nad ne no non nos not now nu o od of on op or os over "
    "par para per plus po pod pode posso pour pra rat s sa sage se ser sera si sin so sobre son "
    "sous sur t ta te tem ten ter ti to ton tot tout tra ty u um un una under uno vad van var ve "
    "vi w war was we week were will y ya z za".split()
)
_CYRILLIC = regex(r"[\u0400-\u052f]")
_HANGUL = regex(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_KANA = regex(r"[\u3041-\u309f\u30a1-\u30fa]")
_HAN = regex(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LATIN = regex(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = regex(r"[^\W\d_]")
# A longer text tells its language by so many characters.
_MAX_READ = 2_000
# English function words that show that a text is English in which words of another script are
# quoted.
_ENGLISH_QUOTING = 2
# What a question in a script without reliable spaces asks with, and its words for times, which
# stand apart in other languages. They are cut out of the text, because pieces of what is left are
# searched for.
_ASKING = {
    "ja": regex(
        r"(?:何曜日|何時間?|何日間?|何分間?|何ヶ月|何か月|何回|何件|何人|何個|何台|何語|何年|何月|何秒|"
        r"何円|何番目?|何故|何処|何|誰|幾つ|理由|なぜ|どうして|どのように|どのくらい|どれくらい|どんな|"
        r"どの|どれ|どこ|どう|いつ|だれ|いくつ|いくら|教えて(?:ください|下さい)?|決めた(?:こと)?|決めました|決定した|決まった|方法|ですか|ますか|"
        r"ましたか|でしょうか|んだっけ|だっけ|なの|一昨日|昨日|今日|本日|今朝|昨夜|昨晩|最近|先々週|先週|今週|"
        r"先々月|先月|今月|一昨年|昨年|去年|今年)"
    ),
    "zh": regex(
        r"(?:什么时候|什麼時候|为什么|為什麼|为何|為何|为啥|為啥|怎么样|怎麼樣|怎么回事|怎么|怎麼|如何|"
        r"什么|什麼|哪一个|哪一個|哪一层|哪个|哪個|哪些|哪里|哪裡|哪儿|哪天|哪家|哪位|哪种|哪種|多少|多久|"
        r"多长时间|多長時間|星期几|几个|幾個|几次|谁|誰|吗|嗎|呢|请问|請問|告诉我|告訴我|决定|決定|原因是|是否|是不是|"
        r"有没有|有沒有|我们|我們|你们|你們|他们|他們|这个|這個|那个|那個|这些|這些|那些|[的了吧啊把被和与與或是在也都"
        r"就才很还還请請]|前天|昨天|昨晚|今天|最近|上上?个?(?:周|週|星期|礼拜|月)|[这這本]个?(?:周|週|星期|礼拜|月)|"
        r"去年|今年)"
    ),
    "ko": regex(
        r"(?<![가-힣])(?:왜|언제(?:부터|까지|쯤|야)?|누가|누구(?:의|를|에게|한테|랑|야)?|"
        r"어디(?:에|로|서|에서|에서만|야)?|어떻게|어떤|어느|무엇(?:을|이|으로|이었나요|인가요)?|무슨|"
        r"뭐(?:야|가|지|로|였어)?|뭘|몇|얼마(?:나|로|야)?|이유(?:가|는|를)?|까닭(?:이|은)?|며칠(?:에|까지)?|"
        r"결정(?:했\S*|한|된|하기로)?|하나요|하면|해요?|해야|했어요?|했지|한|돼요?|되나요|됐어요?|거야|거지|거예요|있어요?|있나요|있었어|"
        r"것|수|때|좀|어제|오늘|그저께|최근에?|지난 ?주에?|이번 ?주에?|지난 ?달에?|이번 ?달에?|"
        r"작년에?|올해에?)(?![가-힣])|"
        r"(?<=[가-힣]{2})(?:하기로|하나요|했나요|했어요?|했지|한가요|합니까|해야|되나요|됐어요?|되지|"
        r"돼요?|인가요|였나요|이었나요|이야|해요?|하지|하면|한)(?![가-힣])|"
        r"(?<=[가-힣])(?:나요|어요?|아요?|지요?|까요?|습니까)(?![가-힣])"
    ),
}


# The names that Snowball has for languages.
_STEMMERS = {
    "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "pl": "polish", "cs": "czech", "sv": "swedish", "tr": "turkish", "ru": "russian",
}  # fmt: skip


class QuestionLanguage(NamedTuple):
    """The languages that a text may be in, most of the time one, by their ISO 639 codes; empty if
    it is in one of which nothing is known."""

    codes: tuple[str, ...]

    @property
    def is_english(self) -> bool:
        """Whether it is English, or names alone, which are the same in every language."""
        return self.codes == (ENGLISH,)

    @property
    def stemmers(self) -> tuple[str, ...]:
        """The names of the stemmers for these languages; none for English."""
        return tuple(_STEMMERS[code] for code in self.codes if code in _STEMMERS)

    @property
    def function_words(self) -> frozenset[str]:
        """The words of these languages that only ask or join; none for English."""
        return frozenset[str]().union(*(function_words(code) for code in self.codes))


@cache
def function_words(code: str) -> frozenset[str]:
    """The function words of a language; none for English, whose own are in `language`, and for
    languages in which words cannot be told by spaces."""
    return frozenset(_FUNCTION_WORDS.get(code, "").split())


@cache
def _telling_words(code: str) -> frozenset[str]:
    return function_words(code) - _ENGLISH_TOO


@cache
def _all_telling_words() -> frozenset[str]:
    return frozenset[str]().union(*map(_telling_words, _FUNCTION_WORDS))


@cache
def _words_of_english_alone() -> frozenset[str]:
    return STOPWORDS - frozenset[str]().union(*map(function_words, _FUNCTION_WORDS))


def language_of(text: str) -> QuestionLanguage:
    """The language of a question, by the script and the function words of its start."""
    text = text[:_MAX_READ]
    if text.isascii():
        return _latin_language(text, 0)
    script = _script_language(text)
    if script is None:
        foreign = sum(not word.isascii() for word in set(words(text)))
        return _latin_language(text, foreign)
    english = len(set(words(text)) & STOPWORDS)
    latin, letters = len(_LATIN.findall(text)), len(_LETTER.findall(text))
    if english >= _ENGLISH_QUOTING and 2 * latin > letters:
        return QuestionLanguage((ENGLISH,))
    return QuestionLanguage((script,) if script else ())


def _script_language(text: str) -> str | None:
    """The language of the script that a text has letters of besides Latin ones; "" for one of
    which nothing is known, None if it has only Latin letters."""
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    if _HAN.search(text):
        return "zh"
    if _CYRILLIC.search(text):
        return "ru"
    return None if len(_LATIN.findall(text)) == len(_LETTER.findall(text)) else ""


def _latin_language(text: str, foreign: int) -> QuestionLanguage:
    """The languages of which a text in Latin letters has the most telling words, if it has no
    more words of English; without telling words, those of which it has two others. `foreign` of
    its words have letters that English has not."""
    said = set(words(text.replace("-", " ").replace("'", " ").replace("’", " ")))
    if said.isdisjoint(_all_telling_words()) and said & _words_of_english_alone():
        return QuestionLanguage((ENGLISH,))  # as below, without a look at every language
    scores: dict[str, tuple[int, int]] = {}
    for code in _FUNCTION_WORDS:
        own = said & function_words(code)
        telling, english = len(said & _telling_words(code)), len((said & STOPWORDS) - own)
        others = sum(len(word) > 1 for word in own - STOPWORDS)
        if telling >= max(1, english) or (others > 1 and not english):
            scores[code] = (telling, len(own))
    if scores:
        most = max(scores.values())
        return QuestionLanguage(tuple(code for code, score in scores.items() if score == most))
    # Two words that no Englishman writes, and none that he would: a language without a list.
    unknown = foreign > 1 and not said & STOPWORDS
    return QuestionLanguage(() if unknown else (ENGLISH,))


def without_asking(text: str, codes: Sequence[str]) -> str:
    """A question without the words that ask, if it is in Japanese, Chinese or Korean, where they
    are not set apart from those that are asked about; else as it is."""
    for code in codes:
        if code in _ASKING:
            text = _ASKING[code].sub(" ", text)
    return text
