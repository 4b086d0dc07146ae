### Buttons, forms and single sentences of the platforms

## Buttons: short

button-why = Why?
button-good = A good answer
button-bad = A bad answer
button-share = Share
button-stop = Stop
button-again = Regenerate
button-forget = Forget
button-keep = Keep
button-forget-number = Forget { $number }
button-correct-number = Correct { $number }
button-approve = Do it
button-decline = Leave it

## The form that asks what is right: its title has at most 24 characters

form-correct-title = Correct number { $number }
form-correct = Correct
form-leave = Leave it
form-what-is-right = What is right
form-not-opened = Slack did not open the form. Press the button again, or tell me `correct { $number }: …`.

## Slack: the app's home

home-ask = Ask me in a channel by mentioning me, in a direct message, or for yourself with `{ $command } ask …`. Every answer has a button that shows what it was made from.
home-forget = Forget our direct messages
home-forget-title = Forget all of it?
home-forget-text = Everything you said to me in direct messages, and what I answered, is forgotten for good.
home-forget-yes = Forget it
home-forget-no = Keep it

## Discord: answers to commands and buttons, for one person alone

not-allowed = I may not talk to you here. Whoever runs me can let you in.
never-here = I am not to answer questions in this channel.
not-yours-here = Only the one who asked, or somebody who may manage messages here, can do that.
old-button = This button is from an older version and no longer works.
no-text = There is nothing to read in that message.
no-question = There is no question in that.
confirm-session = Everything said to me in this conversation will be forgotten, by everybody. It cannot be brought back.
confirm-private = Everything you asked me privately here will be forgotten. It cannot be brought back.
confirm-channel = Everything said to me in this channel and its threads will be forgotten, by everybody. It cannot be brought back.
forget-what = Say what to forget: choose `what`, or give the `number` of something that `/memory` or `/why` listed for you.
say-where = I cannot tell whether this is a thread. Say where: choose `where`.
nothing-was-forgotten = Nothing was forgotten.
no-direct = I may not send you direct messages. Use the command with `/` here: only you see what it answers.
no-direct-room = I could open no room for the two of us, or the one that we have is not encrypted as this one is. Invite me to a room where we are alone, and ask me there.
thanks = Thank you, noted.
no-such-session = I know of no such conversation of yours here.
sessions-unknown = I cannot look into my memory right now; please try again later.

## Why a message of the bot stays, as the end of a sentence

stays-only-you-slack = only you see it and Slack lets nobody remove it; it is gone when you reload Slack
stays-only-you-discord = only you see it and Discord lets nobody else remove it; choose "Dismiss message" below it
stays-scope = the app lacks the scope { $needed }; whoever runs me can add it
stays-slack = Slack refuses to remove it ({ $code }); a workspace admin can delete it
stays-no-access = I may not see that channel any more; let me in again (View Channel) and delete it, or delete it yourself
stays-removed = I was removed from that server
stays-locked = its thread is locked; delete it yourself, or unlock the thread
stays-discord = Discord refuses to remove it: { $why }
stays-not-in-room = I am not in that room any more; invite me again, or let somebody there remove it
stays-homeserver = the homeserver refuses to remove it ({ $why }); a moderator of the room can
stays-program = the program that I answer to does not delete it: { $why }

## Why nobody got a copy of theirs, as the end of a sentence

no-copy-here = I can give nobody a file here; ask me in another place where I am, such as a terminal or a chat with direct messages
no-copy-undirect = I can give nobody a file here; ask me where I can write you a direct message
no-copy-webhook = I talk to you through another program, which takes texts only and tells me by itself who you are
no-copy-direct = you take no direct messages from me; allow them from members of this server, or use `/export` here, and ask again
no-copy-direct-room = I could open no room for the two of us, or the one that we have is not encrypted as this one is; invite me to a room where we are alone and ask me there
no-copy-away = { $platform } does not answer as it should ({ $why }); ask again later
no-copy-refused = { $platform } refuses the files: { $why }
no-copy-scope = Slack does not let me: the app lacks the scope { $needed } (whoever runs me installs it again with the manifest that `muninn manifest slack` prints)
no-copy-room-changed = other people are now in the room that was for the two of us; invite me to another one and ask me there
no-copy-folder = I do not know which folder you are in; go to one and ask again
no-copy-folder-refused = I cannot write into { $folder } ({ $error }); go to a folder that you can write into and ask again
no-copy-connection = I can give you no file over this connection; ask me with `muninn chat`

## Slack: what can be asked, and what a conversation is called

slack-ask-how = Write your question behind it: `{ $command } ask When is the release?` Only you see the answer.
# Below an answer that somebody shares.
slack-shared = — shared by { $name }
slack-not-shared = Not shared: Slack does not tell me whether people of other organisations are here. Invite me to the channel, or copy the text.
slack-title = Conversation with Muninn
# Slack writes the bot's name before it.
slack-thinking = is thinking…
# Above buttons; each has a title, and what its person asks by it.
slack-suggestions = What would you like to know?
slack-suggest-abilities = What can you do?
slack-ask-abilities = What can you do, and what do you remember?
slack-suggest-last = What did we talk about?
slack-ask-last = What did we talk about last time?
slack-suggest-note = Keep something in mind
slack-ask-note = Please remember this for later:

## What somebody asks by choosing a message; the message stands below it

ask-about-message = What do you know about this message?
ask-about-message-of = What do you think of this message from { $name }?

## Discord: threads

answers-in = I answer in { $thread }.
# A thread whose question says nothing, or is forgotten.
thread-name = Question

## Matrix: rooms

sealed-message = I cannot read this message: the key to it has not reached me. If it comes, I will read it then; otherwise please say it again.
invitation-declined = Thank you for the invitation. I may only join rooms of people I was set up for; please ask those who run me.
room-without-memory = This room takes the place of another one, but it is open to other people. So I begin here without what I remember of the old room.

## Terminal: single lines

terminal-greeting = { $name } with { $models }. /help shows what you can ask, /quit leaves.
# Models in the order in which they are asked.
terminal-model-else = { $first }, else { $next }
terminal-without-model = { $name } answers from memory alone: set OPENAI_API_KEY, or OPENAI_BASE_URL for a service such as Ollama, to give it a model.
terminal-too-long = That is longer than { $bytes } bytes; say it in parts.
terminal-how-to-leave = /quit or Ctrl-D leaves; /help says what can be asked.
terminal-unreadable = That is not valid UTF-8; please type it again.
terminal-ending = Muninn is shutting down.
terminal-no-answer = No answer came. Ask again, or say `unmute` where somebody muted me.
terminal-not-waiting = Not waiting for that any more.
