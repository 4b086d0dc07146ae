### Konten auf mehreren Plattformen, und die Seiten

an-account = dein Konto { $name } auf { $platform }
link-code = Dein Code ist `{ $code }`. Sag mir auf der anderen Plattform innerhalb von 10 Minuten in einer Direktnachricht `link { $code }`. Ab dann gehören deine Konten für mich einer Person: Was du mir auf einem davon allein sagst, daran erinnere ich mich für dich auch auf den anderen; deine Kontingente gelten gemeinsam; und `forget me` und `export mine` betreffen alle. Was in Kanälen gesagt wird, bleibt dort. `unlink my account` macht es rückgängig. Gib den Code niemandem: Er ist für dein eigenes Konto.
linked = Erledigt: Für mich gehören einer Person dein Konto hier und { $others }. Was du mir auf einem davon allein sagst, daran erinnere ich mich für dich auch auf den anderen. `unlink my account` macht es rückgängig, und ich sage dir dort Bescheid.
linked-elsewhere = Mit deinem Konto hier wurde { $account } verknüpft: Was du mir auf einem davon allein sagst, daran erinnere ich mich auch auf dem anderen. Wenn du das nicht warst, sag sofort `unlink my account`.
link-needs-direct-message = Sag mir das in einer Direktnachricht auf Slack, Discord oder Matrix: Nur dort liest niemand sonst den Code mit, und ich weiß sicher, wessen Konto es ist.
own-link-code = Das ist der Code dieses Kontos selbst. Gib ihn auf der anderen Plattform ein, mit deinem Konto dort.
wrong-link-code = Dieser Code gilt nicht: Er wurde schon benutzt, ist älter als 10 Minuten oder nie von mir gekommen. Sag mir auf der anderen Plattform `link my accounts` für einen neuen.
too-many-link-codes = Du hast zu viele Codes eingegeben. Bitte versuch es in einer Stunde noch einmal.
too-many-accounts = { $most ->
    [one] Das wäre mehr als { $most } Konto. Sag `unlink my account` auf einem, das du nicht mehr benutzt, und dann noch einmal `link my accounts` für einen neuen Code.
   *[other] Das wären mehr als { $most } Konten. Sag `unlink my account` auf einem, das du nicht mehr benutzt, und dann noch einmal `link my accounts` für einen neuen Code.
}
unlinked = Erledigt: Mit deinem Konto hier ist nicht mehr verknüpft: { $others }. Was du mir dort allein gesagt hast, daran erinnere ich mich hier nicht mehr, und umgekehrt.
unlinked-elsewhere = Mit deinem Konto hier ist nicht mehr verknüpft: { $account }. Was du mir dort allein gesagt hast, daran erinnere ich mich hier nicht mehr, und umgekehrt.
nothing-linked = Dein Konto hier ist mit keinem anderen verknüpft. Sag mir in einer Direktnachricht `link my accounts`, um es zu verknüpfen.
link-ended = Dein Konto hier wurde 90 Tage nicht benutzt und ist deshalb nicht mehr mit deinen anderen verknüpft: Es könnte inzwischen jemand anderem gehören. Sag `link my accounts`, um es wieder zu verknüpfen.

pages-link = Dieser Link öffnet die Seiten nur für dich. Er gilt einmal und fünf Minuten lang: { $link }
    Du bleibst 12 Stunden angemeldet, oder bis du `web sign out` sagst.
no-pages = Ich habe keine Seiten zum Ansehen. Dafür muss `WEB_ADDR=127.0.0.1:8088` gesetzt sein, wenn ich gestartet werde.
no-pages-here = Hier kann ich dir keinen Link geben, denn ich kann diese Plattform nicht fragen, wer was lesen darf.
signed-out = { $times ->
    [0] Du warst nirgends auf den Seiten angemeldet.
   *[other] Du bist von den Seiten abgemeldet ({ $times } Browser).
}
# $token is a secret, $address where programs ask.
token-made = Dein Token, das ich nur dieses eine Mal zeige: `{ $token }`
    Damit fragt mich ein Programm für dich unter { $address }, zum Beispiel `claude mcp add --transport http muninn { $address } --header "Authorization: Bearer …"`.
token-reads-here = Es liest, was du an diesem Ort lesen darfst, und sonst nichts.
token-reads-everywhere = Es liest, was du lesen darfst, an allen Orten.
token-until = Es gilt bis { $until }.
token-is-secret = Gib es niemandem: Wer es hat, liest dasselbe. `mcp tokens` listet deine Token auf, und `mcp revoke 1` beendet eines.
tokens = Deine Token:
token-line = { $number }. Gemacht am { $made }, liest { $places }.
token-line-everywhere = { $number }. Gemacht am { $made }, liest alles, was du lesen darfst.
token-used = Zuletzt benutzt am { $at }.
token-unused = Nie benutzt.
tokens-hint = `mcp revoke 1` beendet das erste, `mcp revoke all` alle.
no-tokens = Du hast keine Token. `mcp token` macht eines, das diesen Ort liest, und `mcp token everywhere` eines, das liest, was du irgendwo lesen darfst.
tokens-revoked = { $count ->
    [0] Du hattest keine Token.
    [one] Widerrufen: { $count } Token. Was es benutzt hat, erfährt nichts mehr.
   *[other] Widerrufen: { $count } Token. Was sie benutzt hat, erfährt nichts mehr.
}
no-such-token = Du hast kein Token Nummer { $number }. `mcp tokens` listet deine auf.
too-many-tokens = Du hast schon { $most } Token. `mcp tokens` listet sie auf, und `mcp revoke 1` beendet eines.
no-such-life = Ich verstehe nicht, wie lange „{ $life }“ ist. Sag es wie in `mcp token for 30 days`.
no-mcp = Programme können mich hier nicht fragen. Wer mich betreibt, kann mich mit `MCP_ADDR=127.0.0.1:8089` starten.
no-token-here = Hier kann ich dir keinen Token geben, denn ich kann diese Plattform nicht fragen, wer was lesen darf: Er würde nichts lesen.
