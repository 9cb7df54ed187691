"""Every key here is made up, and put together from pieces."""

import base64
import re
import string

import pytest
from bench.secrets import PARTS, innocent_lines, marked, survivors
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.capture.key_runs import long_runs
from holdfast.capture.redact import Redactor
from holdfast.capture.secret_formats import (
    BASE64_FORMATS,
    BROKEN_PREFIX_FORMATS,
    KEY_FORMATS,
    SecretFormat,
)
from holdfast.capture.secret_names import entropy
from holdfast.capture.secrets import (
    ALWAYS_TRIED,
    DISCORD_RULE,
    FORMAT_RULES,
    MAILCHIMP_RULE,
    NAMED_SECRETS,
    SHAPE_RULES,
    find_assigned_secrets,
    has_secret_sign,
)

REDACTOR = Redactor()
MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6" * 6
HEX = "0123456789abcdef" * 16
UPPER = "A1B2C3D4E5F6G7H8" * 8
_ALPHABETS = {"": MIXED, "h": HEX, "H": HEX.upper(), "u": UPPER, "d": "1234567890" * 4}
FORMATS = (*KEY_FORMATS, *BROKEN_PREFIX_FORMATS, *BASE64_FORMATS)


def example_key(template: str) -> str:
    """The key that the template of a format stands for."""
    return re.sub(r"\{([hHud]?)(\d+)\}", lambda m: _ALPHABETS[m[1]][: int(m[2])], template)


KEYS = [
    *((row.kind, example_key(row.example)) for row in FORMATS),
    ("aws-key", "ASI" + "A" + UPPER[:16]),
    ("openai-key", "sk-" + MIXED[:48]),
    ("stripe-key", "whsec" + "_" + MIXED[:32]),
    ("telegram-token", "123456789" + ":A" + "A" + MIXED[:33]),
    ("azure-secret", MIXED[:3] + "8Q" + "~" + MIXED[:34]),
    ("terraform-token", MIXED[:14] + ".atlas" + "v1." + MIXED[:67]),
    ("discord-token", "M" + "T" + MIXED[:24] + "." + MIXED[:6] + "." + MIXED[:38]),
    ("mailchimp-key", HEX[:32] + "-us" + "14"),
]
KEY_IDS = [f"{kind}-{key[:6]}" for kind, key in KEYS]


GLUED_KEYS = [pytest.param(kind, key, id=id) for (kind, key), id in zip(KEYS, KEY_IDS, strict=True)]


def clean(text: str) -> str:
    return REDACTOR.redact(text).text


KEY_RULES = (*FORMAT_RULES, *SHAPE_RULES, DISCORD_RULE, MAILCHIMP_RULE)


def test_every_kind_of_key_has_an_example_here() -> None:
    assert {rule.kind for rule in KEY_RULES} - {"aws-secret"} == {kind for kind, _ in KEYS}


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.example)
def test_every_format_says_where_it_is_documented_and_its_example_begins_with_a_prefix(
    row: SecretFormat,
) -> None:
    assert row.source.startswith(("https://", "docs/"))
    assert row.example.startswith(tuple(row.prefixes.split()))


@pytest.mark.parametrize(("kind", "key"), KEYS, ids=KEY_IDS)
def test_a_key_is_replaced_by_a_typed_marker_and_counted(kind: str, key: str) -> None:
    redacted = REDACTOR.redact(f"Use {key} here, and {key} there.")

    assert redacted.text == f"Use [redacted:{kind}] here, and [redacted:{kind}] there."
    assert redacted.counts == {kind: 2}


@pytest.mark.parametrize(("kind", "key"), KEYS, ids=KEY_IDS)
def test_a_truncated_key_is_not_a_key(kind: str, key: str) -> None:
    assert clean(f"Use {key[:12]} here.") == f"Use {key[:12]} here."


@pytest.mark.parametrize(
    "text",
    [
        "commit 0123456789abcdef0123456789abcdef01234567",
        "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 was used",
        "sk-learn-contrib",
        "task-management-and-scheduling-service",
        "the token is invalid",
        "password: required",
        "password = getpass.getpass()",
        "api_key = os.environ['API_KEY']",
        "token: string",
        'secret = "your-secret-here"',
        "const token = await getToken();",
        "API_KEY=<your-key>",
        "API_KEY=$SECRET",
        "http://localhost:8080/path",
        "git@github.com:org/repo.git",
        "postgres://user:<password>@host/db",
        "the bearer of good news arrived at the station",
        "curl -u user https://x.org",
        "--token-limit 5000",
        "a[key]=value&sort=asc",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "a private matter",
    ],
)
def test_text_that_only_resembles_a_secret_is_kept(text: str) -> None:
    assert REDACTOR.redact(text) == (text, {})


SECRET = "hX7" + "q9Zp2Lm4"


ENCODED = base64.b64encode(b"deploy:hX7q9Zp2Lm4").decode()
AWS_SECRET = "wJ" + MIXED[:20] + "/+" + MIXED[20:36]
NAMED_TEXTS = [
    (f"DB_PASSWORD={SECRET}", "env"),
    (f"export API_TOKEN='{SECRET}'", "env"),
    (f"+STRIPE_SECRET_KEY={SECRET}", "env"),
    (f"A=1\nSENTRY_DSN={SECRET}\nB=2", "env"),
    (f'api_key = "{SECRET}"', "secret"),
    (f'"password": "{SECRET}"', "secret"),
    (f"clientSecret: '{SECRET}'", "secret"),
    (f"access_token={SECRET}", "secret"),
    (f"auth-token => {SECRET}", "secret"),
    (f"X-Api-Key: {SECRET}", "secret"),
    (f"postgres://app:{SECRET}@db.internal:5432/main", "password"),
    (f"redis://:{SECRET}@cache", "password"),
    (f"https://bot:{SECRET}@github.com/org/repo", "password"),
    (f"Authorization: Bearer {SECRET}{SECRET}", "bearer"),
    (f"authorization: Basic {SECRET}{SECRET}", "bearer"),
    (f"bearer {SECRET}{SECRET}", "bearer"),
    (f"Cookie: session={SECRET}; theme=dark", "cookie"),
    (f"set-cookie: sid={SECRET}", "cookie"),
    (f"curl -u admin:{SECRET} https://x.org", "secret"),
    (f"curl -s --user 'admin:{SECRET}' https://x.org", "secret"),
    (f"deploy --password {SECRET}", "secret"),
    (f"deploy --token={SECRET}", "secret"),
    (f"deploy --api-key '{SECRET}'", "secret"),
    (f"GET /x?access_token={SECRET}{SECRET}", "secret"),
    (f"GET /x?a=b&sig={SECRET}{SECRET}", "secret"),
    (
        "-----BEGIN RSA " + f"PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        "private-key",
    ),
    ("-----BEGIN OPENSSH " + f"PRIVATE KEY-----\n{SECRET}\ncut off", "private-key"),
    (f"<private>{SECRET}</private>", "private"),
    (f"docker run -e PGPASSWORD={SECRET} postgres", "env"),
    (f'{{"content":"A=1\\nDB_PASSWORD={SECRET}\\nB=2"}}', "env"),
    (f'{{\\"api_key\\": \\"{SECRET}\\"}}', "secret"),
    (f"az login --service-principal -u app -p {SECRET} --tenant t", "secret"),
    (f"docker login -u me -p '{SECRET}' ghcr.io", "secret"),
    (f"redis-cli -h cache -a {SECRET} ping", "secret"),
    (f"backup --account-key {SECRET}", "secret"),
    (f"kubectl create secret generic x --from-literal=first={SECRET}", "secret"),
    (f"machine api.example.com login me password {SECRET}", "secret"),
    (f"machine api.example.com\n  login me\n  password {SECRET}", "secret"),
    (f"default login anonymous password {SECRET}", "secret"),
    (f'{{"auths": {{"ghcr.io": {{"auth": "{ENCODED}"}}}}}}', "docker-auth"),
    (f"//registry.example.com/:_auth={ENCODED}", "docker-auth"),
    (f"aws configure set aws_secret_access_key {AWS_SECRET}", "aws-secret"),
    (f"kind: Secret\ndata:\n  first: {ENCODED}\ntype: Opaque", "kubernetes-secret"),
    (f"data:\n    first: {ENCODED}\n    b: YQ==\nkind: Secret", "kubernetes-secret"),
    (f'{{"kind":"Secret","data":{{"first":"{ENCODED}"}}}}', "kubernetes-secret"),
    (f"kind: Secret\nstringData:\n  first: {SECRET}", "kubernetes-secret"),
]


@pytest.mark.parametrize(("text", "kind"), NAMED_TEXTS)
def test_the_value_of_a_named_secret_is_redacted(text: str, kind: str) -> None:
    redacted = REDACTOR.redact(f"Before.\n{text}\nAfter.")

    assert not any(secret in redacted.text for secret in (SECRET, ENCODED, AWS_SECRET))
    assert redacted.counts == {kind: 1}
    assert redacted.text.startswith("Before.\n")


def test_every_kind_of_rule_is_tested() -> None:
    kinds = {rule.kind for rule in (*ALWAYS_TRIED, *NAMED_SECRETS)}
    kinds |= {"env", "private"}

    assert kinds == {kind for _, kind in NAMED_TEXTS} | {"stripe-key"}


def test_text_around_a_secret_is_kept() -> None:
    assert clean(f"DB_PASSWORD={SECRET} # prod") == "DB_PASSWORD=[redacted:env] # prod"
    assert clean(f"postgres://app:{SECRET}@db/x") == "postgres://app:[redacted:password]@db/x"
    assert clean(f'api_key = "{SECRET}", x') == 'api_key = "[redacted:secret]", x'


def test_private_passages_are_removed_even_if_unclosed_and_in_any_case() -> None:
    assert clean("a <private>b\nc</private> d") == "a [redacted:private] d"
    assert (
        clean("a <PRIVATE>b</Private> d <private>e") == "a [redacted:private] d [redacted:private]"
    )
    assert clean("<private>[redacted:x] and more</private>") == "[redacted:private]"


@pytest.mark.parametrize("start", ["my", "some", "import", "$", "your"])
def test_a_password_that_starts_like_a_placeholder_is_redacted(start: str) -> None:
    text = clean(f'password = "{start}{SECRET}"')

    assert SECRET not in text


def test_patterns_of_the_settings_are_applied() -> None:
    own = Redactor([("customer", r"CUST-\d{6}")])

    assert own.redact("See CUST-123456 now") == ("See [redacted:customer] now", {"customer": 1})
    assert own.redact("See CUST-12 now") == ("See CUST-12 now", {})


def test_every_kind_is_counted_separately() -> None:
    keys = dict(KEYS)
    aws, token = keys["aws-key"], keys["github-token"]

    assert REDACTOR.redact(f"{aws} {token} {aws}").counts == {"aws-key": 2, "github-token": 1}


AROUND = st.text(max_size=60)
# What may touch a key: anything but what a key itself is made of.
BORDER = st.sampled_from(list(" \n\t'\"`(),;<>|[]{}!#@"))


@pytest.mark.slow
@settings(max_examples=100)
@given(planted=st.sampled_from(KEYS), before=AROUND, after=AROUND, left=BORDER, right=BORDER)
def test_a_planted_key_never_survives(
    planted: tuple[str, str], before: str, after: str, left: str, right: str
) -> None:
    _, key = planted

    redacted = REDACTOR.redact(f"{before}{left}{key}{right}{after}")

    assert key not in redacted.text
    assert sum(redacted.counts.values()) >= 1


@pytest.mark.parametrize(("kind", "key"), GLUED_KEYS)
def test_a_key_among_punctuation_without_spaces_never_survives(kind: str, key: str) -> None:
    for text in (f"密钥是{key}的", f"schlüssel:{key}", f"“{key}”"):
        assert key not in clean(text)


@pytest.mark.parametrize(("kind", "key"), GLUED_KEYS)
def test_a_key_after_an_escaped_newline_never_survives(kind: str, key: str) -> None:
    # As in the JSON of a tool's input: backslash, n, and the key at once.
    assert key not in clean(f'{{"content":"first\\n{key}\\nlast"}}')


PIECES = st.lists(
    st.sampled_from(
        [
            *(key for _, key in KEYS),
            *"password= token: secret api_key --password ?key= bearer Cookie: curl -u a:".split(),
            "DB_PASSWORD=",
            "<private>",
            "</private>",
            "[redacted:env]",
            "-----BEGIN " + "PRIVATE KEY-----",
            "://u:",
            "@",
            '"',
            SECRET,
            SECRET[:9],
        ]
    )
    | st.text(string.printable, max_size=8),
    max_size=8,
)
GLUE = st.sampled_from([" ", "\n", "\t"])


@pytest.mark.slow
@settings(max_examples=100)
@given(pieces=PIECES, glue=GLUE)
def test_redacting_twice_changes_nothing(pieces: list[str], glue: str) -> None:
    once = REDACTOR.redact(glue.join(pieces))
    twice = REDACTOR.redact(once.text)

    assert twice.text == once.text


def test_a_key_directly_after_another_is_redacted() -> None:
    keys = dict(KEYS)

    assert "ant-" not in clean(keys["digitalocean-token"] + keys["anthropic-key"])


def test_a_long_secret_inside_another_is_redacted_once() -> None:
    redacted = REDACTOR.redact(f"password:token:{SECRET}{SECRET}")

    assert redacted == ("password:[redacted:secret]", {"secret": 1})


def test_a_bearer_token_in_short_parts_is_redacted() -> None:
    assert clean("Bearer abc1.def2.ghi3.jkl4") == "Bearer [redacted:bearer]"


def test_a_secret_inside_another_leaves_one_complete_marker() -> None:
    text = clean("password:token:" + "Abc1" + "23xy")

    assert "23xy" not in text
    assert not re.sub(r"\[redacted:[a-z-]+\]", "", text).endswith("]")


def finds_nothing(text: str) -> bool:
    rules = (*ALWAYS_TRIED, *KEY_RULES, *NAMED_SECRETS)
    hits = [
        match
        for rule in rules
        for match in rule.pattern.finditer(text)
        if rule.replacement(match) is not None
    ]
    return not hits and not find_assigned_secrets(text, text.lower())


@pytest.mark.slow
@settings(max_examples=100)
@given(pieces=PIECES, glue=GLUE)
def test_the_fast_path_never_skips_what_a_rule_would_redact(pieces: list[str], glue: str) -> None:
    text = glue.join(pieces)

    assert long_runs(text).text or has_secret_sign(text) or finds_nothing(text)


PREFIXES = [(row, prefix) for row in FORMATS for prefix in row.prefixes.split()]


@pytest.mark.parametrize(
    ("row", "prefix"), [pytest.param(*pair, id=f"{pair[0].kind}-{pair[1]}") for pair in PREFIXES]
)
def test_every_prefix_of_every_format_is_searched_for(row: SecretFormat, prefix: str) -> None:
    shown = next(known for known in row.prefixes.split() if row.example.startswith(known))
    key = prefix + example_key(row.example).removeprefix(shown)

    places = ("", "see ", "a-", "\\n", "(", "é")
    assert [before for before in places if key in clean(f"{before}{key} ")] == []


@pytest.mark.parametrize(
    "text",
    [
        "xo" + "xb-1234567890",
        "whsec" + "_" + "abcd+efgh/ijkl+mnop/qrst",
        "BEARER " + "abc1.def2.ghi3.jkl4",
        "S" + "G." + MIXED[:16] + "." + MIXED[:16],
        "hooks.slack" + ".com/services/" + "T0001/B0001/abcdefghijklmno",
    ],
)
def test_the_shortest_match_of_every_rule_is_redacted(text: str) -> None:
    assert not finds_nothing(text)
    assert clean(text) != text


def test_long_runs_returns_every_long_run_and_nothing_else() -> None:
    run = "a-b_C" * 4

    assert long_runs(f"short {run}/x é{run}").text == f"{run} {run}"
    assert long_runs("short words only").text == ""
    assert long_runs("x" * 14).text == ""
    assert long_runs("x" * 18).text == "x" * 18


def test_entropy_is_in_bits_per_character() -> None:
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_nearly_every_secret_of_every_format_is_taken_out(part: str) -> None:
    total, survived = survivors(part, Redactor())

    assert survived.total() <= 0.03 * total, survived


@pytest.mark.parametrize("part", PARTS)
def test_hardly_any_innocent_line_is_marked(part: str) -> None:
    assert len(marked(part, Redactor())) <= 0.02 * len(innocent_lines(part))


@pytest.mark.parametrize(
    "line",
    [
        "TESTS_PASSED=128",
        "MONKEY=banana1",
        "AUTH_TOKEN_URL=https://login.example.com/oauth2/v2.0/token",
        "sk-icon-button-primary-large-2",
        "STRIPE_KEY=sk_test_xxxxxxxxxxxx",
        "passArchitecture: 'two-phase-v2-review'",
        "data:image/png;base64,iVBORw0KGgo/EAAC" + MIXED[:90] + "/abc=",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  first: aGVsbG8gd29ybGQ=",
        "apiVersion: v1\nkind: Secret\n---\nkind: ConfigMap\ndata:\n  first: aGVsbG8gd29ybGQ=",
        "kubectl create configmap x --from-literal=first=hX7q9Zp2Lm4",
        "machine learning with login form and password field",
    ],
)
def test_a_line_that_only_begins_like_a_secret_is_kept(line: str) -> None:
    assert clean(line) == line
