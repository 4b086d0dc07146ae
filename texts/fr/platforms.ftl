### Boutons, formulaires et phrases des plateformes

button-why = Pourquoi ?
button-good = Une bonne réponse
button-bad = Une mauvaise réponse
button-share = Partager
button-stop = Arrêter
button-again = Répondre à nouveau
button-forget = Oublier
button-keep = Garder
button-forget-number = Oublier { $number }
button-correct-number = Corriger { $number }
button-approve = Faire
button-decline = Ne pas faire

form-correct-title = Corriger le numéro { $number }
form-correct = Corriger
form-leave = Laisser
form-what-is-right = Ce qui est juste
form-not-opened = Slack n’a pas ouvert le formulaire. Appuyez de nouveau sur le bouton, ou dites-moi `correct { $number }: …`.

home-ask = Interrogez-moi dans un canal en me mentionnant, en message privé, ou pour vous seul avec `{ $command } ask …`. Chaque réponse a un bouton qui montre d’où elle vient.
home-forget = Oublier nos messages privés
home-forget-title = Tout oublier ?
home-forget-text = Tout ce que vous m’avez dit en message privé, et ce que j’ai répondu, est oublié définitivement.
home-forget-yes = Oublier
home-forget-no = Garder

not-allowed = Je n’ai pas le droit de vous parler ici. La personne qui m’héberge peut vous y autoriser.
never-here = Je ne dois pas répondre aux questions dans ce canal.
not-yours-here = Seule la personne qui a posé la question, ou une personne autorisée à gérer les messages ici, peut le faire.
old-button = Ce bouton vient d’une version plus ancienne et ne fonctionne plus.
no-text = Il n’y a rien à lire dans ce message.
no-question = Il n’y a pas de question là-dedans.
confirm-session = Tout ce qui m’a été dit dans cette conversation sera oublié, pour tout le monde. C’est irréversible.
confirm-private = Tout ce que vous m’avez demandé en privé ici sera oublié. C’est irréversible.
confirm-channel = Tout ce qui m’a été dit dans ce canal et ses fils sera oublié, pour tout le monde. C’est irréversible.
forget-what = Dites quoi oublier : choisissez `what`, ou donnez le `number` d’un élément que `/memory` ou `/why` vous a montré.
say-where = Je ne sais pas si ceci est un fil. Dites où : choisissez `where`.
nothing-was-forgotten = Rien n’a été oublié.
no-direct = Je ne peux pas vous envoyer de messages privés. Utilisez ici la commande avec `/` : vous seul voyez sa réponse.
no-direct-room = Je n’ai pas pu ouvrir de salon pour nous deux, ou le nôtre n’est pas chiffré comme celui-ci. Invitez-moi dans un salon où nous sommes seuls, et demandez-le-moi là-bas.
thanks = Merci, c’est noté.
no-such-session = Je ne connais ici aucune conversation de vous qui corresponde.
sessions-unknown = Je ne peux pas consulter ma mémoire pour le moment ; réessayez plus tard.

stays-only-you-slack = vous seul le voyez et Slack ne laisse personne le retirer ; il disparaît quand vous rechargez Slack
stays-only-you-discord = vous seul le voyez et Discord ne laisse personne d’autre le retirer ; choisissez « Dismiss message » en dessous
stays-scope = il manque à l’application l’autorisation { $needed } ; la personne qui m’héberge peut l’ajouter
stays-slack = Slack refuse de le retirer ({ $code }) ; un administrateur de l’espace de travail peut le supprimer
stays-no-access = je ne peux plus voir ce canal ; redonnez-m’y accès (View Channel) et supprimez-le, ou supprimez-le vous-même
stays-removed = j’ai été retiré de ce serveur
stays-locked = son fil est verrouillé ; supprimez-le vous-même, ou déverrouillez le fil
stays-discord = Discord refuse de le retirer : { $why }
stays-not-in-room = je ne suis plus dans ce salon ; réinvitez-moi, ou demandez à quelqu’un de le retirer
stays-homeserver = le serveur refuse de le retirer ({ $why }) ; un modérateur du salon peut le faire
stays-program = le programme auquel je réponds ne le supprime pas : { $why }

no-copy-here = je ne peux donner de fichier à personne ici ; demandez-moi ailleurs, par exemple dans un terminal ou une messagerie avec messages privés
no-copy-undirect = je ne peux donner de fichier à personne ici ; demandez-moi là où je peux vous écrire en privé
no-copy-webhook = je vous parle par un autre programme, qui n’accepte que du texte et me dit lui-même qui vous êtes
no-copy-direct = vous n’acceptez pas mes messages privés ; autorisez ceux des membres de ce serveur, ou utilisez `/export` ici, et redemandez
no-copy-direct-room = je n’ai pas pu ouvrir de salon pour nous deux, ou le nôtre n’est pas chiffré comme celui-ci ; invitez-moi dans un salon où nous sommes seuls et redemandez là-bas
no-copy-away = { $platform } ne répond pas comme il faut ({ $why }) ; redemandez plus tard
no-copy-refused = { $platform } refuse les fichiers : { $why }
no-copy-scope = Slack ne me le permet pas : il manque à l’application l’autorisation { $needed } (la personne qui m’héberge la réinstalle avec le manifeste qu’affiche `muninn manifest slack`)
no-copy-room-changed = le salon qui était pour nous deux ne l’est plus ; invitez-moi dans un autre et redemandez là-bas
no-copy-folder = je ne sais pas dans quel dossier vous êtes ; allez dans un dossier et redemandez
no-copy-folder-refused = je ne peux pas écrire dans { $folder } ({ $error }) ; allez dans un dossier où vous pouvez écrire et redemandez
no-copy-connection = je ne peux pas vous donner de fichier par cette connexion ; demandez-le-moi avec `muninn chat`

slack-ask-how = Écrivez votre question à la suite : `{ $command } ask Quand sort la version ?` Vous seul voyez la réponse.
slack-shared = — partagé par { $name }
slack-not-shared = Pas partagé : Slack ne me dit pas si des personnes d’autres organisations sont ici. Invitez-moi dans le canal ou copiez le texte.
slack-title = Conversation avec Muninn
slack-thinking = réfléchit…
slack-suggestions = Que voulez-vous savoir ?
slack-suggest-abilities = Que pouvez-vous faire ?
slack-ask-abilities = Que pouvez-vous faire, et que retenez-vous ?
slack-suggest-last = De quoi avons-nous parlé ?
slack-ask-last = De quoi avons-nous parlé la dernière fois ?
slack-suggest-note = Retenir quelque chose
slack-ask-note = Veuillez retenir ceci pour plus tard :

ask-about-message = Que savez-vous de ce message ?
ask-about-message-of = Que pensez-vous de ce message de { $name } ?

answers-in = Je réponds dans { $thread }.
thread-name = Question

sealed-message = Je ne peux pas lire ce message : sa clé ne m’est pas parvenue. Si elle arrive, je le lirai alors ; sinon, veuillez le redire.
invitation-declined = Merci pour l’invitation. Je ne peux rejoindre que les salons des personnes pour qui je suis configuré ; veuillez vous adresser à la personne qui m’héberge.
room-without-memory = Ce salon en remplace un autre, mais il est ouvert à d’autres personnes. Je commence donc ici sans ce que j’ai retenu de l’ancien salon.

terminal-greeting = { $name } avec { $models }. /help montre ce que vous pouvez demander, /quit quitte.
terminal-model-else = { $first }, sinon { $next }
terminal-without-model = { $name } répond seulement de mémoire : définissez OPENAI_API_KEY, ou OPENAI_BASE_URL pour un service comme Ollama, pour lui donner un modèle.
terminal-too-long = Cela dépasse { $bytes } octets ; dites-le en plusieurs fois.
terminal-how-to-leave = /quit ou Ctrl-D quitte ; /help dit ce qu’on peut demander.
terminal-unreadable = Ce n’est pas de l’UTF-8 valide ; veuillez le retaper.
terminal-ending = Muninn s’arrête.
terminal-no-answer = Aucune réponse n’est venue. Redemandez, ou dites `unmute` là où quelqu’un m’a fait taire.
terminal-not-waiting = Je n’attends plus cette réponse.
