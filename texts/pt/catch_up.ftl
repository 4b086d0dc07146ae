### Ficar em dia: o que foi decidido, respondido e ficou em aberto

caught-up = Desde { $since }: { $messages } de { $people }.
caught-up-newest = Desde { $since }: mais de { $messages }. Aqui se trata só das mais recentes, de { $people }.
count-people = { $count ->
    [one] { $count } pessoa
   *[other] { $count } pessoas
}
catch-up-decided = Decidido
catch-up-open = Em aberto
catch-up-answered = Perguntado e respondido
catch-up-further = Outras conversas
catch-up-unanswered = Ainda sem resposta
catch-up-also = Também foi dito
catch-up-me = Eu
more-conversations = { $count ->
    [one] (E mais { $count } conversa.)
   *[other] (E mais { $count } conversas.)
}
more-questions = { $count ->
    [one] (E mais { $count } pergunta.)
   *[other] (E mais { $count } perguntas.)
}
more-messages = { $count ->
    [one] (E mais { $count } mensagem.)
   *[other] (E mais { $count } mensagens.)
}
