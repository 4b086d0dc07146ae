### Noter, lister, corriger et oublier ce qui est retenu

## Notes

noted-privately = Noté, pour vous seul : je m’en souviendrai quand une de vos questions s’y rapporte. `forget last` l’oublie.
noted = Noté : je m’en souviendrai dans ce { canal } quand une question s’y rapporte. `forget last` l’oublie.
nothing-to-note = Dites-moi ce que je dois retenir : « remember that le thé est à quatre heures ».
proposes-note = Dois-je retenir ceci pour vous ? Dites `yes` : « { $text } »
not-noted = Je n’ai pas pu l’écrire, je ne m’en souviendrai donc pas : le disque est peut-être plein. Redites-le-moi plus tard.

## Listes

list-line = { $number }. [{ $date }] { $told }
list-line-corrected = { $number }. [{ $date }] { $told } (corrigé le { $corrected })
list-noted = vous avez noté : { $text }
list-said = vous avez dit aux autres : { $text }
list-told = vous à moi : { $text } (ma réponse : { $answer })
list-told-only = vous à moi : { $text }
list-hint = `forget { $first }` oublie un de ces éléments, `correct { $first }: …` le reformule.
list-hint-more = `forget { $first }` oublie un de ces éléments, `correct { $first }: …` le reformule, `memory more` affiche les plus anciens.
list-hint-more-words = `forget { $first }` oublie un de ces éléments, `correct { $first }: …` le reformule ; il y en a d’autres, que davantage de mots distinguent.
recalled-hint = `forget 1` oublie ce qui porte le numéro 1 ci-dessus, et `correct 1: …` le reformule.
nothing-found = Rien de ce que j’ai retenu de vous ici ne contient tous ces mots.
nothing-more = C’est tout ce que j’ai retenu de ce que vous avez dit ici.
nothing-listed = Je n’ai rien retenu de ce que vous avez dit ici.
list-ends-after = Une liste s’arrête après { $listed } éléments. `memory search MOTS` trouve ce qui est plus ancien.
list-again = Je ne sais plus à quoi correspondent les numéros. Dites `memory`, ou `why`, puis le numéro affiché.
no-such-number = Il n’y a pas de numéro { $number } dans la dernière liste que vous avez vue ici, qui en compte { $listed }. Dites `memory` pour la revoir.
item-gone = Ce qui portait le numéro { $number } est déjà oublié. Dites `memory` pour voir ce qui reste.
item-changed = Ce qui portait le numéro { $number } a changé entre-temps ; je l’ai laissé tel quel. Dites `memory`, ou `why`, pour le revoir.
not-your-item = Le numéro { $number } vient de quelqu’un d’autre : seule cette personne ou { moderator } peut le faire modifier.

## Corrections

nothing-to-correct = Dites ce qui est juste : « correct { $number }: le thé est à cinq heures ».
nothing-stated = Le numéro { $number } est une question, et sa réponse ne fait que citer ce qui a été dit. Corrigez ce qu’elle cite : `memory search MOTS` le montre avec son numéro.
corrected-item = Corrigé : cela vaut désormais à la place du numéro { $number }, que je garde seulement comme ce qui a été dit avant.
already-corrected = { $by } l’a corrigé le { $at }. Dites `memory search MOTS`, ou `why`, et corrigez ce qui vaut maintenant.

## Oublier

nothing-to-forget = Il n’y a rien de vous à oublier ici.
not-yours-to-forget = D’autres ont parlé ici aussi : seul { moderator } peut faire tout oublier. « { $forget_last } » oublie votre dernier échange.
not-your-message = Je ne garde rien de vous sous le message auquel vous avez répondu : je n’ai donc rien oublié. « { $forget_last } », sans répondre à un message, oublie votre dernier message ici.
forgot-turn = { $quotes ->
    [0] Oublié : { $what }, et tout ce que ma mémoire en gardait.
    [one] Oublié : { $what }, et tout ce que ma mémoire en gardait, et { $quotes } réponse suivante qui le citait.
   *[other] Oublié : { $what }, et tout ce que ma mémoire en gardait, et { $quotes } réponses suivantes qui le citaient.
}
forgotten-exchange = votre message du { $at }, avec sa réponse
forgotten-heard = votre message du { $at }, écrit à d’autres
forgotten-note = votre note du { $at }
forgotten-last = votre dernier message ici
forgot-waiting-turn = Oublié : votre dernier échange, qui attendait encore d’être enregistré. Ma mémoire est injoignable pour le moment ; si l’échange y est tout de même arrivé, redites « forget last » à son retour.
forgot-item = { $earlier ->
    [0] Oublié : ce qui portait le numéro { $number }, avec tout ce que ma mémoire en gardait.
    [one] Oublié : ce qui portait le numéro { $number }, avec tout ce que ma mémoire en gardait et { $earlier } version qu’il avait corrigée.
   *[other] Oublié : ce qui portait le numéro { $number }, avec tout ce que ma mémoire en gardait et { $earlier } versions qu’il avait corrigées.
}
forgot-all = Oublié : tout ce qui a été dit dans cette conversation.
forgot-session = { $turns ->
    [one] Oublié : le seul échange { dans-cette-conversation }.
   *[other] Oublié : les { $turns } échanges { dans-cette-conversation }.
}
forgot-audience = { $turns ->
    [one] Oublié : le seul échange de ce { canal }, { toutes-conversations }.
   *[other] Oublié : les { $turns } échanges de ce { canal }, { toutes-conversations }.
}
toutes-conversations = { $conversation ->
    [thread] dans tous ses fils
   *[conversation] dans toutes ses conversations
}
moderator-needed = Seul { moderator } peut faire oublier tout un { canal }. « { $forget_last } » oublie votre dernier échange.
held = (Ce lieu fait l’objet d’une conservation légale : plus personne ne voit ce qui a été oublié, mais la personne qui m’héberge en a une copie jusqu’à la fin de la conservation.)
still-in-file = (Je ne l’utilise plus, mais son texte est encore dans un de mes fichiers, qui n’a pas pu être écrit : le disque est peut-être plein. Il sera retiré dès que le fichier pourra être réécrit.)
removed-later = { $count ->
    [one] Je n’ai pas encore pu retirer { $count } de mes messages et je continue d’essayer.
   *[other] Je n’ai pas encore pu retirer { $count } de mes messages et je continue d’essayer.
}
stays-visible = { $count ->
    [one] { $count } de mes messages reste visible, car { $why }.
   *[other] { $count } de mes messages restent visibles, car { $why }.
}
store-needed = Ma mémoire est injoignable pour le moment, je ne peux donc pas le faire. Réessayez plus tard.

## Oublier une personne

kept-of-person = { $accounts ->
    [0] { $questions } avec mes réponses, { $messages } aux autres et { $notes }, dans { $conversations }
    [one] { $questions } avec mes réponses, { $messages } aux autres et { $notes }, dans { $conversations }
   *[other] { $questions } avec mes réponses, { $messages } aux autres et { $notes }, dans { $conversations } depuis { $accounts } comptes liés
}
ask-forget-me = Ceci oublie tout ce qui vient de vous, partout où je suis : { $kept } ; vos avis sur les réponses ; et ce qui en figure dans des réponses à d’autres. Je retire mes réponses à vos questions, et c’est irréversible. Si c’est ce que vous voulez, dites `{ $command }`.
forgot-me = J’ai oublié tout ce qui vient de vous : { $kept }, et vos avis sur les réponses.
forgot-me-repeated = { $count ->
    [one] J’ai vidé { $count } autre réponse qui le citait ou le répétait.
   *[other] J’ai vidé { $count } autres réponses qui le citaient ou le répétaient.
}
forgot-me-accounts = Vos comptes ne sont plus liés.
forgot-me-out-of-reach = Sont hors de ma portée vos propres messages ici, ce que d’autres en ont écrit eux-mêmes, ce que garde le service du modèle, et les sauvegardes de la personne qui m’héberge. Là où vous m’avez dit de ne pas vous retenir dans un { canal }, cela vaut toujours.
forgot-me-held = { $count ->
    [one] { $count } lieu fait l’objet d’une conservation légale : plus personne ne voit ce que vous y avez dit, mais la personne qui m’héberge en a une copie jusqu’à la fin de la conservation.
   *[other] { $count } lieux font l’objet d’une conservation légale : plus personne ne voit ce que vous y avez dit, mais la personne qui m’héberge en a une copie jusqu’à la fin de la conservation.
}

## Une copie de ses données

export-under-way = Je rassemble déjà ce que je garde de vous. Merci de patienter.
nothing-kept-of-you = Je ne garde rien de vous.
handed-over-directly = Je vous l’ai envoyé en message privé.
handed-over-here = { $count ->
    [one] Voici tout ce que je garde de vous : { $count } élément, en JSON pour les programmes et en Markdown à lire.
   *[other] Voici tout ce que je garde de vous : { $count } éléments, en JSON pour les programmes et en Markdown à lire.
}
handed-over-at = { $count ->
    [one] Tout ce que je garde de vous ({ $count } élément) est dans { $paths }, que personne d’autre ne peut lire.
   *[other] Tout ce que je garde de vous ({ $count } éléments) est dans { $paths }, que personne d’autre ne peut lire.
}
not-handed-over = Je n’ai pas pu vous donner ce que je garde de vous, car { $why }. La personne qui m’héberge peut créer les fichiers avec `muninn export mine.json --person { $person }`.
no-copy-disk = je n’ai pas pu écrire les fichiers ; le disque est peut-être plein
no-copy-too-much = il faudrait plus de { $files } fichiers
no-copy-late = { $minutes ->
    [one] cela a pris plus de { $minutes } minute
   *[other] cela a pris plus de { $minutes } minutes
}
no-copy-unreadable = je ne parviens pas à relire les fichiers ({ $error }) ; redemandez

## Demander d’abord

proposes-call =
    Dois-je faire ceci ? Dites `yes` dans les { $minutes } minutes ; rien n’est fait avant.

    { $call }
not-yours-to-approve = Seule la personne à qui j’ai posé la question peut en décider.
approval-over = J’ai posé cette question il y a plus de { $minutes } minutes, je n’en fais donc rien. Redemandez-le-moi.
approval-gone = Je ne sais plus ce que j’ai demandé là, je n’en fais donc rien. Redemandez-le-moi.
declined = Alors je n’en fais rien.
approval-unknown = J’ai déjà commencé `{ $tool }` et je ne sais pas ce qu’il en est : vérifiez là-bas. Je ne le fais pas deux fois.
decided-before = C’est déjà décidé, et rien n’a été fait maintenant. J’ai dit alors : { $said }
decided-before-result-gone = C’est déjà décidé, et rien n’a été fait maintenant. Le résultat n’est plus conservé.
call-done = Fait : `{ $tool }`.
call-failed = J’ai essayé `{ $tool }`, et cela a échoué : { $error }.
call-not-offered = il n’est plus proposé ici
call-more = … et { $count } de plus

copy-title = Ce que Muninn garde de { $who }
copy-title-part = Ce que Muninn garde de { $who }, partie { $part }
copy-where = { $at } dans { $place } ({ $platform })
copy-asked = J’ai demandé
copy-said = J’ai dit à d’autres
copy-noted = J’ai fait noter
copy-what = { $what } :
copy-what-corrected = { $what }, corrigé le { $date } :
copy-file = avec le fichier { $name } :
copy-answer = et la réponse a été :
copy-answer-of = { $answer } du { $date }
copy-liked = J’ai trouvé la réponse { $answer } bonne.
copy-disliked = J’ai trouvé la réponse { $answer } mauvaise.
