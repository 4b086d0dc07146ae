### O que é respondido, lembrado e relido em um canal

two-sentences = { $first } { $next }

## Quando o bot responde

muted-conversation = Não digo mais nada nesta { conversa }, nem quando me mencionam, até alguém me dizer `unmute`. Os comandos continuam funcionando.
muted-channel = Não digo mais nada { neste-canal }, nem quando me mencionam, até alguém me dizer `unmute { $channel }`. Os comandos continuam funcionando.
mentioned-conversation = Nesta { conversa } só respondo quando me mencionam ou me respondem, até alguém me dizer `unmute`.
mentioned-channel = Só respondo { neste-canal } quando me mencionam ou me respondem, até alguém me dizer `unmute { $channel }`.
open-conversation = Volto a responder nesta { conversa } ao que é para mim.
open-channel = Volto a responder { neste-canal } ao que é para mim.
still-muted-conversation = Mas continuo em silêncio nesta { conversa } (`unmute`).
still-muted-channel = Mas continuo em silêncio em { todo-o-canal } (`unmute { $channel }`).
still-mentioned-conversation = Mas nesta { conversa } (`unmute`) continuo respondendo só quando me mencionam.
still-mentioned-channel = Mas em { todo-o-canal } (`unmute { $channel }`) continuo respondendo só quando me mencionam.
moderator-needed-to-mute = Só { moderator } pode decidir quando respondo em { todo-o-canal }. `mute` e `only when mentioned` valem para esta { conversa }.
not-in-conversation = Não participo desta { conversa }, então não há nada para mudar. `mute { $channel }` vale para { todo-o-canal }.
stayed-silent = { $times ->
    [one] (Escolhi não dizer nada a { $times } mensagem aqui, a última em { $last }.)
   *[other] (Escolhi não dizer nada a { $times } mensagens aqui, a última em { $last }.)
}

## O que as pessoas dizem umas às outras

hears-everybody = A partir de agora eu lembro o que as pessoas dizem umas às outras { neste-canal }, para que quem está aqui possa encontrar de novo; continuo respondendo só ao que é para mim. Diga `don't remember me here` e não guardo nada seu, nem de antes. `off` e `on` deixam uma { conversa } fora da memória ou de volta nela, e uma mensagem que começa com `[off]` não é guardada. Para acabar com isso para todos, { moderator } me diz `remember only what is asked`.
hears-everybody-now = A partir de agora eu lembro o que as pessoas dizem umas às outras { neste-canal }, e avisei todo mundo.
hears-nobody-any-more = A partir de agora só lembro { neste-canal } o que me perguntam. O que guardei até agora fica; `forget { $channel }` remove tudo.
hears-nobody = Só lembro { neste-canal } o que me perguntam.
moderator-needed-to-hear = Só { moderator } pode decidir o que eu lembro de { todo-o-canal }. `don't remember me here` vale para você.
opted-out = { $count ->
    [one] Não guardo nada do que você diz a outros { neste-canal }, e esqueci o que tinha guardado: { $count } mensagem. O que você me pergunta continua sendo lembrado; `forget last` esquece. `remember me here` desfaz isto.
   *[other] Não guardo nada do que você diz a outros { neste-canal }, e esqueci o que tinha guardado: { $count } mensagens. O que você me pergunta continua sendo lembrado; `forget last` esquece. `remember me here` desfaz isto.
}
opted-in = A partir de agora volto a lembrar o que você diz a outros { neste-canal }.
opted-in-unheard = Você não fica de fora { neste-canal }, mas ninguém é ouvido: aqui só lembro o que me perguntam.
off-record-conversation = O que as pessoas dizem umas às outras nesta { conversa } fica entre elas: não guardo nada até alguém me dizer `on`. O que me perguntam é lembrado como sempre.
off-record-channel = O que as pessoas dizem umas às outras { neste-canal } fica entre elas: não guardo nada até alguém me dizer `on { $channel }`. O que me perguntam é lembrado como sempre.
on-record-conversation = O que as pessoas dizem umas às outras nesta { conversa } pode ser lembrado de novo.
on-record-channel = O que as pessoas dizem umas às outras { neste-canal } pode ser lembrado de novo.
record-anyway = (De qualquer forma, { neste-canal } só lembro o que me perguntam.)
asked-for-this = { $name } pediu isto: { $notice }

## Ficar em dia, e ler o que foi dito antes

nothing-yet = Ainda não foi dito nada aqui.
nothing-since = Que eu saiba, nada foi dito aqui desde { $time }.
no-such-day = Não entendo { $words } como um dia que já chegou. Diga um como “Monday”, “last week” ou “2026-04-13”.
no-history = Não há histórico que eu possa ler aqui.
no-backfill = Não estou lendo o que foi dito aqui antes. Diga “backfill since 2026-01-31” para eu ler a partir desse dia.
moderator-needed-to-backfill = Só { moderator } pode me fazer ler o que foi dito antes { neste-canal }.
not-backfilled = Não consigo ler o que foi dito aqui antes: { $why }.
backfill-not-remembered = o que as pessoas dizem lá não é lembrado; diga lá “remember channel”, ou defina memory = "channel" para { $place } nas configurações dos canais (CHANNEL_SETTINGS)
backfill-no-platform = nenhuma plataforma deste processo consegue ler { $place }; precisa ser o ID de um canal, como `muninn sessions` mostra, sem a thread
backfill-future = { $day } está no futuro
backfill-done = Pronto: li { $messages }.
backfill-stopped = Li { $messages } e parei: { $why }.
backfill-reading = Lendo: { $messages } até agora.
backfill-reading-at = Lendo: { $messages } até agora, em { $date }.
backfill-resting = { $seconds ->
    [one] Lendo: { $messages } até agora; a plataforma pede uma pausa de { $seconds } segundo.
   *[other] Lendo: { $messages } até agora; a plataforma pede uma pausa de { $seconds } segundos.
}
backfill-resting-at = { $seconds ->
    [one] Lendo: { $messages } até agora, em { $date }; a plataforma pede uma pausa de { $seconds } segundo.
   *[other] Lendo: { $messages } até agora, em { $date }; a plataforma pede uma pausa de { $seconds } segundos.
}
backfill-goes-on = Continuo lendo; diga `backfill` para ver até onde cheguei.
backfill-unheard = o que as pessoas dizem lá não é mais lembrado
backfill-away = não dá para alcançar a plataforma; continuo na próxima inicialização
history-not-there = { $place } não é um canal do { $platform } em que estou
history-other-shard = { $place } está no shard { $shard } do Discord, e este processo tem { $shards } (DISCORD_SHARDS); comece no processo que tem esse shard
history-invite = não estou no canal { $channel }; me convide com /invite
history-lacks = não posso ler o que foi dito em { $channel }: lá me falta { $permissions }
history-refused = { $platform } não dá o que foi dito lá: { $why }
