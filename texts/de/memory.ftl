### Notieren, auflisten, korrigieren und vergessen, woran sich der Bot erinnert

## Notizen

noted-privately = Notiert, nur für dich: Ich erinnere mich daran, wenn es zu einer Frage von dir passt. `forget last` vergisst es.
noted = Notiert: Ich erinnere mich in diesem { kanal } daran, wenn es zu einer Frage passt. `forget last` vergisst es.
nothing-to-note = Sag mir, was ich mir merken soll: „remember that Tee gibt es um vier“.
proposes-note = Soll ich mir das für dich merken? Sag `yes`: „{ $text }“
not-noted = Das konnte ich nicht aufschreiben, ich werde mich also nicht daran erinnern: Vielleicht ist die Festplatte voll. Bitte sag es mir später noch einmal.

## Listen

list-line = { $number }. [{ $date }] { $told }
list-line-corrected = { $number }. [{ $date }] { $told } (korrigiert am { $corrected })
list-noted = von dir notiert: { $text }
list-said = du zu anderen: { $text }
list-told = du zu mir: { $text } (meine Antwort: { $answer })
list-told-only = du zu mir: { $text }
list-hint = `forget { $first }` vergisst einen Eintrag, `correct { $first }: …` formuliert ihn neu.
list-hint-more = `forget { $first }` vergisst einen Eintrag, `correct { $first }: …` formuliert ihn neu, `memory more` zeigt ältere.
list-hint-more-words = `forget { $first }` vergisst einen Eintrag, `correct { $first }: …` formuliert ihn neu; es gibt noch mehr, weitere Wörter grenzen sie ein.
recalled-hint = `forget 1` vergisst, was oben die Nummer 1 hat, und `correct 1: …` formuliert es neu.
nothing-found = Nichts von dem, was ich hier von dir behalten habe, enthält alle diese Wörter.
nothing-more = Mehr habe ich von dem, was du hier gesagt hast, nicht behalten.
nothing-listed = Ich habe nichts von dem behalten, was du hier gesagt hast.
list-ends-after = Eine Liste endet nach { $listed } Einträgen. `memory search WÖRTER` findet Älteres.
list-again = Ich weiß nicht mehr, wofür die Nummern stehen. Sag `memory` oder `why` und dann die Nummer, die dort steht.
no-such-number = In der letzten Liste, die du hier gesehen hast, gibt es keine Nummer { $number }; sie hat { $listed }. Sag `memory`, um sie neu zu sehen.
item-gone = Was die Nummer { $number } hatte, ist schon vergessen. Sag `memory`, um zu sehen, was noch da ist.
item-changed = Was die Nummer { $number } hatte, lautet inzwischen anders; ich habe es gelassen, wie es ist. Sag `memory` oder `why`, um es neu zu sehen.
not-your-item = Nummer { $number } hat jemand anders gesagt; nur diese Person oder { moderator } kann das ändern lassen.

## Korrekturen

nothing-to-correct = Sag, was stimmt: „correct { $number }: Tee gibt es um fünf“.
nothing-stated = Nummer { $number } ist eine Frage, und die Antwort zitiert nur, was gesagt wurde. Korrigiere, was sie zitiert: `memory search WÖRTER` listet es mit seiner Nummer.
corrected-item = Korrigiert: Ab jetzt gilt das anstelle von Nummer { $number }, die ich nur noch als frühere Aussage behalte.
already-corrected = { $by } hat das am { $at } korrigiert. Sag `memory search WÖRTER` oder `why` und korrigiere, was jetzt gilt.

## Vergessen

nothing-to-forget = Hier gibt es nichts von dir zu vergessen.
not-yours-to-forget = Hier haben auch andere etwas gesagt; nur { moderator } kann alles vergessen lassen. „{ $forget_last }“ vergisst deinen letzten Beitrag.
not-your-message = Zu der Nachricht, auf die du geantwortet hast, habe ich nichts von dir gespeichert; ich habe also nichts vergessen. „{ $forget_last }“, nicht als Antwort, vergisst deine letzte Nachricht hier.
forgot-turn = { $quotes ->
    [0] Vergessen: { $what }, und alles, woran ich mich davon erinnern konnte.
    [one] Vergessen: { $what }, und alles, woran ich mich davon erinnern konnte, und { $quotes } spätere Antwort, die das zitiert hat.
   *[other] Vergessen: { $what }, und alles, woran ich mich davon erinnern konnte, und { $quotes } spätere Antworten, die das zitiert haben.
}
forgotten-exchange = deine Nachricht vom { $at } mit der Antwort
forgotten-heard = deine Nachricht vom { $at } an andere
forgotten-note = deine Notiz vom { $at }
forgotten-last = deine letzte Nachricht hier
forgot-waiting-turn = Vergessen: dein letzter Beitrag, der noch auf das Speichern gewartet hat. Mein Gedächtnis ist gerade nicht erreichbar; falls der Beitrag doch dort angekommen ist, sag noch einmal „forget last“, wenn es wieder da ist.
forgot-item = { $earlier ->
    [0] Vergessen: was die Nummer { $number } hatte, mit allem, woran ich mich davon erinnern konnte.
    [one] Vergessen: was die Nummer { $number } hatte, mit allem, woran ich mich davon erinnern konnte, und { $earlier } Fassung, die dadurch korrigiert war.
   *[other] Vergessen: was die Nummer { $number } hatte, mit allem, woran ich mich davon erinnern konnte, und { $earlier } Fassungen, die dadurch korrigiert waren.
}
forgot-all = Vergessen: alles, was in dieser Unterhaltung gesagt wurde.
forgot-session = { $turns ->
    [one] Vergessen: der einzige Beitrag { in-diesem-gespraech }.
   *[other] Vergessen: alle { $turns } Beiträge { in-diesem-gespraech }.
}
forgot-audience = { $turns ->
    [one] Vergessen: der einzige Beitrag in diesem { kanal }, samt allen { gespraechen } darin.
   *[other] Vergessen: alle { $turns } Beiträge in diesem { kanal }, in allen { gespraechen }.
}
gespraechen = { $conversation ->
    [thread] Threads
   *[conversation] Unterhaltungen
}
moderator-needed = Nur { moderator } kann einen ganzen { kanal } vergessen lassen. „{ $forget_last }“ vergisst deinen letzten Beitrag.
held = (Für diesen Ort gilt eine rechtliche Aufbewahrung: Niemand bekommt das mehr zu sehen, aber wer mich betreibt, hat bis zu ihrem Ende eine Kopie.)
still-in-file = (Ich verwende es nicht mehr, aber der Text steht noch in einer meiner Dateien, die nicht geschrieben werden konnte: Vielleicht ist die Festplatte voll. Er wird entfernt, sobald das wieder geht.)
removed-later = { $count ->
    [one] { $count } Nachricht von mir konnte ich noch nicht entfernen; ich versuche es weiter.
   *[other] { $count } Nachrichten von mir konnte ich noch nicht entfernen; ich versuche es weiter.
}
stays-visible = { $count ->
    [one] { $count } Nachricht von mir bleibt sichtbar, denn { $why }.
   *[other] { $count } Nachrichten von mir bleiben sichtbar, denn { $why }.
}
store-needed = Mein Gedächtnis ist gerade nicht erreichbar, deshalb geht das nicht. Bitte versuch es später noch einmal.

## Eine Person vergessen

kept-of-person = { $accounts ->
    [0] { $questions } mit meinen Antworten, { $messages } an andere und { $notes }, in { $conversations }
    [one] { $questions } mit meinen Antworten, { $messages } an andere und { $notes }, in { $conversations }
   *[other] { $questions } mit meinen Antworten, { $messages } an andere und { $notes }, in { $conversations }, von { $accounts } verknüpften Konten
}
ask-forget-me = Damit vergesse ich alles von dir, überall, wo ich bin: { $kept }; was du von Antworten gehalten hast; und was davon in Antworten an andere steht. Meine Antworten an dich nehme ich weg. Das lässt sich nicht rückgängig machen. Wenn du das willst, sag `{ $command }`.
forgot-me = Ich habe alles von dir vergessen: { $kept }, und was du von Antworten gehalten hast.
forgot-me-repeated = { $count ->
    [one] { $count } andere Antwort, die etwas davon zitiert oder wiederholt hat, habe ich geleert.
   *[other] { $count } andere Antworten, die etwas davon zitiert oder wiederholt haben, habe ich geleert.
}
forgot-me-accounts = Deine Konten sind nicht mehr verknüpft.
forgot-me-out-of-reach = Außerhalb meiner Reichweite sind deine eigenen Nachrichten hier, was andere selbst davon geschrieben haben, was der Dienst des Modells behält, und Sicherungskopien meines Betreibers. Wo du mir gesagt hast, dass ich mir in einem { kanal } nichts von dir merken soll, gilt das weiterhin.
forgot-me-held = { $count ->
    [one] Für einen Ort gilt eine rechtliche Aufbewahrung: Niemand bekommt mehr zu sehen, was du dort gesagt hast, aber wer mich betreibt, hat bis zu ihrem Ende eine Kopie.
   *[other] Für { $count } Orte gilt eine rechtliche Aufbewahrung: Niemand bekommt mehr zu sehen, was du dort gesagt hast, aber wer mich betreibt, hat bis zu ihrem Ende eine Kopie.
}

## Eine Kopie des Eigenen

export-under-way = Ich stelle schon zusammen, was ich von dir behalten habe. Bitte warte darauf.
nothing-kept-of-you = Ich habe nichts von dir behalten.
handed-over-directly = Ich habe es dir als Direktnachricht geschickt.
handed-over-here = { $count ->
    [one] Das ist alles, was ich von dir behalten habe: { $count } Eintrag, als JSON für Programme und als Markdown zum Lesen.
   *[other] Das ist alles, was ich von dir behalten habe: { $count } Einträge, als JSON für Programme und als Markdown zum Lesen.
}
handed-over-at = { $count ->
    [one] Alles, was ich von dir behalten habe ({ $count } Eintrag), steht in { $paths }; niemand sonst kann das lesen.
   *[other] Alles, was ich von dir behalten habe ({ $count } Einträge), steht in { $paths }; niemand sonst kann das lesen.
}
not-handed-over = Ich konnte dir nicht geben, was ich von dir behalten habe, denn { $why }. Wer mich betreibt, kann die Dateien mit `muninn export mine.json --person { $person }` erstellen.
no-copy-disk = die Dateien ließen sich nicht schreiben, vielleicht ist die Festplatte voll
no-copy-too-much = es braucht mehr als { $files } Dateien
no-copy-late = { $minutes ->
    [one] es hat länger als { $minutes } Minute gedauert
   *[other] es hat länger als { $minutes } Minuten gedauert
}
no-copy-unreadable = ich kann es nicht zurücklesen ({ $error }); bitte frag noch einmal

## Erst fragen

proposes-call =
    Soll ich das tun? Sag innerhalb von { $minutes } Minuten `yes`; vorher geschieht nichts.

    { $call }
not-yours-to-approve = Das kann nur entscheiden, wen ich gefragt habe.
approval-over = Das habe ich vor mehr als { $minutes } Minuten gefragt, also lasse ich es. Bitte mich noch einmal darum.
approval-gone = Ich weiß nicht mehr, wonach ich dort gefragt habe, also lasse ich es. Bitte mich noch einmal darum.
declined = Dann lasse ich es.
approval-unknown = Ich habe `{ $tool }` schon begonnen und weiß nicht, was daraus wurde: Sieh dort nach. Ich tue es nicht zweimal.
decided-before = Das ist schon entschieden, und jetzt wurde nichts getan. Ich sagte damals: { $said }
decided-before-result-gone = Das ist schon entschieden, und jetzt wurde nichts getan. Was daraus wurde, ist nicht mehr gespeichert.
call-done = Erledigt: `{ $tool }`.
call-failed = Ich habe `{ $tool }` versucht, und es schlug fehl: { $error }.
call-not-offered = es wird hier nicht mehr angeboten
call-more = … und { $count } mehr

copy-title = Was Muninn von { $who } behält
copy-title-part = Was Muninn von { $who } behält, Teil { $part }
copy-where = { $at } in { $place } ({ $platform })
copy-asked = Ich habe gefragt
copy-said = Ich habe zu anderen gesagt
copy-noted = Ich habe notieren lassen
copy-what = { $what }:
copy-what-corrected = { $what }, korrigiert am { $date }:
copy-file = mit der Datei { $name }:
copy-answer = und die Antwort war:
copy-answer-of = { $answer } vom { $date }
copy-liked = Ich fand die Antwort { $answer } gut.
copy-disliked = Ich fand die Antwort { $answer } schlecht.
