### Cuentas en varias plataformas, y las páginas

an-account = tu cuenta { $name } en { $platform }
link-code = Tu código es `{ $code }`. En la otra plataforma, dime `link { $code }` en un mensaje directo antes de 10 minutos. Desde entonces tus cuentas serán para mí de una sola persona: lo que me digas a solas en una lo recordaré para ti también en las demás; tus cuotas se comparten; y `forget me` y `export mine` valen para todas. Lo que se dice en los canales se queda allí. `unlink my account` lo deshace. No le des el código a nadie: es para tu propia cuenta.
linked = Listo: para mí, tu cuenta de aquí y { $others } son de una sola persona. Lo que me digas a solas en una lo recordaré para ti también en las demás. `unlink my account` lo deshace, y te aviso allí.
linked-elsewhere = Tu cuenta de aquí se vinculó con { $account }: lo que me digas a solas en una lo recordaré también en la otra. Si no fuiste tú, di `unlink my account` ahora mismo.
link-needs-direct-message = Dímelo en un mensaje directo en Slack, Discord o Matrix: solo allí nadie más lee el código y sé con certeza de quién es la cuenta.
own-link-code = Ese es el código de esta misma cuenta. Escríbelo en la otra plataforma, desde tu cuenta de allí.
wrong-link-code = Ese código no vale: ya se usó, tiene más de 10 minutos o nunca lo di. Dime `link my accounts` en la otra plataforma para obtener uno nuevo.
too-many-link-codes = Escribiste demasiados códigos. Inténtalo de nuevo en una hora.
too-many-accounts = { $most ->
    [one] Sería más de { $most } cuenta. Di `unlink my account` en una que ya no uses y luego otra vez `link my accounts` para obtener un código nuevo.
   *[other] Serían más de { $most } cuentas. Di `unlink my account` en una que ya no uses y luego otra vez `link my accounts` para obtener un código nuevo.
}
unlinked = Listo: tu cuenta de aquí ya no está vinculada con { $others }. Lo que me dijiste a solas allí ya no se recuerda aquí, ni al revés.
unlinked-elsewhere = Tu cuenta de aquí ya no está vinculada con { $account }. Lo que me dijiste a solas allí ya no se recuerda aquí, ni al revés.
nothing-linked = Tu cuenta de aquí no está vinculada con ninguna otra. Dime `link my accounts` en un mensaje directo para vincularla.
link-ended = Tu cuenta de aquí no se usó en 90 días, así que ya no está vinculada con las demás: puede que ahora sea de otra persona. Di `link my accounts` para vincularla de nuevo.

pages-link = Este enlace abre las páginas solo para ti. Sirve una vez, durante cinco minutos: { $link }
    La sesión dura 12 horas, o hasta que digas `web sign out`.
no-pages = No tengo páginas que mostrar. Para tenerlas, `WEB_ADDR=127.0.0.1:8088` debe estar entre los ajustes con los que se me inicia.
no-pages-here = No puedo darte un enlace aquí, porque no puedo preguntarle a esta plataforma quién puede leer qué.
signed-out = { $times ->
    [0] No tenías ninguna sesión abierta en las páginas.
    [one] Se cerró tu sesión en las páginas ({ $times } navegador).
   *[other] Se cerró tu sesión en las páginas ({ $times } navegadores).
}
# $token is a secret, $address where programs ask.
token-made = Tu token, que muestro solo esta vez: `{ $token }`
    Con él, un programa me pregunta por ti en { $address }, por ejemplo `claude mcp add --transport http muninn { $address } --header "Authorization: Bearer …"`.
token-reads-here = Lee lo que puedes leer en este lugar, y nada más.
token-reads-everywhere = Lee lo que puedes leer, en todos los lugares.
token-until = Vale hasta el { $until }.
token-is-secret = No se lo des a nadie: quien lo tenga lee lo mismo. `mcp tokens` enumera tus tokens, y `mcp revoke 1` revoca uno.
tokens = Tus tokens:
token-line = { $number }. Creado el { $made }, lee { $places }.
token-line-everywhere = { $number }. Creado el { $made }, lee todo lo que puedes leer.
token-used = Usado por última vez el { $at }.
token-unused = Nunca usado.
tokens-hint = `mcp revoke 1` revoca el primero, `mcp revoke all` todos.
no-tokens = No tienes tokens. `mcp token` crea uno que lee este lugar, y `mcp token everywhere` uno que lee lo que puedes leer en cualquier sitio.
tokens-revoked = { $count ->
    [0] No tenías tokens.
    [one] Revocado: { $count } token. Lo que lo usaba ya no recibe nada.
   *[other] Revocados: { $count } tokens. Lo que los usaba ya no recibe nada.
}
no-such-token = No tienes un token número { $number }. `mcp tokens` enumera los tuyos.
too-many-tokens = Ya tienes { $most } tokens. `mcp tokens` los enumera, y `mcp revoke 1` revoca uno.
no-such-life = No entiendo cuánto es «{ $life }». Dilo como en `mcp token for 30 days`.
no-mcp = Los programas no pueden preguntarme aquí. Quien me opera puede iniciarme con `MCP_ADDR=127.0.0.1:8089`.
no-token-here = No puedo darte un token aquí, porque no puedo preguntarle a esta plataforma quién puede leer qué: no leería nada.
