### What the bot is, what can be asked of it, and what it has cost

about = I answer questions, and I remember what was said to me here: when it helps with a later question, I recall it. What I remember of a place is recalled for those who are in it and for nobody else. Messages that are deleted are forgotten, and so is whatever you tell me to forget.
about-nothing = I remember nothing of this place yet.
# $turns and $conversations are counted: "3 turns".
about-remembered = I remember { $turns } from { $conversations } here, since { $since }.

# Where commands are words. A command is its English words on every line; what stands behind them is yours.
help =
    What you can ask of me:
    - `help`: this
    - `about`: what I am, and what I remember here
    - `history`: what was said here lately
    - `why`: what my last answer was made from
    - `catch me up`, `catch me up since Monday`: what was decided, answered and left open in this { $channel }, for you alone
    - `remember that …`: keep it in mind here; `note: …` does the same
    - `memory`, `memory search WORDS`: what I keep of what you said here; then `forget 2` or `correct 2: …` for one of these
    - `forget last`: forget your last message here, with its answer
    - `forget session`: forget everything said in this { $conversation }
    - `forget { $channel }`: forget everything said in this { $channel }, in all its { $conversation }s
    - `forget me`: forget everything of yours, in all places (asks first)
    - `link my accounts`, in a direct message: let your account here and one on another platform be one person's for me; `unlink my account` undoes it
    - `export mine`: all that I keep of yours, in all places, as files for you alone
    - `mute`, `only when mentioned`, `unmute`: when I answer in this { $conversation }; `mute { $channel }` and so on for all of the { $channel }
    - `remember { $channel }`, `remember only what is asked`: whether I remember what people say to one another in this { $channel }
    - `don't remember me here`, `remember me here`: whether that holds for you
    - `off`, `on`: what people say to one another in this { $conversation } is off the record, or on it again; `off { $channel }` and so on for all of the { $channel }
    - `backfill since Monday`: read what people said to one another in this { $channel } from then on, where it is remembered (by those who may manage it); `backfill`: how far that is
    - `usage`: what you and this { $channel } have spent
    - `web`: a link, for you alone, to pages that show your conversations and what answers came from; `web sign out` ends that
    - `mcp token`, `mcp token everywhere for 30 days`: a token, for you alone, by which a program asks me for you; `mcp tokens` lists yours, and `mcp revoke 1` or `mcp revoke all` ends them
    Anything else is a message to me.

# Where commands begin with a slash.
help-slash =
    Mention me with a question and I answer in a thread, where I follow what you say without a mention. Or use a command:
    - `/ask`: ask me here, for you alone (`private`) or in a thread of its own (`thread`)
    - `/why`: what my last answer was made from
    - `/catchup`: what was decided, answered and left open in this channel, for you alone
    - `/backfill`: read what was said in this channel before, where that is remembered (for those who may manage messages)
    - `/session`: find your own conversations again
    - `/note`: keep something in mind in this channel
    - `/memory`: what I keep of what you said here, for you alone; `/correct`: say one of these things anew
    - `/forget`: forget one of these things, your last message, this thread, this channel (for those who may manage messages), what you asked privately, or everything of yours, everywhere
    - `/export`: all that I keep of yours, in all places, as files in a direct message
    - `/web`: a link, for you alone, to pages that show your conversations and what answers came from
    - `/mcp`: a token, for you alone, by which a program such as an editor asks me for you; what tokens you have; revoking them
    - `/link`, in a direct message: let your account here and one on another platform be one person's for me; `/unlink` undoes it
    - `/mute`, `/mentions`, `/unmute`: when I answer in this thread or channel: never, only when mentioned, or when I think I am meant
    - `/remember`: what I may remember of this channel, and of what you say to others here
    - `/off`, `/on`: what people say to each other in this thread or channel is off the record, or may be remembered again
    - `/usage`: what you and this channel have spent

## What was spent

usage-day = In the last 24 hours:
usage-month = In the last 30 days:
usage-you = - you: { $spent }
usage-here = - here, all together: { $spent }
# $answers and $read are counted; $written is a text like $read.
spent = { $answers }, { $read } and { $written }
tokens-read = { $tokens } read
tokens-read-cached = { $tokens } read ({ $cached } of them cached)
tokens-written = { $count } written
# $spent is what was spent, $money an amount.
spent-money = { $spent }, for { $money }
usage-budget = Of { $whose } for this month: { $spent } of { $limit }
