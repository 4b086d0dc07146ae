### Nachholen: was entschieden, beantwortet und offen ist

caught-up = Seit { $since }: { $messages } von { $people }.
caught-up-newest = Seit { $since }: mehr als { $messages }. Hier geht es nur um die neuesten davon, von { $people }.
count-people = { $count ->
    [one] { $count } Person
   *[other] { $count } Personen
}
catch-up-decided = Entschieden
catch-up-open = Noch offen
catch-up-answered = Gefragt und beantwortet
catch-up-further = Weitere Unterhaltungen
catch-up-unanswered = Noch ohne Antwort
catch-up-also = Außerdem gesagt
catch-up-me = Ich
more-conversations = { $count ->
    [one] (Und { $count } weitere Unterhaltung.)
   *[other] (Und { $count } weitere Unterhaltungen.)
}
more-questions = { $count ->
    [one] (Und { $count } weitere Frage.)
   *[other] (Und { $count } weitere Fragen.)
}
more-messages = { $count ->
    [one] (Und { $count } weitere Nachricht.)
   *[other] (Und { $count } weitere Nachrichten.)
}
