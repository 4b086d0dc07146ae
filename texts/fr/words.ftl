# Muninn en français. On vouvoie ; des phrases courtes et simples.
# Les mots entre accents graves sont des commandes : ils restent en anglais.

### Dates, listes, et le nom des lieux et des personnes

date = { $day }/{ $month }/{ $year }
date-and-time = { date } { $time }
day-and-time = { weekday } { $day } { month } { $time }
weekday = { $weekday ->
    [1] lun.
    [2] mar.
    [3] mer.
    [4] jeu.
    [5] ven.
    [6] sam.
   *[7] dim.
}
month = { $month ->
    [1] janv.
    [2] févr.
    [3] mars
    [4] avr.
    [5] mai
    [6] juin
    [7] juil.
    [8] août
    [9] sept.
    [10] oct.
    [11] nov.
   *[12] déc.
}
list-goes-on = { $first }, { $next }
list-ends = { $first } et { $next }

# Les deux sont masculins : « dans ce { canal } ».
canal = { $channel ->
    [room] salon
   *[channel] canal
}
dans-cette-conversation = { $conversation ->
    [thread] dans ce fil
   *[conversation] dans cette conversation
}
moderator = { $moderator ->
    [workspace-admin] un administrateur de l’espace de travail
    [message-manager] une personne autorisée à gérer les messages ici
   *[administrator] un administrateur
}

count-answers = { $count ->
    [one] { $count } réponse
   *[other] { $count } réponses
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
    [one] { $count } échange
   *[other] { $count } échanges
}
count-tokens = { $count ->
    [one] { $count } token
   *[other] { $count } tokens
}
