### Warum: woraus eine Antwort gemacht ist

why-answered = Meine letzte Antwort galt: { $question }
why-understood = Verstanden als: { $question }
why-cypher = Ausgeführtes Cypher:
why-trust-file = Sie stützt sich auf eine Datei, die mit einer Nachricht kam, oder auf eine Antwort, die das tut. Links darin können als Text dastehen.
why-trust-tool = Sie stützt sich auf das, was ein Werkzeug ergab, oder auf eine Antwort, die das tut. Links darin können als Text dastehen.
why-trust-documents = Sie stützt sich auf Dokumente oder Datensätze des Teams, oder auf eine Antwort, die das tut. Links darin können als Text dastehen.
why-removed = Aus Quellen gemacht, die seither entfernt wurden und deshalb nicht gezeigt werden können: { $names }.
why-recalled-nothing = Erinnert: nichts.
why-recalled = Erinnert:
recalled-note = { $number }. { $score } notiert von { $author } am { $date }: { $said }
recalled-turn = { $number }. { $score } [{ $date }, { $author }] { $said }
recalled-message = { $number }. { $score } gesagt von { $author } am { $date }: { $said }
recalled-message-in = { $number }. { $score } gesagt von { $author } in { $place } am { $date }: { $said }
why-feedback = Feedback: 👍 { $good }, 👎 { $bad }.

## Wer sie geschrieben hat, und was das gekostet hat

why-written = Geschrieben von { $model } { $cost }.
why-written-knowledge = Geschrieben von { $model } aus dem Wissensgraphen des Teams { $cost }.
why-written-documents = Geschrieben von { $model } aus Dokumenten und Datensätzen des Teams { $cost }.
why-the-model = dem Modell
why-cost = in { $seconds } s, { $read } und { $written }
why-cost-one-call = { $cost }, in 1 Aufruf
why-cost-calls = { $cost }, in { $count } Aufrufen: { $calls }
why-quotes-knowledge = Kein Modell hat sie geschrieben: Sie listet auf, was im Wissensgraphen des Teams steht.
why-quotes-documents = Kein Modell hat sie geschrieben: Sie zitiert Dokumente und Datensätze des Teams.
why-quotes-memory = Kein Modell hat sie geschrieben: Sie zitiert nur das Gedächtnis.
why-not-answered = Darauf wurde nichts geantwortet.

## Werkzeuge

why-tools = Werkzeuge:
why-critic-nothing = Der Kritiker hatte keine weiteren Fragen.
why-critic-asked = Der Kritiker fragte: { $questions }
why-tool = - { $name } { $arguments }: { $outcome }, in { $ms } ms
why-tool-repaired = - { $name } { $arguments }: { $outcome }, { $repairs }-mal neu geschrieben, in { $ms } ms
tool-failed = fehlgeschlagen: { $error }
tool-found = { $count } gefunden
tool-found-nothing = nichts gefunden
tool-proposed = erst gefragt

## Wissen

why-made-from = Gemacht aus:
source-score = (Wert { $score })
source-changed = (seither geändert)
source-more = - und { $count } weiteren
