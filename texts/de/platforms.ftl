### Knöpfe, Formulare und einzelne Sätze der Plattformen

button-why = Warum?
button-good = Eine gute Antwort
button-bad = Eine schlechte Antwort
button-share = Teilen
button-stop = Anhalten
button-again = Neu beantworten
button-forget = Vergessen
button-keep = Behalten
button-forget-number = { $number } vergessen
button-correct-number = { $number } korrigieren
button-approve = Tu es
button-decline = Lass es

form-correct-title = Nummer { $number } korrigieren
form-correct = Korrigieren
form-leave = So lassen
form-what-is-right = Was stimmt
form-not-opened = Slack hat das Formular nicht geöffnet. Drück den Knopf noch einmal, oder sag mir `correct { $number }: …`.

home-ask = Frag mich in einem Kanal, indem du mich erwähnst, in einer Direktnachricht, oder nur für dich mit `{ $command } ask …`. Jede Antwort hat einen Knopf, der zeigt, woraus sie gemacht ist.
home-forget = Unsere Direktnachrichten vergessen
home-forget-title = Alles davon vergessen?
home-forget-text = Alles, was du mir in Direktnachrichten gesagt hast, und was ich geantwortet habe, wird endgültig vergessen.
home-forget-yes = Vergessen
home-forget-no = Behalten

not-allowed = Ich darf hier nicht mit dir sprechen. Wer mich betreibt, kann dich zulassen.
never-here = In diesem Kanal soll ich keine Fragen beantworten.
not-yours-here = Das kann nur, wer gefragt hat, oder wer hier Nachrichten verwalten darf.
old-button = Dieser Knopf stammt aus einer älteren Version und geht nicht mehr.
no-text = In dieser Nachricht gibt es nichts zu lesen.
no-question = Darin steckt keine Frage.
confirm-session = Alles, was mir in dieser Unterhaltung gesagt wurde, wird vergessen, von allen. Es lässt sich nicht zurückholen.
confirm-private = Alles, was du mich hier privat gefragt hast, wird vergessen. Es lässt sich nicht zurückholen.
confirm-channel = Alles, was mir in diesem Kanal und seinen Threads gesagt wurde, wird vergessen, von allen. Es lässt sich nicht zurückholen.
forget-what = Sag, was ich vergessen soll: Wähle `what`, oder gib die `number` von etwas an, das `/memory` oder `/why` dir gezeigt hat.
say-where = Ich weiß nicht, ob das hier ein Thread ist. Sag, wo: Wähle `where`.
nothing-was-forgotten = Es wurde nichts vergessen.
no-direct = Ich darf dir keine Direktnachrichten schicken. Nimm hier den Befehl mit `/`: Nur du siehst, was er antwortet.
no-direct-room = Ich konnte keinen Raum für uns beide öffnen, oder unserer ist nicht verschlüsselt wie dieser. Lade mich in einen Raum ein, in dem wir allein sind, und frag mich dort.
thanks = Danke, notiert.
no-such-session = So eine Unterhaltung von dir kenne ich hier nicht.
sessions-unknown = Ich kann gerade nicht in mein Gedächtnis sehen; bitte versuch es später noch einmal.

stays-only-you-slack = nur du siehst sie, und Slack lässt niemanden sie entfernen; wenn du Slack neu lädst, ist sie weg
stays-only-you-discord = nur du siehst sie, und Discord lässt niemand anderen sie entfernen; wähle darunter „Nachricht verwerfen“
stays-scope = der App fehlt die Berechtigung { $needed }; wer mich betreibt, kann sie ergänzen
stays-slack = Slack weigert sich, sie zu entfernen ({ $code }); ein Admin des Workspaces kann sie löschen
stays-no-access = ich darf den Kanal nicht mehr sehen; lass mich wieder hinein (View Channel) und lösche sie, oder lösche sie selbst
stays-removed = ich wurde von diesem Server entfernt
stays-locked = ihr Thread ist gesperrt; lösche sie selbst, oder entsperre den Thread
stays-discord = Discord weigert sich, sie zu entfernen: { $why }
stays-not-in-room = ich bin nicht mehr in diesem Raum; lade mich wieder ein, oder lass sie jemanden dort entfernen
stays-homeserver = der Homeserver weigert sich, sie zu entfernen ({ $why }); ein Moderator des Raums kann es
stays-program = das Programm, dem ich antworte, löscht sie nicht: { $why }

no-copy-here = ich kann hier niemandem eine Datei geben; frag mich woanders, etwa in einem Terminal oder einem Chat mit Direktnachrichten
no-copy-undirect = ich kann hier niemandem eine Datei geben; frag mich dort, wo ich dir eine Direktnachricht schreiben kann
no-copy-webhook = ich spreche über ein anderes Programm mit dir, das nur Texte annimmt und mir selbst sagt, wer du bist
no-copy-direct = du nimmst keine Direktnachrichten von mir an; erlaube sie von Mitgliedern dieses Servers, oder nimm hier `/export`, und frag noch einmal
no-copy-direct-room = ich konnte keinen Raum für uns beide öffnen, oder unserer ist nicht verschlüsselt wie dieser; lade mich in einen Raum ein, in dem wir allein sind, und frag mich dort
no-copy-away = { $platform } antwortet nicht, wie es soll ({ $why }); frag später noch einmal
no-copy-refused = { $platform } nimmt die Dateien nicht an: { $why }
no-copy-scope = Slack lässt mich nicht: Der App fehlt die Berechtigung { $needed } (wer mich betreibt, installiert sie neu mit dem Manifest, das `muninn manifest slack` ausgibt)
no-copy-room-changed = der Raum, der für uns beide war, ist es nicht mehr; lade mich in einen anderen ein und frag mich dort
no-copy-folder = ich weiß nicht, in welchem Ordner du bist; geh in einen und frag noch einmal
no-copy-folder-refused = ich kann nicht in { $folder } schreiben ({ $error }); geh in einen Ordner, in den du schreiben darfst, und frag noch einmal
no-copy-connection = ich kann dir über diese Verbindung keine Datei geben; frag mich mit `muninn chat`

slack-ask-how = Schreib deine Frage dahinter: `{ $command } ask Wann ist das Release?` Nur du siehst die Antwort.
slack-shared = — geteilt von { $name }
slack-not-shared = Nicht geteilt: Slack sagt mir nicht, ob hier Leute anderer Organisationen sind. Lade mich in den Kanal ein, oder kopiere den Text.
slack-title = Unterhaltung mit Muninn
slack-thinking = denkt nach…
slack-suggestions = Was möchtest du wissen?
slack-suggest-abilities = Was kannst du?
slack-ask-abilities = Was kannst du, und was weißt du noch?
slack-suggest-last = Worüber haben wir gesprochen?
slack-ask-last = Worüber haben wir letztes Mal gesprochen?
slack-suggest-note = Etwas merken
slack-ask-note = Bitte merk dir das für später:

ask-about-message = Was weißt du über diese Nachricht?
ask-about-message-of = Was hältst du von dieser Nachricht von { $name }?

answers-in = Ich antworte in { $thread }.
thread-name = Frage

sealed-message = Diese Nachricht kann ich nicht lesen: Ihr Schlüssel hat mich nicht erreicht. Wenn er kommt, lese ich sie dann; sonst sag es bitte noch einmal.
invitation-declined = Danke für die Einladung. Ich darf nur in Räume von Leuten, für die ich eingerichtet bin; bitte frag die, die mich betreiben.
room-without-memory = Dieser Raum ersetzt einen anderen, steht aber auch anderen Leuten offen. Darum fange ich hier ohne das an, was ich vom alten Raum noch weiß.

terminal-greeting = { $name } mit { $models }. /help zeigt, was du fragen kannst, /quit beendet.
terminal-model-else = { $first }, sonst { $next }
terminal-without-model = { $name } antwortet nur aus dem Gedächtnis: Setz OPENAI_API_KEY, oder OPENAI_BASE_URL für einen Dienst wie Ollama, um ein Modell anzuschließen.
terminal-too-long = Das ist länger als { $bytes } Bytes; sag es in Teilen.
terminal-how-to-leave = /quit oder Strg-D beendet; /help sagt, was du fragen kannst.
terminal-unreadable = Das ist kein gültiges UTF-8; bitte tipp es noch einmal.
terminal-ending = Muninn wird beendet.
terminal-no-answer = Es kam keine Antwort. Frag noch einmal, oder sag `unmute`, wo mich jemand stumm geschaltet hat.
terminal-not-waiting = Darauf wird nicht mehr gewartet.
