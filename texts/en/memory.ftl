### Noting, listing, correcting and forgetting what is remembered

## Notes

noted-privately = Noted, for you alone: I recall it when it bears on a question of yours. `forget last` forgets it.
noted = Noted: I recall it in this { $channel } when it bears on a question. `forget last` forgets it.
nothing-to-note = Tell me what to keep in mind: "remember that tea is at four".
proposes-note = Shall I keep this for you? Say `yes`: “{ $text }”
not-noted = I could not write that down, so I will not remember it: the disk may be full. Please tell me again later.

## Lists

# One line of a list: `3. [2026-04-02] you noted: …`
list-line = { $number }. [{ $date }] { $told }
list-line-corrected = { $number }. [{ $date }] { $told } (corrected on { $corrected })
list-noted = you noted: { $text }
list-said = you said to others: { $text }
list-told = you said to me: { $text } (I answered: { $answer })
# The same if the answer only quotes, or says that nothing is remembered.
list-told-only = you said to me: { $text }
list-hint = `forget { $first }` forgets one of these, `correct { $first }: …` says it anew.
list-hint-more = `forget { $first }` forgets one of these, `correct { $first }: …` says it anew, `memory more` lists older ones.
list-hint-more-words = `forget { $first }` forgets one of these, `correct { $first }: …` says it anew; there are more: use more words to narrow them down.
recalled-hint = `forget 1` forgets what is numbered 1 above, and `correct 1: …` says it anew.
nothing-found = Nothing that I keep of what you said here has all of these words.
nothing-more = That was all that I keep of what you said here.
nothing-listed = I keep nothing of what you said here.
list-ends-after = A list ends after { $listed }. `memory search WORDS` finds what is older.
list-again = I do not know any more what the numbers stand for. Say `memory`, or `why`, and then the number that it shows.
no-such-number = There is no number { $number } in the last list that you saw here, which has { $listed }. Say `memory` to see it anew.
item-gone = What was number { $number } is forgotten already. Say `memory` to see what is left.
item-changed = Number { $number } has changed since you saw it, so I left it as it is. Say `memory`, or `why`, to see it as it is now.
not-your-item = Somebody else said number { $number }, so only they or { moderator } can have it changed.

## Corrections

nothing-to-correct = Say what is right: "correct { $number }: tea is at five".
nothing-stated = Number { $number } is a question, and its answer only quotes what was said. Correct what it quotes: `memory search WORDS` lists it with its number.
corrected-item = Corrected. From now on I use the new text; I keep number { $number } as what was said before.
already-corrected = { $by } corrected that on { $at }. Say `memory search WORDS`, or `why`, and correct what holds now.

## Forgetting

# $forget_last is the command.
nothing-to-forget = There is nothing of yours to forget here.
not-yours-to-forget = Others said things here too, so only { moderator } can have all of it forgotten. "{ $forget_last }" forgets your own last turn.
not-your-message = I keep nothing of yours under the message that you replied to, so I forgot nothing. "{ $forget_last }", not as a reply, forgets your own last message here.
# $what is one of the texts below.
forgot-turn = { $quotes ->
    [0] Forgotten: { $what }, and everything recall knew of it.
    [one] Forgotten: { $what }, and everything recall knew of it, and { $quotes } later answer that quoted it.
   *[other] Forgotten: { $what }, and everything recall knew of it, and { $quotes } later answers that quoted it.
}
forgotten-exchange = your message of { $at }, with its answer
forgotten-heard = your message of { $at }, which you wrote to others
forgotten-note = your note of { $at }
forgotten-last = your last message here
forgot-waiting-turn = Forgotten: your last turn, which still waited to be saved. My memory cannot be reached right now; if the turn arrived there after all, say "forget last" again when it is back.
forgot-item = { $earlier ->
    [0] Forgotten: what was number { $number }, with everything recall knew of it.
    [one] Forgotten: what was number { $number }, with everything recall knew of it and with { $earlier } version that it had corrected.
   *[other] Forgotten: what was number { $number }, with everything recall knew of it and with { $earlier } versions that it had corrected.
}
forgot-all = Forgotten: everything that was said in this conversation.
forgot-session = { $turns ->
    [one] Forgotten: the only turn of this { $conversation }.
   *[other] Forgotten: all { $turns } turns of this { $conversation }.
}
forgot-audience = { $turns ->
    [one] Forgotten: the only turn of this { $channel }, in all its { $conversation }s.
   *[other] Forgotten: all { $turns } turns of this { $channel }, in all its { $conversation }s.
}
moderator-needed = Only { moderator } can have a whole { $channel } forgotten. "{ $forget_last }" forgets your own last turn.
held = (This place is under a legal hold: nobody is shown it any more, but whoever runs me has a copy until the hold ends.)
still-in-file = (I do not use it any more, but its text is still in a file of mine, which could not be written: the disk may be full. It is removed when the file can be written again.)
removed-later = { $count ->
    [one] I could not remove { $count } message of mine yet and keep trying.
   *[other] I could not remove { $count } messages of mine yet and keep trying.
}
# $why is the end of a sentence: one of the stays-… texts, or what a platform says.
stays-visible = { $count ->
    [one] { $count } message of mine stays visible, because { $why }.
   *[other] { $count } messages of mine stay visible, because { $why }.
}
store-needed = My memory cannot be reached right now, so I cannot do that. Please try again later.

## Forgetting a person

# $questions, $messages, $notes and $conversations are counted: "3 notes".
kept-of-person = { $accounts ->
    [0] { $questions } with what I answered, { $messages } to others and { $notes }, in { $conversations }
    [one] { $questions } with what I answered, { $messages } to others and { $notes }, in { $conversations }
   *[other] { $questions } with what I answered, { $messages } to others and { $notes }, in { $conversations } from { $accounts } linked accounts
}
# $kept is the text above.
ask-forget-me = This forgets everything of yours, in all places where I am: { $kept }; what you thought of answers; and what of it is in answers to others. I take my answers to you away, and it cannot be undone. If you want that, say `{ $command }`.
forgot-me = I forgot everything of yours: { $kept }, and what you thought of answers.
forgot-me-repeated = { $count ->
    [one] I emptied { $count } other answer that quoted or repeated it.
   *[other] I emptied { $count } other answers that quoted or repeated it.
}
forgot-me-accounts = Your accounts are not linked any more.
forgot-me-out-of-reach = Out of my reach are your own messages here, what others wrote of them themselves, what the service of the model keeps, and backups that whoever runs me made. Where you told me not to remember you in a { $channel }, that still holds.
forgot-me-held = { $count ->
    [one] One place is under a legal hold: nobody is shown what you said there any more, but whoever runs me has a copy until the hold ends.
   *[other] { $count } places are under a legal hold: nobody is shown what you said there any more, but whoever runs me has a copy until the hold ends.
}

## A copy of one's own

export-under-way = I am putting together what I keep of yours already. Please wait for it.
nothing-kept-of-you = I keep nothing of yours.
handed-over-directly = I sent it to you in a direct message.
handed-over-here = { $count ->
    [one] This is all that I keep of yours: { $count } thing, as JSON for programs and as Markdown to read.
   *[other] This is all that I keep of yours: { $count } things, as JSON for programs and as Markdown to read.
}
handed-over-at = { $count ->
    [one] All that I keep of yours ({ $count } thing) is in { $paths }, which nobody else can read.
   *[other] All that I keep of yours ({ $count } things) is in { $paths }, which nobody else can read.
}
# $why is the end of a sentence: one of the no-copy-… texts, or what a platform says.
not-handed-over = I could not give you what I keep of yours, because { $why }. Whoever runs me can make the files with `muninn export mine.json --person { $person }`.
no-copy-disk = I could not write the files, as the disk may be full
no-copy-too-much = it needs more than { $files } files
no-copy-late = { $minutes ->
    [one] it took longer than { $minutes } minute
   *[other] it took longer than { $minutes } minutes
}
no-copy-unreadable = I cannot read it back ({ $error }); please ask again

## Asking first

proposes-call =
    Shall I do this? Say `yes` within { $minutes } minutes; nothing is done before.

    { $call }
not-yours-to-approve = Only the one whom I asked can decide that.
approval-over = I asked that more than { $minutes } minutes ago, so I leave it. Ask me again.
approval-gone = I do not know any more what I asked about there, so I leave it. Ask me again.
declined = Then I leave it.
approval-unknown = I began `{ $tool }` before, and do not know what came of it: look there. I do not do it twice.
decided-before = That is decided already, and nothing was done now. I said then: { $said }
decided-before-result-gone = That is decided already, and nothing was done now. What came of it is not kept any more.
call-done = Done: `{ $tool }`.
call-failed = I tried `{ $tool }`, and it failed: { $error }.
# Why it failed.
call-not-offered = it is not offered here any more
call-more = … and { $count } more

## The copy of what is kept of somebody, as they read it: "I" is that person

copy-title = What Muninn keeps of { $who }
copy-title-part = What Muninn keeps of { $who }, part { $part }
copy-where = { $at } in { $place } ({ $platform })
# $what below is one of these three.
copy-asked = I asked
copy-said = I said to others
copy-noted = I had noted
copy-what = { $what }:
copy-what-corrected = { $what }, corrected on { $date }:
copy-file = with the file { $name }:
copy-answer = and was answered:
# An answer, by its ID.
copy-answer-of = { $answer } of { $date }
copy-liked = I found the answer { $answer } good.
copy-disliked = I found the answer { $answer } bad.
