### Botones, formularios y frases de las plataformas

button-why = ¿Por qué?
button-good = Una buena respuesta
button-bad = Una mala respuesta
button-share = Compartir
button-stop = Detener
button-again = Responder de nuevo
button-forget = Olvidar
button-keep = Conservar
button-forget-number = Olvidar { $number }
button-correct-number = Corregir { $number }
button-approve = Hazlo
button-decline = Déjalo

form-correct-title = Corregir el número { $number }
form-correct = Corregir
form-leave = Dejarlo
form-what-is-right = Lo que es correcto
form-not-opened = Slack no abrió el formulario. Pulsa el botón otra vez, o dime `correct { $number }: …`.

home-ask = Pregúntame en un canal mencionándome, en un mensaje directo, o solo para ti con `{ $command } ask …`. Cada respuesta tiene un botón que muestra de qué está hecha.
home-forget = Olvidar nuestros mensajes directos
home-forget-title = ¿Olvidarlo todo?
home-forget-text = Todo lo que me dijiste en mensajes directos, y lo que respondí, se olvida para siempre.
home-forget-yes = Olvidar
home-forget-no = Conservar

not-allowed = No puedo hablar contigo aquí. Quien me administra puede permitirlo.
never-here = No debo responder preguntas en este canal.
not-yours-here = Solo quien preguntó, o alguien con permiso para gestionar mensajes aquí, puede hacerlo.
old-button = Este botón es de una versión anterior y ya no funciona.
no-text = No hay nada que leer en ese mensaje.
no-question = Ahí no hay ninguna pregunta.
confirm-session = Se olvidará todo lo que me dijeron en esta conversación, de todos. No se puede recuperar.
confirm-private = Se olvidará todo lo que me preguntaste en privado aquí. No se puede recuperar.
confirm-channel = Se olvidará todo lo que me dijeron en este canal y sus hilos, de todos. No se puede recuperar.
forget-what = Di qué olvidar: elige `what`, o da el `number` de algo que `/memory` o `/why` te mostró.
say-where = No sé si esto es un hilo. Di dónde: elige `where`.
nothing-was-forgotten = No se olvidó nada.
no-direct = No puedo enviarte mensajes directos. Usa aquí el comando con `/`: solo tú ves lo que responde.
no-direct-room = No pude abrir una sala para nosotros dos, o la que tenemos no está cifrada como esta. Invítame a una sala donde estemos solos y pídemelo allí.
thanks = Gracias, anotado.
no-such-session = No conozco aquí ninguna conversación tuya así.
sessions-unknown = Ahora no puedo consultar mi memoria; inténtalo más tarde.

stays-only-you-slack = solo tú lo ves y Slack no deja que nadie lo quite; desaparece cuando recargas Slack
stays-only-you-discord = solo tú lo ves y Discord no deja que nadie más lo quite; elige «Dismiss message» debajo
stays-scope = a la aplicación le falta el permiso { $needed }; quien me administra puede añadirlo
stays-slack = Slack se niega a quitarlo ({ $code }); un administrador del espacio de trabajo puede eliminarlo
stays-no-access = ya no puedo ver ese canal; déjame entrar otra vez (View Channel) y elimínalo, o elimínalo tú
stays-removed = me quitaron de ese servidor
stays-locked = su hilo está bloqueado; elimínalo tú, o desbloquea el hilo
stays-discord = Discord se niega a quitarlo: { $why }
stays-not-in-room = ya no estoy en esa sala; invítame de nuevo, o pide a alguien de allí que lo quite
stays-homeserver = el servidor se niega a quitarlo ({ $why }); un moderador de la sala puede
stays-program = el programa al que respondo no lo elimina: { $why }

no-copy-here = aquí no puedo darle un archivo a nadie; pídemelo en otro lugar, como una terminal o un chat con mensajes directos
no-copy-undirect = aquí no puedo darle un archivo a nadie; pídemelo donde pueda escribirte un mensaje directo
no-copy-webhook = hablo contigo a través de otro programa, que solo acepta textos y me dice por sí mismo quién eres
no-copy-direct = no aceptas mensajes directos míos; permítelos de miembros de este servidor, o usa `/export` aquí, y pídelo otra vez
no-copy-direct-room = no pude abrir una sala para nosotros dos, o la que tenemos no está cifrada como esta; invítame a una sala donde estemos solos y pídemelo allí
no-copy-away = { $platform } no responde como debe ({ $why }); pídelo más tarde
no-copy-refused = { $platform } rechaza los archivos: { $why }
no-copy-scope = Slack no me deja: a la aplicación le falta el permiso { $needed } (quien me administra la instala de nuevo con el manifiesto que muestra `muninn manifest slack`)
no-copy-room-changed = la sala que era para nosotros dos ya no lo es; invítame a otra y pídemelo allí
no-copy-folder = no sé en qué carpeta estás; ve a una y pídelo otra vez
no-copy-folder-refused = no puedo escribir en { $folder } ({ $error }); ve a una carpeta en la que puedas escribir y pídelo otra vez
no-copy-connection = no puedo darte un archivo por esta conexión; pídemelo con `muninn chat`

slack-ask-how = Escribe tu pregunta detrás: `{ $command } ask ¿Cuándo sale la versión?` Solo tú ves la respuesta.
slack-shared = — compartido por { $name }
slack-not-shared = No se ha compartido: Slack no me dice si aquí hay personas de otras organizaciones. Invítame al canal o copia el texto.
slack-title = Conversación con Muninn
slack-thinking = está pensando…
slack-suggestions = ¿Qué quieres saber?
slack-suggest-abilities = ¿Qué puedes hacer?
slack-ask-abilities = ¿Qué puedes hacer y qué recuerdas?
slack-suggest-last = ¿De qué hablamos?
slack-ask-last = ¿De qué hablamos la última vez?
slack-suggest-note = Recordar algo
slack-ask-note = Por favor, recuerda esto para más tarde:

ask-about-message = ¿Qué sabes de este mensaje?
ask-about-message-of = ¿Qué opinas de este mensaje de { $name }?

answers-in = Respondo en { $thread }.
thread-name = Pregunta

sealed-message = No puedo leer este mensaje: no me ha llegado su clave. Si llega, lo leeré entonces; si no, dilo otra vez, por favor.
invitation-declined = Gracias por la invitación. Solo puedo unirme a salas de las personas para las que estoy configurado; pregunta a quien me administra.
room-without-memory = Esta sala sustituye a otra, pero está abierta a otras personas. Por eso empiezo aquí sin lo que recuerdo de la sala anterior.

terminal-greeting = { $name } con { $models }. /help muestra qué puedes pedir, /quit sale.
terminal-model-else = { $first }, si no { $next }
terminal-without-model = { $name } responde solo de memoria: define OPENAI_API_KEY, u OPENAI_BASE_URL para un servicio como Ollama, para darle un modelo.
terminal-too-long = Eso tiene más de { $bytes } bytes; dilo por partes.
terminal-how-to-leave = /quit o Ctrl-D sale; /help dice qué se puede pedir.
terminal-unreadable = Eso no es UTF-8 válido; escríbelo otra vez, por favor.
terminal-ending = Muninn se está cerrando.
terminal-no-answer = No llegó respuesta. Pregunta otra vez, o di `unmute` donde alguien me silenció.
terminal-not-waiting = Ya no espero esa respuesta.
