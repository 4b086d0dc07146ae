### Catching up: what was decided, answered and left open

# $since is a day with its time; $messages and $people are counted.
caught-up = Since { $since }: { $messages } by { $people }.
# Where there are more messages than are read; $messages is how many are.
caught-up-newest = Since { $since }: more than { $messages }. This is about the newest of them only, by { $people }.
count-people = { $count ->
    [one] { $count } person
   *[other] { $count } people
}
# Headings.
catch-up-decided = Decided
catch-up-open = Left open
catch-up-answered = Asked and answered
catch-up-further = Further conversations
catch-up-unanswered = Nobody answered yet
catch-up-also = Also said
# What the bot calls itself, before what it answered.
catch-up-me = I
more-conversations = { $count ->
    [one] (And { $count } more conversation.)
   *[other] (And { $count } more conversations.)
}
more-questions = { $count ->
    [one] (And { $count } more question.)
   *[other] (And { $count } more questions.)
}
more-messages = { $count ->
    [one] (And { $count } more message.)
   *[other] (And { $count } more messages.)
}
