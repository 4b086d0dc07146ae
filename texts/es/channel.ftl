### Lo que se responde, se recuerda y se relee en un canal

two-sentences = { $first } { $next }

## Cuándo responde el bot

muted-conversation = Ya no digo nada { en-esta-conversacion }, ni aunque me mencionen, hasta que alguien me diga `unmute`. Los comandos siguen funcionando.
muted-channel = Ya no digo nada { en-este-canal }, ni aunque me mencionen, hasta que alguien me diga `unmute { $channel }`. Los comandos siguen funcionando.
mentioned-conversation = Respondo { en-esta-conversacion } solo si me mencionan o me contestan, hasta que alguien me diga `unmute`.
mentioned-channel = Respondo { en-este-canal } solo si me mencionan o me contestan, hasta que alguien me diga `unmute { $channel }`.
open-conversation = Vuelvo a responder { en-esta-conversacion } a lo que va dirigido a mí.
open-channel = Vuelvo a responder { en-este-canal } a lo que va dirigido a mí.
still-muted-conversation = Pero sigo en silencio { en-esta-conversacion } (`unmute`).
still-muted-channel = Pero sigo en silencio en { todo-el-canal } (`unmute { $channel }`).
still-mentioned-conversation = Pero { en-esta-conversacion } (`unmute`) sigo respondiendo solo si me mencionan.
still-mentioned-channel = Pero en { todo-el-canal } (`unmute { $channel }`) sigo respondiendo solo si me mencionan.
moderator-needed-to-mute = Solo { moderator } puede decidir cuándo respondo en { todo-el-canal }. `mute` y `only when mentioned` valen { en-esta-conversacion }.
not-in-conversation = No estoy { en-esta-conversacion }, así que no hay nada que cambiar. `mute { $channel }` vale para { todo-el-canal }.
stayed-silent = { $times ->
    [one] (Decidí no decir nada a { $times } mensaje aquí, el último el { $last }.)
   *[other] (Decidí no decir nada a { $times } mensajes aquí, el último el { $last }.)
}

## Lo que la gente se dice

hears-everybody = Desde ahora recuerdo lo que la gente se dice { en-este-canal }, para que quienes están aquí puedan encontrarlo; sigo respondiendo solo a lo que va dirigido a mí. Dime `don't remember me here` y no guardo nada tuyo, tampoco de antes. `off` y `on` dejan { una-conversacion } fuera de la memoria o de vuelta en ella, y un mensaje que empieza con `[off]` no se guarda. Para terminarlo para todos, { moderator } me dice `remember only what is asked`.
una-conversacion = { $conversation ->
    [thread] un hilo
   *[conversation] una conversación
}
hears-everybody-now = Desde ahora recuerdo lo que la gente se dice { en-este-canal }, y avisé a todos.
hears-nobody-any-more = Desde ahora recuerdo { en-este-canal } solo lo que me preguntan. Lo que guardé hasta ahora se queda; `forget { $channel }` lo quita todo.
hears-nobody = Recuerdo { en-este-canal } solo lo que me preguntan.
moderator-needed-to-hear = Solo { moderator } puede decidir qué recuerdo de { todo-el-canal }. `don't remember me here` vale para ti.
opted-out = { $count ->
    [one] No guardo nada de lo que dices a otros { en-este-canal }, y olvidé lo que había guardado: { $count } mensaje. Lo que me preguntas se sigue recordando; `forget last` lo olvida. `remember me here` deshace esto.
   *[other] No guardo nada de lo que dices a otros { en-este-canal }, y olvidé lo que había guardado: { $count } mensajes. Lo que me preguntas se sigue recordando; `forget last` lo olvida. `remember me here` deshace esto.
}
opted-in = Desde ahora vuelvo a recordar lo que dices a otros { en-este-canal }.
opted-in-unheard = No te dejo fuera { en-este-canal }, pero no escucho a nadie: aquí recuerdo solo lo que me preguntan.
off-record-conversation = Lo que la gente se dice { en-esta-conversacion } queda entre ellos: no guardo nada hasta que alguien me diga `on`. Lo que me preguntan se recuerda como siempre.
off-record-channel = Lo que la gente se dice { en-este-canal } queda entre ellos: no guardo nada hasta que alguien me diga `on { $channel }`. Lo que me preguntan se recuerda como siempre.
on-record-conversation = Lo que la gente se dice { en-esta-conversacion } se puede recordar de nuevo.
on-record-channel = Lo que la gente se dice { en-este-canal } se puede recordar de nuevo.
record-anyway = (De todos modos, { en-este-canal } recuerdo solo lo que me preguntan.)
asked-for-this = { $name } lo pidió: { $notice }

## Ponerse al día, y leer lo que se dijo antes

nothing-yet = Aquí todavía no se ha dicho nada.
nothing-since = Que yo sepa, aquí no se dijo nada desde { $time }.
no-such-day = No entiendo { $words } como un día que ya llegó. Di uno como «Monday», «last week» o «2026-04-13».
no-history = Aquí no hay historial que pueda leer.
no-backfill = No estoy leyendo lo que se dijo aquí antes. Di «backfill since 2026-01-31» para que lo lea desde ese día.
moderator-needed-to-backfill = Solo { moderator } puede hacer que lea lo que se dijo antes { en-este-canal }.
not-backfilled = No puedo leer lo que se dijo aquí antes: { $why }.
backfill-not-remembered = lo que la gente dice allí no se recuerda; di allí «remember channel», o pon memory = "channel" para { $place } en los ajustes de canales (CHANNEL_SETTINGS)
backfill-no-platform = ninguna plataforma de este proceso puede leer { $place }; debe ser el ID de un canal, como lo muestra `muninn sessions`, sin su hilo
backfill-future = { $day } está en el futuro
backfill-done = Listo: leí { $messages }.
backfill-stopped = Leí { $messages } y me detuve: { $why }.
backfill-reading = Leyendo: { $messages } hasta ahora.
backfill-reading-at = Leyendo: { $messages } hasta ahora, en el { $date }.
backfill-resting = { $seconds ->
    [one] Leyendo: { $messages } hasta ahora; la plataforma pide una pausa de { $seconds } segundo.
   *[other] Leyendo: { $messages } hasta ahora; la plataforma pide una pausa de { $seconds } segundos.
}
backfill-resting-at = { $seconds ->
    [one] Leyendo: { $messages } hasta ahora, en el { $date }; la plataforma pide una pausa de { $seconds } segundo.
   *[other] Leyendo: { $messages } hasta ahora, en el { $date }; la plataforma pide una pausa de { $seconds } segundos.
}
backfill-goes-on = Sigo leyendo; di `backfill` para ver por dónde voy.
backfill-unheard = lo que la gente dice allí ya no se recuerda
backfill-away = no se puede contactar con la plataforma; sigo en el próximo arranque
history-not-there = { $place } no es un canal de { $platform } en el que esté
history-other-shard = { $place } está en el shard { $shard } de Discord, y este proceso tiene { $shards } (DISCORD_SHARDS); empieza en el proceso que tiene ese shard
history-invite = no estoy en el canal { $channel }; invítame con /invite
history-lacks = no puedo leer lo que se dijo en { $channel }: allí me falta { $permissions }
history-refused = { $platform } no da lo que se dijo allí: { $why }
