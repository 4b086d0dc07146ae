# Muninn em português do Brasil. Trata-se por «você»; frases curtas e simples.
# As palavras entre crases são comandos: ficam em inglês.

### Datas, listas e como se chamam os lugares e as pessoas

date = { $day }/{ $month }/{ $year }
date-and-time = { date } { $time }
day-and-time = { weekday }, { $day } de { month } { $time }
weekday = { $weekday ->
    [1] seg.
    [2] ter.
    [3] qua.
    [4] qui.
    [5] sex.
    [6] sáb.
   *[7] dom.
}
month = { $month ->
    [1] jan.
    [2] fev.
    [3] mar.
    [4] abr.
    [5] mai.
    [6] jun.
    [7] jul.
    [8] ago.
    [9] set.
    [10] out.
    [11] nov.
   *[12] dez.
}
list-goes-on = { $first }, { $next }
list-ends = { $first } e { $next }

neste-canal = { $channel ->
    [room] nesta sala
   *[channel] neste canal
}
deste-canal = { $channel ->
    [room] desta sala
   *[channel] deste canal
}
todo-o-canal = { $channel ->
    [room] toda a sala
   *[channel] todo o canal
}
# As duas são femininas: «nesta { conversa }».
conversa = { $conversation ->
    [thread] thread
   *[conversation] conversa
}
moderator = { $moderator ->
    [workspace-admin] um administrador do workspace
    [message-manager] alguém com permissão para gerenciar mensagens aqui
   *[administrator] um administrador
}

count-answers = { $count ->
    [one] { $count } resposta
   *[other] { $count } respostas
}
count-messages = { $count ->
    [one] { $count } mensagem
   *[other] { $count } mensagens
}
count-questions = { $count ->
    [one] { $count } pergunta
   *[other] { $count } perguntas
}
count-notes = { $count ->
    [one] { $count } nota
   *[other] { $count } notas
}
count-conversations = { $count ->
    [one] { $count } conversa
   *[other] { $count } conversas
}
count-turns = { $count ->
    [one] { $count } interação
   *[other] { $count } interações
}
count-tokens = { $count ->
    [one] { $count } token
   *[other] { $count } tokens
}
