### Qué es el bot, qué se le puede pedir y qué ha costado

about = Respondo preguntas y recuerdo lo que me dijeron aquí: cuando ayuda con una pregunta posterior, lo uso. Lo que recuerdo de un lugar se recuerda solo para quienes están en él. Los mensajes eliminados se olvidan, igual que todo lo que me pidas olvidar.
about-nothing = Todavía no recuerdo nada de este lugar.
about-remembered = Recuerdo aquí { $turns } de { $conversations }, desde el { $since }.

help =
    Lo que puedes pedirme:
    - `help`: esto
    - `about`: qué soy y qué recuerdo aquí
    - `history`: lo que se dijo aquí últimamente
    - `why`: de qué está hecha mi última respuesta
    - `catch me up`, `catch me up since Monday`: lo que se decidió, se respondió y quedó pendiente { en-este-canal }, solo para ti
    - `remember that …`: tenerlo en cuenta aquí; `note: …` hace lo mismo
    - `memory`, `memory search PALABRAS`: lo que guardo de lo que dijiste aquí; después `forget 2` o `correct 2: …` para un elemento
    - `forget last`: olvidar tu último mensaje aquí, con su respuesta
    - `forget session`: olvidar todo lo dicho { en-esta-conversacion }
    - `forget { $channel }`: olvidar todo lo dicho { en-este-canal }, { todas-conversaciones }
    - `forget me`: olvidar todo lo tuyo, en todas partes (antes pregunta)
    - `link my accounts`, en un mensaje directo: que tu cuenta de aquí y una de otra plataforma sean para mí de una sola persona; `unlink my account` lo deshace
    - `export mine`: todo lo que guardo de ti, de todas partes, en archivos solo para ti
    - `mute`, `only when mentioned`, `unmute`: cuándo respondo { en-esta-conversacion }; `mute { $channel }` y demás para { todo-el-canal }
    - `remember { $channel }`, `remember only what is asked`: si recuerdo lo que la gente se dice { en-este-canal }
    - `don't remember me here`, `remember me here`: si eso vale para ti
    - `off`, `on`: lo que la gente se dice { en-esta-conversacion } queda entre ellos, o ya no; `off { $channel }` y demás para { todo-el-canal }
    - `backfill since Monday`: leer lo que la gente se dijo { en-este-canal } desde entonces, donde se recuerda (para quienes lo gestionan); `backfill`: por dónde voy
    - `usage`: lo que se ha gastado por ti y { en-este-canal }
    - `web`: un enlace, solo para ti, a páginas con tus conversaciones y de dónde salieron las respuestas; `web sign out` lo termina
    - `mcp token`, `mcp token everywhere for 30 days`: un token, solo para ti, con el que un programa me pregunta por ti; `mcp tokens` enumera los tuyos, y `mcp revoke 1` o `mcp revoke all` los revoca
    Cualquier otra cosa es un mensaje para mí.

help-slash =
    Mencióname con una pregunta y respondo en un hilo, donde sigo lo que dices sin mención. O usa un comando:
    - `/ask`: pregúntame aquí, solo para ti (`private`) o en un hilo aparte (`thread`)
    - `/why`: de qué está hecha mi última respuesta
    - `/catchup`: lo que se decidió, se respondió y quedó pendiente en este canal, solo para ti
    - `/backfill`: leer lo que se dijo antes en este canal, donde se recuerda (para quienes pueden gestionar mensajes)
    - `/session`: volver a encontrar tus conversaciones
    - `/note`: tener algo en cuenta en este canal
    - `/memory`: lo que guardo de lo que dijiste aquí, solo para ti; `/correct`: decir de nuevo uno de estos elementos
    - `/forget`: olvidar uno de estos elementos, tu último mensaje, este hilo, este canal (para quienes pueden gestionar mensajes), lo que preguntaste en privado, o todo lo tuyo, en todas partes
    - `/export`: todo lo que guardo de ti, de todas partes, en archivos por mensaje directo
    - `/web`: un enlace, solo para ti, a páginas con tus conversaciones y de dónde salieron las respuestas
    - `/mcp`: un token, solo para ti, con el que un programa como un editor me pregunta por ti; qué tokens tienes; revocarlos
    - `/link`, en un mensaje directo: que tu cuenta de aquí y una de otra plataforma sean para mí de una sola persona; `/unlink` lo deshace
    - `/mute`, `/mentions`, `/unmute`: cuándo respondo en este hilo o canal: nunca, solo si me mencionan, o cuando creo que es para mí
    - `/remember`: lo que puedo recordar de este canal y de lo que dices aquí a otros
    - `/off`, `/on`: lo que la gente se dice en este hilo o canal queda entre ellos, o se puede recordar de nuevo
    - `/usage`: lo que tú y este canal han gastado

## Lo que se gastó

usage-day = En las últimas 24 horas:
usage-month = En los últimos 30 días:
usage-you = - tú: { $spent }
usage-here = - todos juntos aquí: { $spent }
spent = { $answers }, { $read } y { $written }
tokens-read = { $tokens } leídos
tokens-read-cached = { $tokens } leídos ({ $cached } de ellos en caché)
tokens-written = { $count } escritos
spent-money = { $spent }, por { $money }
usage-budget = Este mes, { $whose }: { $spent } de { $limit }
