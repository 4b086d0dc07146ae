### Accounts on several platforms, and the pages

# $platform is a name such as Slack.
an-account = your account { $name } on { $platform }
# $others are one or more of the text above.
link-code = Your code is `{ $code }`. On the other platform, say `link { $code }` to me in a direct message within 10 minutes. From then on your accounts are one person's for me: what you say to me alone on one of them I recall for you on the others too; your quotas are shared; and `forget me` and `export mine` are about all of them. What is said in channels stays there. `unlink my account` undoes it. Give the code to nobody else: it is for your own account.
linked = Done: your account here and { $others } are one person's for me. What you say to me alone on one of them I recall for you on the others too. `unlink my account` undoes it, and I tell you there.
linked-elsewhere = Your account here was linked with { $account }: what you say to me alone on one of them I recall on the other too. If that was not you, say `unlink my account` at once.
link-needs-direct-message = Say that to me in a direct message on Slack, Discord or Matrix: only there nobody else reads the code, and I know for sure whose account it is.
own-link-code = That is the code of this account itself. Enter it on the other platform, from your account there.
wrong-link-code = That code is not valid: it was used, is older than 10 minutes, or I never gave it. Say `link my accounts` to me on the other platform for a new one.
too-many-link-codes = You entered too many codes. Please try again in an hour.
too-many-accounts = { $most ->
    [one] That would be more than { $most } account. Say `unlink my account` on one that you do not use any more, and then `link my accounts` again for a new code.
   *[other] That would be more than { $most } accounts. Say `unlink my account` on one that you do not use any more, and then `link my accounts` again for a new code.
}
unlinked = Done: your account here is no longer linked with { $others }. What you said to me alone there is not recalled here any more, nor the other way.
unlinked-elsewhere = Your account here is no longer linked with { $account }. What you said to me alone there is not recalled here any more, nor the other way.
nothing-linked = Your account here is linked with no other. Say `link my accounts` to me in a direct message to link it.
link-ended = Your account here was not used for 90 days, so it is no longer linked with your other ones: it might be somebody else's by now. Say `link my accounts` to link it again.

pages-link = This link opens the pages for you alone. It works once, within five minutes: { $link }
    You stay signed in for 12 hours, or until you say `web sign out`.
no-pages = I have no pages to look at. They need `WEB_ADDR=127.0.0.1:8088` among the settings that I am started with.
no-pages-here = I cannot give you a link here, because I cannot ask this platform who may read what.
signed-out = { $times ->
    [0] You were signed in to the pages nowhere.
    [one] You are signed out of the pages ({ $times } browser).
   *[other] You are signed out of the pages ({ $times } browsers).
}
# $token is a secret, $address where programs ask.
token-made = Your token, which I show this once: `{ $token }`
    It lets a program ask me for you at { $address }, for example `claude mcp add --transport http muninn { $address } --header "Authorization: Bearer …"`.
token-reads-here = It reads what you may read in this place, and nothing else.
token-reads-everywhere = It reads what you may read, in all places.
token-until = It holds until { $until }.
token-is-secret = Give it to nobody: whoever has it reads the same. `mcp tokens` lists your tokens, and `mcp revoke 1` ends one.
tokens = Your tokens:
token-line = { $number }. Made on { $made }, reads { $places }.
token-line-everywhere = { $number }. Made on { $made }, reads all that you may read.
token-used = Last used on { $at }.
token-unused = Never used.
tokens-hint = `mcp revoke 1` ends the first, `mcp revoke all` all of them.
no-tokens = You have no tokens. `mcp token` makes one that reads this place, and `mcp token everywhere` one that reads what you may read anywhere.
tokens-revoked = { $count ->
    [0] You had no tokens.
    [one] Revoked: { $count } token. Programs that used it no longer have access.
   *[other] Revoked: { $count } tokens. Programs that used them no longer have access.
}
no-such-token = You have no token number { $number }. `mcp tokens` lists yours.
too-many-tokens = You have { $most } tokens already. `mcp tokens` lists them, and `mcp revoke 1` ends one.
no-such-life = I do not understand how long "{ $life }" is. Say it as in `mcp token for 30 days`.
no-mcp = Programs cannot ask me here. Whoever runs me can start me with `MCP_ADDR=127.0.0.1:8089`.
no-token-here = I cannot give you a token here, because I cannot ask this platform who may read what: it would read nothing.
