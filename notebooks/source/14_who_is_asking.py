# %% [markdown]
# # 14 · Whose identity travels?
#
# At the end you hold a sign-in that gets a token for one server and sends it nowhere else, and you can
# say of each wrong caller which layer refuses it. About 70 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="transport")

# %% [markdown]
# The transport is lit. It puts the token on each request, and the server takes it off again. No layer
# above the transport ever holds one.

# %% [markdown]
# ## Nine words
#
# | word | what it is |
# |---|---|
# | authentication | finding out who is asking |
# | authorization | deciding what whoever is asking may do |
# | access token | a text, often signed, in whose name a request is made; whoever holds it is believed |
# | claim | one statement in a token, such as its subject |
# | authorization server | the service at which a person signs in, and which signs tokens |
# | issuer | the name of the authorization server that signed a token |
# | subject | the user for whom a token speaks |
# | audience | the one service that a token is made for |
# | scope | a name for something that a token allows, such as `orders:read` |

# %% [markdown]
# ## Nobody is asking
#
# The refund desk of notebook 13 runs in this process: an MCP server, the order service behind it,
# and an authorization server. Robin and Kim work there, each with customers of their own.

# %% [markdown]
# Their addresses lead nowhere outside of this process. `desk.client()` is an HTTP client that reaches
# them.

# %%
from fake_servers.refunds.desk import RefundDesk
from mini_agent.errors import AuthorizationError, McpError
from mini_agent.mcp import HttpTransport, McpClient

desk = RefundDesk()
url = await desk.start()
print(url, desk.orders_url, desk.issuer_url, sep="\n")

# %% [markdown]
# A client with no token wants to read an order of Robin's customer, and then only the list of tools.

# %% tags=["covers-http-needs-authentication"]
from textwrap import fill

OWN = {"order_id": "ord_4821"}
nobody = McpClient(HttpTransport(url, client=desk.client()), server="refunds")
for asking in (nobody.call("get_order", OWN), nobody.list_tools()):
    try:
        await asking
    except AuthorizationError as error:
        print(fill(str(error), 100, subsequent_indent="    "))

# %% [markdown]
# The server does not know who is asking, so it says nothing about orders, and does not even list its
# tools. A child process on your own machine has no such door: it runs as you.

# %% [markdown]
# > **Beside the text.** The specification gives these rules to HTTP alone. A server behind pipes takes
# > its credentials from the environment that you start it with.
#
# Specification: basic/authorization, "Protocol Requirements".

# %% [markdown]
# ## A token in a header
#
# The smallest thing that works: somebody gives us a token, and we put it into the headers of our HTTP
# client.

# %%
token = desk.issue_token("robin", "orders:read refunds:draft")
http = desk.client(token)  # now in every request that it makes
robin = McpClient(HttpTransport(url, client=http), server="refunds")
desk.traffic.clear()
result = await robin.call("get_order", OWN)
print(result.structured_content["status"])

# %% [markdown]
# The desk notes who asked whom, and what the token claimed. It never keeps a token. Nor do we print
# one: whoever reads it here could use it.

# %%
for name, value in desk.traffic[0].claims.items():
    print(f"{name:<6} {value}")

# %% [markdown]
# Issuer, audience, subject, scope. `aud` names one service. Everything that follows depends on who looks
# at these four lines, and who does not.

# %% [markdown]
# ### It goes anywhere
#
# The same HTTP client also asks for the weather, at a site of a stranger. The stranger keeps the header,
# and then uses what was in it.

# %%
from starlette.responses import JSONResponse, RedirectResponse

kept = []
OUTSIDE = "93.184.215.14"  # some address of the open internet; nothing is connected to


async def stranger(scope, receive, send):
    kept.append(dict(scope["headers"]).get(b"authorization", b"").decode())
    await JSONResponse({"weather": "fine"})(scope, receive, send)


desk.network.add("https://weather.example", stranger, OUTSIDE)
answer = await http.get("https://weather.example/today")
print(answer.json(), "· tokens that the stranger has:", len(kept))

# %%
REFUND = {**OWN, "amount_minor": 4250, "currency": "EUR", "operation_key": "by-a-stranger"}
thief = desk.client(kept[0].removeprefix("Bearer "))
await McpClient(HttpTransport(url, client=thief)).call("create_refund_draft", REFUND)
for draft in desk.store.drafts():
    print(draft.draft_id, "by", draft.subject)

# %% [markdown]
# By Robin, say the books. Whoever holds the token is believed, so the first rule is about where it goes.

# %% [markdown]
# ### It follows a redirect
#
# A careful program sends the token only to the address that it was given. Then the server answers "I
# have moved".


# %%
async def naive_post(http, url, token, body):
    answer = await http.post(url, json=body, headers={"Authorization": f"Bearer {token}"})
    if answer.has_redirect_location:
        return await naive_post(http, answer.headers["location"], token, body)
    return answer


moved = RedirectResponse("https://weather.example/mcp", 307)
desk.network.add("https://tools.example", moved, OUTSIDE)
kept.clear()
await naive_post(desk.client(), "https://tools.example/mcp", token, {})
print("tokens that the stranger has:", len(kept))

# %% [markdown]
# Our transport has one address. It follows nothing, and says where it was sent. The stranger gets
# nothing more.

# %%
fooled = HttpTransport("https://tools.example/mcp", client=desk.client(token))
try:
    await McpClient(fooled).connect()
except McpError as error:
    print(fill(str(error), 100))
print("tokens that the stranger has:", len(kept))

# %% [markdown]
# ## Eleven words for signing in
#
# | word | what it is |
# |---|---|
# | OAuth | standards by which a person lets a program act for them, without giving it their password |
# | challenge | the header of an HTTP refusal that says what is missing, and where to look for it |
# | protected resource metadata | a document in which a server says who gives tokens for it |
# | resource indicator | the address of the server that a token is wanted for, sent when the token is asked for |
# | client id | the name by which an authorization server knows a program |
# | redirect URI | the address that a browser is sent back to when a person has said yes |
# | authorization code | a text that stands for a person's yes; it is good once, and for a short time |
# | PKCE | a secret that a client shows as a hash first and as itself later, so that a stolen code is of no use |
# | state | a random text sent along with a request, which has to come back with the answer |
# | step-up | signing in once more, for one scope more |
# | refresh token | a text for which an authorization server gives a fresh access token, with nobody asked |

# %% [markdown]
# ## Where does a token come from?
#
# Nine steps lead from a 401 to an answer. We take each by hand, with the functions that the package
# uses, and break the ones that can be broken.
#
# Specification: basic/authorization, "Authorization Flow Steps".

# %% [markdown]
# ### 1 · The challenge: `parse_challenge`
#
# The refusal that we got came with a header, `WWW-Authenticate`.

# %%
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from mini_agent.mcp.auth_challenge import Challenge, parse_challenges

refused = await desk.client().post(url, json={})
header = refused.headers["www-authenticate"]
print(refused.status_code, header.replace(", ", ",\n    "))

# %% include mini_agent.mcp.auth_challenge.parse_challenge
challenge = parse_challenge(header)
print(challenge.resource_metadata, challenge.scopes, sep="\n")
print(parse_challenge('Basic realm="staff, all", bearer SCOPE="a b"').scopes)
print(parse_challenge("Negotiate"))

# %% [markdown]
# It says where to look and what this request needs. A header may hold several challenges, with commas in
# their texts. A server that says nothing gives an empty one, and then we look where the document should
# be.

# %% [markdown]
# ### 2 · Who gives tokens for it? `resource_metadata_urls`
#
# The challenge names the place of the protected resource metadata. Without it there are two places to
# look: for the server's own path first, then at the root.
#
# Specification: basic/authorization/authorization-server-discovery, "Protected Resource Metadata
# Discovery Requirements".

# %% include mini_agent.mcp.auth_metadata.RESOURCE OAUTH OPENID canonical _split resource_metadata_urls

# %%
print(*resource_metadata_urls("HTTPS://Refunds.example/mcp/?key=1"), sep="\n")

# %% tags=["covers-protected-resource-metadata"]
import json

web = desk.client()  # no token: these documents are for everybody
document = (await web.get(challenge.resource_metadata)).json()
print(json.dumps(document, indent=1))

# %% [markdown]
# Now a bad server. Its document names the refund desk as the thing that tokens are for, and the desk's
# real authorization server. Robin would sign in at a page that they know, and a token for the desk would
# go to whoever wrote the document.

# %% include mini_agent.mcp.auth_metadata.covers
BAD, ORIGIN = "https://weather.example/mcp", "https://refunds.example"
AT_PATH, AT_ROOT = resource_metadata_urls(url)
for resource, server, place in (
    (url, url, AT_PATH),
    (ORIGIN, url, AT_ROOT),
    (ORIGIN, url, AT_PATH),
    (url, BAD, AT_PATH),
):
    where = place.removeprefix(ORIGIN + RESOURCE) or "the root"
    print(f"{resource:<28} for {server:<28} at {where:<9} {covers(resource, server, place)}")

# %% [markdown]
# A document has to name the server that it is read for, and no other. At the root it may name the
# origin, whose place that is. Anywhere else the origin is another resource: a token for it would be
# good at every server of that address. `parse_resource` asks `covers` and stops there.

# %% tags=["covers-issuer-and-audience-confirmed"]
from mini_agent.mcp.addresses import Reach, Unusable
from mini_agent.mcp.auth_metadata import parse_issuer, parse_resource
from mini_agent.mcp.endpoint import checked_endpoint

resource = parse_resource(document, url, AT_PATH)
print(resource.authorization_servers)
try:
    parse_resource(document, BAD, AT_PATH)
except Unusable as why:
    print("refused:", why)

# %% [markdown]
# ### 3 · How is it asked? `issuer_metadata_urls`
#
# The authorization server has a document as well, at one of two well-known names. With a path in its
# address there are three places.
#
# Specification: basic/authorization/authorization-server-discovery, "Authorization Server Metadata
# Discovery".

# %% include mini_agent.mcp.auth_metadata.issuer_metadata_urls
[place, other] = issuer_metadata_urls(desk.issuer_url)
print(place, other, "", *issuer_metadata_urls("https://auth.example/shop"), sep="\n")

# %%
document = (await web.get(place)).json()
reach = Reach(checked_endpoint(url))
issuer = parse_issuer(document, desk.issuer_url, reach)
print(issuer.authorization_endpoint, issuer.token_endpoint, issuer.code_challenge_methods)

# %% [markdown]
# `parse_issuer` believes a document only about the issuer that was asked for, letter by letter. An
# address in it must be https, since a password, a code or a token is going to be sent there. And it
# must be within `reach`: "And our own client", below, comes back to that.

# %%
BENT = {"issuer": "https://auth.example/", "token_endpoint": "http://auth.example/token"}
for name, value in BENT.items():
    try:
        parse_issuer(document | {name: value}, desk.issuer_url, reach)
    except Unusable as why:
        print("refused:", why)

# %% [markdown]
# ### 4 · What do we ask for? `scopes_to_ask`
#
# As little as will do. What the challenge names comes first, and what the server lists only where it
# named nothing.
#
# Specification: basic/authorization, "Scope Selection Strategy".

# %% include mini_agent.mcp.auth_challenge.union scopes_to_ask

# %%
print(scopes_to_ask(challenge.scopes, resource.scopes_supported))
print(scopes_to_ask(None, ("orders:read",)))
print(scopes_to_ask(("refunds:draft",), None, before=("orders:read",)))
print(scopes_to_ask(None, None))

# %% [markdown]
# The third line is for later: who asks again keeps what was asked before. None leaves it to the
# other side. `offline_access` is the scope for a refresh token, asked for where the authorization
# server lists it.

# %% [markdown]
# The naive way is to ask for everything that is listed, and then a stolen token opens all of it.

# %% [markdown]
# ### 5 · Who are we to it? `way_to_register`
#
# Robin will be asked "may this program do that?". So the program needs a client id. Three ways, in this
# order: it was given one beforehand; its id is the address of a document about itself; it asks for one
# on the spot.
#
# Specification: basic/authorization/client-registration.

# %%
from typing import Literal

from mini_agent.mcp.auth_answers import trouble
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_registration import PreRegistered, Registered, Way

# %% include mini_agent.mcp.auth_registration.way_to_register

# %%
known = PreRegistered("refund-agent", desk.issuer_url)
DOCUMENT = "https://client.example/agent.json"
for client, own_document in ((known, ""), (None, DOCUMENT), (None, "")):
    print(way_to_register(issuer, client, own_document))

# %% [markdown]
# The revision calls the third deprecated. The desk knows our program as `refund-agent`. What one
# authorization server gave us is never shown to another: if the server now sends its users elsewhere,
# that is an error and not a detour.

# %% [markdown]
# ### 6 · A person says yes: `authorization_request`
#
# We make an address that Robin's browser opens. It ends in a redirect URI, which leads back to us. And
# we keep what the answer will be held against.

# %%
import secrets

from mini_agent.mcp.auth_code import Pending, once_each
from mini_agent.mcp.auth_forms import authorization_url, new_secret, s256
from mini_agent.mcp.messages import excerpt

# %% include mini_agent.mcp.auth_code.authorization_request

# %%
BACK = "http://127.0.0.1/callback"
agent = Registered("refund-agent", desk.issuer_url)
page, pending = authorization_request(issuer, agent, BACK, challenge.scopes, resource.resource)
print(pending.issuer, pending.redirect_uri)

# %% [markdown]
# Those two are kept, with two random texts, until the answer comes. The address itself says:

# %% tags=["covers-resource-indicator"]
asked = dict(parse_qsl(urlsplit(page).query))
for name in ("client_id", "scope", "resource", "code_challenge_method"):
    print(f"{name:<22} {asked[name]}")
for name in ("state", "code_challenge"):
    print(f"{name:<22} {len(asked[name])} characters, other ones each time")
assert pending.verifier not in page and s256(pending.verifier) == asked["code_challenge"]

# %% [markdown]
# `resource` is the resource indicator: this token is for the refund desk. `code_challenge` is the hash of
# a secret that stays here. And a server that does not say that it knows PKCE gets no person sent to it.

# %% tags=["raises-exception"]
from dataclasses import replace

weak = replace(issuer, code_challenge_methods=())
authorization_request(weak, agent, BACK, challenge.scopes, resource.resource)

# %% [markdown]
# ### 7 · What came back? `code_in`, `check_issuer`
#
# Robin signs in and says yes. The browser is sent back to us, with a code in the address. `desk.browse`
# plays Robin and the browser.

# %%
back = await desk.browse(page)
came = dict(parse_qsl(urlsplit(back).query))
print(*came)

# %% [markdown]
# That address went through a browser, past its extensions, its history and every page that could open
# it. So nothing in it is believed before it has been held against what we kept.
#
# Specification: basic/authorization, "Authorization Response Validation".

# %% include mini_agent.mcp.auth_code.check_issuer

# %% include mini_agent.mcp.auth_code.code_in

# %%
code = code_in(back, pending)
print(code == came["code"])

# %% [markdown]
# And three answers that somebody has made up. Each differs from the real one in one thing.

# %% tags=["covers-issuer-and-audience-confirmed"]
FORGED = {
    "not asked for": {"state": "made-up"},
    "somebody else": {"iss": "https://evil.example"},
    "nearly right": {"iss": "https://auth.example/"},
}
for case, change in FORGED.items():
    query = "&".join(f"{name}={value}" for name, value in (came | change).items())
    try:
        code_in(f"{BACK}?{query}", pending)
    except AuthorizationError as error:
        print(fill(f"{case}: {error}", 100, subsequent_indent="    "))

# %% [markdown]
# The second is a known trick. An authorization server that means harm sends Robin on to an honest
# one's page, and hopes that we bring it the code that the honest one gives. We notice, because the
# answer names its issuer, and we wrote down whom we asked.

# %% [markdown]
# ### 8 · A token for this server
#
# The authorization code is handed in for a token, with the secret behind the hash. First somebody tries
# who has read the code and not the secret. Then us.


# %%
async def redeem(code, verifier, **change):
    form = {
        "grant_type": "authorization_code",
        "client_id": "refund-agent",
        "code": code,
        "redirect_uri": BACK,
        "code_verifier": verifier,
        "resource": resource.resource,
    }
    answer = await web.post(issuer.token_endpoint, data=form | change)
    return answer.json()


# %%
async def signed_in():
    page, pending = authorization_request(issuer, agent, BACK, challenge.scopes, url)
    return code_in(await desk.browse(page), pending), pending.verifier


stolen, verifier = await signed_in()
print("without the secret:", (await redeem(stolen, new_secret()))["error"])
print("the code after that:", (await redeem(stolen, verifier))["error"])
answer = await redeem(code, pending.verifier)
print("us:", *answer)

# %% [markdown]
# A code that was tried is spent, also by a wrong try. Nobody gets to guess.

# %% [markdown]
# The resource indicator is asked for here as well, and it has to be the one that Robin said yes to.
#
# Specification: basic/authorization, "Resource Parameter Implementation".

# %% tags=["covers-resource-indicator"]
for wanted in (desk.orders_url, ""):
    refused = await redeem(*(await signed_in()), resource=wanted)
    print(f"{wanted or 'no resource':<24} {refused['error']}: {refused['error_description']}")

# %% [markdown]
# ### 9 · The call
#
# The same question as at the start, with the token in its header. What does it claim now?

# %%
desk.traffic.clear()
robin = McpClient(HttpTransport(url, client=desk.client(answer["access_token"])), server="refunds")
result = await robin.call("get_order", OWN)
print(result.structured_content["refundable_amount_minor"])
for name, value in desk.traffic[0].claims.items():
    print(f"{name:<6} {value}")

# %% [markdown]
# Robin's, from this issuer, for this server, to read orders. Nothing about drafts: nobody asked for
# that.

# %% [markdown]
# ## `sign_in`: the steps in a row
#
# The package does the same, a line or two for each step. In: the challenge, which client we are, and
# what we had before. Out: a session, with a token in it. `renew` is for tokens whose time is over.

# %%
import inspect

from mini_agent.mcp.auth_discovery import choose_issuer, find_issuer, find_resource
from mini_agent.mcp.auth_signin import Identity, Session, granted, renewed
from mini_agent.mcp.auth_web import Web

# %% include mini_agent.mcp.auth_signin.sign_in
print(*inspect.signature(sign_in).parameters)

# %% [markdown]
# ## `OAuth`: it happens by itself
#
# A transport with `auth=OAuth(…)` signs in when the server refuses, and makes the same request again. A
# browser for each user, since it is they who say yes:

# %%
from mini_agent.mcp.auth import AuthorizationCode, OAuth


def oauth(user):
    async def browse(address):
        desk.authorization.signed_in = user
        return await desk.browse(address)

    return OAuth(AuthorizationCode(browse), client=known, http=desk.client(), clock=desk.clock)


def client_of(auth, trace=None):
    transport = HttpTransport(url, client=desk.client(), auth=auth)
    return McpClient(transport, server="refunds", trace=trace)


# %%
from mini_agent.trace import Trace

trace, auth = Trace(), oauth("robin")
robin = client_of(auth, trace)
desk.traffic.clear()
await robin.call("get_order", OWN)
print(auth.issuer, auth.scopes)

# %% [markdown]
# Now a drawing of what went over the desk's network. The next three cells are only the pen: an arrow for
# each request, what it was, how it ended, and whose token it carried.

# %%
from mini_agent.drawing.canvas import BOLD, NEUTRAL, PALE, PROTOCOL, WHITE, Canvas, breadth
from mini_agent.drawing.sequence import head, places

LANES = ("browser", "client", "refunds", "authorization", "orders")


def about(one):
    said = one.what or f"{one.method} {one.path.removeprefix('/.well-known')}"
    for_whom = urlsplit(one.claims.get("aud", "")).netloc
    who = f"{one.claims.get('sub')}, at {for_whom}, {one.claims.get('scope')}"
    return [f"{said}: {one.status}", *([who] if one.claims else [])]


# %%
def an_arrow(sheet, y, start, end, lines, refused):
    look = PROTOCOL if refused else NEUTRAL
    sheet.arrow([(start, y), (end, y)], look)
    wide = max(map(breadth, lines)) + 6
    middle = min(max((start + end) / 2, wide / 2), 650 - wide / 2)
    sheet.block(middle, y - 4 - 7 * len(lines), wide, lines, ink=look.ink, paper=WHITE)


# %%
def drawn(exchanges):
    sheet, place = Canvas(), places(LANES)
    rows = [(one, about(one)) for one in exchanges]
    for name, x in place.items():
        sheet.arrow([(x, 12), (x, 24 + 44 * len(rows))], PALE, head="none")
        sheet.box(x, 0, head(name), 24, name=name)
        sheet.words(x, 0, head(name), name, font=BOLD)
    for number, (one, lines) in enumerate(rows, 1):
        an_arrow(sheet, 8 + 44 * number, place[one.sender], place[one.to], lines, one.status > 399)
    words = (f"{one.sender} to {one.to}: {', '.join(lines)}" for one, lines in rows)
    return sheet.drawing(f"Requests between {', '.join(LANES)}. {'; '.join(words)}.")


drawn(desk.traffic)

# %% [markdown]
# Red and dotted is a refusal. The 401 starts it, two documents say where to go, Robin says yes, and the
# same call is made once more. Look at the last arrow: the server asks the order service with a token
# that is not the one it got.

# %% [markdown]
# ### One server, and no other
#
# An `OAuth` belongs to the first address that it is used at. A second one is refused before anything is
# sent.

# %%
elsewhere = HttpTransport("https://tools.example/mcp", client=desk.client(), auth=auth)
try:
    await McpClient(elsewhere).connect()
except ValueError as error:
    print(error)

# %% [markdown]
# ## Five layers, one user
#
# Now with a model and a host in front. Model, host, client, server, service: who knows what about Robin?

# %%
from mini_agent.agent import run_agent
from mini_agent.approval import Policy
from mini_agent.host import Host
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall

ACCESS = {"robin": ["refunds"], "kim": ["refunds"]}


def host_of(user, auth, trace=None, **options):
    options = {"policy": Policy([], default="allow"), "access": ACCESS} | options
    return Host({"refunds": client_of(auth, trace)}, user=user, trace=trace, **options)


# %%
def asks_for(tool, arguments):
    return ScriptedModel([[ToolCall("toolu_1", f"refunds_{tool}", arguments)], [Text("I see.")]])


async def work(host, model, trace=None):
    hook = host.before_tool_call
    ran = await run_agent(
        "Look at it.", model=model, tools=host.tools, before_tool_call=hook, trace=trace
    )
    return ran.messages[2]["content"][0]["content"]


# %%
import tempfile
from pathlib import Path

from mini_agent.audit import AuditLog, read_audit

folder = tempfile.TemporaryDirectory()
audit = AuditLog(Path(folder.name) / "audit.jsonl")
model, trace = asks_for("get_order", OWN), Trace()
async with host_of("robin", auth, trace, audit=audit) as host:
    desk.traffic.clear()
    print((await work(host, model, trace))[:60], "…")

# %% [markdown]
# We look for Robin in what each layer was given: the model's requests, the host's audit, the
# client's sign-in, and the claims that arrived at the two services. `act`, in a claim, says who
# acts for Robin; that comes further down.

# %% tags=["covers-identity-is-kept"]
said = {one.to: one.claims for one in desk.traffic if one.claims}
told = [word for word in ("robin", "eyJ") if word in str(model.requests)]  # tokens begin with eyJ
print("model: ", told or "nothing")
print("host:  ", {record.user for record in read_audit(Path(folder.name) / "audit.jsonl")})
print("client:", auth.issuer, auth.scopes)
for to, claims in said.items():
    print(f"{to}: {claims['sub']}, through {claims.get('act', {}).get('sub', 'nobody')}")

# %% [markdown]
# The model knows nothing, so it can give nothing away. The host knows a name, and writes it down with the
# call. The client holds a token that it does not read. Server and service each see Robin, by a token of
# their own.

# %%
draw.sequence(trace, call="toolu_1")

# %% [markdown]
# The trace shows the layers above, and has nothing of a token in it. Below the transport the story goes
# on, in what the desk noted:

# %%
drawn(desk.traffic)

# %% [markdown]
# ### Two names that must be one
#
# The host has a user, and the token has a subject. The client does not read the token, so nobody compares
# the two. Somebody builds Kim's host on Robin's client.

# %%
async with host_of("kim", auth) as host:
    print("with Robin's sign-in:", (await work(host, asks_for("get_order", OWN)))[:46], "…")
async with host_of("kim", oauth("kim")) as host:
    print("with Kim's own:      ", (await work(host, asks_for("get_order", OWN)))[:46], "…")

# %% [markdown]
# In the first line Kim reads an order of Robin's customer, and the audit says Kim while the service says
# Robin. So a sign-in belongs to one user: make one `OAuth` for each, and never share a client between
# two.

# %% [markdown]
# ## A right signature is not enough
#
# Now the other side. The MCP server gets a token and checks its signature with the issuer's public key.
# That proves who wrote it.

# %%
import jwt

from fake_servers.refunds.keys import read_keys

key = read_keys(desk.authorization.issuer.keys())["key-1"]


def naive_verify(token):
    options = {"verify_aud": False, "verify_exp": False}
    return jwt.decode(token, key, algorithms=["ES256"], options=options)["sub"]


WEATHER = "https://weather.example/mcp"
print(naive_verify(desk.issue_token("robin", audience=WEATHER)))
print(naive_verify(desk.issue_token("robin", expires_in=-3600)))

# %% [markdown]
# Robin once signed in to a weather server, at the same authorization server. With this check, the weather
# server can take the token that it got and read Robin's orders with it, today and in a year.

# %% [markdown]
# ### `verify`: issuer, audience, time, and a form to fit
#
# This one is the desk's. It names what it expects before it looks at what came.
#
# Specification: basic/authorization, "Token Handling".

# %%
from jwt import PyJWK

from fake_servers.refunds.tokens import (
    ALGORITHM,
    REQUIRED,
    Claims,
    TokenRefused,
    _check_times,
    _claims,
    _why,
)

# %% include fake_servers.refunds.tokens.verify

# %%
good = desk.issue_token("robin", "orders:read")
claims = verify(good, key, issuer=desk.issuer_url, audience=url, now=desk.clock())
print(claims.subject, sorted(claims.scope))


# %% tags=["covers-token-for-this-server-only"]
def why_not(**options):
    token = desk.issue_token("robin", **options)
    try:
        verify(token, key, issuer=desk.issuer_url, audience=url, now=desk.clock())
    except TokenRefused as refused:
        return refused.reason


for audience in (WEATHER, desk.orders_url, "https://refunds.example", url + "/"):
    print(f"{audience:<30} {why_not(audience=audience)}")
print(f"{'two at once':<30} {why_not(aud=[url, WEATHER])}")

# %% [markdown]
# Not even the same host without its path, and not both in one: a token that two services take can be used
# by one of them at the other.

# %% [markdown]
# ## Who you are, and what you may
#
# Six wrong tokens, and none at all, want to draft a refund for Robin's order. How far does each get? The
# last service that was asked, and said no, is the one that owns the answer.

# %%
from fake_servers.refunds.keys import SigningKey

WRONG = {
    "another audience": {"audience": WEATHER},
    "another issuer": {"iss": "https://evil.example"},
    "another key": {"key": SigningKey("key-1")},
    "expired": {"expires_in": 0},
    "missing scope": {"scope": "orders:read"},
    "somebody else's order": {"subject": "kim"},
}
print(*WRONG, sep="\n")


# %%
async def tries(token):
    desk.traffic.clear()
    client = McpClient(HttpTransport(url, client=desk.client(token)))
    try:
        said = json.loads((await client.call("create_refund_draft", REFUND)).content[0]["text"])
        said = said["error"]["code"] if "error" in said else "drafted"
    except AuthorizationError as error:
        bearer = parse_challenge(error.challenge)
        said = bearer.params.get("error_description", "only where to sign in")
    last = ([one for one in desk.traffic if one.status > 400] or desk.traffic)[-1]
    return f"{last.to:<8} {last.status}  {said}"


print(f"{'no token':<22} {await tries('')}")

# %% tags=["covers-who-you-are-is-not-what-you-may", "covers-service-checks-ownership"]
for case, options in WRONG.items():
    print(f"{case:<22} {await tries(desk.issue_token(**options))}")

# %% [markdown]
# 401 is about authentication: we do not know who you are. The rest is about authorization. 403 is the
# token's limit. The last token is perfect, and Kim may draft refunds, but not for this order. Only the
# order service can know that.

# %% [markdown]
# A 401 or 403 is an exception for the host; of a model's call, the conversation keeps no more than that
# the tool failed. `ORDER_NOT_FOUND` is a result that the model reads. It says the same of an order that
# does not exist, so it gives nothing away.

# %% [markdown]
# ### The service believes nobody in front of it
#
# Suppose somebody is inside already, past the MCP server, and asks the order service directly.


# %% tags=["covers-service-validates-the-token"]
async def inside(order_id="ord_4821", **options):
    http = desk.client(desk.issue_token(**{"audience": desk.orders_url} | options))
    answer = await http.get(f"{desk.orders_url}/orders/{order_id}")
    header = parse_challenge(answer.headers.get("www-authenticate", ""))
    return answer.status_code, header.params.get("error_description", "")


print(f"{'right':<22}", *await inside())
for case, options in (WRONG | {"missing scope": {"scope": "profile"}}).items():
    print(f"{case:<22}", *await inside(**options))

# %% [markdown]
# Issuer, audience, time, scope, subject and the order itself, all of it once more. The service does not
# know that a gate stands in front, and does not have to.

# %% [markdown]
# ## A scope more: step-up
#
# Robin has signed in to read. Now the model proposes a draft. Nobody asked for that scope before, since
# nobody needed it.
#
# Specification: basic/authorization, "Step-Up Authorization Flow".

# %%
robin = client_of(auth)
print("before:", *auth.scopes)
desk.traffic.clear()
draft = await robin.call("create_refund_draft", REFUND | {"operation_key": "by-robin-1"})
print("after: ", *auth.scopes)
print(draft.structured_content["draft_id"])

# %%
drawn(desk.traffic)

# %% [markdown]
# 403 names the scope. `scopes_to_ask` puts it to those that were asked before. Robin is asked, and the
# call goes out once more. It had not acted: a server that refuses at the gate has done nothing.

# %% [markdown]
# And if Robin says no to that one scope? A client that asked again at each refusal would never stop.

# %%
desk.authorization.withheld = {"refunds:draft"}
asked_before = len(desk.authorization.consents)
reader = client_of(oauth("robin"))
await reader.call("get_order", OWN)
for _ in range(2):
    try:
        await reader.call("create_refund_draft", REFUND)
    except AuthorizationError as error:
        print(fill(str(error), 100, subsequent_indent="    "))
print("Robin was asked", len(desk.authorization.consents) - asked_before, "times")
print("and may still read:", not (await reader.call("get_order", OWN)).is_error)
desk.authorization.withheld = set()

# %% [markdown]
# Once for reading, once for drafting, and not a third time. What was granted stays good.

# %% [markdown]
# ### Expired
#
# A token lasts five minutes here. We let an hour pass and ask again.

# %%
desk.advance(3600)
desk.traffic.clear()
await robin.call("get_order", OWN)
for one in desk.traffic:
    print(f"{one.sender:>7} -> {one.to:<14} {one.what or one.path:<24} {one.status}")

# %% [markdown]
# The client knew that the time was over, and used its refresh token before it asked. No browser is in the
# list. A short life is what limits a stolen token. A refresh token makes it bearable.

# %% [markdown]
# ## A scope that the model writes
#
# A token says what is allowed. Arguments are what somebody wants. Here is a server that mixes the two.


# %%
async def naive_draft(arguments):
    if "refunds:draft" not in arguments.get("scope", ""):
        return "denied: this needs the scope refunds:draft"
    return "drafted"


print(await naive_draft(OWN))
print(await naive_draft(OWN | {"scope": "refunds:draft"}))

# %% [markdown]
# The model read why it was denied, and wrote what was missing. It need not even mean ill.

# %% [markdown]
# At the desk, with a token that may only read. The same words in the arguments, at the host, at the
# server, and at the order service itself.

# %% tags=["covers-scope-from-the-model-is-ignored"]
CLAIMED = REFUND | {"scope": "refunds:draft"}
reading = desk.client(desk.issue_token("robin", "orders:read"))
by_hand = McpClient(HttpTransport(url, client=reading), server="refunds")
async with Host({"refunds": by_hand}, policy=Policy([], default="allow")) as host:
    print("host:   ", (await work(host, asks_for("create_refund_draft", CLAIMED)))[:66], "…")
by_hand = McpClient(HttpTransport(url, client=reading), server="refunds")
try:
    await by_hand.call("create_refund_draft", CLAIMED)
except AuthorizationError as error:
    print("server: ", error.status, parse_challenge(error.challenge).error)
inner = desk.client(desk.issue_token("robin", "orders:read", audience=desk.orders_url))
answer = await inner.post(f"{desk.orders_url}/refund-drafts", json=CLAIMED)
print("service:", answer.status_code, answer.json()["error"]["code"])

# %% [markdown]
# The host refuses an argument that the schema does not have. The other two never look there: what is
# allowed is read from the token, before the arguments are.

# %% [markdown]
# ## Three words for the way further down
#
# | word | what it is |
# |---|---|
# | token pass-through | a server sends the token that it got on to the next service |
# | token exchange | a server trades the token that it got for one of the next service, in the same user's name |
# | actor | in a token, who acts for the subject |

# %% [markdown]
# ## Passing it on
#
# The MCP server needs the order service. It has a token of Robin's in its hand. The easy way is to
# send that one: `Orders` asks a function for its token, and ours gives that.

# %%
from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.orders import Orders

got = desk.issue_token("robin")  # what came with the request


async def the_same(scope):
    return got


desk.traffic.clear()
try:
    await Orders(desk.client(), desk.orders_url, the_same).order("ord_4821")
except Refusal as refusal:
    print(desk.traffic[0].status, refusal.code)

# %% [markdown]
# That was token pass-through. The audience is the MCP server, so the order service refuses. Somebody
# "mends" that: one broad token, good at both.

# %% tags=["covers-no-token-passed-through"]
got = desk.issue_token("robin", aud=[url, desk.orders_url])
print("at the MCP server:   ", await tries(got))
status, why = await inside(aud=[url, desk.orders_url])
print("at the order service:", status, why)

# %% [markdown]
# Both refuse. If they did not, every server that Robin ever used could do at every service whatever Robin
# may do, and the services' records would not show who it was.
#
# Specification: basic/authorization/security-considerations, "Access Token Privilege Restriction".

# %% [markdown]
# ### Exchanging it
#
# So it makes a token exchange. The server proves to the authorization server who it is, shows Robin's
# token, and asks for one for the order service. Both tokens, side by side:

# %% tags=["covers-identity-is-delegated"]
desk.traffic.clear()
await client_of(auth).call("get_order", OWN)
here, there = [one.claims for one in desk.traffic if one.claims]
for name in ("iss", "sub", "aud", "scope", "act"):
    print(f"{name:<6} {here.get(name, '-')!s:<28} {there.get(name, '-')}")

# %% [markdown]
# The same issuer and the same subject. Another audience, a narrower scope, since this call only reads,
# and an actor. A draft is recorded as Robin's, through `refunds-mcp`. The actor is for the records:
# above, at `right`, the order service took a token without one.

# %% [markdown]
# What could somebody do who got hold of the second token? We make one with the same claims.

# %% tags=["covers-downstream-credentials-restricted"]
act = {"sub": "refunds-mcp"}
narrow = desk.client(desk.issue_token("robin", "orders:read", audience=desk.orders_url, act=act))
order = f"{desk.orders_url}/orders/ord_4821"
print("read the order:   ", (await narrow.get(order)).status_code)
draft = await narrow.post(f"{desk.orders_url}/refund-drafts", json=REFUND)
print("draft a refund:   ", draft.status_code)
print("at the MCP server:", (await narrow.post(url, json={})).status_code)
desk.advance(300)
print("in five minutes:  ", (await narrow.get(order)).status_code)

# %% [markdown]
# One thing, at one place, for five minutes. And only this server may exchange at all: the agent, which
# holds Robin's token as well, is refused.

# %%
EXCHANGE = {
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "client_id": "refund-agent",
    "subject_token": desk.issue_token("robin"),
    "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
    "resource": desk.orders_url,
}
print((await web.post(issuer.token_endpoint, data=EXCHANGE)).json())

# %% [markdown]
# ## What the host checks first
#
# All of this happens at the other end. The host has a question of its own, and asks it before anything is
# sent: may this user reach this server at all?

# %%
from collections.abc import Collection

from mini_agent.approval import HostCall
from mini_agent.hosting.access import Access
from mini_agent.types import Approval
from mini_agent.visible import visible

# %% include mini_agent.hosting.access.listed
for user in ("robin", "mallory"):
    print(listed(ACCESS, user, "refunds"))

# %% include mini_agent.hosting.access.may_reach

# %%
CALL = HostCall("toolu_1", "refunds_get_order", OWN, server="refunds", tool="get_order")
print("no table:         ", await may_reach(None, None, CALL))
print("nobody signed in: ", await may_reach(ACCESS, None, CALL))
print("robin:            ", await may_reach(ACCESS, "robin", CALL))

# %% [markdown]
# Instead of a table it takes a function, which sees the whole call. Here is one that knows which orders
# belong to whose account. Kim has a good sign-in, and asks for an order of Robin's.


# %% tags=["covers-host-checks-the-user-first"]
def own_account(user, call):
    mine = {"robin": {"ord_4821"}, "kim": {"ord_7001"}}
    if call.input.get("order_id") in mine[user]:
        return Approval(True)
    return Approval(False, f"{user} may not read this account")


trace, audit = Trace(), AuditLog(Path(folder.name) / "kim.jsonl")
async with host_of("kim", oauth("kim"), trace, access=own_account, audit=audit) as host:
    desk.traffic.clear()
    print(await work(host, asks_for("get_order", OWN), trace))
print("sent:", len(desk.traffic))
for record in read_audit(Path(folder.name) / "kim.jsonl"):
    print(record.kind, record.user, record.tool, record.outcome)

# %%
draw.chain(trace)

# %% [markdown]
# Nothing was sent. The decision is written down with Kim's name, and no intent follows it. It is a second
# lock and not the first: the service would have refused as well, and it alone knows for sure.

# %% [markdown]
# ## Three words for the way out
#
# | word | what it is |
# |---|---|
# | SSRF | server-side request forgery: making a server connect to an address that the attacker cannot reach |
# | metadata service | an address inside a cloud, 169.254.169.254, which gives credentials to who asks from inside |
# | outbound guard | the part of a server that every request to somewhere else must pass |

# %% [markdown]
# ## Where may the server go?
#
# A server sits inside a network, with credentials. Whoever can choose an address for it reaches what they
# could not: that is SSRF. A check that comes to mind:


# %%
def naive_allowed(url):
    return url.startswith("https://orders.example")


for attempt in ("https://orders.example.evil.example/", "https://orders.example@evil.example/"):
    print(naive_allowed(attempt), urlsplit(attempt).hostname)

# %% [markdown]
# Both lead to whoever owns `evil.example`. The other check that comes to mind is a list of bad
# addresses. But one address has many spellings, and each of these means the same machine, this one.
# `literal` reads a spelling, `within` an address carried inside another.

# %%
from fake_servers.refunds.addresses import is_public, literal, within

for spelling in ("127.1", "0177.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"):
    meant = literal(spelling)
    print(f"{spelling:<20} {next(within(meant), meant)!s:<10} public: {is_public(meant)}")

# %% [markdown]
# ### `destination`, `Guard`: an exact origin
#
# So the outbound guard has a list of what is good. It takes an address apart with the parser that will
# connect, and compares scheme, host and port.

# %%
import httpx

from fake_servers.refunds.addresses import Address
from fake_servers.refunds.outbound import (
    PORTS,
    Allowed,
    Destination,
    DestinationRefused,
    Guard,
    GuardedTransport,
)

# %% include fake_servers.refunds.outbound.destination
print(destination("https://ORDERS.example/orders/ord_4821"))

# %%
guard = Guard((Allowed("https://orders.example", frozenset({"10.0.0.3"})),))
ATTEMPTS = """https://orders.example/orders/ord_4821
http://orders.example/
https://orders.example:8443/
https://orders.example.evil.example/
https://orders.example@evil.example/
https://evil.example\\@orders.example/
http://169.254.169.254/latest/meta-data/
http://127.1/
http://2130706433/
http://[::ffff:10.0.0.3]/
https://10.0.0.3/
file:///etc/passwd"""
print(len(ATTEMPTS.split()))

# %% tags=["covers-ssrf-refused"]
for attempt in ATTEMPTS.split():
    try:
        guard.admit(attempt)
        print(f"{attempt:<42} passes")
    except DestinationRefused as refused:
        print(f"{attempt:<42} {refused}")

# %% [markdown]
# One of twelve passes. Even the right address of the order service is refused without its name, because
# it is the name that the certificate and the token are for.

# %% [markdown]
# ### `choose`: where the name leads
#
# A good name can lead to a bad address: whoever owns the name decides. So what it resolves to is judged
# as well.

# %% include fake_servers.refunds.outbound.choose

# %%
fine = frozenset({literal("10.0.0.3")})
for found in (["10.0.0.3"], ["10.0.0.4"], [OUTSIDE, "169.254.169.254"], []):
    try:
        print(found, "->", choose(found, fine))
    except DestinationRefused as refused:
        print(found, "->", refused)

# %% [markdown]
# And it may lead elsewhere a moment later, after the check. This resolver gives a good answer first, and
# then another.


# %%
def rebinding():
    answers = iter([[OUTSIDE], ["169.254.169.254"]])

    async def resolve(name):
        return next(answers)

    return resolve


resolve = rebinding()
choose(await resolve("client.example"), frozenset())  # the naive check: it looks, and is content
print("then it connects to", *await resolve("client.example"))

# %%
dialled = httpx.MockTransport(lambda request: httpx.Response(200, text=request.url.host))
outgoing = GuardedTransport(Guard(public=True), dialled, rebinding())
guarded = httpx.AsyncClient(transport=outgoing)
print("it connects to", (await guarded.get("https://client.example/agent.json")).text)
try:
    await guarded.get("https://client.example/agent.json")
except DestinationRefused as refused:
    print(refused)
await guarded.aclose()

# %% [markdown]
# `GuardedTransport` connects to the very address that it has judged. The second time the name leads
# inside, and nothing is sent.

# %% [markdown]
# ### At the desk
#
# Two ways to try it for real. The order service answers with a redirect to the metadata service. And a
# stranger gives the authorization server a client id, which is an address that it fetches.

# %% tags=["covers-ssrf-refused"]
desk.faults.plan("orders", "redirected")
result = await client_of(auth).call("get_order", OWN)
print(json.loads(result.content[0]["text"])["error"]["code"])
for client_id in ("https://169.254.169.254/agent.json", "https://orders.example/agent.json"):
    try:
        await desk.browse(page.replace("client_id=refund-agent", f"client_id={client_id}"))
    except RuntimeError as error:
        print(fill(str(error), 100, subsequent_indent="    "))

# %% [markdown]
# ### And our own client
#
# It fetches addresses that a server gave it, too: twice, in steps 2 and 3. `checked_address` judges them.
# This machine is fine only where the server is on it as well.

# %%
from mini_agent.mcp.addresses import checked_address

for attempt in ("https://auth.example/token", "https://10.0.0.2/token", "https://127.1/token"):
    try:
        print(f"{checked_address(attempt, reach)} passes")
    except Unusable as why:
        print(f"{attempt} {why}")

# %% [markdown]
# ## Authorization has tests of its own
#
# They run the whole desk, from the host to the order service. Each asks whose identity arrived, or how
# far a wrong caller came.

# %% tags=["covers-tests-of-authorization"]
import ast

import mini_agent

tests = Path(mini_agent.__file__).parents[1] / "tests" / "test_authorization.py"
tree = ast.parse(tests.read_text("utf-8"))
names = [node.name for node in tree.body if getattr(node, "name", "").startswith("test_")]
print(*(name.removeprefix("test_").replace("_", " ") for name in names), sep="\n")

# %% [markdown]
# ## Try it
#
# Give a token other claims, and say beforehand who refuses it. Take one away with None, the scope
# with an empty text. What about a user whom the service has never heard of?

# %%
for options in ({"subject": "nobody"}, {"sub": None}, {"scope": "refunds:draft admin"}):
    print(await tries(desk.issue_token(**{"subject": "kim"} | options)))

# %%
await desk.stop()
folder.cleanup()

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `parse_challenge`, `scopes_to_ask` | what a refusal says, and how little to ask for |
# | `resource_metadata_urls`, `covers` | where a server says who gives its tokens, and for whom that counts |
# | `issuer_metadata_urls`, `parse_issuer` | where an authorization server says how it is asked |
# | `authorization_request`, `code_in` | the page that a person opens, and what may come back |
# | `sign_in`, `OAuth` | the nine steps; the same by itself, for one server and one user |
# | `verify` | issuer, audience, time: what a signature does not say |
# | `may_reach` | the host's question: may this user reach this server? |
# | `Guard`, `choose`, `GuardedTransport` | where a server may connect, by origin and by address |

# %% [markdown]
# ## Where the official SDK differs
#
# Its client takes the same steps, as an `auth` for its HTTP client. It sends S256 to a server that does
# not say it knows PKCE; ours refuses, as the specification wants. A document may name the beginning of
# the server's address there, wherever it stands. It follows redirects within an origin, steps up anew
# at each 403, and fetches what a server names from private addresses too.

# %% [markdown]
# Its server leaves the check of a token to you: you write the verifier. That the audience is compared is
# an option, `validate_token_resource`, which has to be switched on and will be the default in its next
# major version. The scopes are one list for all tools.

# %% [markdown] taken="mini_agent.mcp.auth_challenge"
# ## Taken from the modules without showing it
#
# Of `mini_agent.mcp.auth_challenge`:
#
# | name | why |
# |---|---|
# | `LONGEST`, `_TOKEN`, `_GAP`, `_SCHEME`, `_TOKEN68`, `_PARAM`, `_JUNK`, `_SCOPE` | a limit, and patterns of the grammar |
# | `Challenge` | a dataclass with three readings: error, resource_metadata, scopes |
# | `parse_challenges`, `_end` | the header taken apart, pattern by pattern |
# | `scopes_in` | a space-separated list, each scope once |

# %% [markdown] taken="mini_agent.mcp.auth_metadata"
# Of `mini_agent.mcp.auth_metadata`:
#
# | name | why |
# |---|---|
# | `ProtectedResource`, `Issuer` | dataclasses, imported: what the two documents say |
# | `parse_resource` | `covers`, and at least one authorization server |
# | `parse_issuer` | the name compared, each address checked; tried above |
# | `_texts`, `_scopes` | a field read as a list of texts |

# %% [markdown] taken="mini_agent.mcp.auth_code"
# Of `mini_agent.mcp.auth_code`:
#
# | name | why |
# |---|---|
# | `Pending` | a dataclass: what was asked, kept until the answer; it hides its secrets |
# | `ONCE`, `once_each` | a query as a dictionary; what is there twice is refused |

# %% [markdown] taken="mini_agent.mcp.auth_signin"
# Of `mini_agent.mcp.auth_signin`:
#
# | name | why |
# |---|---|
# | `Session`, `Identity` | dataclasses: signed in where and with what; which client we are to whom |
# | `granted`, `token_answer` | step 8, for every kind of grant |
# | `renewed`, `renewed_or_less` | the same with a refresh token, which is dropped if it is refused |
# | `noted` | writes the step into the trace, without the token |

# %% [markdown] taken="mini_agent.hosting.access"
# Of `mini_agent.hosting.access`:
#
# | name | why |
# |---|---|
# | `Access` | the name of a type: a table, or a function of user and call |

# %% [markdown]
# ## Exercises and next
#
# `exercises/14_who_is_asking.ipynb` has 4 tasks, each with a check that answers:
#
# - **14.1** Ten tokens: which door do they open? (warm-up, 8 minutes)
# - **14.2** What does Robin's page ask for? (solid, 10 minutes)
# - **14.3** Forge the way back (solid, 15 minutes)
# - **14.4** Tell me when it is paid: an address from a stranger (demanding, 30 minutes)
#
# And one without: let the order service trust the MCP server, and take the user's name from a header.
# Which rows of the two tables of wrong callers change?
#
# Next: **15, Which layer owns each failure?** An expired token was one of them. There are seven more.
