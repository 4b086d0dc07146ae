# Muninn in English. People are "you"; plain sentences: subject, verb, object.
# Words between backticks are commands: they stay as they are in every language.
# A text may have fewer of these arguments than English, never others.

### Dates, lists, and what places and people are called

# $year, $month and $day have leading zeros.
date = { $year }-{ $month }-{ $day }
date-and-time = { date } { $time }
# $weekday is 1 for Monday to 7 for Sunday; $day and $month are numbers.
day-and-time = { weekday } { $day } { month } { $time }
weekday = { $weekday ->
    [1] Mon
    [2] Tue
    [3] Wed
    [4] Thu
    [5] Fri
    [6] Sat
   *[7] Sun
}
month = { $month ->
    [1] Jan
    [2] Feb
    [3] Mar
    [4] Apr
    [5] May
    [6] Jun
    [7] Jul
    [8] Aug
    [9] Sep
    [10] Oct
    [11] Nov
   *[12] Dec
}
# "A, B and C" is put together from the left: A, then B, then C at the end.
list-goes-on = { $first }, { $next }
list-ends = { $first } and { $next }

# $channel is "channel" or "room", $conversation "thread" or "conversation".
# Who may have forgotten what others said.
moderator = { $moderator ->
    [workspace-admin] a workspace admin
    [message-manager] somebody who may manage messages here
   *[administrator] an administrator
}

count-answers = { $count ->
    [one] { $count } answer
   *[other] { $count } answers
}
count-messages = { $count ->
    [one] { $count } message
   *[other] { $count } messages
}
count-questions = { $count ->
    [one] { $count } question
   *[other] { $count } questions
}
count-notes = { $count ->
    [one] { $count } note
   *[other] { $count } notes
}
count-conversations = { $count ->
    [one] { $count } conversation
   *[other] { $count } conversations
}
count-turns = { $count ->
    [one] { $count } turn
   *[other] { $count } turns
}
count-tokens = { $count ->
    [one] { $count } token
   *[other] { $count } tokens
}
