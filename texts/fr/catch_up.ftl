### Rattraper : ce qui a été décidé, répondu et laissé ouvert

caught-up = Depuis { $since } : { $messages } de { $people }.
caught-up-newest = Depuis { $since } : plus de { $messages }. Il ne s’agit ici que des plus récents, de { $people }.
count-people = { $count ->
    [one] { $count } personne
   *[other] { $count } personnes
}
catch-up-decided = Décidé
catch-up-open = En suspens
catch-up-answered = Demandé et répondu
catch-up-further = Autres conversations
catch-up-unanswered = Encore sans réponse
catch-up-also = Dit aussi
catch-up-me = Moi
more-conversations = { $count ->
    [one] (Et { $count } autre conversation.)
   *[other] (Et { $count } autres conversations.)
}
more-questions = { $count ->
    [one] (Et { $count } autre question.)
   *[other] (Et { $count } autres questions.)
}
more-messages = { $count ->
    [one] (Et { $count } autre message.)
   *[other] (Et { $count } autres messages.)
}
