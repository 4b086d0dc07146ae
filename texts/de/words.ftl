# Muninn auf Deutsch. Angesprochen wird mit »du«; kurze, einfache Sätze.
# Wörter zwischen Backticks sind Befehle und bleiben englisch.

### Daten, Aufzählungen, und wie Orte und Leute heißen

date = { $day }.{ $month }.{ $year }
date-and-time = { date }, { $time }
day-and-time = { weekday }, { $day }. { month }, { $time }
weekday = { $weekday ->
    [1] Mo.
    [2] Di.
    [3] Mi.
    [4] Do.
    [5] Fr.
    [6] Sa.
   *[7] So.
}
month = { $month ->
    [1] Jan.
    [2] Feb.
    [3] März
    [4] Apr.
    [5] Mai
    [6] Juni
    [7] Juli
    [8] Aug.
    [9] Sept.
    [10] Okt.
    [11] Nov.
   *[12] Dez.
}
list-goes-on = { $first }, { $next }
list-ends = { $first } und { $next }

# Beide sind männlich: »in diesem { kanal }«.
kanal = { $channel ->
    [room] Raum
   *[channel] Kanal
}
in-diesem-gespraech = { $conversation ->
    [thread] in diesem Thread
   *[conversation] in dieser Unterhaltung
}
moderator = { $moderator ->
    [workspace-admin] ein Admin des Workspaces
    [message-manager] jemand mit dem Recht zum Verwalten von Nachrichten
   *[administrator] ein Administrator
}

count-answers = { $count ->
    [one] { $count } Antwort
   *[other] { $count } Antworten
}
count-messages = { $count ->
    [one] { $count } Nachricht
   *[other] { $count } Nachrichten
}
count-questions = { $count ->
    [one] { $count } Frage
   *[other] { $count } Fragen
}
count-notes = { $count ->
    [one] { $count } Notiz
   *[other] { $count } Notizen
}
count-conversations = { $count ->
    [one] { $count } Unterhaltung
   *[other] { $count } Unterhaltungen
}
count-turns = { $count ->
    [one] { $count } Beitrag
   *[other] { $count } Beiträge
}
count-tokens = { $count } Token
