### Ce qu’est le bot, ce qu’on peut lui demander, et ce qu’il a coûté

about = Je réponds aux questions et je me souviens de ce qu’on m’a dit ici : quand cela aide pour une question suivante, je m’en sers. Ce que je retiens d’un lieu n’est rappelé qu’à ceux qui y sont. Les messages supprimés sont oubliés, ainsi que tout ce que vous me dites d’oublier.
about-nothing = Je ne me souviens encore de rien à propos de ce lieu.
about-remembered = Je me souviens ici de { $turns } dans { $conversations }, depuis le { $since }.

help =
    Ce que vous pouvez me demander :
    - `help` : ceci
    - `about` : ce que je suis et ce que je retiens ici
    - `history` : ce qui s’est dit ici récemment
    - `why` : d’où vient ma dernière réponse
    - `catch me up`, `catch me up since Monday` : ce qui a été décidé, répondu et laissé ouvert dans ce { canal }, pour vous seul
    - `remember that …` : le retenir ici ; `note: …` fait de même
    - `memory`, `memory search MOTS` : ce que je garde de ce que vous avez dit ici ; puis `forget 2` ou `correct 2: …` pour un élément
    - `forget last` : oublier votre dernier message ici, avec sa réponse
    - `forget session` : oublier tout ce qui s’est dit { dans-cette-conversation }
    - `forget { $channel }` : oublier tout ce qui s’est dit dans ce { canal }, { toutes-conversations }
    - `forget me` : oublier tout ce qui vient de vous, partout (avec confirmation)
    - `link my accounts`, en message privé : votre compte ici et un autre sur une autre plateforme deviennent ceux d’une même personne ; `unlink my account` annule le lien
    - `export mine` : tout ce que je garde de vous, partout, en fichiers pour vous seul
    - `mute`, `only when mentioned`, `unmute` : quand je réponds { dans-cette-conversation } ; `mute { $channel }` et ainsi de suite pour tout le { canal }
    - `remember { $channel }`, `remember only what is asked` : si je retiens ce que les gens se disent dans ce { canal }
    - `don't remember me here`, `remember me here` : si cela vaut pour vous
    - `off`, `on` : ce que les gens se disent { dans-cette-conversation } reste entre eux, ou non ; `off { $channel }` et ainsi de suite pour tout le { canal }
    - `backfill since Monday` : lire ce que les gens se sont dit dans ce { canal } depuis, là où c’est retenu (pour ceux qui peuvent le gérer) ; `backfill` : où j’en suis
    - `usage` : ce que vous et ce { canal } avez dépensé
    - `web` : un lien, pour vous seul, vers des pages qui montrent vos conversations et d’où viennent les réponses ; `web sign out` y met fin
    - `mcp token`, `mcp token everywhere for 30 days` : un jeton, pour toi seul, avec lequel un programme me questionne pour toi ; `mcp tokens` liste les tiens, et `mcp revoke 1` ou `mcp revoke all` les révoque
    Tout le reste est un message pour moi.

help-slash =
    Mentionnez-moi avec une question et je réponds dans un fil, que je suis ensuite sans mention. Ou utilisez une commande :
    - `/ask` : me demander ici, pour vous seul (`private`) ou dans un fil à part (`thread`)
    - `/why` : d’où vient ma dernière réponse
    - `/catchup` : ce qui a été décidé, répondu et laissé ouvert dans ce canal, pour vous seul
    - `/backfill` : lire ce qui s’est dit avant dans ce canal, là où c’est retenu (pour ceux qui peuvent gérer les messages)
    - `/session` : retrouver vos propres conversations
    - `/note` : retenir quelque chose dans ce canal
    - `/memory` : ce que je garde de ce que vous avez dit ici, pour vous seul ; `/correct` : reformuler un de ces éléments
    - `/forget` : oublier un de ces éléments, votre dernier message, ce fil, ce canal (pour ceux qui peuvent gérer les messages), ce que vous avez demandé en privé, ou tout ce qui vient de vous, partout
    - `/export` : tout ce que je garde de vous, partout, en fichiers dans un message privé
    - `/web` : un lien, pour vous seul, vers des pages qui montrent vos conversations et d’où viennent les réponses
    - `/mcp` : un jeton, pour toi seul, avec lequel un programme comme un éditeur me questionne pour toi ; tes jetons ; leur révocation
    - `/link`, en message privé : votre compte ici et un autre sur une autre plateforme deviennent ceux d’une même personne ; `/unlink` annule le lien
    - `/mute`, `/mentions`, `/unmute` : quand je réponds dans ce fil ou canal : jamais, seulement si l’on me mentionne, ou quand je crois que c’est pour moi
    - `/remember` : ce que je peux retenir de ce canal, et de ce que vous y dites aux autres
    - `/off`, `/on` : ce que les gens se disent dans ce fil ou canal reste entre eux, ou peut de nouveau être retenu
    - `/usage` : ce que vous et ce canal avez dépensé

## Ce qui a été dépensé

usage-day = Ces dernières 24 heures :
usage-month = Ces 30 derniers jours :
usage-you = - vous : { $spent }
usage-here = - tous ensemble ici : { $spent }
spent = { $answers }, { $read } et { $written }
tokens-read = { $tokens } lus
tokens-read-cached = { $tokens } lus (dont { $cached } en cache)
tokens-written = { $count } écrits
spent-money = { $spent }, pour { $money }
usage-budget = Ce mois-ci, { $whose } : { $spent } sur { $limit }
