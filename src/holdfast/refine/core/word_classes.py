"""The class of a word, as far as it matters to tell where a noun phrase starts and ends.

By lists and endings alone, so that the same word always has the same class and nothing has to be
loaded. A word that is on no list is a noun: names of a project are on no list. Function words of
some other languages are known too, so that phrases of these languages end where they should.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache

from holdfast.language import STOPWORDS


class WordClass(Enum):
    """What a word can be in a noun phrase."""

    NOUN = "noun"
    ADJECTIVE = "adjective"  # before a noun, never the last word of a phrase
    PARTICIPLE = "participle"  # "trusted": an adjective or a verb of the past
    GERUND = "gerund"  # "pinning": a noun after a noun, else a verb
    ACTION = "action"  # "build", "report": a noun or a verb
    VERB = "verb"  # never in a phrase
    DETERMINER = "determiner"  # before a noun phrase: "the", "our"
    SUBJECT = "subject"  # before a verb: "you"
    VERB_CUE = "verb cue"  # before a verb: "to", "can", "please"
    PREPOSITION = "preposition"  # before a noun phrase: "of", "for"
    OTHER = "other"  # conjunctions, adverbs, forms of "be"
    VAGUE = "vague"  # "new", "thing": never in a phrase, because they say nothing


def _word_set(*lists: str) -> frozenset[str]:
    return frozenset(word for words in lists for word in words.split())


_DETERMINERS = _word_set(
    "a an the this that these those my our your its their his her whose each every any some no "
    "both all another which what either neither"
)
_SUBJECTS = _word_set("i you we they he she it who us me them him")
_VERB_CUES = _word_set(
    "to can could will would shall should may might must do does did don't doesn't didn't can't "
    "cannot couldn't won't wouldn't shouldn't please let lets let's not never always also just "
    "now then i'll we'll you'll i'd we'd you'd i've we've they've gonna wanna first finally next "
    "kindly pls dont doesnt didnt cant wont isnt arent wasnt havent hasnt shouldnt couldnt "
    "wouldnt im ive id"
)
_OTHERS = _word_set(
    "alongside super bunch backward backwards course self is are was were be been being am has "
    "have had having about above across enough after again against along already although among "
    "and around as aside at away back because before behind below beneath beside besides between "
    "beyond but by despite down during else elsewhere even ever except far for forth forward from "
    "further hence here how however if in inside instead into it's isn't aren't wasn't weren't "
    "hasn't haven't hadn't that's there's what's here's he's she's who's i'm you're we're they're "
    "let's later least less like likewise maybe meanwhile meantime more moreover most much near "
    "nearby nevertheless nor nowhere of off often on once only onto or other others otherwise out "
    "outside over own past per perhaps quite rather regarding respect same seldom since so "
    "somehow somewhat sometimes somewhere soon still such than though through throughout thus "
    "till together too toward towards twice under underneath unless unlike until up upon versus "
    "via vs well when whenever where whereas wherever whether while whilst why with within "
    "without yet today tomorrow yesterday tonight anyway anyways anymore ahead apart afterwards "
    "afterward beforehand thereafter therefore thereby hereby almost e.g i.e etc eg ie aka re "
    "plus minus given ok okay yes yeah yep yup nope nah no hi hello hey thanks thank thx sorry "
    "wow hmm ah oh lol btw fyi imo afaik asap tbd tldr itself themselves himself herself myself "
    "ourselves yourself yourselves them him hers ours yours theirs mine one ones none nothing "
    "something anything everything nobody somebody anybody everybody someone anyone everyone "
    "anywhere everywhere two three four five six seven eight nine ten zero dozen hundred thousand "
    "million indeed namely overall upfront downstream upstream worth inline offline online cannot "
    "ain't y'all due thereof whatever whichever whoever forever"
)
_PREPOSITIONS = _word_set(
    "of for in with from on by about into via per without between against over under through"
)
# Forms of words that may be nouns, but in this form hardly are: "this plan sounds perfect".
_VERBS_ONLY = _word_set(
    "sounds ends supports lands stands matters means works causes fires breaks leaves feeds fits "
    "leads looks lets gets puts wants opens closes takes goes comes makes keeps helps tries"
)
# Adverbs end in -ly; these words do, but are nouns or adjectives.
_NOT_ADVERBS = _word_set(
    "assembly anomaly family reply supply ally belly bully butterfly july jelly rally tally folly "
    "monopoly homily daily weekly monthly yearly hourly nightly quarterly friendly apply multiply "
    "comply imply rely fly early only costly lively lonely ugly silly likely unlikely"
)
_VAGUE = _word_set(
    "dude man bro folks buddy mate jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed "
    "thu fri sat sun new old same different various several many few multiple single whole entire "
    "full complete current existing previous next last first second third fourth fifth latest "
    "recent original actual real true false good better best great nice perfect excellent fine "
    "bad worse worst right wrong correct incorrect proper appropriate necessary relevant related "
    "specific particular certain general common usual typical normal regular standard ordinary "
    "basic simple easy hard difficult complex clear unclear obvious possible impossible likely "
    "unlikely "
    "able unable available unavailable ready sure important critical major minor main primary big "
    "small large little long short high low higher lower larger smaller bigger longer shorter "
    "extra additional comprehensive detailed brief quick fast slow careful exact precise "
    "approximate fresh stale outstanding remaining leftover missing present absent following "
    "upcoming final initial early late earlier thing things stuff way ways lot lots kind kinds "
    "sort sorts bit bits moment reason reasons sense sake extent degree worth essence gist rest "
    "half couple dozen everything dear welcome hope luck cheers confident happy glad afraid aware "
    "curious interesting interested useful helpful weird strange odd funny cool awesome amazing "
    "solid robust valid invalid unnecessary redundant irrelevant required mandatory explicit "
    "implicit similar identical equivalent consistent inconsistent separate independent "
    "individual alone sole entirety top-level high-level low-level end-to-end up-to-date "
    "out-of-scope follow-on so-called non-trivial nontrivial one-off ad-hoc in-progress wip n/a "
    "thingy whatnot ago easier simpler harder closer cheaper faster older newer clearer deeper "
    "lighter darker broader fewer richer safer slower dimmer cleaner nicer stronger weaker "
    "closest cheapest newest oldest cleanest smallest largest fastest nicest easiest simplest "
    "biggest greatest lowest highest january february march april june july august september "
    "october november december monday tuesday wednesday thursday friday saturday sunday hour "
    "hours minute minutes day days week weeks month months year years percent guy guys gut tldr "
    "http https www com org lets"
)
# Nouns that every project uses. A name may contain them beside another word: "file watcher".
_GENERIC = _word_set(
    "chunk chunks jsonl relationship relationships representation representations row rows "
    "management world insurance placeholder agent building tech stack body bodies challenge "
    "challenges warmup specialist specialists technology technologies mission reader readers "
    "consideration considerations operation operations interaction interactions feedback sub-task "
    "sub-tasks subtask subtasks sub-step anthropic reviewer reviewers integrity functionality "
    "functionalities capability capabilities ability abilities limitation limitations enhancement "
    "enhancements assumption assumptions observation observations explanation explanations "
    "clarification clarifications consequence direction directions perspective sequence activity "
    "activities attention responsibility responsibilities deliverable deliverables checklist "
    "checklists development readiness organisation organization piece pieces part parts side "
    "sides case cases time times point points fact facts matter matters idea ideas question "
    "questions answer answers problem problems issue issues solution solutions approach "
    "approaches option options choice choices example examples instance instances detail details "
    "information info note notes item items number numbers amount set sets group groups list "
    "lists type types name names value values word words line lines place places spot area areas "
    "end ends start beginning middle top bottom pair step steps task tasks todo todos phase "
    "phases stage stages round rounds session sessions conversation change changes fix fixes "
    "update updates addition additions edit edits modification modifications improvement "
    "improvements adjustment adjustments result results outcome outcomes output outputs summary "
    "overview conclusion recommendation recommendations suggestion suggestions finding findings "
    "status progress work works job jobs effort thought thoughts opinion opinions comment "
    "comments remark remarks person people user users team human assistant agents subagent "
    "subagents claude codex opus sonnet haiku fable ai model models code codebase file files "
    "folder folders directory directories project projects repo repos repository repositories "
    "branch branches commit commits pr prs pull merge rebase stash origin upstream head "
    "worktree worktrees diff test tests error errors warning warnings failure failures bug bugs "
    "exception exceptions function functions method methods class classes variable variables "
    "object objects string strings content contents text texts data input inputs message messages "
    "page pages section sections command commands tool tools script scripts plan plans goal goals "
    "requirement requirements implementation implementations feature features behaviour behavior "
    "logic system systems process processes usage request requests response responses version "
    "versions context scope success completion verification validation review reviews check "
    "checks analysis investigation discussion decision decisions priority difference differences "
    "purpose effect effects impact benefit benefits tradeoff trade-off tradeoffs trade-offs pros "
    "cons gap gaps concern concerns future bullet bullets heading headings paragraph paragraphs "
    "sentence sentences title titles description descriptions link links url urls id ids key keys "
    "shell bash terminal console screenshot screenshots image images attachment attachments "
    "snippet snippets sha hash log logs stdout stderr exit fixme lint linter typecheck format "
    "formats formatting prettier eslint default defaults null none undefined boolean integer int "
    "str num argument arguments parameter parameters param params args field fields property "
    "properties github git gitlab npm npx yarn pnpm bun pip src lib dist bin tmp grep sed cat "
    "chars character characters count counts size sizes aspect aspects angle level levels order "
    "orders term terms state states mode modes situation scenario scenarios condition conditions "
    "instruction instructions guideline guidelines rule rules best-practice follow-up followup "
    "followups follow-ups recap reminder history histories action actions assessment assessments "
    "confirmation permission consent python javascript typescript node handling testing support "
    "need needs use uses cause root setup element elements module modules component components "
    "package packages library libraries app apps application applications thread window second "
    "seconds entry entries record records report reports guidance guide documentation document "
    "documents doc docs readme changelog entrypoint workflow workflows structure pattern patterns "
    "practice practices concept concepts strategy strategies flow flows handoff hand-off "
    "request-response everything-else proposal spec specs specification change-set changeset "
    "cleanup refactoring refactor blocker blockers risk risks attempt attempts trial run runs "
    "build builds release releases setting"
)
# Nouns that many projects use: they name something beside a word that is not on these lists, or
# two of them together, but not alone.
_COMMON = _word_set(
    "copilot sum div api apis cli ui ux gui sdk json yaml toml xml html css sql csv http rest rpc "
    "ide llm llms os db layout layouts icon icons logo logos metric metrics infrastructure "
    "evaluation evaluations policy policies dashboard dashboards button buttons color colors "
    "colour colours web website site server servers client clients config configs configuration "
    "configurations database databases frontend backend front-end back-end prop props hook hooks "
    "event events handler handlers service services endpoint endpoints route routes router view "
    "views screen screens tab tabs modal modals dialog dialogs menu menus form forms table tables "
    "column columns row rows card cards banner header headers footer sidebar panel panels widget "
    "widgets badge style styles theme themes font fonts template templates schema schemas "
    "interface interfaces enum enums constant constants helper helpers util utils utility "
    "utilities wrapper adapter manager provider providers factory controller controllers "
    "middleware plugin plugins extension extensions dependency dependencies environment "
    "environments variable env secret secrets token tokens credential credentials password "
    "passwords account accounts role roles permission permissions security performance latency "
    "memory cpu disk network cache caches caching queue queues worker workers thread threads loop "
    "loops array arrays map maps dict tree trees graph graphs index query queries search filter "
    "filters sort order pagination export exports import imports upload uploads download "
    "downloads deploy deployment deployments production staging development dev prod local docker "
    "container containers cloud host hosts port ports domain proxy path paths location locations "
    "source sources target targets destination suite suites fixture fixtures mock mocks stub "
    "stubs coverage assertion assertions case checklist checkpoint checkpoints draft drafts audit "
    "baseline benchmark benchmarks experiment experiments research design designs architecture "
    "diagram prototype prototypes proposal roadmap milestone backlog ticket tickets skill skills "
    "prompt prompts call calls confidence quality safety cost price timeout timeouts retry "
    "retries limit limits threshold interval cron schedule trigger triggers webhook webhooks "
    "notification notifications email emails alert alerts warning binary executable installer "
    "install installation upgrade downgrade rollout rollback lock locks state snapshot snapshots "
    "backup backups history timeline timestamp timestamps date dates format parser parsers "
    "parsing serializer converter conversion transformation generator generation validator "
    "validators compiler interpreter runtime framework frameworks stack stacks layer layers "
    "action actions assessment assessments organization lifecycle topic topics subject subjects "
    "category categories tag tags label labels entity entities resource resources asset assets "
    "media video audio photo picture pictures symbol symbols keyword keywords word character "
    "language languages locale locales translation translations release releases section detail "
    "comparison opinion synopsis attention audience unit units integration writer reader google "
    "tsx jsx js ts javascript typescript markdown readme e2e ci init mcp github gitlab linux "
    "macos windows react eval evals customer customers business market product products company "
    "founder founders brief briefs harness harnesses compatibility settings var vars"
)
_ADJECTIVES = _word_set(
    "insensitive case-sensitive case-insensitive cheap residual fragile subsequent preceding "
    "prior respective eventual visible hidden empty broken open closed public private local "
    "remote global internal external dark light blue red green yellow black white grey gray "
    "purple orange native custom dynamic static generic abstract concrete raw plain flat deep "
    "shallow wide narrow thin thick tall strict loose lazy eager sync async synchronous "
    "asynchronous parallel sequential concurrent atomic mutable immutable recursive nested linear "
    "binary numeric decimal absolute relative direct indirect active inactive idle busy dead "
    "alive live healthy unhealthy secure insecure unsafe trusty noisy quiet silent verbose loud "
    "fuzzy flaky brittle stable unstable reliable unreliable scalable portable compatible "
    "incompatible readable writable executable configurable customizable reusable optional "
    "conditional unconditional logical physical visual graphical textual verbal vertical "
    "horizontal diagonal circular square rectangular digital electronic mobile responsive "
    "interactive reactive proactive passive aggressive conservative permissive restrictive "
    "exclusive inclusive experimental theoretical practical technical functional operational "
    "organizational environmental regional national international historical chronological "
    "alphabetical numerical statistical mathematical semantic syntactic lexical contextual "
    "structural architectural natural artificial legal financial medical social personal "
    "professional commercial educational scientific academic free paid premium expensive popular "
    "famous unknown unique distinct special extreme maximum minimum max min optimal suboptimal "
    "ideal legacy modern ancient deprecated obsolete unused duplicate canonical idempotent "
    "deterministic random ephemeral persistent transient volatile durable robust strong weak "
    "heavy lightweight cross-platform built-in third-party first-class real-time long-running "
    "fine-grained coarse-grained open-source read-only write-only serverless stateless stateful "
    "headless seamless harmless useless worthless intuitive confusing tricky messy ugly pretty "
    "beautiful elegant sleek neat tidy daily weekly monthly nightly hourly yearly friendly "
    "foreign domestic central upper outer inner rear left anonymous ambiguous standalone solo "
    "greek harsh immediate automated manual core balanced untrusted reversible destructive "
    "temporary minimal literal meaningful arbitrary official virtual transparent warm broad "
    "efficient automatic elastic safe secondary dirty conventional straightforward sensitive "
    "straight potential huge permanent compact significant reasonable positive negative "
    "progressive descriptive intact smart spicy opposite subtle continuous neutral hybrid modular "
    "strategic prominent divergent equal thorough rich powerful pure instant foundational rapid "
    "successful janky tactical bold universal mechanical exhaustive systematic relational tiny "
    "unusual formal viable deliberate partial familiar fatal intelligent hot realistic repetitive "
    "effective savory sweet creative conversational witty factual fair informative pragmatic "
    "trivial naive incomplete dense smooth bright accidental intermediate sticky authoritative "
    "adversarial honest behavioral cramped elevated concise expert senior representative "
    "alternative mutual vivid dim rough steep tight vague vast worthy crisp fancy modest mere "
    "sheer sane sober lean agile ad-free crucial essential vital urgent"
)
_ADJECTIVE_ENDINGS = (
    "able", "ible", "ful", "less", "ous", "ish", "wise", "-based", "-driven", "-specific", "-aware",
    "-only", "-wide", "-like", "-level", "-facing", "-ready", "-friendly", "-safe", "-free",
    "-side", "-style", "-backed", "-powered", "-related", "-sized", "-style", "-native",
)  # fmt: skip
_ADJECTIVE_PREFIXES = (
    "cross-", "one-", "two-", "single-", "multi-", "non-", "per-", "high-", "low-", "full-",
    "half-", "semi-", "on-", "off-", "in-", "out-", "over-", "under-", "up-", "pre-", "post-",
)  # fmt: skip
_NOT_ADJECTIVES = _word_set(
    "table tables variable cable timetable bible mouthful handful wish fish finish publish dish "
    "polish varnish executable deliverable collapsible collectible radish english spanish"
)
# Verbs that are hardly ever used as nouns, without their other forms.
_VERBS = (
    "extract return handle show use help keep save submit fill drop put pick open close compare "
    "bring calculate give hold learn make need own reach reveal send stay serve sort try turn "
    "undo wish blame ban boost browse flip hunt lift mix peek pop purge rescue rotate scrape slip "
    "spin stretch strike sweep tweak wrap fail harm catch win cook see feel accept accomplish "
    "accommodate achieve acknowledge acquire adapt add adhere adjust adopt affect afford "
    "aggregate agree aim align allow amend analyse analyze annotate announce anticipate appear "
    "append apply appreciate approve argue arise arrange arrive ask assemble assert assess assign "
    "assist associate assume assure attempt attend authenticate author authorize automate avoid "
    "await base become begin behave believe belong bind bother broaden bundle calibrate cancel "
    "capitalize carry categorize cease choose cite claim clarify classify clean cleanse clear "
    "combine come commence communicate compile complain complete complicate comply compose "
    "compute concatenate conclude configure confirm conflate conform confuse connect consider "
    "consist consolidate constitute construct consume contain continue contribute convert "
    "convince coordinate correct correlate correspond create customize deal debate decide declare "
    "decline decouple decrease dedicate deduce deduplicate deem define delegate delete deliver "
    "demonstrate deny depend deploy deprecate derive describe deserve designate destroy detect "
    "determine develop deviate differ differentiate disable disagree disappear discard disclose "
    "disconnect discover discuss dismiss display distinguish distribute divide duplicate "
    "eliminate elaborate embed emerge emit emphasize employ enable enclose encounter encourage "
    "enforce engage enhance enjoy enlarge enrich ensure entail enumerate equip erase escalate "
    "establish estimate evaluate evolve examine exceed exclude execute exist expand expect expire "
    "explain explore expose express extend facilitate fetch figure finalize find finish fit "
    "flatten follow forbid forget formulate foster fulfil fulfill gain gather generate get go "
    "grab grant grow guarantee guess happen harden hear hesitate hide highlight hope identify "
    "ignore illustrate imagine implement imply impose improve include incorporate increase "
    "indicate infer inform inherit inhibit initialize initialise initiate inject insert inspect "
    "inspire install instantiate instruct integrate intend interact interpret introduce "
    "invalidate invent investigate invite invoke involve isolate iterate join justify know lack "
    "lead leave let leverage lie listen live locate look lose maintain manage manipulate match "
    "matter maximize mean measure meet memorize mention migrate mimic minimize mirror misread "
    "modify monitor motivate move narrow navigate neglect negotiate normalize normalise notice "
    "notify obey observe obtain occur offer omit operate optimize optimise organize organise "
    "originate overcome overlap overlook override overwrite owe participate pass pay perform "
    "permit persist persuade pertain place plan point populate possess postpone predict prefer "
    "prepare prepend prescribe presume pretend prevent proceed produce prohibit prompt promote "
    "propagate propose protect prove provide provision prune publish pursue quote raise react "
    "read realize realise rebuild recall receive recheck recognize recommend reconcile reconsider "
    "reconstruct recover rectify recreate reduce refactor refer refine reflect refresh refuse "
    "regard regenerate reject relate relax rely remain remember remind remove rename render "
    "reorder reorganize repeat rephrase replace replicate reply represent reproduce require "
    "resemble reset reside resolve respond restart restore restrict restructure retain rethink "
    "retire retrieve retry reuse revert revise revisit rewrite rid run sanitize satisfy say seek "
    "seem segregate select sell separate serialize settle share shift ship shrink shut simplify "
    "simulate sit skip solve spawn speak specify spend spill split spot stand start state stick "
    "stop store strengthen strip structure substitute succeed suffer suffice suggest summarize "
    "summarise supersede supplement suppose suppress surround survive suspect suspend swap switch "
    "synthesize take talk teach tell tend terminate test thank think throw tidy tie tighten "
    "toggle touch train transfer transform translate transmit traverse treat trim troubleshoot "
    "tune type undergo understand undertake unify uninstall unlock unpack update upgrade upload "
    "utilize validate vary verify view violate visit wait walk want warn wash waste watch weaken "
    "wonder work worry write yield fall preserve prioritize prioritise parse tackle honor honour "
    "click mutate regress reimplement generalize personalize empower reinforce gravitate diagnose "
    "intercept resume defer materialize eat hang die interpolate dereference clobber choke lean "
    "struggle encode decode subscribe borrow collect press bump fold land wire reinit rerun redo "
    "reopen unblock unignore unmount clone kick dig dive double-check re-run set-up sanity-check"
).split()
# Words that are a noun as often as a verb; a phrase may contain them, and no request starts one.
_ACTIONS = _word_set(
    "stop pass push pull skip split start shift repeat swap slide force freeze repair reply lead "
    "access account address approach archive attack audit author back backfill backup bar batch "
    "benchmark bill block board bootstrap bound branch break bridge buffer build bundle cache "
    "call capture care cast cause chain challenge change charge chart check checkout claim "
    "cleanup clone code color colour commit compromise concern conflict contact content contract "
    "control copy cost count cover craft crash crawl credit cross cut damage date deal debug "
    "delay demand design detail diff direct dispatch display dive document dogfood double "
    "download draft drag draw drift drive dump echo edit effect end escape estimate exchange "
    "exercise exit experience experiment export face fallback fan fault favor fear feature feed "
    "fetch field fight file filter fire fix flag flash float flow flush focus fork form format "
    "frame front function fund glance grade graph grep group guard guide hack halt head heal "
    "highlight hit hook host hover impact import index influence input interest interface invoice "
    "issue jump kill label land last launch layer leak level light limit link lint list load lock "
    "log login logout look lookup loop makeover mandate map march mark mask master match matter "
    "measure merge mind mirror miss mock model monitor mount move name nest network note number "
    "object offer order outline output overhaul override overview pack package page paint pair "
    "park part paste patch pause phrase picture pin ping pipe place plan play plot plug point "
    "poll pool port position post power practice preview price print probe process profile "
    "program progress project promise prompt proof prototype purchase query question queue quote "
    "race range rank rate reason rebase record redesign redirect reference refresh refund regard "
    "register release reload remark render report request rerun research reserve reset respect "
    "rest restart result retry revert review reward rework rewrite ring risk roll rollback "
    "rollout root round route rule run sample scale scan schedule scope score screen script "
    "scroll search seat seed sense service setup shape share shell ship shop sign signal signup "
    "size sketch sleep slice slot smell smoke snap sound source span spec speed spike sponsor "
    "spot spread sprint stack staff stage stamp stand star state step stick store stream stress "
    "structure stub study style suit supply support surface surprise switch sync table tag talk "
    "target task taste tax template term test text thread throttle tick time title toggle tool "
    "top toss total touch tour trace track trade traffic trail train transfer transition "
    "transport trap travel treat trial trick trigger trip trust tune type update upgrade upload "
    "value view visit voice vote walk watch wave weight whisper wire word work workaround yield "
    "zoom"
)
_NOUN_GERUNDS = _word_set(
    "logging caching rendering streaming routing billing pricing onboarding offboarding tracing "
    "monitoring parsing scheduling indexing embedding training styling theming typing linting "
    "profiling polling batching mapping encoding decoding ranking scoring setting binding "
    "networking clustering sharding partitioning bundling packaging versioning releasing staging "
    "hosting accounting banking marketing advertising messaging chunking tokenizing throttling "
    "debouncing sampling pooling buffering queuing paging prompting grading benchmarking "
    "threading piping spacing padding wording finding string ring king spring wing ceiling "
    "building drawing painting recording meeting hearing timing landing listing offering shipping "
    "parking opening greeting wedding reading spelling grouping nesting pairing ordering "
    "sandboxing scripting tooling testing signing pinning scaling seeding scraping crawling"
)
_PAST_FORMS = _word_set(
    "set wrote written made done gone went came took taken gave given got gotten saw seen knew "
    "known thought found left felt kept held brought bought built sent spent lost met paid sat "
    "stood told became began begun broke chose chosen drew drawn drove driven fell fallen flew "
    "forgot forgotten grew grown heard hid hidden led let lay meant ran rose risen said sold "
    "showed shown shut spoke spoken stuck struck taught threw thrown understood woke wore won "
    "withdrew hit cut put read used tried did had been were was caught dealt dug fed fought froze "
    "frozen stole stolen swore sworn swept torn tore wound wrought rewrote rewritten reran "
    "rebuilt redid undid undone"
)
# Participles that describe work, not what was worked on.
_VAGUE_PARTICIPLES = _word_set(
    "added fixed updated changed removed modified created deleted edited moved renamed replaced "
    "related based used needed called mentioned expected provided requested proposed suggested "
    "completed finished committed merged pushed pulled verified tested checked reviewed approved "
    "applied implemented improved failed passed skipped ignored reported documented included "
    "installed introduced enabled disabled wanted asked started stopped opened closed detailed "
    "tailored dedicated designated aforementioned intended desired assigned unexpected unrelated "
    "affected confirmed identified described listed noted marked ended considered produced "
    "observed running working failing passing missing using making doing adding trying looking "
    "going coming getting having being refactored simplified cleaned unchanged untouched "
    "unmodified uncommitted pending reverted"
)
# Function words of German, French, Spanish, Portuguese, Italian, Dutch and Russian, without those
# that are a noun in English ("die" is, but hardly in a session).
_FOREIGN = _word_set(
    "der die das den dem des ein eine einer eines einem einen und oder aber nicht kein keine mit "
    "von vom zu zum zur im am auf aus bei nach vor für über unter durch ohne gegen bis ist sind "
    "war waren wird werden wurde wurden kann können soll sollte muss müssen hat haben ich du er "
    "sie es wir ihr mir dir uns euch sich auch noch nur schon sehr wenn dann dass weil wie was "
    "wer wo hier dort jetzt bitte mal doch als diese dieser dieses diesem diesen mein dein unser",
    "le la les un une du de des et ou mais ne pas plus dans sur sous avec sans pour par est sont "
    "été être avoir ont il elle nous vous ils elles je tu ce cet cette ces mon ton son ma ta sa "
    "mes tes ses notre votre leur leurs qui que quoi dont où si aussi très bien faire fait faut "
    "peut dois doit peux veux merci au aux en y se",
    "el los las una unos unas del al y o pero con sin para por es son está están ser fue como más "
    "muy si ya también lo le se su sus mi tu que qué este esta esto ese esa eso hay hacer hace "
    "favor no puedes puede quiero cuando donde porque",
    "os um uma uns umas do da dos das no na nos nas ao aos e ou mas com sem é são foi mais muito "
    "não já também seu sua meu minha isso isto esse essa este esta fazer faz pode você eu ele ela",
    "il lo gli uno di della dello dei degli delle nel nella con senza per è sono che non anche "
    "questo questa quello quella come più molto fare",
    "het een van op te voor niet maar dat dit deze ook nog wel naar bij uit zijn was worden kan "
    "moet ik je jij hij zij wij",
    "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её "
    "мне было вот от меня еще ещё нет о из ему теперь когда даже ну ли если уже или ни быть был "
    "него до вас вам них тебя их чем была сам чтоб без будто чего раз тоже себя под будет ж тогда "
    "кто этот эта это эти того потому этого какой совсем ним здесь этом один одна почти мой моя "
    "тем чтобы нее неё сейчас были куда зачем всех никогда можно при наконец два об другой хоть "
    "после над больше тот через эту нас про всего какая много три всю моей хорошо свою этой перед "
    "лучше чуть том нельзя такой им более всегда конечно между мы нам нужно надо там тут есть для "
    "необходимо пожалуйста давай сделай сделать создай добавь исправь скинь проверь всё сюда туда "
    "очень также которые который которая которое",
)  # fmt: skip
_CUT_OFF = _word_set("ll ve re don doesn didn isn aren wasn couldn shouldn wouldn hasn haven")


def _forms(verbs: Iterable[str], ending: str) -> frozenset[str]:
    """A form of each verb, with a silent e dropped, a y changed and also with the last consonant
    doubled. Some of these are no words, which harms nothing."""
    found: set[str] = set()
    for verb in verbs:
        if ending == "s":
            found |= {f"{verb}s", f"{verb}es", f"{verb[:-1]}ies" if verb[-1] == "y" else verb}
        elif verb.endswith("e"):
            found.add(f"{verb[:-1]}{ending}")
        elif verb.endswith("y") and ending == "ed":
            found |= {f"{verb[:-1]}ied", f"{verb}ed"}
        else:
            found |= {f"{verb}{ending}", f"{verb}{verb[-1]}{ending}"}
    return frozenset(found)


_PURE_VERBS = frozenset(_VERBS) - _ACTIONS
_VERB_FORMS = _PURE_VERBS | (_forms(_PURE_VERBS, "s") - _ACTIONS)
_ACTION_FORMS = _ACTIONS | _forms(_ACTIONS, "s")
_PARTICIPLES = _forms((*_VERBS, *_ACTIONS), "ed")
_GERUNDS = _forms((*_VERBS, *_ACTIONS), "ing")


@lru_cache(maxsize=50_000)
def word_class(word: str) -> WordClass:
    """The class of a word in lower case."""
    listed = _LISTED.get(word)
    if listed is not None:
        return listed
    if word.isascii() and word.isalpha():
        return _class_by_ending(word)
    if "-" in word and word.endswith((*_ADJECTIVE_ENDINGS, "ed", "ing")):
        return WordClass.ADJECTIVE
    if word.startswith(_ADJECTIVE_PREFIXES):
        return WordClass.ADJECTIVE
    # "re-read", "re-runs": a verb, if it is one without the prefix.
    if word.startswith("re-") and word_class(word[3:]) in (WordClass.VERB, WordClass.ACTION):
        return WordClass.VERB
    return WordClass.NOUN


def _class_by_ending(word: str) -> WordClass:
    if word.startswith("un") and _LISTED.get(word[2:]) in _NEGATED:
        return WordClass.ADJECTIVE
    if word.endswith("ly") and len(word) > 4:
        return WordClass.OTHER
    if word.endswith("ed") and len(word) > 4 and not word.endswith("eed"):
        return WordClass.PARTICIPLE
    if word.endswith("ing") and len(word) > 5:
        return WordClass.GERUND
    if word.endswith(_ADJECTIVE_ENDINGS) and len(word) > 5:
        return WordClass.ADJECTIVE
    return WordClass.NOUN


# What "un-" makes an adjective of: "uncaught", "unread", "unpinned".
_NEGATED = frozenset((WordClass.VERB, WordClass.PARTICIPLE, WordClass.ADJECTIVE))


def is_generic(word: str) -> bool:
    """Whether every project uses this noun (in lower case), so that it hardly says what is meant,
    even beside another such word."""
    return word in _GENERIC


def is_common(word: str) -> bool:
    """Whether many projects use this noun (in lower case), so that alone it names nothing."""
    return word in _COMMON or word in _GENERIC


def _list_classes() -> dict[str, WordClass]:
    """The class of every listed word. A word on several lists has the class of the last of them."""
    lists = (
        (WordClass.PARTICIPLE, _PARTICIPLES),
        (WordClass.GERUND, _GERUNDS),
        (WordClass.NOUN, _NOT_ADVERBS | _NOT_ADJECTIVES | _GENERIC | _COMMON),
        (WordClass.ADJECTIVE, _ADJECTIVES),
        (WordClass.VERB, _VERB_FORMS),
        (WordClass.ACTION, _ACTION_FORMS),
        (WordClass.NOUN, _NOUN_GERUNDS),
        (WordClass.VERB, _PAST_FORMS),
        (WordClass.VAGUE, _VAGUE | _VAGUE_PARTICIPLES),
        (WordClass.OTHER, _FOREIGN | _CUT_OFF | STOPWORDS | _OTHERS),
        (WordClass.VERB, _VERBS_ONLY),
        (WordClass.PREPOSITION, _PREPOSITIONS),
        (WordClass.VERB_CUE, _VERB_CUES),
        (WordClass.SUBJECT, _SUBJECTS),
        (WordClass.DETERMINER, _DETERMINERS),
    )
    return {word: kind for kind, words in lists for word in words}


_LISTED = _list_classes()
