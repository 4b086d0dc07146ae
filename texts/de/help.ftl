### Was der Bot ist, was man von ihm will, und was es gekostet hat

about = Ich beantworte Fragen und erinnere mich an das, was mir hier gesagt wurde: Wenn es bei einer späteren Frage hilft, greife ich darauf zurück. Woran ich mich von einem Ort erinnere, das erfahren nur die, die dort sind. Gelöschte Nachrichten werden vergessen, und alles, was du mich vergessen lässt, auch.
about-nothing = Von diesem Ort weiß ich noch nichts.
about-remembered = Ich erinnere mich hier an { $turns } aus { $conversations }, seit dem { $since }.

help =
    Das kannst du von mir wollen:
    - `help`: das hier
    - `about`: was ich bin und woran ich mich hier erinnere
    - `history`: was hier zuletzt gesagt wurde
    - `why`: woraus meine letzte Antwort gemacht ist
    - `catch me up`, `catch me up since Monday`: was in diesem { kanal } entschieden und beantwortet wurde und was offen ist, nur für dich
    - `remember that …`: hier merken; `note: …` tut dasselbe
    - `memory`, `memory search WÖRTER`: was ich von dir hier behalten habe; danach `forget 2` oder `correct 2: …` für einen Eintrag
    - `forget last`: deine letzte Nachricht hier vergessen, mit der Antwort
    - `forget session`: alles vergessen, was { in-diesem-gespraech } gesagt wurde
    - `forget { $channel }`: alles vergessen, was in diesem { kanal } gesagt wurde, in allen { gespraechen }
    - `forget me`: alles von dir vergessen, überall (fragt vorher nach)
    - `link my accounts`, als Direktnachricht: dein Konto hier und eins auf einer anderen Plattform einer Person zuordnen; `unlink my account` macht es rückgängig
    - `export mine`: alles, was ich von dir behalten habe, von überall, als Dateien nur für dich
    - `mute`, `only when mentioned`, `unmute`: wann ich { in-diesem-gespraech } antworte; `mute { $channel }` und so weiter für den ganzen { kanal }
    - `remember { $channel }`, `remember only what is asked`: ob ich mir merke, was die Leute in diesem { kanal } einander sagen
    - `don't remember me here`, `remember me here`: ob das für dich gilt
    - `off`, `on`: was die Leute { in-diesem-gespraech } einander sagen, bleibt unter ihnen, oder nicht mehr; `off { $channel }` und so weiter für den ganzen { kanal }
    - `backfill since Monday`: nachlesen, was die Leute in diesem { kanal } seither einander gesagt haben, wo das behalten wird (für die, die ihn verwalten dürfen); `backfill`: wie weit das ist
    - `usage`: was du und dieser { kanal } verbraucht habt
    - `web`: ein Link nur für dich zu Seiten mit deinen Unterhaltungen und der Herkunft der Antworten; `web sign out` beendet das
    - `mcp token`, `mcp token everywhere for 30 days`: ein Token nur für dich, mit dem ein Programm mich für dich fragt; `mcp tokens` listet deine auf, und `mcp revoke 1` oder `mcp revoke all` beendet sie
    Alles andere ist eine Nachricht an mich.

help-slash =
    Erwähne mich mit einer Frage, dann antworte ich in einem Thread, wo ich ohne Erwähnung mitlese. Oder nimm einen Befehl:
    - `/ask`: frag mich hier, nur für dich (`private`) oder in einem eigenen Thread (`thread`)
    - `/why`: woraus meine letzte Antwort gemacht ist
    - `/catchup`: was in diesem Kanal entschieden und beantwortet wurde und was offen ist, nur für dich
    - `/backfill`: nachlesen, was früher in diesem Kanal gesagt wurde, wo das behalten wird (für die, die Nachrichten verwalten dürfen)
    - `/session`: deine eigenen Unterhaltungen wiederfinden
    - `/note`: in diesem Kanal etwas merken
    - `/memory`: was ich von dir hier behalten habe, nur für dich; `/correct`: einen Eintrag neu formulieren
    - `/forget`: einen Eintrag vergessen, deine letzte Nachricht, diesen Thread, diesen Kanal (für die, die Nachrichten verwalten dürfen), was du privat gefragt hast, oder alles von dir, überall
    - `/export`: alles, was ich von dir behalten habe, von überall, als Dateien in einer Direktnachricht
    - `/web`: ein Link nur für dich zu Seiten mit deinen Unterhaltungen und der Herkunft der Antworten
    - `/mcp`: ein Token nur für dich, mit dem ein Programm wie ein Editor mich für dich fragt; welche du hast; sie widerrufen
    - `/link`, als Direktnachricht: dein Konto hier und eins auf einer anderen Plattform einer Person zuordnen; `/unlink` macht es rückgängig
    - `/mute`, `/mentions`, `/unmute`: wann ich in diesem Thread oder Kanal antworte: nie, nur wenn ich erwähnt werde, oder wenn ich mich gemeint glaube
    - `/remember`: was ich mir von diesem Kanal merken darf, und von dem, was du hier zu anderen sagst
    - `/off`, `/on`: was die Leute in diesem Thread oder Kanal einander sagen, bleibt unter ihnen oder darf wieder behalten werden
    - `/usage`: was du und dieser Kanal verbraucht habt

## Was verbraucht wurde

usage-day = In den letzten 24 Stunden:
usage-month = In den letzten 30 Tagen:
usage-you = - du: { $spent }
usage-here = - alle hier zusammen: { $spent }
spent = { $answers }, { $read } und { $written }
tokens-read = { $tokens } gelesen
tokens-read-cached = { $tokens } gelesen (davon { $cached } aus dem Cache)
tokens-written = { $count } geschrieben
spent-money = { $spent }, für { $money }
usage-budget = In diesem Monat, { $whose }: { $spent } von { $limit }
