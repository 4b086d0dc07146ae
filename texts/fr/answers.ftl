### Ce qui accompagne une réponse : pourquoi elle est moins complète, et ce qui est refusé

model-down = Je n’ai pas pu interroger le modèle ({ $why }) ; voici seulement ce dont je me souviens :
model-down-after-tools = Je n’ai pas pu demander la réponse au modèle ({ $why }) ; voici seulement ce que j’ai trouvé :
model-down-listed = Je n’ai pas pu interroger le modèle ({ $why }) ; voici une liste de ce qui a été dit :
embeddings-down = (Le service d’embeddings ne répond pas : j’ai cherché dans ma mémoire par mots seulement.)
store-down = { $turns ->
    [0] (Ma mémoire est injoignable pour le moment : j’ai répondu sans elle. Cet échange sera enregistré à son retour.)
    [one] (Ma mémoire est injoignable pour le moment : j’ai répondu d’après le dernier échange. Cet échange sera enregistré à son retour.)
   *[other] (Ma mémoire est injoignable pour le moment : j’ai répondu d’après les { $turns } derniers échanges. Cet échange sera enregistré à son retour.)
}
store-was-down = { $turns ->
    [0] (Ma mémoire a été injoignable un instant : j’ai répondu sans elle.)
    [one] (Ma mémoire a été injoignable un instant : j’ai répondu d’après le dernier échange.)
   *[other] (Ma mémoire a été injoignable un instant : j’ai répondu d’après les { $turns } derniers échanges.)
}
store-down-in-part = (Ma mémoire est injoignable pour le moment : quelque chose a pu m’échapper. Cet échange sera enregistré à son retour.)
store-was-down-in-part = (Ma mémoire a été injoignable un instant : quelque chose a pu m’échapper.)
store-down-later = (Ma mémoire est devenue injoignable pendant que je répondais. Cet échange sera enregistré à son retour.)
recall-failed = (Je n’ai pas pu parcourir ce qui a été dit ici auparavant ; j’ai répondu sans.)
bracketed = ({ $text })
knowledge-loading = Les connaissances de l’équipe sont en cours de chargement : je n’ai pas pu y chercher.
knowledge-lagging = Une version plus récente des connaissances de l’équipe est en cours de chargement ; j’ai cherché dans la précédente.
knowledge-words-only = Le service d’embeddings ne répond pas : j’ai cherché dans les connaissances de l’équipe par mots seulement.
knowledge-graph-away = Le graphe n’a pas répondu à temps : j’ai cherché dans les connaissances de l’équipe sans le contexte de chaque résultat.
knowledge-not-asked = Le graphe n’a pas répondu : je n’ai pas pu l’interroger sur les connaissances de l’équipe.
budget-of-person = votre budget
budget-of-channel = le budget de ce canal
budget-of-all = mon budget
budget-nearly-up = (Utilisé à 80 % pour ce mois-ci : { $whose }, { $spent } sur { $limit }. Une fois épuisé, je réponds sans modèle.)
look-ups-failed = (Toutes les recherches faites pour cette réponse ont échoué ; elle ne repose sur aucune.)
look-up-failed = (Une recherche faite pour cette réponse a échoué, il peut donc y manquer quelque chose.)
cut-off = { $tokens ->
    [one] (Cette réponse est coupée : elle a atteint sa limite de { $tokens } token. Demandez-moi de continuer, ou faites augmenter ANSWER_TOKENS.)
   *[other] (Cette réponse est coupée : elle a atteint sa limite de { $tokens } tokens. Demandez-moi de continuer, ou faites augmenter ANSWER_TOKENS.)
}
cut-short = (Cette réponse est coupée : le modèle ne pouvait pas en écrire plus d’un coup. Demandez-moi de continuer.)
withheld = (Cette réponse est incomplète : le filtre de contenu du service du modèle a retenu la suite.)
secret-removed = (J’ai retiré un secret de votre message avant de le lire et de l’enregistrer. Remplacez-le : d’autres ont pu le voir ici.)
files-in-part = (Je n’ai lu qu’une partie de { $files }, car c’est plus que ce que je lis en une fois ; envoyez-moi la partie qui compte.)
files-need-model = (Sans modèle, je n’ai pas regardé ce qui accompagnait votre message.)
images-not-seen = (Je n’ai pas vu les images qui accompagnaient la question, car je n’en conserve aucune. Si la réponse en a besoin, envoyez-les de nouveau.)
read-in-part = (Je n’ai lu qu’une partie de ce qui a été dit ici auparavant : { $why }.)
cut-too-much = c’est plus que ce que je lis en une fois
cut-limited = la plateforme limite ce que je peux lire en une fois
cut-late = la plateforme n’a pas tout fourni à temps
cut-incomplete = la plateforme ne me donne pas tout
not-kept = (Cet échange n’a pu être enregistré nulle part : je ne m’en souviendrai pas.)
stopped = (arrêté)
no-answer = Je n’ai pas trouvé de réponse dans mes limites. Posez une question plus précise.
not-in-documents = Je ne peux pas répondre à cela d’après les documents et enregistrements de l’équipe.
cited-sources = Sources :
file-page = { $file }, p. { $page }
card-part-of = Fait partie de : { $path }
card-related = En lien : { $records }
card-place = Emplacement : { $place }
file-line = { $file }, ligne { $line }
took-too-long = { $seconds ->
    [one] (J’ai arrêté après { $seconds } seconde ; la personne qui m’héberge peut augmenter TURN_TIMEOUT.)
   *[other] (J’ai arrêté après { $seconds } secondes ; la personne qui m’héberge peut augmenter TURN_TIMEOUT.)
}
failed = Un problème est survenu de mon côté et je n’ai pas pu répondre. Il est noté dans mon journal.

## Réponses sans modèle

remember-nothing = Je n’ai aucun souvenir à ce sujet.
remember-nothing-noted = Je m’en souviendrai.
asked-nothing = Je vous écoute.
welcome = Je vous en prie.
forgot-nothing = Je n’ai encore rien oublié : `memory` montre ce que je garde de ce que vous avez dit ici, puis `forget 2` en oublie le deuxième élément.
# To "what can you do?" and the like.
what-i-do = Je retiens ce qu’on me dit ici et je le cite, comme les documents que l’on m’a donnés. Dites-moi quelque chose et interrogez-moi plus tard ; `help` montre ce que vous pouvez encore me demander.

quoted-asked = { $date }, { $author }
quoted-said = { $date }, { $author } aux autres
quoted-replaced = { $heading } (remplacé le { $date })
quoted-newer = { $heading } (plus récent)
quoted-answer = et la réponse d’alors :
quoted-beside = Peut-être aussi :
quoted-other-time = De la période que vous nommez, je n’ai aucun souvenir à ce sujet. Dit à un autre moment :

## Messages refusés

too-long = { $chars ->
    [one] Ce message compte { $chars } caractère ; j’en lis { $limit } au plus. Envoyez-le en plusieurs parties, ou seulement l’essentiel.
   *[other] Ce message compte { $chars } caractères ; j’en lis { $limit } au plus. Envoyez-le en plusieurs parties, ou seulement l’essentiel.
}
too-fast = { $per_minute ->
    [one] Vous avez dépassé { $per_minute } message par minute. Patientez un peu, puis renvoyez-le.
   *[other] Vous avez dépassé { $per_minute } messages par minute. Patientez un peu, puis renvoyez-le.
}
too-many-waiting = Trop de messages attendent dans cette conversation. Renvoyez le vôtre quand j’aurai répondu.
unknown-command = Je ne connais pas la commande « { $name } ». Dites `help` pour voir ce qui existe.

## Pourquoi un modèle n’a pas répondu, dans une phrase

model-unreachable = il est injoignable
model-silent = il n’a pas répondu à temps ; la personne qui m’héberge peut augmenter MODEL_TIMEOUT
model-unfinished = il n’a pas terminé à temps ; la personne qui m’héberge peut augmenter TURN_TIMEOUT
model-gave-up = son service a renoncé à l’attendre
model-late = il n’a pas répondu à temps
model-unauthorized = il a refusé ma clé
model-unknown = il ne connaît pas { $model }
model-quota = son quota est épuisé
model-rate-limited = il a dépassé sa limite de débit
model-context = la conversation est trop longue pour lui
model-only-reasoned = il n’a écrit que son raisonnement ; la personne qui m’héberge peut augmenter ANSWER_TOKENS
model-over-budget = { $whose } pour ce mois-ci est épuisé
model-busy = trop de requêtes l’attendent
model-refused = il a refusé la requête
model-failed = il est en panne
model-broke-off = sa réponse s’est interrompue
model-nonsense = sa réponse n’avait pas de sens
model-unreadable = sa réponse était illisible
model-prompt = son prompt n’a pas pu être préparé

## Répondre à nouveau

no-such-answer = Je ne connais plus cette réponse : elle a été oubliée, ou n’est pas de moi.
not-yours-to-ask-again = Seule la personne qui a posé la question, ou { moderator }, peut demander une nouvelle réponse.
too-late-to-ask-again = Trop de choses ont été dites depuis pour répondre à nouveau au même endroit. Reposez votre question.
