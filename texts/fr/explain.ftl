### Pourquoi : d’où vient une réponse

why-answered = Ma dernière réponse concernait : { $question }
why-understood = Compris comme : { $question }
why-cypher = Cypher exécuté :
why-trust-file = Elle repose sur un fichier joint à un message, ou sur une réponse qui le fait. Ses liens peuvent être affichés comme texte.
why-trust-tool = Elle repose sur ce qu’un outil a donné, ou sur une réponse qui le fait. Ses liens peuvent être affichés comme texte.
why-trust-documents = Elle repose sur des documents ou des enregistrements de l’équipe, ou sur une réponse qui le fait. Ses liens peuvent être affichés comme texte.
why-removed = Faite de sources retirées depuis, dont rien ne peut être montré : { $names }.
why-recalled-nothing = Souvenirs : aucun.
why-recalled = Souvenirs :
recalled-note = { $number }. { $score } noté par { $author } le { $date } : { $said }
recalled-turn = { $number }. { $score } [{ $date }, { $author }] { $said }
recalled-message = { $number }. { $score } dit par { $author } le { $date } : { $said }
recalled-message-in = { $number }. { $score } dit par { $author } dans { $place } le { $date } : { $said }
why-feedback = Avis : 👍 { $good }, 👎 { $bad }.

## Qui l’a écrite, et ce que cela a coûté

why-written = Écrite par { $model } { $cost }.
why-written-knowledge = Écrite par { $model } d’après le graphe de connaissances de l’équipe { $cost }.
why-written-documents = Écrite par { $model } d’après les documents et enregistrements de l’équipe { $cost }.
why-the-model = le modèle
why-cost = en { $seconds } s, { $read } et { $written }
why-cost-one-call = { $cost }, en 1 appel
why-cost-calls = { $cost }, en { $count } appels : { $calls }
why-quotes-knowledge = Aucun modèle ne l’a écrite : elle énumère ce que contient le graphe de connaissances de l’équipe.
why-quotes-documents = Aucun modèle ne l’a écrite : elle cite les documents et enregistrements de l’équipe.
why-quotes-memory = Aucun modèle ne l’a écrite : elle ne fait que citer la mémoire.
why-not-answered = Rien n’y a été répondu.

## Outils

why-tools = Outils :
why-critic-nothing = Le critique n’a rien demandé de plus.
why-critic-asked = Le critique a demandé : { $questions }
why-tool = - { $name } { $arguments } : { $outcome }, en { $ms } ms
why-tool-repaired = - { $name } { $arguments } : { $outcome }, réécrit { $repairs } fois, en { $ms } ms
tool-failed = échec : { $error }
tool-found = { $count } trouvés
tool-found-nothing = rien trouvé
tool-proposed = demandé d’abord

## Connaissances

why-made-from = Faite de :
source-score = (score { $score })
source-changed = (modifié depuis)
source-more = - et { $count } de plus
