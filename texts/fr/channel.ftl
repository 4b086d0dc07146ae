### Ce qui est répondu, retenu et relu dans un canal

two-sentences = { $first } { $next }

## Quand le bot répond

muted-conversation = Je ne dis plus rien { dans-cette-conversation }, même si l’on me mentionne, jusqu’à ce que quelqu’un me dise `unmute`. Les commandes fonctionnent toujours.
muted-channel = Je ne dis plus rien dans ce { canal }, même si l’on me mentionne, jusqu’à ce que quelqu’un me dise `unmute { $channel }`. Les commandes fonctionnent toujours.
mentioned-conversation = Je ne réponds { dans-cette-conversation } que si l’on me mentionne ou me répond, jusqu’à ce que quelqu’un me dise `unmute`.
mentioned-channel = Je ne réponds dans ce { canal } que si l’on me mentionne ou me répond, jusqu’à ce que quelqu’un me dise `unmute { $channel }`.
open-conversation = Je réponds de nouveau { dans-cette-conversation } à ce qui m’est destiné.
open-channel = Je réponds de nouveau dans ce { canal } à ce qui m’est destiné.
still-muted-conversation = Mais je reste muet { dans-cette-conversation } (`unmute`).
still-muted-channel = Mais je reste muet dans tout ce { canal } (`unmute { $channel }`).
still-mentioned-conversation = Mais { dans-cette-conversation } (`unmute`), je ne réponds toujours que si l’on me mentionne.
still-mentioned-channel = Mais dans tout ce { canal } (`unmute { $channel }`), je ne réponds toujours que si l’on me mentionne.
moderator-needed-to-mute = Seul { moderator } peut décider quand je réponds dans tout un { canal }. `mute` et `only when mentioned` valent { dans-cette-conversation }.
not-in-conversation = Je ne suis pas présent { dans-cette-conversation }, il n’y a donc rien à changer. `mute { $channel }` vaut pour tout le { canal }.
stayed-silent = { $times ->
    [one] (J’ai choisi de ne rien dire à { $times } message ici, le dernier le { $last }.)
   *[other] (J’ai choisi de ne rien dire à { $times } messages ici, le dernier le { $last }.)
}

## Ce que les gens se disent

hears-everybody = Désormais, je retiens ce que les gens se disent dans ce { canal }, pour que ceux qui y sont puissent le retrouver ; je ne réponds toujours qu’à ce qui m’est destiné. Dites-moi `don't remember me here`, et rien de vous n’est gardé, pas même d’avant. `off` et `on` excluent ou rétablissent { une-conversation }, et un message qui commence par `[off]` n’est pas gardé. Pour y mettre fin pour tous, { moderator } me dit `remember only what is asked`.
une-conversation = { $conversation ->
    [thread] un fil
   *[conversation] une conversation
}
hears-everybody-now = Désormais, je retiens ce que les gens se disent dans ce { canal }, et j’y ai prévenu tout le monde.
hears-nobody-any-more = Désormais, je ne retiens dans ce { canal } que ce qu’on me demande. Ce que j’ai gardé jusqu’ici reste ; `forget { $channel }` supprime tout.
hears-nobody = Je ne retiens dans ce { canal } que ce qu’on me demande.
moderator-needed-to-hear = Seul { moderator } peut décider de ce que je retiens de tout un { canal }. `don't remember me here` vaut pour vous-même.
opted-out = { $count ->
    [one] Je ne garde rien de ce que vous dites aux autres dans ce { canal }, et j’ai oublié ce que j’en avais gardé : { $count } message. Ce que vous me demandez est toujours retenu ; `forget last` l’oublie. `remember me here` annule ce choix.
   *[other] Je ne garde rien de ce que vous dites aux autres dans ce { canal }, et j’ai oublié ce que j’en avais gardé : { $count } messages. Ce que vous me demandez est toujours retenu ; `forget last` l’oublie. `remember me here` annule ce choix.
}
opted-in = Désormais, je retiens de nouveau ce que vous dites aux autres dans ce { canal }.
opted-in-unheard = Vous n’êtes pas exclu dans ce { canal } ; mais je n’y écoute personne : je ne retiens que ce qu’on me demande.
off-record-conversation = Ce que les gens se disent { dans-cette-conversation } reste entre eux : je n’en garde rien jusqu’à ce que quelqu’un me dise `on`. Ce qu’on me demande est retenu comme toujours.
off-record-channel = Ce que les gens se disent dans ce { canal } reste entre eux : je n’en garde rien jusqu’à ce que quelqu’un me dise `on { $channel }`. Ce qu’on me demande est retenu comme toujours.
on-record-conversation = Ce que les gens se disent { dans-cette-conversation } peut de nouveau être retenu.
on-record-channel = Ce que les gens se disent dans ce { canal } peut de nouveau être retenu.
record-anyway = (De toute façon, je ne retiens dans ce { canal } que ce qu’on me demande.)
asked-for-this = { $name } l’a demandé : { $notice }

## Rattraper, et lire ce qui a été dit avant

nothing-yet = Rien n’a encore été dit ici.
nothing-since = À ma connaissance, rien n’a été dit ici depuis { $time }.
no-such-day = Je ne comprends pas { $words } comme un jour passé. Indiquez-en un, comme « Monday », « last week » ou « 2026-04-13 ».
no-history = Il n’y a ici aucun historique que je puisse lire.
no-backfill = Je ne suis pas en train de lire ce qui a été dit ici avant. Dites « backfill since 2026-01-31 » pour que je lise à partir de ce jour.
moderator-needed-to-backfill = Seul { moderator } peut me faire lire ce qui a été dit avant dans ce { canal }.
not-backfilled = Je ne peux pas lire ce qui a été dit ici avant : { $why }.
backfill-not-remembered = ce que les gens y disent n’est pas retenu ; dites-y « remember channel », ou mettez memory = "channel" pour { $place } dans les réglages des canaux (CHANNEL_SETTINGS)
backfill-no-platform = aucune plateforme de ce processus ne peut lire { $place } ; ce doit être l’identifiant d’un canal, tel que `muninn sessions` l’affiche, sans son fil
backfill-future = { $day } est dans le futur
backfill-done = Terminé : { $messages } lus.
backfill-stopped = Arrêt après { $messages } : { $why }.
backfill-reading = Lecture en cours : { $messages } jusqu’ici.
backfill-reading-at = Lecture en cours : { $messages } jusqu’ici, au { $date }.
backfill-resting = { $seconds ->
    [one] Lecture en cours : { $messages } jusqu’ici ; la plateforme demande une pause de { $seconds } seconde.
   *[other] Lecture en cours : { $messages } jusqu’ici ; la plateforme demande une pause de { $seconds } secondes.
}
backfill-resting-at = { $seconds ->
    [one] Lecture en cours : { $messages } jusqu’ici, au { $date } ; la plateforme demande une pause de { $seconds } seconde.
   *[other] Lecture en cours : { $messages } jusqu’ici, au { $date } ; la plateforme demande une pause de { $seconds } secondes.
}
backfill-goes-on = Je continue ; dites `backfill` pour voir où j’en suis.
backfill-unheard = ce que les gens y disent n’est plus retenu
backfill-away = la plateforme est injoignable ; je continuerai au prochain démarrage
history-not-there = { $place } n’est pas un canal de { $platform } où je suis
history-other-shard = { $place } est sur le shard { $shard } de Discord, et ce processus a { $shards } (DISCORD_SHARDS) ; commencez dans le processus qui a ce shard
history-invite = je ne suis pas dans le canal { $channel } ; invitez-moi avec /invite
history-lacks = je n’ai pas le droit de lire ce qui a été dit dans { $channel } : il m’y manque { $permissions }
history-refused = { $platform } ne donne pas ce qui y a été dit : { $why }
