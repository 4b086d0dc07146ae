### What is answered, remembered and read again in a channel

# Puts one sentence after another.
two-sentences = { $first } { $next }

## When the bot answers

muted-conversation = I say nothing in this { $conversation } any more, not even when I am mentioned, until somebody says `unmute` to me. Commands still work.
muted-channel = I say nothing in this { $channel } any more, not even when I am mentioned, until somebody says `unmute { $channel }` to me. Commands still work.
mentioned-conversation = In this { $conversation } I answer only when I am mentioned or answered, until somebody says `unmute` to me.
mentioned-channel = In this { $channel } I answer only when I am mentioned or answered, until somebody says `unmute { $channel }` to me.
open-conversation = In this { $conversation } I answer again what is meant for me.
open-channel = In this { $channel } I answer again what is meant for me.
still-muted-conversation = But all of this { $conversation } (`unmute`) is muted still.
still-muted-channel = But all of this { $channel } (`unmute { $channel }`) is muted still.
still-mentioned-conversation = But in all of this { $conversation } (`unmute`) I still answer only when mentioned.
still-mentioned-channel = But in all of this { $channel } (`unmute { $channel }`) I still answer only when mentioned.
moderator-needed-to-mute = Only { moderator } can say when I answer in a whole { $channel }. `mute` and `only when mentioned` hold for this { $conversation }.
not-in-conversation = I take no part in this { $conversation }, so there is nothing to change. `mute { $channel }` holds for all of the { $channel }.
stayed-silent = { $times ->
    [one] (I chose to say nothing to { $times } message here, the last on { $last }.)
   *[other] (I chose to say nothing to { $times } messages here, the last on { $last }.)
}

## What people say to one another

hears-everybody = From now on I remember what people say to one another in this { $channel }, so that it can be found again by those who are here; I still answer only what is meant for me. Tell me `don't remember me here`, and nothing of yours is kept, also nothing from before. `off` and `on` keep a { $conversation } off the record, and a message that begins with `[off]` is not kept. To end it for all, { moderator } tells me `remember only what is asked`.
hears-everybody-now = I remember from now on what people say to one another in this { $channel }, and told everybody in it.
hears-nobody-any-more = From now on I remember only what I am asked in this { $channel }. What I kept until now stays; `forget { $channel }` removes all of it.
hears-nobody = I remember only what I am asked in this { $channel }.
moderator-needed-to-hear = Only { moderator } can say what I remember of a whole { $channel }. `don't remember me here` holds for yourself.
opted-out = { $count ->
    [one] I keep nothing of what you say to others in this { $channel }, and forgot what I had kept of it: { $count } message. What you ask me is still remembered; `forget last` forgets it. `remember me here` undoes this.
   *[other] I keep nothing of what you say to others in this { $channel }, and forgot what I had kept of it: { $count } messages. What you ask me is still remembered; `forget last` forgets it. `remember me here` undoes this.
}
opted-in = From now on I remember what you say to others in this { $channel } again.
opted-in-unheard = You are not left out in this { $channel }. Nobody is remembered here, though: I remember only what I am asked.
off-record-conversation = What people say to one another in this { $conversation } is off the record: I keep nothing of it until somebody says `on` to me. What I am asked is remembered as always.
off-record-channel = What people say to one another in this { $channel } is off the record: I keep nothing of it until somebody says `on { $channel }` to me. What I am asked is remembered as always.
on-record-conversation = What people say to one another in this { $conversation } is on the record again.
on-record-channel = What people say to one another in this { $channel } is on the record again.
record-anyway = (I remember only what I am asked in this { $channel } anyway.)
# $notice is one of the four above.
asked-for-this = { $name } asked for this: { $notice }

## Catching up, and reading what was said before

nothing-yet = Nothing was said here yet.
# $time is a day with its time.
nothing-since = Nothing that I know of was said here since { $time }.
# $words is quoted already.
no-such-day = I do not understand { $words } as a day that has come. Name one like "Monday", "last week" or "2026-04-13".
no-history = There is no history that I could read here.
no-backfill = I am not reading what was said here before. Say "backfill since 2026-01-31" to have me read it from that day on.
moderator-needed-to-backfill = Only { moderator } can have me read what was said in this { $channel } before.
not-backfilled = I cannot read what was said here before: { $why }.
backfill-not-remembered = what people say there is not remembered; say "remember channel" there, or set memory = "channel" for { $place } in the channel settings (CHANNEL_SETTINGS)
backfill-no-platform = no platform of this process can read { $place }; it must be the id of a channel there, as `muninn sessions` shows it without its thread
backfill-future = { $day } is in the future
# $messages is counted: "12 messages".
backfill-done = Done: I read { $messages }.
backfill-stopped = I read { $messages }, then stopped: { $why }.
backfill-reading = Reading: { $messages } so far.
backfill-reading-at = Reading: { $messages } so far, at { $date }.
backfill-resting = { $seconds ->
    [one] Reading: { $messages } so far; the platform limits the rate, so I continue in { $seconds } second.
   *[other] Reading: { $messages } so far; the platform limits the rate, so I continue in { $seconds } seconds.
}
backfill-resting-at = { $seconds ->
    [one] Reading: { $messages } so far, at { $date }; the platform limits the rate, so I continue in { $seconds } second.
   *[other] Reading: { $messages } so far, at { $date }; the platform limits the rate, so I continue in { $seconds } seconds.
}
backfill-goes-on = I go on; say `backfill` to see how far I am.
# Why it stopped, as the end of a sentence.
backfill-unheard = what people say there is not remembered any more
backfill-away = the platform cannot be reached; I go on at the next start
history-not-there = { $place } is no channel of { $platform } that I am in
history-other-shard = { $place } is on shard { $shard } of Discord, and this process runs { $shards } (DISCORD_SHARDS); begin it in the process that runs that shard
history-invite = I am not in the channel { $channel }; /invite me there
# $permissions are called as Discord calls them in English.
history-lacks = I may not read what was said in { $channel }: I lack { $permissions } there
history-refused = { $platform } does not give what was said there: { $why }
