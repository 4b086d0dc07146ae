### Ponerse al día: lo que se decidió, se respondió y quedó pendiente

caught-up = Desde { $since }: { $messages } de { $people }.
caught-up-newest = Desde { $since }: más de { $messages }. Aquí se trata solo de los más recientes, de { $people }.
count-people = { $count ->
    [one] { $count } persona
   *[other] { $count } personas
}
catch-up-decided = Decidido
catch-up-open = Pendiente
catch-up-answered = Preguntado y respondido
catch-up-further = Otras conversaciones
catch-up-unanswered = Todavía sin respuesta
catch-up-also = También se dijo
catch-up-me = Yo
more-conversations = { $count ->
    [one] (Y { $count } conversación más.)
   *[other] (Y { $count } conversaciones más.)
}
more-questions = { $count ->
    [one] (Y { $count } pregunta más.)
   *[other] (Y { $count } preguntas más.)
}
more-messages = { $count ->
    [one] (Y { $count } mensaje más.)
   *[other] (Y { $count } mensajes más.)
}
