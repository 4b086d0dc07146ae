### What goes with an answer: why it is less than it could be, and what was refused

# $why is one of the model-… texts below.
model-down = I could not ask the model ({ $why }), so this is only what I remember:
model-down-after-tools = I could not ask the model for the answer ({ $why }), so this is only what I found:
model-down-listed = I could not ask the model ({ $why }), so this is a list of what was said:
embeddings-down = (The embedding service does not answer, so I searched my memory by words only.)
# $turns: the latest turns, from which it was answered.
store-down = { $turns ->
    [0] (My memory cannot be reached right now: I answered without it. This turn is kept and saved when it is back.)
    [one] (My memory cannot be reached right now: I answered from the last turn. This turn is kept and saved when it is back.)
   *[other] (My memory cannot be reached right now: I answered from the last { $turns } turns. This turn is kept and saved when it is back.)
}
store-was-down = { $turns ->
    [0] (My memory could not be reached for a moment: I answered without it.)
    [one] (My memory could not be reached for a moment: I answered from the last turn.)
   *[other] (My memory could not be reached for a moment: I answered from the last { $turns } turns.)
}
# The same two, where something was recalled all the same.
store-down-in-part = (My memory cannot be reached right now, so I may have missed something in it. This turn is kept and saved when it is back.)
store-was-down-in-part = (My memory could not be reached for a moment, so I may have missed something in it.)
store-down-later = (My memory went away while I answered. This turn is kept and saved when it is back.)
recall-failed = (I could not look through what was said here earlier, so I answered without it.)
# $text is one of the knowledge-… texts.
bracketed = ({ $text })
knowledge-loading = The team's knowledge is still being loaded, so I could not search it.
knowledge-lagging = A newer version of the team's knowledge is being loaded; I searched the one before.
knowledge-words-only = The embedding service does not answer, so I searched the team's knowledge by words only.
knowledge-graph-away = The graph did not answer in time, so I searched the team's knowledge without what is around each find.
knowledge-not-asked = The graph did not answer, so I could not ask it about the team's knowledge.
budget-of-person = your budget
budget-of-channel = this channel's budget
budget-of-all = my budget
# $whose is one of the three above, $spent and $limit are amounts of money.
budget-nearly-up = (80 % of { $whose } for this month is used: { $spent } of { $limit }. When it is used up, I answer without a model.)
look-ups-failed = (Every look-up for this answer failed, so nothing in it was looked up.)
look-up-failed = (A look-up for this answer failed, so something may be missing from it.)
cut-off = { $tokens ->
    [one] (This answer is cut off: it reached its limit of { $tokens } token. Ask me to go on, or have ANSWER_TOKENS raised.)
   *[other] (This answer is cut off: it reached its limit of { $tokens } tokens. Ask me to go on, or have ANSWER_TOKENS raised.)
}
cut-short = (This answer is cut off: the model could not write more at once. Ask me to go on.)
withheld = (This answer is incomplete: the model service's content filter withheld the rest.)
secret-removed = (I removed a secret from your message before I read or stored it; rotate it, because others may have seen it here.)
# $files are the names of files.
files-in-part = (I read only a part of { $files }, which is more than I read at once; send the part that matters.)
files-need-model = (Without a model I did not look at what came with your message.)
# Below an answer that was given again.
images-not-seen = (I did not see the pictures that came with the question, because I keep none. If the answer needs them, send them again.)
# $why is one of the cut-… texts.
read-in-part = (I read only a part of what was said here before: { $why }.)
cut-too-much = there is more than I read at once
cut-limited = the platform limits how much I may read at once
cut-late = the platform did not give all of it in time
cut-incomplete = the platform does not give me all of it
not-kept = (This turn could not be saved anywhere: I will not remember it.)
stopped = (stopped)
no-answer = I found no answer within my limits. Please ask more narrowly.
# Also told to a model, which says only this where the documents hold no answer.
not-in-documents = I cannot answer that from the team's documents and records.
# Above the documents and records that an answer cites.
cited-sources = Sources:
# Where a source is: a page of a PDF.
file-page = { $file }, p. { $page }
# The lines of a record that is shown: the records above it, those it is connected to, and where it was read.
card-part-of = Part of: { $path }
card-related = Related: { $records }
card-place = Place: { $place }
file-line = { $file }, line { $line }
took-too-long = { $seconds ->
    [one] (I stopped after { $seconds } second; whoever runs me can raise TURN_TIMEOUT.)
   *[other] (I stopped after { $seconds } seconds; whoever runs me can raise TURN_TIMEOUT.)
}
failed = Something went wrong on my side, and I could not answer. It is in my log.

## Answers without a model

remember-nothing = I remember nothing about that.
# To a statement.
remember-nothing-noted = I will remember that.
asked-nothing = I am listening.
# To thanks, and to "forget it" and the like.
welcome = You are welcome.
forgot-nothing = I have forgotten nothing yet: `memory` lists what I keep of what you said here, and `forget 2` then forgets the second of these.
# To "what can you do?" and the like.
what-i-do = I remember what is said to me here and quote it, as I do with the documents that I was given. Tell me something and ask me about it later; `help` says what else you can ask of me.

# Above what is quoted from memory: who said it when, and the answer then.
quoted-asked = { $date }, { $author }
quoted-said = { $date }, { $author } to others
# $heading is one of the two above.
quoted-replaced = { $heading } (replaced on { $date })
quoted-newer = { $heading } (newer)
quoted-answer = and the answer then:
# Between what is quoted that answers best, and what may answer, too.
quoted-beside = Perhaps also:
# Above what is quoted if the question names a time, and nothing of it was said then.
quoted-other-time = I remember nothing of that from the time that you name. Said at another time:

## Messages that are not taken

too-long = { $chars ->
    [one] That message has { $chars } character; I read at most { $limit }. Please send it in parts, or only what matters.
   *[other] That message has { $chars } characters; I read at most { $limit }. Please send it in parts, or only what matters.
}
too-fast = { $per_minute ->
    [one] That is more than { $per_minute } message per minute from you. Please wait a little and send it again.
   *[other] That is more than { $per_minute } messages per minute from you. Please wait a little and send it again.
}
too-many-waiting = Too many messages are waiting in this conversation. Please send it again when I have answered.
unknown-command = I know no command "{ $name }". Say help to see what there is.

## Why a model did not answer, within a sentence

model-unreachable = it cannot be reached
model-silent = it did not answer in time; whoever runs me can raise MODEL_TIMEOUT
model-unfinished = it was not done in time; whoever runs me can raise TURN_TIMEOUT
model-gave-up = its service gave up waiting for it
model-late = it did not answer in time
model-unauthorized = it refused my key
model-unknown = it does not know { $model }
model-quota = its quota is used up
model-rate-limited = it is over its rate limit
model-context = the conversation is too long for it
model-only-reasoned = it wrote nothing but its reasoning; whoever runs me can raise ANSWER_TOKENS
model-over-budget = { $whose } for this month is used up
model-busy = too many requests are waiting for it
model-refused = it refused the request
model-failed = it failed
model-broke-off = its answer broke off
model-nonsense = its answer made no sense
model-unreadable = its reply could not be read
model-prompt = its prompt could not be made

## Answering again

no-such-answer = I do not know that answer any more: it was forgotten, or is not mine.
not-yours-to-ask-again = Only the one who asked, or { moderator }, can have it answered again.
too-late-to-ask-again = Too much was said since for that to be answered again in its place. Please ask again.
