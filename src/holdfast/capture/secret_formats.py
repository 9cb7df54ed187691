"""The published formats of secrets, as data: what a key begins with, and what follows.

The formats are facts from the documentation of the services, and from what the scanners gitleaks
and detect-secrets look for. A row is all that a new format needs: `capture/secrets` makes a rule of
it, `capture/key_runs` lets texts with its prefix pass, and tests try its example.

- `kind` is shown in the mark that replaces the secret, and may occur in several rows.
- `prefixes` are what the secret begins with, separated by blanks.
- `rest` is a regular expression of what follows: its alphabet and its length. Lengths are a little
  wider than documented where services have changed theirs.
- `source` says where the format is documented.
- `example` is a template of the secret, so that no scanner takes it for one: `{36}` stands for 36
  letters and digits, `{h40}` for 40 hexadecimal digits, `{H8}` for such in capitals, `{u16}` for
  capitals and digits, `{d12}` for digits.
"""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple

_GITHUB = "https://docs.github.com/en/authentication"
_GITLAB = "https://docs.gitlab.com/security/tokens/"
_GITLEAKS = "https://github.com/gitleaks/gitleaks"
_SENTRY = "https://docs.sentry.io/account/auth-tokens/"
_SLACK = "https://api.slack.com/concepts/token-types"
_GRAFANA = "https://grafana.com/docs/grafana/latest/administration/service-accounts/"
_SHOPIFY = "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens"
_PLANETSCALE = "https://planetscale.com/docs/concepts/connection-strings"
_SUPABASE = "https://supabase.com/docs/guides/api/api-keys"
_NEW_RELIC = "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"
_POSTHOG = "https://posthog.com/docs/api"
_SONAR = "https://docs.sonarsource.com/sonarqube-server/latest/user-guide/managing-tokens/"
_TAILSCALE = "https://tailscale.com/kb/1252/key-secret-management"
_ATLASSIAN = "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens/"
_LANGCHAIN = "https://docs.smith.langchain.com/administration"
_FLY = "https://fly.io/docs/security/tokens/"
_DOCKER = "https://docs.docker.com/security/access-tokens/"


class SecretFormat(NamedTuple):
    """One format; the fields are described above."""

    kind: str
    prefixes: str
    rest: str
    source: str
    example: str


# A run of at least 15 letters, digits, `_` and `-` begins with the prefix.
KEY_FORMATS: tuple[SecretFormat, ...] = (
    # Clouds
    SecretFormat(
        "aws-key",
        "AKIA ASIA ABIA ACCA",
        r"[0-9A-Z]{16}\b",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
        "AKIA{u16}",
    ),
    SecretFormat(
        "google-key",
        "AIza",
        r"[0-9A-Za-z_-]{30,}",
        "https://cloud.google.com/docs/authentication/api-keys",
        "AIza{35}",
    ),
    SecretFormat(
        "google-client-secret",
        "GOCSPX-",
        r"[0-9A-Za-z_-]{20,}",
        "https://developers.google.com/identity/protocols/oauth2",
        "GOCSPX-{28}",
    ),
    SecretFormat(
        "alibaba-key",
        "LTAI",
        r"[A-Za-z0-9]{12,24}\b",
        "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
        "LTAI{20}",
    ),
    SecretFormat(
        "digitalocean-token",
        "doo_v1_ dop_v1_ dor_v1_",
        r"[0-9a-f]{40,}",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
        "dop_v1_{h64}",
    ),
    SecretFormat(
        "heroku-key",
        "HRKU-",
        r"[0-9A-Za-z_-]{30,}",
        "https://devcenter.heroku.com/articles/authentication",
        "HRKU-AA{58}",
    ),
    SecretFormat("fly-token", "fo1_", r"[A-Za-z0-9_-]{40,}", _FLY, "fo1_{43}"),
    SecretFormat(
        "netlify-token",
        "nfp_ nfc_ nfo_ nfu_",
        r"[A-Za-z0-9]{30,}",
        "https://docs.netlify.com/api/get-started/",
        "nfp_{36}",
    ),
    SecretFormat(
        "pulumi-token",
        "pul-",
        r"[0-9a-f]{40}\b",
        "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
        "pul-{h40}",
    ),
    SecretFormat("scalingo-token", "tk-us-", r"[A-Za-z0-9_-]{48}\b", _GITLEAKS, "tk-us-{48}"),
    # Models and search
    SecretFormat(
        "anthropic-key",
        "sk-ant-",
        r"[A-Za-z0-9_-]{16,}",
        "https://docs.anthropic.com/en/api/overview",
        "sk-ant-api03-{40}",
    ),
    SecretFormat(
        "openai-key",
        "sk-",
        r"(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}",
        "https://platform.openai.com/docs/api-reference/authentication",
        "sk-proj-{48}",
    ),
    SecretFormat(
        "xai-key",
        "xai-",
        r"[A-Za-z0-9]{40,}",
        "https://docs.x.ai/docs/tutorial",
        "xai-{80}",
    ),
    SecretFormat(
        "groq-key",
        "gsk_",
        r"[A-Za-z0-9]{40,}",
        "https://console.groq.com/docs/quickstart",
        "gsk_{52}",
    ),
    SecretFormat(
        "huggingface-token",
        "hf_ api_org_",
        r"[A-Za-z0-9]{30,}",
        "https://huggingface.co/docs/hub/security-tokens",
        "hf_{34}",
    ),
    SecretFormat(
        "holdfast-key",
        "hf_",
        r"[0-9a-f]{8}_?[A-Za-z0-9_-]{32,}",
        "docs/operations.md",
        "hf_{h8}_{34}",
    ),
    SecretFormat(
        "replicate-token",
        "r8_",
        r"[A-Za-z0-9]{30,}",
        "https://replicate.com/docs/reference/http",
        "r8_{37}",
    ),
    SecretFormat(
        "perplexity-key",
        "pplx-",
        r"[A-Za-z0-9]{40,}",
        "https://docs.perplexity.ai/guides/getting-started",
        "pplx-{48}",
    ),
    SecretFormat(
        "nvidia-key",
        "nvapi-",
        r"[A-Za-z0-9_-]{40,}",
        "https://docs.api.nvidia.com/nim/reference/llm-apis",
        "nvapi-{64}",
    ),
    SecretFormat(
        "fireworks-key",
        "fw_",
        r"[A-Za-z0-9]{20,}",
        "https://docs.fireworks.ai/api-reference/introduction",
        "fw_{24}",
    ),
    SecretFormat(
        "together-key", "tgp_v1_", r"[A-Za-z0-9_-]{30,}", "https://docs.together.ai", "tgp_v1_{43}"
    ),
    SecretFormat(
        "tavily-key",
        "tvly-",
        r"(?:dev-|prod-)?[A-Za-z0-9]{24,}",
        "https://docs.tavily.com/documentation/api-reference/introduction",
        "tvly-dev-{32}",
    ),
    SecretFormat(
        "firecrawl-key", "fc-", r"[0-9a-f]{32}\b", "https://docs.firecrawl.dev", "fc-{h32}"
    ),
    SecretFormat(
        "pinecone-key",
        "pcsk_",
        r"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}",
        "https://docs.pinecone.io/guides/projects/manage-api-keys",
        "pcsk_{6}_{60}",
    ),
    SecretFormat(
        "langsmith-key",
        "lsv2_pt_ lsv2_sk_",
        r"[0-9a-f]{32}_[0-9a-f]{10}\b",
        _LANGCHAIN,
        "lsv2_pt_{h32}_{h10}",
    ),
    SecretFormat("langsmith-key", "ls__", r"[0-9a-f]{32}\b", _LANGCHAIN, "ls__{h32}"),
    SecretFormat(
        "langfuse-key",
        "sk-lf- pk-lf-",
        r"[0-9a-f]{8}-[0-9a-f-]{20,27}\b",
        "https://langfuse.com/docs",
        "pk-lf-{h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    # Forges and registries
    SecretFormat(
        "github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}", _GITHUB, "ghp_{36}"
    ),
    SecretFormat("github-token", "github_pat_", r"[A-Za-z0-9_]{20,}", _GITHUB, "github_pat_{40}"),
    SecretFormat(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
        r"[A-Za-z0-9_-]{18,}(?:\.[0-9a-z]{9})?",
        _GITLAB,
        "glpat-{20}",
    ),
    SecretFormat("gitlab-token", "GR1348941", r"[A-Za-z0-9_-]{20,}", _GITLAB, "GR1348941{20}"),
    SecretFormat(
        "bitbucket-password",
        "ATBB",
        r"[A-Za-z0-9]{32}\b",
        "https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/",
        "ATBB{32}",
    ),
    SecretFormat(
        "atlassian-token",
        "ATATT3 ATCTT3 ATSTT3",
        r"[A-Za-z0-9_-]{50,}(?:=[0-9A-F]{8}\b)?",
        _ATLASSIAN,
        "ATATT3xFfGF0{170}={H8}",
    ),
    SecretFormat(
        "npm-token",
        "npm_",
        r"[A-Za-z0-9]{30,}",
        "https://docs.npmjs.com/about-access-tokens",
        "npm_{36}",
    ),
    SecretFormat(
        "pypi-token", "pypi-", r"[A-Za-z0-9_-]{50,}", "https://pypi.org/help/#apitoken", "pypi-{60}"
    ),
    SecretFormat(
        "rubygems-token",
        "rubygems_",
        r"[0-9a-f]{48}\b",
        "https://guides.rubygems.org/api-key-scopes/",
        "rubygems_{h48}",
    ),
    SecretFormat(
        "crates-token", "cio", r"[A-Za-z0-9]{32}\b", "https://crates.io/settings/tokens", "cio{32}"
    ),
    SecretFormat("clojars-token", "CLOJARS_", r"[0-9a-f]{60}\b", _GITLEAKS, "CLOJARS_{h60}"),
    SecretFormat(
        "docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,}", _DOCKER, "dckr_pat_{27}"
    ),
    SecretFormat("artifactory-key", "AKCp", r"[A-Za-z0-9]{60,}\b", _GITLEAKS, "AKCp{69}"),
    SecretFormat("artifactory-key", "cmVmd", r"[A-Za-z0-9]{59}\b", _GITLEAKS, "cmVmd{59}"),
    # Building and deploying
    SecretFormat(
        "circleci-token",
        "CCIPAT_ CCIPRJ_",
        r"[A-Za-z0-9]{16,24}_[0-9a-f]{40}\b",
        "https://circleci.com/docs/managing-api-tokens/",
        "CCIPAT_{22}_{h40}",
    ),
    SecretFormat(
        "buildkite-token",
        "bkua_ bkct_",
        r"[0-9A-Za-z]{40}\b",
        "https://buildkite.com/docs/apis/managing-api-tokens",
        "bkua_{h40}",
    ),
    SecretFormat("sonar-token", "squ_ sqp_ sqa_", r"[0-9a-f]{40}\b", _SONAR, "squ_{h40}"),
    SecretFormat("prefect-token", "pnu_ pnb_", r"[A-Za-z0-9]{36}\b", _GITLEAKS, "pnu_{36}"),
    SecretFormat("infracost-key", "ico-", r"[A-Za-z0-9]{32}\b", _GITLEAKS, "ico-{32}"),
    SecretFormat("octopus-key", "API-", r"[A-Z0-9]{25,26}\b", _GITLEAKS, "API-{u26}"),
    SecretFormat(
        "launchdarkly-key",
        "api- sdk-",
        r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
        "https://launchdarkly.com/docs/home/account/api",
        "api-{h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    # Data and monitoring
    SecretFormat(
        "databricks-token",
        "dapi",
        r"[0-9a-f]{32}(?:-\d)?\b",
        "https://docs.databricks.com/en/dev-tools/auth/pat.html",
        "dapi{h32}",
    ),
    SecretFormat(
        "planetscale-secret",
        "pscale_pw_ pscale_tkn_ pscale_oauth_",
        r"[A-Za-z0-9_=.-]{30,}",
        _PLANETSCALE,
        "pscale_pw_{43}",
    ),
    SecretFormat("supabase-token", "sbp_", r"(?:v0_)?[0-9a-f]{40}\b", _SUPABASE, "sbp_{h40}"),
    SecretFormat("supabase-key", "sb_secret_", r"[A-Za-z0-9_-]{20,}", _SUPABASE, "sb_secret_{31}"),
    SecretFormat(
        "airtable-token",
        "pat",
        r"[A-Za-z0-9]{14}\.[0-9a-f]{64}\b",
        "https://airtable.com/developers/web/guides/personal-access-tokens",
        "pat{14}.{h64}",
    ),
    SecretFormat("clickhouse-key", "4b1d", r"[A-Za-z0-9]{38}\b", _GITLEAKS, "4b1d{38}"),
    SecretFormat(
        "sentry-token", "sntryu_ sntrya_ sntryi_", r"[0-9a-f]{64}\b", _SENTRY, "sntryu_{h64}"
    ),
    SecretFormat(
        "grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}\b", _GRAFANA, "glsa_{32}_{h8}"
    ),
    SecretFormat(
        "newrelic-key", "NRAK- NRAL- NRJS-", r"[A-Za-z0-9]{19,}", _NEW_RELIC, "NRAK-{u27}"
    ),
    SecretFormat("newrelic-key", "NRII- NRIQ-", r"[A-Za-z0-9_-]{32,}", _NEW_RELIC, "NRII-{32}"),
    SecretFormat("posthog-key", "phx_ phs_", r"[A-Za-z0-9_-]{30,}", _POSTHOG, "phx_{43}"),
    # Work and design
    SecretFormat(
        "linear-key",
        "lin_api_ lin_oauth_",
        r"[A-Za-z0-9]{30,}",
        "https://linear.app/developers/graphql",
        "lin_api_{40}",
    ),
    SecretFormat(
        "notion-token",
        "ntn_ secret_",
        r"(?:[0-9]{11}[A-Za-z0-9]{35}|[A-Za-z0-9]{43})\b",
        "https://developers.notion.com/docs/authorization",
        "ntn_{d11}{35}",
    ),
    SecretFormat(
        "figma-token",
        "figd_ figu_ figo_ figor_",
        r"[A-Za-z0-9_-]{30,}",
        "https://www.figma.com/developers/api#access-tokens",
        "figd_{40}",
    ),
    SecretFormat(
        "postman-key",
        "PMAK-",
        r"[0-9a-f]{24}-[0-9a-f]{34}\b",
        "https://learning.postman.com/docs/developer/postman-api/authentication/",
        "PMAK-{h24}-{h34}",
    ),
    SecretFormat(
        "readme-key", "rdme_", r"[a-z0-9]{60,}", "https://docs.readme.com", "rdme_{h64}{h6}"
    ),
    SecretFormat("sourcegraph-token", "sgp_", r"[A-Za-z0-9_]{40,}", _GITLEAKS, "sgp_{h40}"),
    # Messages and payments
    SecretFormat(
        "slack-token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-",
        r"[A-Za-z0-9-]{10,}",
        _SLACK,
        "xoxb-{d12}-{24}",
    ),
    SecretFormat(
        "facebook-token",
        "EAAC EAAG EAAB EAAD EAAF EAAH EAAI EAAJ EAAK EAAL EAAM EAAN EAAO EAAP",
        r"[A-Za-z0-9]{80,}",
        "https://developers.facebook.com/docs/facebook-login/guides/access-tokens",
        "EAAC{120}",
    ),
    SecretFormat(
        "square-token",
        "EAAAE EAAAF EAAAl sq0atp- sq0csp- sq0idp-",
        r"[A-Za-z0-9_-]{22,}",
        "https://developer.squareup.com/docs/build-basics/access-tokens",
        "EAAAE{59}",
    ),
    SecretFormat(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ sk_prod_ rk_prod_",
        r"[A-Za-z0-9]{10,}",
        "https://docs.stripe.com/keys",
        "sk_live_{24}",
    ),
    SecretFormat(
        "shopify-token",
        "shpat_ shpca_ shppa_ shpss_",
        r"[0-9a-fA-F]{32}\b",
        _SHOPIFY,
        "shpat_{h32}",
    ),
    SecretFormat(
        "twilio-key",
        "SK AC",
        r"[0-9a-f]{32}\b",
        "https://www.twilio.com/docs/iam/api-keys",
        "SK{h32}",
    ),
    SecretFormat(
        "mailgun-key",
        "key-",
        r"[0-9a-f]{32}\b",
        "https://documentation.mailgun.com/docs/mailgun/user-manual/api-key-mgmt",
        "key-{h32}",
    ),
    SecretFormat(
        "brevo-key",
        "xkeysib- xsmtpsib-",
        r"[0-9a-f]{64}-[A-Za-z0-9]{16}\b",
        "https://developers.brevo.com/docs/getting-started",
        "xkeysib-{h64}-{16}",
    ),
    SecretFormat(
        "resend-key",
        "re_",
        r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}",
        "https://resend.com/docs/api-reference/introduction",
        "re_{8}_{24}",
    ),
    SecretFormat("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}\b", _GITLEAKS, "EZAK{54}"),
    SecretFormat(
        "shippo-token",
        "shippo_live_ shippo_test_",
        r"[0-9a-f]{40}\b",
        _GITLEAKS,
        "shippo_live_{h40}",
    ),
    SecretFormat(
        "duffel-token",
        "duffel_live_ duffel_test_",
        r"[A-Za-z0-9_=-]{40,}",
        _GITLEAKS,
        "duffel_live_{43}",
    ),
    SecretFormat(
        "flutterwave-key",
        "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST-",
        r"[0-9a-h]{12,32}(?:-X)?\b",
        _GITLEAKS,
        "FLWSECK_TEST-{h32}-X",
    ),
    # Networks, identities and vaults
    SecretFormat(
        "tailscale-key",
        "tskey-",
        r"(?:[a-z]+-)?[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}",
        _TAILSCALE,
        "tskey-auth-k{10}CNTRL-{32}",
    ),
    SecretFormat(
        "age-key",
        "AGE-SECRET-KEY-1",
        r"[0-9A-Z]{50,}",
        "https://github.com/FiloSottile/age",
        "AGE-SECRET-KEY-1{u58}",
    ),
    SecretFormat(
        "1password-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b",
        "https://support.1password.com/secret-key/",
        "A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}",
    ),
    SecretFormat("adobe-secret", "p8e-", r"[A-Za-z0-9_-]{32}\b", _GITLEAKS, "p8e-{32}"),
    SecretFormat(
        "jwt",
        "eyJ",
        r"[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}",
        "https://www.rfc-editor.org/rfc/rfc7519",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.{30}",
    ),
)

# A dot, a tilde or a slash breaks the prefix. What of it stands right before a long run lets a text
# pass.
BROKEN_PREFIX_FORMATS: tuple[SecretFormat, ...] = (
    SecretFormat(
        "slack-webhook",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/\w+/\w+/[A-Za-z0-9]{15,}(?:/[A-Za-z0-9]{15,})?",
        "https://api.slack.com/messaging/webhooks",
        "hooks.slack.com/services/T{u8}/B{u8}/{24}",
    ),
    SecretFormat(
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"\d{15,20}/[A-Za-z0-9_-]{40,}",
        "https://discord.com/developers/docs/resources/webhook",
        "discord.com/api/webhooks/{d18}/{68}",
    ),
    SecretFormat(
        "teams-webhook",
        ".webhook.office.com/webhookb2/",
        r"[0-9a-f@-]{36,80}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}",
        "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors",
        ".webhook.office.com/webhookb2/{h8}-{h27}@{h36}/IncomingWebhook/{h32}/{h36}",
    ),
    SecretFormat(
        "google-token",
        "ya29.",
        r"[0-9A-Za-z_-]{20,}",
        "https://developers.google.com/identity/protocols/oauth2",
        "ya29.{40}",
    ),
    SecretFormat(
        "sendgrid-key",
        "SG.",
        r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
        "SG.{22}.{43}",
    ),
    SecretFormat(
        "vault-token",
        "hvs. hvb. hvr.",
        r"[A-Za-z0-9_-]{20,}",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
        "hvs.{24}",
    ),
    SecretFormat(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
        "https://docs.doppler.com/reference/auth-token-formats",
        "dp.pt.{43}",
    ),
    SecretFormat(
        "dynatrace-token",
        "dt0c01. dt0s01. dt0s16.",
        r"[A-Z0-9]{24}\.[A-Z0-9]{64}\b",
        "https://docs.dynatrace.com/docs/dynatrace-api/basics/dynatrace-api-authentication",
        "dt0c01.{u24}.{u64}",
    ),
    SecretFormat(
        "openshift-token",
        "sha256~",
        r"[A-Za-z0-9_-]{43}\b",
        "https://docs.openshift.com/container-platform/latest/authentication",
        "sha256~{43}",
    ),
    SecretFormat(
        "cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}", _GITLEAKS, "v1.0-{h24}-{h146}"
    ),
)

# What follows the prefix is base64, whose `+` and `/` end a run anywhere: tried where a text has
# any long run.
BASE64_FORMATS: tuple[SecretFormat, ...] = (
    SecretFormat(
        "1password-token",
        "ops_eyJ",
        r"[A-Za-z0-9+/]{100,}={0,3}",
        "https://developer.1password.com/docs/service-accounts/",
        "ops_eyJ{260}",
    ),
    SecretFormat("sentry-token", "sntrys_", r"[A-Za-z0-9+/=_-]{40,}", _SENTRY, "sntrys_{120}_{43}"),
    SecretFormat("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,}={0,3}", _GRAFANA, "glc_{90}="),
    SecretFormat(
        "grafana-token", "eyJrIjoi", r"[A-Za-z0-9]{50,}={0,3}", _GRAFANA, "eyJrIjoi{80}=="
    ),
    SecretFormat("fly-token", "fm1a_ fm1r_ fm2_", r"[A-Za-z0-9+/]{60,}={0,3}", _FLY, "fm2_{120}"),
    SecretFormat(
        "bedrock-key",
        "ABSK",
        r"[A-Za-z0-9+/]{100,}={0,2}",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
        "ABSK{120}=",
    ),
)
