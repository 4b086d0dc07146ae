# Muninn en español. Se trata de «tú»; frases cortas y sencillas.
# Las palabras entre acentos graves son comandos: se quedan en inglés.

### Fechas, listas y cómo se llaman los lugares y las personas

date = { $day }/{ $month }/{ $year }
date-and-time = { date } { $time }
day-and-time = { weekday } { $day } { month } { $time }
weekday = { $weekday ->
    [1] lun
    [2] mar
    [3] mié
    [4] jue
    [5] vie
    [6] sáb
   *[7] dom
}
month = { $month ->
    [1] ene
    [2] feb
    [3] mar
    [4] abr
    [5] may
    [6] jun
    [7] jul
    [8] ago
    [9] sept
    [10] oct
    [11] nov
   *[12] dic
}
list-goes-on = { $first }, { $next }
list-ends = { $first } y { $next }

en-este-canal = { $channel ->
    [room] en esta sala
   *[channel] en este canal
}
de-este-canal = { $channel ->
    [room] de esta sala
   *[channel] de este canal
}
todo-el-canal = { $channel ->
    [room] toda la sala
   *[channel] todo el canal
}
en-esta-conversacion = { $conversation ->
    [thread] en este hilo
   *[conversation] en esta conversación
}
moderator = { $moderator ->
    [workspace-admin] un administrador del espacio de trabajo
    [message-manager] alguien con permiso para gestionar mensajes aquí
   *[administrator] un administrador
}

count-answers = { $count ->
    [one] { $count } respuesta
   *[other] { $count } respuestas
}
count-messages = { $count ->
    [one] { $count } mensaje
   *[other] { $count } mensajes
}
count-questions = { $count ->
    [one] { $count } pregunta
   *[other] { $count } preguntas
}
count-notes = { $count ->
    [one] { $count } nota
   *[other] { $count } notas
}
count-conversations = { $count ->
    [one] { $count } conversación
   *[other] { $count } conversaciones
}
count-turns = { $count ->
    [one] { $count } intercambio
   *[other] { $count } intercambios
}
count-tokens = { $count ->
    [one] { $count } token
   *[other] { $count } tokens
}
