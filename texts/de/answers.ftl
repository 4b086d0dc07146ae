### Was zu einer Antwort gehört: warum sie weniger ist, als sie sein könnte, und was abgelehnt wurde

model-down = Ich konnte das Modell nicht fragen ({ $why }). Das hier ist nur, woran ich mich erinnere:
model-down-after-tools = Ich konnte das Modell nicht nach der Antwort fragen ({ $why }). Das hier ist nur, was ich gefunden habe:
model-down-listed = Ich konnte das Modell nicht fragen ({ $why }). Hier ist eine Liste dessen, was gesagt wurde:
embeddings-down = (Der Embedding-Dienst antwortet nicht; ich habe mein Gedächtnis nur nach Wörtern durchsucht.)
store-down = { $turns ->
    [0] (Mein Gedächtnis ist gerade nicht erreichbar: Ich habe ohne es geantwortet. Dieser Beitrag wird gespeichert, sobald es wieder da ist.)
    [one] (Mein Gedächtnis ist gerade nicht erreichbar: Ich habe aus dem letzten Beitrag geantwortet. Dieser Beitrag wird gespeichert, sobald es wieder da ist.)
   *[other] (Mein Gedächtnis ist gerade nicht erreichbar: Ich habe aus den letzten { $turns } Beiträgen geantwortet. Dieser Beitrag wird gespeichert, sobald es wieder da ist.)
}
store-was-down = { $turns ->
    [0] (Mein Gedächtnis war kurz nicht erreichbar: Ich habe ohne es geantwortet.)
    [one] (Mein Gedächtnis war kurz nicht erreichbar: Ich habe aus dem letzten Beitrag geantwortet.)
   *[other] (Mein Gedächtnis war kurz nicht erreichbar: Ich habe aus den letzten { $turns } Beiträgen geantwortet.)
}
store-down-in-part = (Mein Gedächtnis ist gerade nicht erreichbar: Mir kann etwas daraus entgangen sein. Dieser Beitrag wird gespeichert, sobald es wieder da ist.)
store-was-down-in-part = (Mein Gedächtnis war kurz nicht erreichbar: Mir kann etwas daraus entgangen sein.)
store-down-later = (Während ich geantwortet habe, ist mein Gedächtnis ausgefallen. Dieser Beitrag wird gespeichert, sobald es wieder da ist.)
recall-failed = (Ich konnte nicht durchsehen, was hier früher gesagt wurde, und habe ohne das geantwortet.)
bracketed = ({ $text })
knowledge-loading = Das Wissen des Teams wird noch geladen, ich konnte es nicht durchsuchen.
knowledge-lagging = Eine neuere Fassung des Teamwissens wird gerade geladen; ich habe die vorige durchsucht.
knowledge-words-only = Der Embedding-Dienst antwortet nicht; ich habe das Wissen des Teams nur nach Wörtern durchsucht.
knowledge-graph-away = Der Graph hat nicht rechtzeitig geantwortet; ich habe das Wissen des Teams ohne das Umfeld der Fundstellen durchsucht.
knowledge-not-asked = Der Graph hat nicht geantwortet, deshalb konnte ich ihn nicht nach dem Wissen des Teams fragen.
budget-of-person = dein Budget
budget-of-channel = das Budget dieses Kanals
budget-of-all = mein Budget
budget-nearly-up = (Zu 80 % aufgebraucht: { $whose } für diesen Monat, { $spent } von { $limit }. Danach antworte ich ohne Modell.)
look-ups-failed = (Alles Nachschlagen für diese Antwort ist fehlgeschlagen; sie stützt sich auf nichts davon.)
look-up-failed = (Ein Nachschlagen für diese Antwort ist fehlgeschlagen; es kann also etwas fehlen.)
cut-off = (Diese Antwort ist abgeschnitten: Ihre Grenze von { $tokens } Token ist erreicht. Bitte mich weiterzumachen, oder lass ANSWER_TOKENS erhöhen.)
cut-short = (Diese Antwort ist abgeschnitten: Mehr konnte das Modell auf einmal nicht schreiben. Bitte mich weiterzumachen.)
withheld = (Diese Antwort ist unvollständig: Der Inhaltsfilter des Modelldienstes hat den Rest zurückgehalten.)
secret-removed = (Ich habe ein Geheimnis aus deiner Nachricht entfernt, bevor ich sie gelesen und gespeichert habe. Ersetze es, denn andere können es hier gesehen haben.)
files-in-part = (Ich habe nur einen Teil von { $files } gelesen, weil es mehr ist, als ich auf einmal lese; schick mir den Teil, auf den es ankommt.)
files-need-model = (Ohne Modell habe ich nicht angesehen, was mit deiner Nachricht kam.)
images-not-seen = (Die Bilder, die mit der Frage kamen, habe ich nicht gesehen, weil ich keine behalte. Wenn die Antwort sie braucht, schick sie noch einmal.)
read-in-part = (Ich habe nur einen Teil dessen gelesen, was hier vorher gesagt wurde: { $why }.)
cut-too-much = es ist mehr, als ich auf einmal lese
cut-limited = die Plattform begrenzt, wie viel ich auf einmal lesen darf
cut-late = die Plattform hat nicht alles rechtzeitig geliefert
cut-incomplete = die Plattform gibt mir nicht alles
not-kept = (Dieser Beitrag ließ sich nirgends speichern: Ich werde mich nicht an ihn erinnern.)
stopped = (angehalten)
no-answer = Innerhalb meiner Grenzen habe ich keine Antwort gefunden. Bitte frag genauer.
not-in-documents = Das kann ich aus den Dokumenten und Datensätzen des Teams nicht beantworten.
cited-sources = Quellen:
file-page = { $file }, S. { $page }
card-part-of = Teil von: { $path }
card-related = Verwandt: { $records }
card-place = Fundstelle: { $place }
file-line = { $file }, Zeile { $line }
took-too-long = { $seconds ->
    [one] (Ich habe nach { $seconds } Sekunde aufgehört; wer mich betreibt, kann TURN_TIMEOUT erhöhen.)
   *[other] (Ich habe nach { $seconds } Sekunden aufgehört; wer mich betreibt, kann TURN_TIMEOUT erhöhen.)
}
failed = Bei mir ist etwas schiefgegangen, ich konnte nicht antworten. Es steht in meinem Log.

## Antworten ohne Modell

remember-nothing = Daran erinnere ich mich nicht.
remember-nothing-noted = Das merke ich mir.
asked-nothing = Ich höre zu.
welcome = Gern geschehen.
forgot-nothing = Ich habe noch nichts vergessen: `memory` zeigt, was ich von dem behalte, was du hier gesagt hast, und `forget 2` vergisst dann das zweite davon.
# To "what can you do?" and the like.
what-i-do = Ich merke mir, was man mir hier sagt, und zitiere es, ebenso die Dokumente, die ich bekommen habe. Erzähl mir etwas und frag mich später danach; `help` zeigt, was du noch von mir verlangen kannst.

quoted-asked = { $date }, { $author }
quoted-said = { $date }, { $author } zu anderen
quoted-replaced = { $heading } (ersetzt am { $date })
quoted-newer = { $heading } (neuer)
quoted-answer = und die Antwort damals:
quoted-beside = Vielleicht auch:
quoted-other-time = Aus der Zeit, die du nennst, weiß ich dazu nichts. Zu anderer Zeit gesagt:

## Nachrichten, die nicht angenommen werden

too-long = { $chars ->
    [one] Diese Nachricht hat { $chars } Zeichen; ich lese höchstens { $limit }. Bitte schick sie in Teilen oder nur das Wichtige.
   *[other] Diese Nachricht hat { $chars } Zeichen; ich lese höchstens { $limit }. Bitte schick sie in Teilen oder nur das Wichtige.
}
too-fast = { $per_minute ->
    [one] Das ist mehr als { $per_minute } Nachricht pro Minute von dir. Bitte warte kurz und schick sie noch einmal.
   *[other] Das sind mehr als { $per_minute } Nachrichten pro Minute von dir. Bitte warte kurz und schick sie noch einmal.
}
too-many-waiting = In dieser Unterhaltung warten zu viele Nachrichten. Bitte schick sie noch einmal, wenn ich geantwortet habe.
unknown-command = Ich kenne keinen Befehl „{ $name }“. Mit `help` siehst du, was es gibt.

## Warum ein Modell nicht geantwortet hat, innerhalb eines Satzes

model-unreachable = es ist nicht erreichbar
model-silent = es hat nicht rechtzeitig geantwortet; wer mich betreibt, kann MODEL_TIMEOUT erhöhen
model-unfinished = es wurde nicht rechtzeitig fertig; wer mich betreibt, kann TURN_TIMEOUT erhöhen
model-gave-up = sein Dienst wollte nicht länger warten
model-late = es hat nicht rechtzeitig geantwortet
model-unauthorized = es hat meinen Schlüssel abgelehnt
model-unknown = { $model } ist dort unbekannt
model-quota = sein Kontingent ist aufgebraucht
model-rate-limited = es hat sein Ratenlimit überschritten
model-context = die Unterhaltung ist zu lang für das Modell
model-only-reasoned = es hat nur überlegt und nichts geschrieben; wer mich betreibt, kann ANSWER_TOKENS erhöhen
model-over-budget = { $whose } für diesen Monat ist aufgebraucht
model-busy = zu viele Anfragen warten darauf
model-refused = es hat die Anfrage abgelehnt
model-failed = es ist ausgefallen
model-broke-off = seine Antwort ist abgebrochen
model-nonsense = seine Antwort ergab keinen Sinn
model-unreadable = seine Antwort war nicht lesbar
model-prompt = sein Prompt ließ sich nicht erstellen

## Noch einmal antworten

no-such-answer = Diese Antwort kenne ich nicht mehr: Sie wurde vergessen oder ist nicht von mir.
not-yours-to-ask-again = Nur wer gefragt hat oder { moderator } kann sie neu beantworten lassen.
too-late-to-ask-again = Seither wurde zu viel gesagt, um das an seiner Stelle neu zu beantworten. Bitte frag noch einmal.
