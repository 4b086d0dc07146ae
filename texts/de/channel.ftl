### Was in einem Kanal beantwortet, behalten und nachgelesen wird

two-sentences = { $first } { $next }

## Wann der Bot antwortet

muted-conversation = Ich sage { in-diesem-gespraech } nichts mehr, auch nicht, wenn ich erwähnt werde, bis mir jemand `unmute` sagt. Befehle gehen weiterhin.
muted-channel = Ich sage in diesem { kanal } nichts mehr, auch nicht, wenn ich erwähnt werde, bis mir jemand `unmute { $channel }` sagt. Befehle gehen weiterhin.
mentioned-conversation = Ich antworte { in-diesem-gespraech } nur noch, wenn ich erwähnt werde oder mir jemand antwortet, bis mir jemand `unmute` sagt.
mentioned-channel = Ich antworte in diesem { kanal } nur noch, wenn ich erwähnt werde oder mir jemand antwortet, bis mir jemand `unmute { $channel }` sagt.
open-conversation = Ich antworte { in-diesem-gespraech } wieder auf alles, was mir gilt.
open-channel = Ich antworte in diesem { kanal } wieder auf alles, was mir gilt.
still-muted-conversation = Ganz stumm bin ich aber weiterhin { in-diesem-gespraech } (`unmute`).
still-muted-channel = Ganz stumm bin ich aber weiterhin in diesem { kanal } (`unmute { $channel }`).
still-mentioned-conversation = Aber { in-diesem-gespraech } (`unmute`) antworte ich weiterhin nur, wenn ich erwähnt werde.
still-mentioned-channel = Aber in diesem ganzen { kanal } (`unmute { $channel }`) antworte ich weiterhin nur, wenn ich erwähnt werde.
moderator-needed-to-mute = Nur { moderator } kann festlegen, wann ich in einem ganzen { kanal } antworte. `mute` und `only when mentioned` gelten { in-diesem-gespraech }.
not-in-conversation = Ich bin { in-diesem-gespraech } nicht dabei, es gibt also nichts zu ändern. `mute { $channel }` gilt für den ganzen { kanal }.
stayed-silent = { $times ->
    [one] (Zu { $times } Nachricht hier habe ich bewusst nichts gesagt, zuletzt am { $last }.)
   *[other] (Zu { $times } Nachrichten hier habe ich bewusst nichts gesagt, zuletzt am { $last }.)
}

## Was die Leute einander sagen

hears-everybody = Ab jetzt merke ich mir, was die Leute in diesem { kanal } einander sagen, damit alle, die hier sind, es wiederfinden; ich antworte weiterhin nur auf das, was mir gilt. Sag mir `don't remember me here`, dann behalte ich nichts von dir, auch nichts von früher. Mit `off` und `on` wird { nicht-mitgehoert }, und eine Nachricht, die mit `[off]` beginnt, behalte ich nicht. Um es für alle zu beenden, sagt mir { moderator } `remember only what is asked`.
nicht-mitgehoert = { $conversation ->
    [thread] ein Thread nicht oder wieder mitgehört
   *[conversation] eine Unterhaltung nicht oder wieder mitgehört
}
hears-everybody-now = Ab jetzt merke ich mir, was die Leute in diesem { kanal } einander sagen, und habe es allen hier mitgeteilt.
hears-nobody-any-more = Ab jetzt merke ich mir in diesem { kanal } nur noch, was ich gefragt werde. Was ich bisher behalten habe, bleibt; `forget { $channel }` entfernt alles davon.
hears-nobody = In diesem { kanal } merke ich mir nur, was ich gefragt werde.
moderator-needed-to-hear = Nur { moderator } kann festlegen, was ich mir von einem ganzen { kanal } merke. `don't remember me here` gilt für dich selbst.
opted-out = { $count ->
    [one] Ich behalte nichts von dem, was du in diesem { kanal } zu anderen sagst, und habe vergessen, was ich davon hatte: { $count } Nachricht. Was du mich fragst, behalte ich weiterhin; `forget last` vergisst es. `remember me here` macht das rückgängig.
   *[other] Ich behalte nichts von dem, was du in diesem { kanal } zu anderen sagst, und habe vergessen, was ich davon hatte: { $count } Nachrichten. Was du mich fragst, behalte ich weiterhin; `forget last` vergisst es. `remember me here` macht das rückgängig.
}
opted-in = Ab jetzt merke ich mir wieder, was du in diesem { kanal } zu anderen sagst.
opted-in-unheard = Du bist in diesem { kanal } nicht ausgenommen; aber es hört ohnehin niemand mit: Ich merke mir hier nur, was ich gefragt werde.
off-record-conversation = Was die Leute { in-diesem-gespraech } einander sagen, bleibt unter ihnen: Ich behalte nichts davon, bis mir jemand `on` sagt. Was ich gefragt werde, behalte ich wie immer.
off-record-channel = Was die Leute in diesem { kanal } einander sagen, bleibt unter ihnen: Ich behalte nichts davon, bis mir jemand `on { $channel }` sagt. Was ich gefragt werde, behalte ich wie immer.
on-record-conversation = Was die Leute { in-diesem-gespraech } einander sagen, darf ich wieder behalten.
on-record-channel = Was die Leute in diesem { kanal } einander sagen, darf ich wieder behalten.
record-anyway = (In diesem { kanal } merke ich mir ohnehin nur, was ich gefragt werde.)
asked-for-this = { $name } wollte das: { $notice }

## Nachholen, und lesen, was früher gesagt wurde

nothing-yet = Hier wurde noch nichts gesagt.
nothing-since = Seit { $time } wurde hier nichts gesagt, von dem ich weiß.
no-such-day = Ich verstehe { $words } nicht als Tag, der schon war. Nenn einen wie „Monday“, „last week“ oder „2026-04-13“.
no-history = Hier gibt es keinen Verlauf, den ich lesen könnte.
no-backfill = Ich lese hier gerade nicht nach, was früher gesagt wurde. Sag „backfill since 2026-01-31“, damit ich ab diesem Tag lese.
moderator-needed-to-backfill = Nur { moderator } kann mich nachlesen lassen, was früher in diesem { kanal } gesagt wurde.
not-backfilled = Ich kann nicht nachlesen, was hier früher gesagt wurde: { $why }.
backfill-not-remembered = was die Leute dort sagen, wird nicht behalten; sag dort „remember channel“, oder setze memory = "channel" für { $place } in den Kanaleinstellungen (CHANNEL_SETTINGS)
backfill-no-platform = keine Plattform dieses Prozesses kann { $place } lesen; es muss die ID eines Kanals dort sein, wie `muninn sessions` sie zeigt, ohne den Thread
backfill-future = { $day } liegt in der Zukunft
backfill-done = Fertig: { $messages } gelesen.
backfill-stopped = { $messages } gelesen, dann aufgehört: { $why }.
backfill-reading = Ich lese: bisher { $messages }.
backfill-reading-at = Ich lese: bisher { $messages }, gerade beim { $date }.
backfill-resting = { $seconds ->
    [one] Ich lese: bisher { $messages }; die Plattform will { $seconds } Sekunde Pause.
   *[other] Ich lese: bisher { $messages }; die Plattform will { $seconds } Sekunden Pause.
}
backfill-resting-at = { $seconds ->
    [one] Ich lese: bisher { $messages }, gerade beim { $date }; die Plattform will { $seconds } Sekunde Pause.
   *[other] Ich lese: bisher { $messages }, gerade beim { $date }; die Plattform will { $seconds } Sekunden Pause.
}
backfill-goes-on = Ich lese weiter; mit `backfill` siehst du, wie weit ich bin.
backfill-unheard = was die Leute dort sagen, wird nicht mehr behalten
backfill-away = die Plattform ist nicht erreichbar; beim nächsten Start lese ich weiter
history-not-there = { $place } ist kein Kanal von { $platform }, in dem ich bin
history-other-shard = { $place } liegt auf dem Shard { $shard } von Discord, und dieser Prozess hat { $shards } (DISCORD_SHARDS); fang damit in dem Prozess an, der diesen Shard hat
history-invite = ich bin nicht im Kanal { $channel }; hol mich mit /invite hinein
history-lacks = ich darf nicht lesen, was in { $channel } gesagt wurde: Mir fehlt dort { $permissions }
history-refused = { $platform } gibt nicht heraus, was dort gesagt wurde: { $why }
